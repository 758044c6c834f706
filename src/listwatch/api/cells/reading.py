"""Reading an object that may lack anything, or have null or another type anywhere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, TypeAlias

from .ages import age_text

__all__ = [
    "NONE",
    "UNKNOWN",
    "UNSET",
    "Obj",
    "age",
    "at",
    "condition",
    "items",
    "joined",
    "mapping",
    "number",
    "span",
    "text",
    "time_at",
]

Obj: TypeAlias = Mapping[str, Any]
"""One object, or a part of one, in the form of its JSON."""

NONE = "<none>"
UNKNOWN = "<unknown>"
UNSET = "<unset>"


def at(obj: Any, *path: str) -> Any:
    """The value at `path`; None where there is none.

    >>> at({"spec": {"replicas": 2}}, "spec", "replicas"), at({"spec": None}, "spec", "replicas")
    (2, None)
    """
    for part in path:
        if type(obj) is not dict and not isinstance(obj, Mapping):  # the first costs less
            return None
        obj = obj.get(part)
    return obj


def text(obj: Any, *path: str, default: str = "") -> str:
    """The value at `path` as text, as JSON would write a boolean."""
    value = at(obj, *path)
    if value is None or value == "":
        return default
    return str(value).lower() if isinstance(value, bool) else str(value)


def number(obj: Any, *path: str, default: int = 0) -> int:
    """The whole number at `path`."""
    value = at(obj, *path)
    return value if isinstance(value, int) and not isinstance(value, bool) else default


def items(obj: Any, *path: str) -> Sequence[Any]:
    """The list at `path`; an empty one where there is none."""
    value = at(obj, *path)
    return value if isinstance(value, list | tuple) else ()


def mapping(obj: Any, *path: str) -> Obj:
    """The mapping at `path`; an empty one where there is none."""
    value = at(obj, *path)
    return value if isinstance(value, Mapping) else {}


def condition(obj: Any, kind: str) -> Obj:
    """The condition of that type in the status."""
    for found in items(obj, "status", "conditions"):
        if text(found, "type") == kind:
            return mapping(found)
    return {}


def joined(values: Sequence[str], *, most: int = 0) -> str:
    """The values with commas between them; `<none>` for none, `+ 2 more...` past `most`."""
    if not values:
        return NONE
    if most and len(values) > most:
        return f"{','.join(values[:most])} + {len(values) - most} more..."
    return ",".join(values)


def time_at(obj: Any, *path: str) -> datetime | None:
    """The point in time at `path`, or None."""
    value = at(obj, *path)
    if not isinstance(value, str):
        return None
    try:
        found = datetime.fromisoformat(value)
    except ValueError:
        return None
    return found if found.tzinfo is not None else found.replace(tzinfo=UTC)


def age(obj: Any, now: datetime, *path: str) -> str:
    """How long ago the point in time at `path` is, from the object's creation if none is given."""
    return span(time_at(obj, *(path or ("metadata", "creationTimestamp"))), now)


def span(start: datetime | None, end: datetime) -> str:
    """From one point in time to another, as kubectl writes it; `<unknown>` without a start."""
    return UNKNOWN if start is None else age_text((end - start).total_seconds())
