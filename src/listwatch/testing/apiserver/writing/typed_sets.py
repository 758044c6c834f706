"""The paths that a configuration sets, and objects without the parts at some paths."""

from __future__ import annotations

from typing import Any

from .field_sets import LEAF, FieldSet, is_member, ordered
from .typed_items import Several, indexed, item_name
from .typed_types import Type

__all__ = ["named_members", "paths_of", "remaining"]


def paths_of(of: Type | None, value: Any) -> FieldSet:
    """The paths that a value says something of: its leaves, each item of a list that is not owned
    as a whole, and each member of a map whose names are free. Raises `TypedError`.
    """
    return _below(of, value) or {}


def _below(of: Type | None, value: Any) -> dict[str, Any] | None:
    """The node of a value; None where nothing of it is in the set."""
    if isinstance(value, dict) and of is not None and of.map is not None:
        inside = of.map
        if inside.atomic:
            return LEAF
        nodes = {}
        for name, member in value.items():
            node = _below(inside.member(name), member)
            if member is None or member == {} or not inside.names(name):
                node = {".": LEAF, **node} if node else LEAF
            if node is not None:
                nodes[f"f:{name}"] = node
        return ordered(nodes) or None
    if isinstance(value, list) and of is not None and of.list is not None:
        if of.list.atomic:
            return LEAF
        nodes = {}
        for name, item in indexed(of.list, value).items():
            node = None if isinstance(item, Several) else _below(of.list.item, item)
            nodes[name] = {".": LEAF, **node} if node else LEAF
        return ordered(nodes) or None
    if value is None and of is not None:
        parts = of.map or of.list
        if parts is not None and not parts.atomic:
            return None
    return LEAF


def named_members(of: Type | None, fields: FieldSet) -> FieldSet:
    """`fields` and every path above one of them that ends in a name of a schema."""
    made: dict[str, Any] = {}
    for name, node in fields.items():
        if name == "." or not node:
            made[name] = node
            continue
        below = None
        named = False
        if name.startswith("f:"):
            if of is not None and of.map is not None:
                below = of.map.member(name[2:])
                named = of.map.names(name[2:])
        elif of is not None and of.list is not None:
            below = of.list.item
        inside = named_members(below, node)
        made[name] = {".": LEAF, **inside} if named and "." not in inside else inside
    return made


def remaining(of: Type | None, value: Any, gone: FieldSet) -> Any:
    """`value` without the parts at some paths; None where that leaves a map or list empty.

    What is owned as a whole goes as a whole.
    """
    if isinstance(value, dict) and of is not None and of.map is not None:
        if not value or of.map.atomic:
            return None
        kept: Any = {}
        for name, member in value.items():
            node = gone.get(f"f:{name}")
            if node is None:
                kept[name] = member
            elif not is_member(node):
                kept[name] = remaining(of.map.member(name), member, node)
        return kept or None
    if isinstance(value, list) and of is not None and of.list is not None:
        if not value or of.list.atomic:
            return None
        kept = []
        for item in value:
            node = gone.get(item_name(of.list, item))
            if node is None:
                kept.append(item)
            elif not is_member(node):
                kept.append(remaining(of.list.item, item, node))
        return kept or None
    return value
