"""DaemonSets."""

from __future__ import annotations

from collections.abc import Iterator

from ..basics import non_negative, selector_at
from ..checks import Checks, Value
from ..pod.templates import template_problems, template_warnings
from ..problems import Problem, invalid_field
from .replicas import (
    collision_problems,
    count_problems,
    endless_pod_problems,
    member,
    not_selected,
    same_selector,
    template_of,
)
from .rollouts import daemon_set_strategy_problems

__all__ = ["CHECKS"]

_COUNTS = (
    "currentNumberScheduled",
    "numberMisscheduled",
    "desiredNumberScheduled",
    "numberReady",
    "observedGeneration",
    "updatedNumberScheduled",
    "numberAvailable",
    "numberUnavailable",
    "collisionCount",
)


def _create(new: Value) -> Iterator[Problem]:
    spec = member(new, "spec")
    selector, template = spec.get("selector"), member(spec, "template")
    wrong = list(selector_at("spec.selector", selector))
    yield from wrong
    if not wrong:
        yield from not_selected(selector, template, "spec.template")
    if (
        selector is not None
        and not selector.get("matchLabels")
        and not selector.get("matchExpressions")
    ):
        yield invalid_field("spec.selector", selector, "empty selector is invalid for daemonset")
    yield from template_problems(template, "spec.template")
    yield from endless_pod_problems(member(template, "spec"), "spec.template.spec", "DaemonSet")
    yield from non_negative("spec.minReadySeconds", spec.get("minReadySeconds"))
    yield from daemon_set_strategy_problems(member(spec, "updateStrategy"), "spec.updateStrategy")
    yield from non_negative("spec.revisionHistoryLimit", spec.get("revisionHistoryLimit"))


def _update(new: Value, old: Value) -> Iterator[Problem]:
    yield from same_selector(new, old)
    yield from _create(new)


def _status(new: Value, old: Value) -> Iterator[Problem]:
    status = member(new, "status")
    yield from count_problems(status, _COUNTS)
    yield from collision_problems(status, member(old, "status"))


def _warnings(new: Value) -> Iterator[str]:
    yield from template_warnings(template_of(new), "spec.template")


def _update_warnings(new: Value, old: Value) -> Iterator[str]:
    if template_of(new) != template_of(old):
        yield from _warnings(new)


CHECKS = {
    "apps/daemonsets": Checks(
        create=_create,
        update=_update,
        status=_status,
        warnings=_warnings,
        update_warnings=_update_warnings,
    )
}
