"""CertificateSubjectRestriction: nobody gets a certificate that may do everything.

Requests can be looked into where the Python package `cryptography` is installed.
"""

from __future__ import annotations

from ..storage.state import State, Target
from ..types.go_texts import decoded
from ..validation.cluster.pem import organizations
from ..validation.problems import forbidden
from .amounts import Value

__all__ = ["check_subject"]

_SIGNER = "kubernetes.io/kube-apiserver-client"
_MASTERS = "system:masters"


def check_subject(state: State, target: Target, new: Value, old: Value | None) -> None:
    """Refuse a new request for a client certificate of `system:masters`."""
    spec = new.get("spec") or {}
    if old is not None or spec.get("signerName") != _SIGNER:
        return
    if _MASTERS in organizations(decoded(spec.get("request"))):
        text = f"use of {_SIGNER} signer with {_MASTERS} group is not allowed"
        raise forbidden(target.type, new["metadata"].get("name") or "", text)
