"""Priority: a pod has that of its PriorityClass, and there is one default class."""

from __future__ import annotations

from typing import Any

from ..storage.state import State, Target
from ..validation.problems import forbidden
from .amounts import Value

__all__ = ["add_priority", "check_priority_class"]

_STORAGE = "scheduling.k8s.io/priorityclasses"
_NO_CLASS: Value = {"preemptionPolicy": "PreemptLowerPriority"}
_CONTROLLER = "priority admission controller computed"


def add_priority(state: State, target: Target, pod: dict[str, Any], named: str) -> None:
    """Look up what the class of a pod says. Refuses one that is not there, and another number."""
    spec = pod["spec"]
    name = spec.get("priorityClassName") or ""
    if name:
        stored = state.log.get(_STORAGE, ("", name))
        if stored is None:
            text = f"no PriorityClass with name {name} was found"
            raise forbidden(target.type, named, text)
        found = stored.value
    else:
        default = _default_class(state)
        found = _NO_CLASS if default is None else default
        name = (found.get("metadata") or {}).get("name") or ""
    priority, policy = found.get("value") or 0, found.get("preemptionPolicy")
    given = spec.get("priority")
    if given is not None and given != priority:
        text = (
            f"the integer value of priority ({given}) must not be provided in pod spec; "
            f"{_CONTROLLER} {priority} from the given PriorityClass name"
        )
        raise forbidden(target.type, named, text)
    added = {"priorityClassName": name, "priority": priority, "preemptionPolicy": policy}
    if policy is not None and spec.get("preemptionPolicy") not in (None, policy):
        text = (
            f"the string value of PreemptionPolicy ({spec['preemptionPolicy']}) must not be "
            f"provided in pod spec; {_CONTROLLER} {policy} from the given PriorityClass name"
        )
        raise forbidden(target.type, named, text)
    pod["spec"] = {**spec, **{member: value for member, value in added.items() if value != ""}}


def _default_class(state: State) -> Value | None:
    """The one with the least priority, where there are several."""
    defaults = (
        found.value for found in state.log.objects(_STORAGE) if found.value.get("globalDefault")
    )
    return min(defaults, key=lambda value: value.get("value") or 0, default=None)


def check_priority_class(state: State, target: Target, new: Value, old: Value | None) -> None:
    """Refuse a second default class."""
    default = _default_class(state) if new.get("globalDefault") else None
    if default is not None:
        name, other = new["metadata"].get("name") or "", default["metadata"]["name"]
        if old is None or name != other:
            text = f"PriorityClass {other} is already marked as default. Only one default can exist"
            raise forbidden(target.type, name, text)
