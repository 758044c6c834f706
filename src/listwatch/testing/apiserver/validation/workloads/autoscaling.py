"""HorizontalPodAutoscalers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...storage.autoscaler_versions import as_new_autoscaler
from ...types.quantities import quantity_value
from ..basics import NOT_NEGATIVE, POSITIVE, texts
from ..checks import Checks, Value
from ..problems import (
    Problem,
    forbidden_field,
    invalid_field,
    required_field,
    unsupported_field,
)
from .metrics import Target, metric_problems, reference_problems
from .replicas import count_problems, member

__all__ = ["CHECKS"]

_SELECTIONS = ("Disabled", "Max", "Min")
_POLICIES = ("Percent", "Pods")
_LONGEST_WINDOW = 3600
_LONGEST_PERIOD = 1800


def _create(new: Value) -> Iterator[Problem]:
    yield from _spec(new, None)


def _update(new: Value, old: Value) -> Iterator[Problem]:
    yield from _spec(new, old)


def _spec(new: Value, old: Value | None) -> Iterator[Problem]:
    """Of both versions as if they were v2."""
    if new.get("apiVersion") == "autoscaling/v1":
        new, old = as_new_autoscaler(new), None if old is None else as_new_autoscaler(old)
    spec = member(new, "spec")
    yield from _limits(spec, 0 if _scales_to_zero(old) else 1)
    target = member(spec, "scaleTargetRef")
    before = None if old is None else member(member(old, "spec"), "scaleTargetRef")
    kept = before is not None and all(
        (target.get(name) or "") == (before.get(name) or "") for name in ("apiVersion", "kind")
    )
    group = Target.ANY if kept else Target.GROUP
    if not kept and target.get("kind") == "ReplicationController":
        group = Target.VERSION
    yield from reference_problems(target, "spec.scaleTargetRef", group)
    metrics = spec.get("metrics") or ()
    described = Target.ANY if old is not None and _has_odd_metric(old) else Target.VERSION
    for at, metric in enumerate(metrics):
        yield from metric_problems(metric, f"spec.metrics[{at}]", described)
    if spec.get("minReplicas") == 0 and not any(
        metric.get("type") in ("Object", "External") for metric in metrics
    ):
        text = "must specify at least one Object or External metric to support scaling to zero "
        yield forbidden_field("spec.metrics", f"{text}replicas")
    behavior = member(spec, "behavior")
    for name in ("scaleUp", "scaleDown"):
        if behavior.get(name) is not None:
            yield from _rules(behavior[name], f"spec.behavior.{name}")


def _limits(spec: Value, least: int) -> Iterator[Problem]:
    low, high = spec.get("minReplicas"), spec.get("maxReplicas") or 0
    if low is not None and low < least:
        yield invalid_field("spec.minReplicas", low, f"must be greater than or equal to {least}")
    if high == 0:
        yield required_field("spec.maxReplicas", "must be set and greater than 0")
    elif high < 0:
        yield invalid_field("spec.maxReplicas", high, "must be greater than or equal to 1")
    if low is not None and high < low:
        text = "must be greater than or equal to `minReplicas`"
        yield invalid_field("spec.maxReplicas", high, text)


def _scales_to_zero(value: Value | None) -> bool:
    """Whether it does already: a new one cannot, without a feature gate that is off."""
    return value is not None and member(value, "spec").get("minReplicas") == 0


def _has_odd_metric(old: Value) -> bool:
    """Whether one is of an object of no version, which is left alone then."""
    return any(
        metric.get("type") == "Object"
        and any(
            reference_problems({"kind": "a", "name": "a", **_version(metric)}, "", Target.VERSION)
        )
        for metric in member(old, "spec").get("metrics") or ()
    )


def _version(metric: Value) -> dict[str, Any]:
    described = member(member(metric, "object"), "describedObject")
    return {"apiVersion": described.get("apiVersion")}


def _rules(rules: Value, path: str) -> Iterator[Problem]:
    field, window = f"{path}.stabilizationWindowSeconds", rules.get("stabilizationWindowSeconds")
    if window is not None and window < 0:
        yield invalid_field(field, window, "must be greater than or equal to zero")
    if window is not None and window > _LONGEST_WINDOW:
        yield invalid_field(field, window, f"must be less than or equal to {_LONGEST_WINDOW}")
    selection = rules.get("selectPolicy")
    if selection is not None and selection not in _SELECTIONS:
        yield unsupported_field(f"{path}.selectPolicy", selection, _SELECTIONS)
    policies = rules.get("policies") or ()
    if not policies:
        yield required_field(f"{path}.policies", "must specify at least one Policy")
    for at, policy in enumerate(policies):
        yield from _policy(policy, f"{path}.policies[{at}]")
    tolerance = rules.get("tolerance")
    if tolerance is not None and quantity_value(tolerance) < 0:
        yield from texts(f"{path}.tolerance", tolerance, [NOT_NEGATIVE])


def _policy(policy: Value, path: str) -> Iterator[Problem]:
    kind, period = policy.get("type") or "", policy.get("periodSeconds") or 0
    if kind not in _POLICIES:
        yield unsupported_field(f"{path}.type", kind, _POLICIES)
    if (policy.get("value") or 0) <= 0:
        yield invalid_field(f"{path}.value", policy.get("value") or 0, POSITIVE)
    if period <= 0:
        yield invalid_field(f"{path}.periodSeconds", period, POSITIVE)
    if period > _LONGEST_PERIOD:
        text = f"must be less than or equal to {_LONGEST_PERIOD}"
        yield invalid_field(f"{path}.periodSeconds", period, text)


def _status(new: Value, old: Value) -> Iterator[Problem]:
    yield from count_problems(member(new, "status"), ("currentReplicas", "desiredReplicas"))


CHECKS: dict[str, Checks] = {
    "autoscaling/horizontalpodautoscalers": Checks(_create, _update, _status)
}
