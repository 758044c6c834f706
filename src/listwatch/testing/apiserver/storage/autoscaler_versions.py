"""HorizontalPodAutoscalers in their two forms. `autoscaling/v1` has members for the use of the
processor only; it keeps everything else in annotations, as JSON.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from ..reading.encoding import go_json
from ..types.go_structs import Decoding, WrongType, in_go_form, struct_named
from ..validation.internal_values import internal
from .autoscaler_metrics import (
    metric_of_old,
    metric_status_of_old,
    old_metric,
    old_metric_status,
)

__all__ = [
    "DEFAULT_USE",
    "as_new_autoscaler",
    "as_old_autoscaler",
    "with_old_status",
    "with_status_kept",
    "without_kept",
]

Value = Mapping[str, Any]

DEFAULT_USE = 80
"""The part of the processor's use, in percent, that is aimed at where nothing is said."""
_API = "io.k8s.api.autoscaling.v2"
_KIND = "HorizontalPodAutoscaler"
_PREFIX = "autoscaling.alpha.kubernetes.io/"
_METRICS = f"{_PREFIX}metrics"
_BEHAVIOR = f"{_PREFIX}behavior"
_CURRENT = f"{_PREFIX}current-metrics"
_CONDITIONS = f"{_PREFIX}conditions"
_KEPT = frozenset(
    {
        _METRICS,
        _BEHAVIOR,
        _CURRENT,
        _CONDITIONS,
        f"{_PREFIX}scale-down-tolerance",
        f"{_PREFIX}scale-up-tolerance",
    }
)
_COMMON = ("scaleTargetRef", "minReplicas", "maxReplicas")
_COMMON_STATUS = ("observedGeneration", "lastScaleTime", "currentReplicas", "desiredReplicas")


def as_old_autoscaler(value: Value) -> dict[str, Any]:
    """An `autoscaling/v2` object as `autoscaling/v1` shows it."""
    spec, status = value.get("spec") or {}, value.get("status") or {}
    metrics = spec.get("metrics") or ()
    uses = [_use(metric) for metric in metrics]
    others = [old_metric(metric) for metric, use in zip(metrics, uses, strict=True) if use is None]
    current = status.get("currentMetrics") or ()
    made = _members(spec, _COMMON)
    use = next((found for found in uses if found is not None), None)
    if use is not None:
        made["targetCPUUtilizationPercentage"] = use
    made_status = _counts(status)
    for metric in current:
        resource = metric.get("resource") or {}
        use = (resource.get("current") or {}).get("averageUtilization")
        if use is not None and metric.get("type") == "Resource" and resource.get("name") == "cpu":
            made_status["currentCPUUtilizationPercentage"] = use
    kept = {
        _METRICS: others,
        _CURRENT: [old_metric_status(metric) for metric in current],
        _CONDITIONS: list(status.get("conditions") or ()),
    }
    texts = {name: go_json(found).decode() for name, found in kept.items() if found}
    behavior = spec.get("behavior")
    if behavior is not None:
        shown = internal("autoscaling.v2.HorizontalPodAutoscalerBehavior", behavior)
        texts[_BEHAVIOR] = go_json(shown).decode()
    return _whole(value, "autoscaling/v1", texts, made, made_status)


def as_new_autoscaler(value: Value) -> dict[str, Any]:
    """An `autoscaling/v1` object as `autoscaling/v2` shows it."""
    annotations = (value.get("metadata") or {}).get("annotations") or {}
    spec, status = value.get("spec") or {}, value.get("status") or {}
    made, made_status = _members(spec, _COMMON), _counts(status)
    old = _kept_list(annotations, _METRICS)
    metrics = _decoded("MetricSpec", [metric_of_old(found) for found in old])
    use = spec.get("targetCPUUtilizationPercentage")
    if use is None and not metrics:
        use = DEFAULT_USE
    if use is not None:
        target = {"type": "Utilization", "averageUtilization": use}
        metrics.append({"type": "Resource", "resource": {"name": "cpu", "target": target}})
    made["metrics"] = metrics
    behavior = _parsed(annotations, _BEHAVIOR)
    if isinstance(behavior, dict):
        found = _decoded("HorizontalPodAutoscalerBehavior", [_with_json_names(behavior)])
        if found and found[0]:
            made["behavior"] = found[0]
    old = _kept_list(annotations, _CURRENT)
    current = _decoded("MetricStatus", [metric_status_of_old(found) for found in old])
    use = status.get("currentCPUUtilizationPercentage")
    if use is not None and not current:
        resource = {"name": "cpu", "current": {"averageUtilization": use}}
        current.append({"type": "Resource", "resource": resource})
    if current:
        made_status["currentMetrics"] = current
    old = _kept_list(annotations, _CONDITIONS)
    conditions = _decoded("HorizontalPodAutoscalerCondition", old)
    if conditions:
        made_status["conditions"] = conditions
    return _whole(value, "autoscaling/v2", {}, made, made_status)


def without_kept(metadata: dict[str, Any]) -> dict[str, Any]:
    """Metadata without the annotations that are for `autoscaling/v1` only."""
    annotations = metadata.get("annotations") or {}
    if not any(name in annotations for name in _KEPT):
        return metadata
    others = {name: text for name, text in annotations.items() if name not in _KEPT}
    return {**metadata, "annotations": others}


def with_status_kept(old: Value, metadata: dict[str, Any]) -> dict[str, Any]:
    """Metadata of an `autoscaling/v1` object that takes the place of `old`, with the annotations
    that are a part of its status, which is not changed so.
    """
    return _with_kept(old, metadata, (_CURRENT, _CONDITIONS))


def with_old_status(old: Value, changed: dict[str, Any]) -> dict[str, Any]:
    """An `autoscaling/v1` object whose status is changed, with what annotations say of it. Those
    that are a part of its spec stay.
    """
    metadata = _with_kept(old, changed["metadata"], (_METRICS, _BEHAVIOR))
    return as_old_autoscaler(as_new_autoscaler({**changed, "metadata": metadata}))


def _with_kept(old: Value, metadata: dict[str, Any], names: Iterable[str]) -> dict[str, Any]:
    before = (old.get("metadata") or {}).get("annotations") or {}
    annotations = metadata.get("annotations") or {}
    kept = {name: before[name] for name in names if name in before}
    given = {name: annotations[name] for name in names if name in annotations}
    if kept == given:
        return metadata
    others = {name: text for name, text in annotations.items() if name not in given}
    return {**metadata, "annotations": {**others, **kept}}


def _whole(
    value: Value,
    api_version: str,
    kept: Mapping[str, str],
    spec: dict[str, Any],
    status: dict[str, Any],
) -> dict[str, Any]:
    metadata = dict(without_kept(value.get("metadata") or {}))
    annotations = {**(metadata.get("annotations") or {}), **kept}
    metadata.pop("annotations", None)
    if annotations:
        metadata["annotations"] = dict(sorted(annotations.items()))
    made = {**value, "apiVersion": api_version, "metadata": metadata, "spec": spec}
    if status or "status" in value:
        made["status"] = status
    return in_go_form(api_version, _KIND, made, {})


def _use(metric: Value) -> int | None:
    """What is aimed at of the processor's use, where that is what the metric is."""
    resource = metric.get("resource") or {}
    if metric.get("type") != "Resource" or resource.get("name") != "cpu":
        return None
    found: int | None = (resource.get("target") or {}).get("averageUtilization")
    return found


def _members(value: Value, names: Iterable[str]) -> dict[str, Any]:
    return {name: value[name] for name in names if value.get(name) is not None}


def _counts(status: Value) -> dict[str, Any]:
    """Of the members of both versions those that say something."""
    found = _members(status, _COMMON_STATUS)
    return {name: each for name, each in found.items() if each or not name.endswith("Replicas")}


def _parsed(annotations: Mapping[str, str], name: str) -> Any:
    """What an annotation has kept; None where it is no JSON, as anybody can write it."""
    try:
        return json.loads(annotations[name]) if name in annotations else None
    except (ValueError, RecursionError):
        return None


def _kept_list(annotations: Mapping[str, str], name: str) -> list[dict[str, Any]]:
    found = _parsed(annotations, name)
    is_list = isinstance(found, list) and all(isinstance(each, dict) for each in found)
    return found if is_list else []


def _decoded(name: str, values: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """`values` as the real server reads them; nothing where one is none of that type."""
    struct = struct_named(f"{_API}.{name}")
    try:
        return [struct.decode(each, "", "", Decoding()) for each in values]
    except (WrongType, RecursionError):
        return []


def _with_json_names(value: Any) -> Any:
    if isinstance(value, dict):
        return {
            name[:1].lower() + name[1:]: _with_json_names(found) for name, found in value.items()
        }
    return [_with_json_names(found) for found in value] if isinstance(value, list) else value
