"""Claims for devices that somebody else uses: they need a namespace that is marked for them."""

from __future__ import annotations

from ..storage.state import State, Target
from ..validation.problems import forbidden_field, invalid
from .amounts import Value

__all__ = ["check_device_access"]

_LABEL = "resource.kubernetes.io/admin-access"
_TEXT = f"admin access to devices requires the `{_LABEL}: true` label on the containing namespace"


def check_device_access(state: State, target: Target, new: Value, old: Value | None) -> None:
    """Refuse a new claim, or template of claims, that asks for such access elsewhere."""
    of = target.type
    if old is not None:
        return
    spec = new.get("spec") or {}
    if of.plural == "resourceclaimtemplates":
        spec = spec.get("spec") or {}
    requests = (spec.get("devices") or {}).get("requests") or ()
    asked = (
        at for at, found in enumerate(requests) if (found.get("exactly") or {}).get("adminAccess")
    )
    at = next(asked, None)
    if at is None:
        return
    namespace = state.log.get("namespaces", ("", target.namespace))
    labels = namespace.metadata.get("labels") or {} if namespace is not None else {}
    if labels.get(_LABEL) != "true":
        problem = forbidden_field(f"spec.devices.requests[{at}].adminAccess", _TEXT)
        raise invalid(of.kind, of.group, new["metadata"].get("name") or "", [problem])
