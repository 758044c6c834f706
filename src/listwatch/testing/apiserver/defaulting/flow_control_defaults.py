"""The defaults of FlowSchemas and PriorityLevelConfigurations."""

from __future__ import annotations

from typing import Any

__all__ = ["fill_flow_schema", "fill_priority_level"]

Value = dict[str, Any]

_QUEUING = {"queues": 64, "handSize": 8, "queueLengthLimit": 50}


def fill_flow_schema(value: Value) -> None:
    spec = value.get("spec") or {}
    if not spec.get("matchingPrecedence"):
        value["spec"] = {**spec, "matchingPrecedence": 1000}


def fill_priority_level(value: Value) -> None:
    spec = dict(value.get("spec") or {})
    for name, shares in (("exempt", 0), ("limited", 30)):
        level = spec.get(name)
        if isinstance(level, dict):
            defaults = {"nominalConcurrencyShares": shares, "lendablePercent": 0}
            given = {key: item for key, item in level.items() if item is not None}
            spec[name] = _with_queues({**defaults, **given})
    if spec:
        value["spec"] = spec


def _with_queues(level: Value) -> Value:
    response = level.get("limitResponse")
    if not isinstance(response, dict) or not isinstance(response.get("queuing"), dict):
        return level
    queuing = response["queuing"]
    filled = {**queuing, **{name: queuing.get(name) or item for name, item in _QUEUING.items()}}
    return {**level, "limitResponse": {**response, "queuing": filled}}
