"""What of a pod can be changed once it is made: little, and that is told with what has changed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ..basics import in_range
from ..checks import Value
from ..problems import Problem, forbidden_field, invalid_field, required_field
from ..value_diffs import same, value_diff
from .images import padding_problems
from .internal_specs import internal_pod_spec
from .node_changes import node_affinity_problems, node_selector_change_problems
from .scheduling import removed_gate_problems
from .tolerations import added_toleration_problems

__all__ = ["changed_spec_problems"]

_LONGEST_RUN = (1 << 31) - 1
_CHANGEABLE = ",".join(
    (
        "`spec.containers[*].image`",
        "`spec.initContainers[*].image`",
        "`spec.activeDeadlineSeconds`",
        "`spec.tolerations` (only additions to existing tolerations)",
        "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously "
        "negative)",
    )
)
_KEPT = ("activeDeadlineSeconds", "schedulingGates", "tolerations")
"""What has been looked at when all of it is compared."""


def changed_spec_problems(new: Value, old: Value) -> Iterator[Problem]:
    """What may not be changed of `old`, a pod's spec."""
    for kind in ("containers", "initContainers"):
        containers, before = new.get(kind) or (), old.get(kind) or ()
        if len(containers) != len(before):
            yield forbidden_field(f"spec.{kind}", "pod updates may not add or remove containers")
            return
        for at, container in enumerate(containers):
            if not container.get("image"):
                yield required_field(f"spec.{kind}[{at}].image")
            yield from padding_problems(container, f"spec.{kind}[{at}]")
    deadline, goes_on = _deadline(new, old)
    if deadline is not None:
        yield deadline
    if not goes_on:
        return
    yield from added_toleration_problems(
        new.get("tolerations"), old.get("tolerations"), "spec.tolerations"
    )
    yield from removed_gate_problems(
        new.get("schedulingGates"), old.get("schedulingGates"), "spec.schedulingGates"
    )
    if new == old:
        return
    rest = _without_changeable(new, old)
    if old.get("schedulingGates"):
        yield from _gated_problems(rest, old)
    shown, before = internal_pod_spec(rest), internal_pod_spec(old)
    if shown != before:
        changes = value_diff(before, shown)
        text = f"pod updates may not change fields other than {_CHANGEABLE}\n{changes}"
        yield forbidden_field("spec", text)


def _deadline(new: Value, old: Value) -> tuple[Problem | None, bool]:
    """What is wrong with the time that a pod may run, which only gets shorter; and whether
    anything else is looked at.
    """
    now, before = new.get("activeDeadlineSeconds"), old.get("activeDeadlineSeconds")
    field = "spec.activeDeadlineSeconds"
    if now is None:
        text = "must not update from a positive integer to nil value"
        return (None if before is None else invalid_field(field, None, text)), True
    for problem in in_range(field, now, 0, _LONGEST_RUN):
        return problem, False
    if before is not None and before < now:
        return invalid_field(field, now, "must be less than or equal to previous value"), False
    return None, True


def _without_changeable(new: Value, old: Value) -> dict[str, Any]:
    """The new spec with what was there before wherever that may change."""
    rest = dict(new)
    for kind in ("containers", "initContainers"):
        if new.get(kind):
            rest[kind] = _with_images(new[kind], old[kind])
    for name in _KEPT:
        rest[name] = old.get(name)
    return rest


def _with_images(containers: Sequence[Value], before: Sequence[Value]) -> list[dict[str, Any]]:
    return [
        {**container, "image": old.get("image")}
        for container, old in zip(containers, before, strict=True)
    ]


def _gated_problems(rest: dict[str, Any], old: Value) -> Iterator[Problem]:
    """A pod that is not to be scheduled yet may still get choosier about its node; `rest` gets
    what was there before.
    """
    selector = old.get("nodeSelector")
    if not same(rest.get("nodeSelector"), selector):
        yield from node_selector_change_problems(rest.get("nodeSelector"), selector)
        rest["nodeSelector"] = selector
    affinity, before = rest.get("affinity"), old.get("affinity")
    nodes, nodes_before = _nodes(affinity), _nodes(before)
    if not same(nodes, nodes_before) or (nodes is None) != (nodes_before is None):
        yield from node_affinity_problems(nodes, nodes_before)
        if affinity is None:
            rest["affinity"] = {"nodeAffinity": nodes_before}
        elif before is None and not (affinity.keys() - {"nodeAffinity"}):
            rest["affinity"] = None
        else:
            rest["affinity"] = {**affinity, "nodeAffinity": nodes_before}


def _nodes(affinity: Value | None) -> Value | None:
    found: Value | None = affinity.get("nodeAffinity") if affinity is not None else None
    return found
