"""Members of objects that are completed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

__all__ = ["change_each", "with_defaults"]

Value = dict[str, Any]


def change_each(value: Value, member: str, change: Callable[[Value], Value]) -> None:
    """Replace the objects in a list that is a member of `value`, if it is one."""
    found = value.get(member)
    if isinstance(found, list):
        value[member] = [change(item) if isinstance(item, dict) else item for item in found]


def with_defaults(value: Any, defaults: Mapping[str, Any]) -> Value:
    """`value`, which need not be there, with what it lacks."""
    given: Value = value if isinstance(value, dict) else {}
    missing = {name: found for name, found in defaults.items() if given.get(name) is None}
    return {**given, **missing} if missing else given
