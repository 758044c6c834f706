"""RuntimeClass: what a pod's class adds to it, and that there is such a class."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..storage.state import State, Target
from ..validation.problems import forbidden, go_quoted
from .amounts import Value

__all__ = ["add_runtime_class", "check_overhead"]

_REJECTED = "pod rejected:"
_OTHER_OVERHEAD = f"{_REJECTED} Pod's Overhead doesn't match RuntimeClass's defined Overhead"


def _class_of(state: State, target: Target, pod: Value, named: str) -> Value | None:
    name = (pod.get("spec") or {}).get("runtimeClassName")
    if name is None:
        return None
    found = state.log.get("node.k8s.io/runtimeclasses", ("", name))
    if found is None:
        text = f"{_REJECTED} RuntimeClass {go_quoted(name)} not found"
        raise forbidden(target.type, named, text)
    return found.value


def add_runtime_class(state: State, target: Target, pod: dict[str, Any], named: str) -> None:
    """What running a pod takes besides, and on which nodes it can run."""
    found = _class_of(state, target, pod, named)
    if found is None:
        return
    spec = pod["spec"]
    overhead = found.get("overhead")
    if overhead is not None:
        fixed = overhead.get("podFixed") or {}
        if spec.get("overhead") and spec["overhead"] != fixed:
            raise forbidden(target.type, named, _OTHER_OVERHEAD)
        spec = {**spec, "overhead": fixed}
    scheduling = found.get("scheduling")
    if scheduling is not None:
        selector = scheduling.get("nodeSelector") or {}
        own = spec.get("nodeSelector") or {}
        for key, value in sorted(selector.items()):
            if own.get(key, value) != value:
                text = (
                    f"conflict: runtimeClass.scheduling.nodeSelector[{key}] = {value}; "
                    f"pod.spec.nodeSelector[{key}] = {own[key]}"
                )
                raise forbidden(target.type, named, text)
        given = [*(spec.get("tolerations") or ()), *(scheduling.get("tolerations") or ())]
        spec = {**spec, "nodeSelector": {**own, **selector}, "tolerations": _needed(given)}
    pod["spec"] = spec


def check_overhead(state: State, target: Target, new: Value, old: Value | None) -> None:
    """Refuse a new pod that takes another overhead than its class says."""
    if old is not None:
        return
    name = new["metadata"].get("name") or ""
    found = _class_of(state, target, new, name)
    overhead = (found or {}).get("overhead")
    own = (new.get("spec") or {}).get("overhead")
    if overhead is not None:
        if (overhead.get("podFixed") or {}) != (own or {}):
            raise forbidden(target.type, name, _OTHER_OVERHEAD)
    elif own is not None:
        text = f"{_REJECTED} Pod Overhead set without corresponding RuntimeClass defined Overhead"
        raise forbidden(target.type, name, text)


def _needed(tolerations: Sequence[Value]) -> list[Value]:
    """Without those that others of them include; of equal ones the first stays."""
    needed: list[Value] = []
    for at, each in enumerate(tolerations):
        later = (other for other in tolerations[at + 1 :] if other != each)
        if not any(_includes(other, each) for other in (*needed, *later)):
            needed.append(each)
    return needed


def _includes(more: Value, less: Value) -> bool:
    """Whether `more` tolerates whatever `less` does."""
    if more == less:
        return True
    key, operator = more.get("key") or "", more.get("operator") or ""
    if (less.get("key") or "") != key and (key or operator != "Exists"):
        return False
    effect = more.get("effect") or ""
    if effect and (less.get("effect") or "") != effect:
        return False
    seconds, others = more.get("tolerationSeconds"), less.get("tolerationSeconds")
    if effect == "NoExecute" and seconds is not None and (others is None or others > seconds):
        return False
    if operator == "Exists":
        return True
    return less.get("operator") == "Equal" and (less.get("value") or "") == (
        more.get("value") or ""
    )
