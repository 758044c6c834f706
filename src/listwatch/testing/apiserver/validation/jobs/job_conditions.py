"""Conditions in the status of a Job."""

from __future__ import annotations

from ..checks import Value

__all__ = ["is_false", "is_finished", "is_true"]


def is_true(status: Value, name: str) -> bool:
    return _has(status, name, "True")


def is_false(status: Value, name: str) -> bool:
    return _has(status, name, "False")


def is_finished(status: Value) -> bool:
    """Whether it has ended, well or not."""
    return is_true(status, "Complete") or is_true(status, "Failed")


def _has(status: Value, name: str, value: str) -> bool:
    return any(
        condition.get("type") == name and condition.get("status") == value
        for condition in status.get("conditions") or ()
    )
