"""Deployments, ReplicaSets and ReplicationControllers."""

from __future__ import annotations

from collections.abc import Iterator

from ...reading.object_selectors import selector_matches
from ..basics import non_negative, required
from ..checks import Checks, Value
from ..pod.templates import template_warnings
from ..problems import Problem, invalid_field, required_field
from .replicas import (
    at_most,
    changed_workload_warnings,
    collision_problems,
    count_problems,
    has_new_spec,
    labels_of,
    member,
    pod_problems,
    same_selector,
    selected_pod_problems,
    selector_problems,
    template_of,
    workload_warnings,
)
from .rollouts import deployment_strategy_problems

__all__ = ["CHECKS"]

_ALL = "status.replicas"
_REPLICA_SET_COUNTS = (
    "replicas",
    "fullyLabeledReplicas",
    "readyReplicas",
    "availableReplicas",
    "observedGeneration",
    "terminatingReplicas",
)
_DEPLOYMENT_COUNTS = (
    "observedGeneration",
    "replicas",
    "updatedReplicas",
    "readyReplicas",
    "availableReplicas",
    "unavailableReplicas",
    "terminatingReplicas",
    "collisionCount",
)


def _deployment(new: Value) -> Iterator[Problem]:
    spec = member(new, "spec")
    yield from non_negative("spec.replicas", spec.get("replicas"))
    yield from selector_problems(spec.get("selector"), "spec.selector", "deployment")
    yield from selected_pod_problems(spec, "spec", "ReplicaSet")
    yield from deployment_strategy_problems(member(spec, "strategy"), "spec.strategy")
    ready = spec.get("minReadySeconds")
    yield from non_negative("spec.minReadySeconds", ready)
    yield from non_negative("spec.revisionHistoryLimit", spec.get("revisionHistoryLimit"))
    deadline = spec.get("progressDeadlineSeconds")
    yield from non_negative("spec.progressDeadlineSeconds", deadline)
    if deadline is not None and deadline <= (ready or 0):
        text = "must be greater than minReadySeconds"
        yield invalid_field("spec.progressDeadlineSeconds", deadline, text)


def _changed_deployment(new: Value, old: Value) -> Iterator[Problem]:
    yield from _deployment(new)
    yield from same_selector(new, old)


def _deployment_status(new: Value, old: Value) -> Iterator[Problem]:
    status = member(new, "status")
    yield from count_problems(status, _DEPLOYMENT_COUNTS)
    for name in ("updatedReplicas", "readyReplicas", "availableReplicas"):
        yield from at_most(status, name, "replicas", _ALL)
    yield from at_most(status, "availableReplicas", "readyReplicas")
    yield from collision_problems(status, member(old, "status"))


def _replica_set(new: Value) -> Iterator[Problem]:
    spec = member(new, "spec")
    yield from non_negative("spec.replicas", spec.get("replicas"))
    yield from non_negative("spec.minReadySeconds", spec.get("minReadySeconds"))
    yield from selector_problems(spec.get("selector"), "spec.selector", "deployment")
    yield from selected_pod_problems(spec, "spec", "ReplicaSet")


def _changed_replica_set(new: Value, old: Value) -> Iterator[Problem]:
    yield from _replica_set(new)
    yield from same_selector(new, old)


def _replica_set_status(new: Value, old: Value) -> Iterator[Problem]:
    status = member(new, "status")
    yield from count_problems(status, _REPLICA_SET_COUNTS)
    for name in ("fullyLabeledReplicas", "readyReplicas", "availableReplicas"):
        yield from at_most(status, name, "replicas", _ALL)
    yield from at_most(status, "availableReplicas", "readyReplicas")


def _replication_controller(new: Value) -> Iterator[Problem]:
    spec = member(new, "spec")
    yield from non_negative("spec.minReadySeconds", spec.get("minReadySeconds"))
    selector = spec.get("selector")
    yield from required("spec.selector", selector)
    if spec.get("replicas") is None:
        yield required_field("spec.replicas")
    yield from non_negative("spec.replicas", spec.get("replicas"))
    template = spec.get("template")
    if template is None:
        yield required_field("spec.template")
        return
    labels = labels_of(template)
    if selector and not selector_matches({"matchLabels": selector}, labels):
        text = "`selector` does not match template `labels`"
        yield invalid_field("spec.template.metadata.labels", labels, text)
    yield from pod_problems(template, "spec.template", "ReplicationController")


def _changed_controller_warnings(new: Value, old: Value) -> Iterator[str]:
    """The real server takes the wrong one of the two templates."""
    if has_new_spec(new, old):
        yield from template_warnings(template_of(old), "spec.template")


CHECKS = {
    "apps/deployments": Checks(
        create=_deployment,
        update=_changed_deployment,
        status=_deployment_status,
        warnings=workload_warnings,
        update_warnings=changed_workload_warnings,
    ),
    "apps/replicasets": Checks(
        create=_replica_set,
        update=_changed_replica_set,
        status=_replica_set_status,
        warnings=workload_warnings,
        update_warnings=changed_workload_warnings,
    ),
    "replicationcontrollers": Checks(
        create=_replication_controller,
        status=_replica_set_status,
        warnings=workload_warnings,
        update_warnings=_changed_controller_warnings,
    ),
}
