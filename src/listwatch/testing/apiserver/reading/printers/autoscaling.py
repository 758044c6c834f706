"""Autoscalers: what they measure, and what they aim at."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from listwatch.api.cells.reading import NONE, UNKNOWN, UNSET, Obj, age, at, items, number, text

from .printer import AGE, NAME, Column, Printer, Printers, name_of, whole

__all__ = ["PRINTERS"]

_MOST = 2
"""Metrics that are shown; more are counted."""
_MEMBERS = {
    "Pods": "pods",
    "Object": "object",
    "External": "external",
    "Resource": "resource",
    "ContainerResource": "containerResource",
}


def _autoscaler(obj: Obj, now: datetime) -> list[Any]:
    target = at(obj, "spec", "scaleTargetRef")
    return [
        name_of(obj),
        f"{text(target, 'kind')}/{text(target, 'name')}",
        _metrics(obj),
        text(obj, "spec", "minReplicas", default=UNSET),
        number(obj, "spec", "maxReplicas"),
        number(obj, "status", "currentReplicas"),
        age(obj, now),
    ]


def _scale(obj: Obj, now: datetime) -> list[Any]:
    counts = (number(obj, part, "replicas") for part in ("spec", "status"))
    return [name_of(obj), *counts, age(obj, now)]


def _metrics(obj: Obj) -> str:
    wanted = items(obj, "spec", "metrics")
    found = items(obj, "status", "currentMetrics")
    shown = [_metric(spec, found[place : place + 1]) for place, spec in enumerate(wanted)]
    percent = at(obj, "spec", "targetCPUUtilizationPercentage")
    if percent is not None:  # of autoscaling/v1
        current = at(obj, "status", "currentCPUUtilizationPercentage")
        shown.append(f"cpu: {UNKNOWN if current is None else f'{current}%'}/{percent}%")
    if not shown:
        return NONE
    more = f" + {len(shown) - _MOST} more..." if len(shown) > _MOST else ""
    return ", ".join(shown[:_MOST]) + more


def _metric(spec: Obj, found: Sequence[Obj]) -> str:
    kind = text(spec, "type")
    if kind not in _MEMBERS:
        return "<unknown type>"
    member = _MEMBERS[kind]
    target = at(spec, member, "target")
    current = at(found[0], member, "current") if found else None
    average = text(target, "averageValue")
    if kind in ("Resource", "ContainerResource"):
        name = text(spec, member, "name")
        if average:
            return f"{name}: {_value(current, 'averageValue')}/{average}"
        used, wanted = at(current, "averageUtilization"), at(target, "averageUtilization")
        return f"{name}: {_percent(used, UNKNOWN)}/{_percent(wanted, '<auto>')}"
    if kind == "Pods":
        return f"{_value(current, 'averageValue')}/{average or '0'}"
    if average:
        return f"{text(current, 'averageValue', default=UNKNOWN)}/{average} (avg)"
    return f"{_value(current, 'value')}/{text(target, 'value', default='0')}"


def _value(current: Any, name: str) -> str:
    return UNKNOWN if current is None else text(current, name, default="0")


def _percent(value: Any, default: str) -> str:
    return default if value is None else f"{value}%"


PRINTERS: Printers = {
    ("autoscaling", "Scale"): Printer(
        (
            replace(NAME, format=""),
            whole("Desired", "How many pods there are to be."),
            whole("Available", "How many pods there are."),
            AGE,
        ),
        _scale,
    ),
    ("autoscaling", "HorizontalPodAutoscaler"): Printer(
        (
            NAME,
            Column("Reference", "What it scales."),
            Column("Targets", "What it measures, and what it aims at."),
            Column("MinPods", "The fewest pods that it leaves."),
            Column("MaxPods", "The most pods that it makes."),
            Column("Replicas", "How many pods there are."),
            AGE,
        ),
        _autoscaler,
    ),
}
