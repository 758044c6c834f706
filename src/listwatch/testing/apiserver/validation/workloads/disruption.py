"""PodDisruptionBudgets."""

from __future__ import annotations

from collections.abc import Iterator

from ..basics import selector_at
from ..checks import Checks, Value
from ..conditions import conditions_problems
from ..internal_values import internal
from ..problems import Problem, invalid_field, unsupported_field
from .replicas import count_problems, member
from .rollouts import amount_problems, too_large_problems

__all__ = ["CHECKS"]

_EVICTIONS = ("AlwaysAllow", "IfHealthyBudget")
_COUNTS = ("disruptionsAllowed", "currentHealthy", "desiredHealthy", "expectedPods")


def _create(new: Value) -> Iterator[Problem]:
    spec = member(new, "spec")
    limits = [name for name in ("minAvailable", "maxUnavailable") if spec.get(name) is not None]
    if len(limits) > 1:
        shown = internal("policy.v1.PodDisruptionBudgetSpec", spec)
        yield invalid_field("spec", shown, "minAvailable and maxUnavailable cannot be both set")
    for name in limits:
        yield from amount_problems(f"spec.{name}", spec[name])
        yield from too_large_problems(f"spec.{name}", spec[name])
    yield from selector_at("spec.selector", spec.get("selector"))
    policy = spec.get("unhealthyPodEvictionPolicy")
    if policy is not None and policy not in _EVICTIONS:
        yield unsupported_field("spec.unhealthyPodEvictionPolicy", policy, _EVICTIONS)


def _status(new: Value, old: Value) -> Iterator[Problem]:
    status = member(new, "status")
    yield from conditions_problems("status.conditions", status.get("conditions"))
    yield from count_problems(status, _COUNTS)


CHECKS: dict[str, Checks] = {
    "policy/poddisruptionbudgets": Checks(create=_create, status=_status, metadata=0)
}
