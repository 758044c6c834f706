"""How the resources of a pod that runs may change: there is more cpu and memory, or less of them,
and nothing else changes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any

from ...defaulting.pod_totals import quality_of_service
from ..checks import Value
from ..problems import Problem, forbidden_field, invalid_field
from ..value_diffs import same

__all__ = ["not_resizable", "resized_problems"]

_KINDS = ("containers", "initContainers")
_COMPUTE = ("cpu", "memory")
_SIDES = ("requests", "limits")
_ONLY = "only cpu and memory resources"


def not_resizable(old: Value, *, is_mirror: bool) -> Problem | None:
    """Why this pod cannot be resized at all."""
    if is_mirror:
        return forbidden_field("[]", "static pods cannot be resized")
    if ((old.get("spec") or {}).get("os") or {}).get("name") == "windows":
        return forbidden_field("[]", "windows pods cannot be resized")
    return None


def resized_problems(new: Value, old: Value) -> Iterator[Problem]:
    """`new` and `old` are whole pods, which differ in their resources, or in what containers they
    have.
    """
    spec, before = new.get("spec") or {}, old.get("spec") or {}
    status = old.get("status") or {}
    quality = (new.get("status") or {}).get("qosClass") or ""
    if (status.get("qosClass") or quality_of_service(before)) != quality_of_service(spec):
        text = "Pod QOS Class may not change as a result of resizing"
        yield invalid_field("spec", quality, text)
    if not _is_supported(status):
        yield forbidden_field("spec", "Pod running on node without support for resize")
    wrong = list(_pod_problems(spec, before))
    yield from wrong
    others = list(_order_problems(spec, before))
    yield from others
    if others:
        return
    wrong += (found := list(_container_problems(spec, before)))
    yield from found
    rest = {**spec, "resources": _masked(spec.get("resources"), before.get("resources"))}
    for kind in _KINDS:
        if spec.get(kind):
            rest[kind] = _with_resources(spec[kind], before[kind])
    if not wrong and not same(before, rest):
        yield forbidden_field("spec", f"{_ONLY} are mutable")


def _is_supported(status: Value) -> bool:
    """Whether the node says what its containers have; without one that runs nobody knows."""
    for container in status.get("containerStatuses") or ():
        if (container.get("state") or {}).get("running") is not None:
            return container.get("resources") is not None
    return True


def _pod_problems(spec: Value, before: Value) -> Iterator[Problem]:
    """What the pod asks for as a whole."""
    now, was = spec.get("resources"), before.get("resources")
    if not any((each or {}).get(side) for each in (now, was) for side in _SIDES):
        return
    if was is not None and now is None:
        yield forbidden_field("spec.resources", "pod-level resources cannot be removed")
        return
    if was is not None and now is not None:
        for side in _SIDES:
            if _is_less(now.get(side) or (), was.get(side) or ()):
                text = f"pod-level resource {side} cannot be removed"
                yield forbidden_field(f"spec.resources.{side}", text)
    if not same(was, _masked(now, was)):
        yield forbidden_field("spec", f"{_ONLY} are mutable at pod-level")


def _order_problems(spec: Value, before: Value) -> Iterator[Problem]:
    for kind in _KINDS:
        now, was = spec.get(kind) or (), before.get(kind) or ()
        if len(now) != len(was):
            yield forbidden_field(f"spec.{kind}", f"{kind} may not be added or removed on resize")
            continue
        for at, (container, other) in enumerate(zip(now, was, strict=True)):
            if container.get("name") != other.get("name"):
                text = f"{kind} may not be renamed or reordered on resize"
                yield forbidden_field(f"spec.{kind}[{at}].name", text)


def _container_problems(spec: Value, before: Value) -> Iterator[Problem]:
    for kind in reversed(_KINDS):
        now, was = spec.get(kind) or (), before.get(kind) or ()
        for at, (container, other) in enumerate(zip(now, was, strict=True)):
            for side in _SIDES:
                if _is_less(_side(container, side), _side(other, side)):
                    field = f"spec.{kind}[{at}].resources.{side}"
                    yield forbidden_field(field, f"resource {side} cannot be removed")
    containers = spec.get("containers") or ()
    rest = _with_resources(containers, before.get("containers") or ())
    for container, other in zip(rest, before.get("containers") or (), strict=True):
        if not same(other, container):
            yield forbidden_field("spec", f"{_ONLY} are mutable")
    yield from _init_problems(spec.get("initContainers") or (), before.get("initContainers") or ())


def _init_problems(new: Sequence[Value], old: Sequence[Value]) -> Iterator[Problem]:
    rest = _with_resources(new, old)
    for at, (container, masked, other) in enumerate(zip(new, rest, old, strict=True)):
        field = f"spec.initContainers[{at}]"
        if not same(other, masked):
            yield forbidden_field(field, f"{_ONLY} for init or sidecar containers are mutable")
        if container.get("restartPolicy") != "Always" and not same(other, container):
            for policy in container.get("resizePolicy") or ():
                if policy.get("restartPolicy") == "RestartContainer":
                    yield forbidden_field(
                        field,
                        "non-sidecar init containers with a resize policy of RestartContainer "
                        "cannot be resized",
                    )


def _side(container: Value, side: str) -> Collection[str]:
    return (container.get("resources") or {}).get(side) or ()


def _is_less(new: Collection[str], old: Collection[str]) -> bool:
    return any(name not in new for name in old)


def _with_resources(new: Sequence[Value], old: Sequence[Value]) -> list[dict[str, Any]]:
    """The new containers with as much cpu and memory as the old ones have; they have no claims."""
    made = []
    for container, before in zip(new, old, strict=True):
        masked = _masked(container.get("resources") or {}, before.get("resources")) or {}
        resources = {name: value for name, value in masked.items() if name != "claims"}
        made.append({**container, "resources": resources})
    return made


def _masked(new: Value | None, old: Value | None) -> dict[str, Any] | None:
    """The new resources with the old cpu and memory; nothing where that is all that there is."""
    if new is None:
        return None
    made = {name: value for name, value in new.items() if name not in _SIDES}
    for side in _SIDES:
        amounts, before = new.get(side) or {}, (old or {}).get(side) or {}
        kept = {name: amount for name, amount in amounts.items() if name not in _COMPUTE}
        kept |= {name: before[name] for name in _COMPUTE if name in before}
        if kept:
            made[side] = kept
    return made if made or old is not None else None
