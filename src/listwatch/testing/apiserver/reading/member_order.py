"""The order in which the members of an object are written (K7)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["METADATA_ORDER", "alphabetical", "as_custom", "ordered_metadata", "typed"]

METADATA_ORDER = (
    "name",
    "generateName",
    "namespace",
    "selfLink",
    "uid",
    "resourceVersion",
    "generation",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "labels",
    "annotations",
    "ownerReferences",
    "finalizers",
    "managedFields",
)
_EXPONENT_FROM = 1e21
_MAPS = ("labels", "annotations")
_RAW = frozenset({"ControllerRevision"})
"""Kinds whose data are anything, kept as they were sent."""
_SORTED_MEMBERS = frozenset({"data", "binaryData", "parameters"})


def ordered_metadata(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """Metadata of a built-in type: known members in order, maps sorted, nothing empty."""
    ordered = {}
    for name in METADATA_ORDER:
        value = metadata.get(name)
        if value or value == 0:  # grace period 0 is written
            ordered[name] = value
    for name in _MAPS:
        if name in ordered:
            ordered[name] = dict(sorted(ordered[name].items()))
    return ordered


def typed(
    value: Mapping[str, Any], kind: str, api_version: str, members: Mapping[str, Any]
) -> dict[str, Any]:
    """A built-in object: kind, apiVersion, metadata, then `members`; others are dropped.

    `members` has what is written where `value` has none; `...` is nothing.
    """
    ordered = {
        "kind": kind,
        "apiVersion": api_version,
        "metadata": ordered_metadata(value.get("metadata") or {}),
    }
    for name, zero in members.items():
        member = value.get(name)
        if member is None:
            if zero is not ...:
                ordered[name] = _fresh(zero)
        else:
            if name in _SORTED_MEMBERS and kind not in _RAW and isinstance(member, dict):
                member = dict(sorted(member.items()))
            ordered[name] = member
    return ordered


def _fresh(zero: Any) -> Any:
    """A copy that its owner may change."""
    return {name: _fresh(value) for name, value in zero.items()} if isinstance(zero, dict) else zero


def alphabetical(value: Mapping[str, Any]) -> dict[str, Any]:
    """A copy with the members of every object in it sorted, as custom objects are written."""
    return {name: _sorted(value[name]) for name in sorted(value)}


def _sorted(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _sorted(value[name]) for name in sorted(value)}
    if isinstance(value, list):
        return [_sorted(item) for item in value]
    return value


def as_custom(value: Mapping[str, Any]) -> dict[str, Any]:
    """`alphabetical`, with whole numbers as Go writes them, whatever they came as: without a point.

    >>> as_custom({"b": 2.0, "a": 0.5})
    {'a': 0.5, 'b': 2}
    """
    return {name: _as_custom(value[name]) for name in sorted(value)}


def _as_custom(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _as_custom(value[name]) for name in sorted(value)}
    if isinstance(value, list):
        return [_as_custom(item) for item in value]
    if isinstance(value, float) and value.is_integer() and abs(value) < _EXPONENT_FROM:
        return int(value)
    return value
