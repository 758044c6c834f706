"""For which objects a ResourceQuota is: its scopes."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ..defaulting.pod_totals import quality_of_service
from .amounts import Value

__all__ = ["in_scopes", "is_terminating"]


def in_scopes(storage: str, quota: Value, value: Value) -> bool:
    """Whether an object is in all scopes of a quota; most objects are in none of them."""
    return all(_matches(storage, scope, selector, value) for scope, selector in _selectors(quota))


def _selectors(quota: Value) -> Iterator[tuple[str, Value]]:
    """Each scope with what is said of it."""
    spec = quota.get("spec") or {}
    for scope in spec.get("scopes") or ():
        yield scope, {"operator": "Exists"}
    for each in (spec.get("scopeSelector") or {}).get("matchExpressions") or ():
        yield each.get("scopeName") or "", each


def _matches(storage: str, scope: str, selector: Value, value: Value) -> bool:
    spec = value.get("spec") or {}
    if storage == "persistentvolumeclaims" and scope == "VolumeAttributesClass":
        status = value.get("status") or {}
        names = {
            spec.get("volumeAttributesClassName"),
            status.get("currentVolumeAttributesClassName"),
            (status.get("modifyVolumeStatus") or {}).get("targetVolumeAttributesClassName"),
        }
        return _selected(selector, {name for name in names if name})
    if storage != "pods":
        return False
    if scope == "PriorityClass":
        name = spec.get("priorityClassName")
        return _selected(selector, {name} if name else set())
    found = _OF_PODS.get(scope)
    return found is not None and found(spec)


def _selected(selector: Value, names: set[str]) -> bool:
    operator, values = selector.get("operator"), set(selector.get("values") or ())
    match operator:
        case "Exists":
            return bool(names)
        case "DoesNotExist":
            return not names
        case "In":
            return bool(names & values)
    return not names or bool(names - values)


def is_terminating(spec: Value) -> bool:
    """Whether a pod has a time to end."""
    deadline = spec.get("activeDeadlineSeconds")
    return deadline is not None and deadline >= 0


def _is_best_effort(spec: Value) -> bool:
    return quality_of_service(spec) == "BestEffort"


def _looks_elsewhere(spec: Value) -> bool:
    """Whether a pod wants to be near or far of such in other namespaces."""
    affinity = spec.get("affinity") or {}
    for name in ("podAffinity", "podAntiAffinity"):
        found = affinity.get(name) or {}
        terms = list(found.get("requiredDuringSchedulingIgnoredDuringExecution") or ())
        wishes = found.get("preferredDuringSchedulingIgnoredDuringExecution") or ()
        terms += [each.get("podAffinityTerm") or {} for each in wishes]
        if any(
            term.get("namespaces") or term.get("namespaceSelector") is not None for term in terms
        ):
            return True
    return False


_OF_PODS: dict[str, Callable[[Value], bool]] = {
    "Terminating": is_terminating,
    "NotTerminating": lambda spec: not is_terminating(spec),
    "BestEffort": _is_best_effort,
    "NotBestEffort": lambda spec: not _is_best_effort(spec),
    "CrossNamespacePodAffinity": _looks_elsewhere,
}
