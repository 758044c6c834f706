"""What differs between two values of a type, as sets of paths."""

from __future__ import annotations

from typing import Any

from .field_sets import LEAF, FieldSet, ordered
from .typed_items import Several, indexed
from .typed_types import Type

__all__ = ["compare", "whole"]

_MISSING: Any = object()


def compare(of: Type | None, old: Any, new: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """The paths in which `new` differs from `old` or adds to it, and those it no longer has.

    Raises `TypedError` for lists whose items have not the keys that they need.
    """
    changed: dict[str, Any] = {}
    removed: dict[str, Any] = {}
    _compare("", of, old, new, changed, removed)
    return changed.get("") or {}, removed.get("") or {}


def whole(of: Type | None, value: Any) -> FieldSet:
    """Every path of a value, itself included."""
    if isinstance(value, dict):
        inside = of.map if of is not None else None
        if not value or inside is None or inside.atomic:
            return LEAF
        below = {f"f:{name}": whole(inside.member(name), found) for name, found in value.items()}
    elif isinstance(value, list):
        items = of.list if of is not None else None
        if not value or items is None or items.atomic:
            return LEAF
        below = {
            name: LEAF if isinstance(found, Several) else whole(items.item, found)
            for name, found in indexed(items, value).items()
        }
    else:
        return LEAF
    below["."] = LEAF
    return ordered(below)


def _compare(
    path: str,
    of: Type | None,
    old: Any,
    new: Any,
    changed: dict[str, Any],
    removed: dict[str, Any],
) -> None:
    """Compare two values, and put what is found below `path`."""
    if old is _MISSING:
        changed[path] = whole(of, new)
        return
    if new is _MISSING:
        removed[path] = whole(of, old)
        return
    if old is new or old == new:
        return
    parts = _parts(of, old, new)
    if parts is None:
        changed[path] = LEAF
        if of is not None and old is not None and new is not None and _differ_in_kind(old, new):
            changed[path] = whole(of, new)
            lost = {name: node for name, node in whole(of, old).items() if name != "."}
            if lost:
                removed[path] = lost
        return
    below: dict[str, Any] = {}
    gone: dict[str, Any] = {}
    for name, member, before, after in parts:
        _compare(name, member, before, after, below, gone)
    if below:
        changed[path] = ordered(below)
    if gone:
        removed[path] = ordered(gone)


def _parts(of: Type | None, old: Any, new: Any) -> list[tuple[str, Type | None, Any, Any]] | None:
    """What is compared instead of two values; None where they are owned as wholes."""
    if of is None or not (old or new):
        return None
    if isinstance(old or new, dict) and isinstance(new or old, dict):
        inside = of.map
        if inside is None or inside.atomic:
            return None
        old, new = old or {}, new or {}
        return [
            (f"f:{name}", inside.member(name), old.get(name, _MISSING), new.get(name, _MISSING))
            for name in {**new, **old}
            if name not in new or name not in old or old[name] is not new[name]
        ]
    if isinstance(old or new, list) and isinstance(new or old, list):
        items = of.list
        if items is None or items.atomic:
            return None
        mine, now = indexed(items, old or ()), indexed(items, new or ())
        return [
            (name, _item_type(items.item, before, after), before, after)
            for name in {**now, **mine}
            for before, after in [(mine.get(name, _MISSING), now.get(name, _MISSING))]
        ]
    return None


def _differ_in_kind(old: Any, new: Any) -> bool:
    """Whether one is a map, or a list, and the other is none."""
    return isinstance(old, dict) != isinstance(new, dict) or (
        isinstance(old, list) != isinstance(new, list)
    )


def _item_type(of: Type, before: Any, after: Any) -> Type | None:
    """Items that share a name are only ever compared all at once."""
    return None if isinstance(before, Several) or isinstance(after, Several) else of
