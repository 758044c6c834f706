"""Metrics of HorizontalPodAutoscalers as `autoscaling/v1` has them, in annotations: flat, where
`autoscaling/v2` puts what is looked at, and what is wanted of it, in objects of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

__all__ = ["metric_of_old", "metric_status_of_old", "old_metric", "old_metric_status"]

Value = Mapping[str, Any]

_NOTHING = "0"
_REFERENCE = ("kind", "name", "apiVersion")
_SOURCES = ("object", "pods", "resource", "containerResource", "external")


def _object(value: Any) -> Value:
    return value if isinstance(value, Mapping) else {}


def _present(value: Value) -> dict[str, Any]:
    return {name: found for name, found in value.items() if found is not None}


def _old(metric: Value, converted: Callable[[str, Value], Value]) -> dict[str, Any]:
    """A metric or its status, each of its sources converted to v1."""
    return {
        "type": metric.get("type") or "",
        **{
            name: _present(converted(name, _object(metric[name])))
            for name in _SOURCES
            if metric.get(name) is not None
        },
    }


def _of_old(metric: Value, converted: Callable[[str, Value], Value]) -> dict[str, Any]:
    """The same, to v2. What is of a wrong type stays so."""
    made = {"type": metric.get("type")}
    for name in _SOURCES:
        source = metric.get(name)
        if isinstance(source, Mapping):
            made[name] = _present(converted(name, source))
        elif source is not None:
            made[name] = source
    return made


def old_metric(metric: Value) -> dict[str, Any]:
    """A metric of a v2 spec as v1 writes it."""
    return _old(metric, _old_source)


def _old_source(name: str, source: Value) -> Value:
    metric, target = _object(source.get("metric")), _object(source.get("target"))
    value, average = target.get("value"), target.get("averageValue")
    called = {"metricName": metric.get("name") or ""}
    if name == "object":
        return {
            "target": _reference(_object(source.get("describedObject"))),
            **called,
            "targetValue": value or _NOTHING,
            "selector": metric.get("selector"),
            "averageValue": average,
        }
    if name == "pods":
        selector = metric.get("selector")
        return {**called, "targetAverageValue": average or _NOTHING, "selector": selector}
    if name == "external":
        return {
            **called,
            "metricSelector": metric.get("selector"),
            "targetValue": value,
            "targetAverageValue": average,
        }
    return {
        "name": source.get("name") or "",
        "targetAverageUtilization": target.get("averageUtilization"),
        "targetAverageValue": average,
        "container": (source.get("container") or "") if name == "containerResource" else None,
    }


def _reference(described: Value) -> dict[str, Any]:
    made = {name: described.get(name) or "" for name in _REFERENCE}
    if not made["apiVersion"]:
        del made["apiVersion"]
    return made


def metric_of_old(metric: Value) -> dict[str, Any]:
    """The way back."""
    return _of_old(metric, _source_of_old)


def _source_of_old(name: str, source: Value) -> Value:
    selector = source.get("metricSelector" if name == "external" else "selector")
    metric = _present({"name": source.get("metricName"), "selector": selector})
    average = source.get("targetAverageValue")
    if name == "object":
        average, value = source.get("averageValue"), source.get("targetValue") or _NOTHING
        if average is not None and value == _NOTHING:
            value = None
        target = {"type": "Value" if average is None else "AverageValue", "value": value}
        return {
            "describedObject": source.get("target"),
            "target": _present({**target, "averageValue": average}),
            "metric": metric,
        }
    if name == "pods":
        return {
            "metric": metric,
            "target": {"type": "AverageValue", "averageValue": average or _NOTHING},
        }
    if name == "external":
        value = source.get("targetValue")
        kind = "AverageValue" if value is None else "Value"
        target = {"type": kind, "value": value, "averageValue": average}
        return {"metric": metric, "target": _present(target)}
    use = source.get("targetAverageUtilization")
    kind = "AverageValue" if use is None else "Utilization"
    target = {"type": kind, "averageValue": average, "averageUtilization": use}
    container = source.get("container") if name == "containerResource" else None
    return {"name": source.get("name"), "container": container, "target": _present(target)}


def old_metric_status(metric: Value) -> dict[str, Any]:
    """What is measured, as v1 writes it."""
    return _old(metric, _old_status)


def _old_status(name: str, source: Value) -> Value:
    metric, current = _object(source.get("metric")), _object(source.get("current"))
    value, average = current.get("value") or _NOTHING, current.get("averageValue")
    called = {"metricName": metric.get("name") or ""}
    if name == "object":
        return {
            "target": _reference(_object(source.get("describedObject"))),
            **called,
            "currentValue": value,
            "selector": metric.get("selector"),
            "averageValue": average,
        }
    if name == "pods":
        selector = metric.get("selector")
        return {**called, "currentAverageValue": average or _NOTHING, "selector": selector}
    if name == "external":
        return {
            **called,
            "metricSelector": metric.get("selector"),
            "currentValue": value,
            "currentAverageValue": average,
        }
    return {
        "name": source.get("name") or "",
        "currentAverageUtilization": current.get("averageUtilization"),
        "currentAverageValue": average or _NOTHING,
        "container": (source.get("container") or "") if name == "containerResource" else None,
    }


def metric_status_of_old(metric: Value) -> dict[str, Any]:
    """The way back."""
    return _of_old(metric, _status_of_old)


def _status_of_old(name: str, source: Value) -> Value:
    selector = source.get("metricSelector" if name == "external" else "selector")
    metric = _present({"name": source.get("metricName"), "selector": selector})
    average, value = source.get("currentAverageValue"), source.get("currentValue") or _NOTHING
    if name == "object":
        current = {"value": value, "averageValue": source.get("averageValue")}
        described = source.get("target")
        return {"metric": metric, "current": _present(current), "describedObject": described}
    if name == "pods":
        return {"metric": metric, "current": {"averageValue": average or _NOTHING}}
    if name == "external":
        current = {"value": value, "averageValue": average}
        return {"metric": metric, "current": _present(current)}
    use = source.get("currentAverageUtilization")
    current = {"averageValue": average or _NOTHING, "averageUtilization": use}
    container = source.get("container") if name == "containerResource" else None
    return {"name": source.get("name"), "container": container, "current": _present(current)}
