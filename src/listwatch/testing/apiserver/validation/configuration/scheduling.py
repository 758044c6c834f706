"""PriorityClasses."""

from __future__ import annotations

from collections.abc import Iterator

from ..basics import immutable
from ..checks import Checks, Value
from ..problems import Problem, forbidden_field, required_field, unsupported_field

__all__ = ["CHECKS", "SYSTEM_CLASSES"]

SYSTEM_CLASSES = {
    "system-node-critical": (
        2000001000,
        "Used for system critical pods that must not be moved from their current node.",
    ),
    "system-cluster-critical": (
        2000000000,
        "Used for system critical pods that must run in the cluster, but can be moved to another "
        "node if necessary.",
    ),
}
"""The classes that are there from the start: their values and what they say of themselves."""
_HIGHEST = 1000000000
_POLICIES = ("PreemptLowerPriority", "Never")


def _priority_class(new: Value) -> Iterator[Problem]:
    name = (new.get("metadata") or {}).get("name") or ""
    value = new.get("value") or 0
    if name.startswith("system-"):
        text = _system_problem(name, value, bool(new.get("globalDefault")))
        if text:
            yield forbidden_field(
                "metadata.name",
                "priority class names with 'system-' prefix are reserved for system use only. "
                f"error: {text}",
            )
    elif value > _HIGHEST:
        text = f"maximum allowed value of a user defined priority is {_HIGHEST}"
        yield forbidden_field("value", text)
    policy = new.get("preemptionPolicy")
    if policy == "":
        yield required_field("preemptionPolicy")
    elif policy is not None and policy not in _POLICIES:
        yield unsupported_field("preemptionPolicy", policy, _POLICIES)


def _system_problem(name: str, value: int, default: bool) -> str:
    """Why a class is not one of the system's."""
    if name not in SYSTEM_CLASSES:
        return f"{name} is not a known system priority class"
    known = SYSTEM_CLASSES[name][0]
    if value != known:
        return f"value of {name} PriorityClass must be {known}"
    return f"globalDefault of {name} PriorityClass must be false" if default else ""


def _changed_priority_class(new: Value, old: Value) -> Iterator[Problem]:
    if (new.get("value") or 0) != (old.get("value") or 0):
        yield forbidden_field("value", "may not be changed in an update.")
    policy = new.get("preemptionPolicy")
    yield from immutable("preemptionPolicy", policy, old.get("preemptionPolicy"))


CHECKS: dict[str, Checks] = {
    "scheduling.k8s.io/priorityclasses": Checks(_priority_class, _changed_priority_class)
}
