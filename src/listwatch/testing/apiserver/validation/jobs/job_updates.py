"""What may change of a Job: little, unless it is suspended."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..basics import IMMUTABLE, immutable
from ..checks import Value
from ..internal_values import internal
from ..pod.internal_specs import internal_pod_spec, internal_template
from ..problems import Problem, invalid_field
from ..workloads.replicas import member
from .job_conditions import is_true

__all__ = ["job_update_problems"]

_POLICIES = {"podFailurePolicy": "PodFailurePolicy", "successPolicy": "SuccessPolicy"}
_SCHEDULING = ("nodeSelector", "tolerations", "schedulingGates")


def job_update_problems(new: Value, old: Value) -> Iterator[Problem]:
    now, before = member(new, "spec"), member(old, "spec")
    yield from _completions(now, before)
    yield from immutable("spec.selector", now.get("selector"), before.get("selector"))
    yield from _template(now, old)
    yield from _same(now, before, "completionMode")
    yield from _same(now, before, "podFailurePolicy")
    yield from _same(now, before, "backoffLimitPerIndex")
    yield from _same(now, before, "managedBy")
    yield from _same(now, before, "successPolicy")


def _same(now: Value, before: Value, name: str) -> Iterator[Problem]:
    value = now.get(name)
    if value != before.get(name):
        if value is not None and name in _POLICIES:
            value = internal(f"batch.v1.{_POLICIES[name]}", value)
        yield invalid_field(f"spec.{name}", value, IMMUTABLE)


def _completions(now: Value, before: Value) -> Iterator[Problem]:
    """A Job with indexes may get more or less of them, and as many pods at a time."""
    completions = now.get("completions")
    if now.get("completionMode") != "Indexed":
        yield from immutable("spec.completions", completions, before.get("completions"))
    elif completions not in (None, before.get("completions"), now.get("parallelism")):
        text = "can only be modified in tandem with spec.parallelism"
        yield invalid_field("spec.completions", completions, text)


def _template(now: Value, old: Value) -> Iterator[Problem]:
    """It can change where no pod was made of it yet: where they go, and what they ask for."""
    spec, status = member(old, "spec"), member(old, "status")
    template, before = member(now, "template"), member(spec, "template")
    if template == before:
        return
    waiting = (
        spec.get("suspend")
        and (status.get("startTime") is None or is_true(status, "Suspended"))
        and not status.get("active")
    )
    if not waiting:
        yield invalid_field("spec.template", internal_template(template), IMMUTABLE)
        return
    pod = member(template, "spec")
    if pod != _with_placing_of(pod, member(before, "spec")):
        yield invalid_field("spec.template.spec", internal_pod_spec(pod), IMMUTABLE)


def _with_placing_of(pod: Value, before: Value) -> dict[str, Any]:
    """What the pod was, with those parts of what it is that may differ."""
    made = {name: found for name, found in before.items() if name not in _SCHEDULING}
    made |= {name: pod[name] for name in _SCHEDULING if name in pod}
    affinity = {
        name: found for name, found in member(before, "affinity").items() if name != "nodeAffinity"
    }
    to_nodes = member(pod, "affinity").get("nodeAffinity")
    if to_nodes is not None:
        affinity["nodeAffinity"] = to_nodes
    made.pop("affinity", None)
    if affinity or pod.get("affinity") is not None:
        made["affinity"] = affinity
    for name in ("containers", "initContainers"):
        mine, theirs = pod.get(name) or (), before.get(name) or ()
        if len(mine) == len(theirs) and theirs:
            made[name] = [
                _with_resources_of(now, was) for now, was in zip(mine, theirs, strict=True)
            ]
    return made


def _with_resources_of(now: Value, was: Value) -> dict[str, Any]:
    """What the container was, but for what it asks for, if it is the same one."""
    made = dict(was)
    if was.get("name") == now.get("name"):
        made.pop("resources", None)
        if "resources" in now:
            made["resources"] = now["resources"]
    return made
