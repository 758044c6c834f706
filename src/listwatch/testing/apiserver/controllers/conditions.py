"""Conditions of a status."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

__all__ = ["with_condition", "without_condition"]


def with_condition(
    conditions: Iterable[Mapping[str, Any]], new: Mapping[str, Any]
) -> list[Mapping[str, Any]]:
    """With `new` at the end, instead of the one of its type. One that says the same (type, status
    and reason) stays where it is; of one with the same status its lastTransitionTime stays.
    """
    kept = list(conditions)
    old = next((found for found in kept if found["type"] == new["type"]), None)
    if old is not None and old["status"] == new["status"]:
        if old.get("reason") == new.get("reason"):
            return kept
        new = {**new, "lastTransitionTime": old["lastTransitionTime"]}
    return [*without_condition(kept, new["type"]), new]


def without_condition(
    conditions: Iterable[Mapping[str, Any]], kind: str
) -> list[Mapping[str, Any]]:
    return [condition for condition in conditions if condition["type"] != kind]
