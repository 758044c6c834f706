"""The checks of what configures admission."""

from __future__ import annotations

from .policies import MUTATING, VALIDATING
from .policy_bindings import MUTATING_BINDINGS, VALIDATING_BINDINGS
from .webhooks import WEBHOOKS

__all__ = ["CHECKS"]

_GROUP = "admissionregistration.k8s.io"

CHECKS = {
    f"{_GROUP}/mutatingadmissionpolicies": MUTATING,
    f"{_GROUP}/mutatingadmissionpolicybindings": MUTATING_BINDINGS,
    f"{_GROUP}/mutatingwebhookconfigurations": WEBHOOKS,
    f"{_GROUP}/validatingadmissionpolicies": VALIDATING,
    f"{_GROUP}/validatingadmissionpolicybindings": VALIDATING_BINDINGS,
    f"{_GROUP}/validatingwebhookconfigurations": WEBHOOKS,
}
