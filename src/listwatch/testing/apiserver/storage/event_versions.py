"""Events in their two forms: `v1` and `events.k8s.io/v1` show the same objects."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["as_core_event", "as_new_event"]

_RENAMED = {
    "involvedObject": "regarding",
    "message": "note",
    "source": "deprecatedSource",
    "firstTimestamp": "deprecatedFirstTimestamp",
    "lastTimestamp": "deprecatedLastTimestamp",
    "count": "deprecatedCount",
    "reportingComponent": "reportingController",
}
_LEFT_OUT = frozenset({"reportingComponent", "reportingInstance"})
_BACK = {new: old for old, new in _RENAMED.items()}


def as_new_event(value: Mapping[str, Any]) -> dict[str, Any]:
    """A `v1` event with the member names of `events.k8s.io/v1`, which leaves these out if empty."""
    return {
        _RENAMED.get(name, name): member
        for name, member in value.items()
        if member or name not in _LEFT_OUT
    }


def as_core_event(value: Mapping[str, Any]) -> dict[str, Any]:
    """The way back."""
    return {_BACK.get(name, name): member for name, member in value.items()}
