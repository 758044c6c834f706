"""Sets of field paths as `fieldsV1` writes them.

A set is a tree: `{"f:data": {".": {}, "f:a": {}}}` holds the paths `data` and `data.a`. An empty
node is a path without others below it; `.` says that a path is in the set besides those below it.
Sets are shared and never changed; each function gives back an argument that it would only copy.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from .typed_items import in_order

__all__ = [
    "LEAF",
    "FieldSet",
    "difference",
    "intersection",
    "is_member",
    "ordered",
    "paths",
    "union",
    "without",
]

FieldSet = Mapping[str, Any]

LEAF: dict[str, Any] = {}
"""A path without others below it; one for all, since sets are never changed."""


def is_member(node: FieldSet | None) -> bool:
    """Whether a node stands for a path that is in the set itself."""
    return node is not None and (not node or "." in node)


def ordered(nodes: dict[str, Any]) -> dict[str, Any]:
    """One level of a set, in the order in which it is written."""
    if len(nodes) < 2:
        return nodes
    return {name: nodes[name] for name in in_order(nodes)}


def union(one: FieldSet, other: FieldSet) -> FieldSet:
    """The paths of both."""
    if not other:
        # Nothing below: the path itself must be in.
        return one if not one or "." in one else {".": {}, **one}
    if not one:
        return other if "." in other else {".": {}, **other}
    changed: dict[str, Any] | None = None
    for name, below in other.items():
        mine = one.get(name)
        joined = below if mine is None else union(mine, below) if name != "." else mine
        if joined is not mine:
            if changed is None:
                changed = dict(one)
            changed[name] = joined
    if changed is None:
        return one
    return ordered(changed) if len(changed) > len(one) else changed


def difference(one: FieldSet, other: FieldSet) -> FieldSet | None:
    """The paths of `one` that are not in `other`; None where there are none."""
    if not one:
        return None if not other or "." in other else one
    takes_self = not other or "." in other
    changed: dict[str, Any] | None = None
    if takes_self and "." in one:
        changed = dict(one)
        del changed["."]
    for name, below in other.items():
        mine = one.get(name)
        if mine is None or name == ".":
            continue
        left = difference(mine, below)
        if left is not mine:
            if changed is None:
                changed = dict(one)
            if left is None:
                del changed[name]
            else:
                changed[name] = left
    if changed is None:
        return one
    if len(changed) == 1 and "." in changed:
        return {}
    return changed or None


def intersection(one: FieldSet, other: FieldSet) -> FieldSet | None:
    """The paths of both; None where there are none. Of two whole sets `{}` is none, too."""
    both = is_member(one) and is_member(other)
    below = {
        name: found
        for name, mine in one.items()
        if name != "." and name in other
        if (found := intersection(mine, other[name])) is not None
    }
    if both:
        return {".": LEAF, **below} if below else LEAF
    return below or None


def without(one: FieldSet, other: FieldSet) -> FieldSet | None:
    """The paths of `one` that are neither in `other` nor below one that is; None: none."""
    left: dict[str, Any] = {}
    for name, mine in one.items():
        theirs = other.get(name)
        if theirs is None or name == ".":
            left[name] = mine
        elif not is_member(theirs):
            kept = without(mine, theirs)
            if kept is not None:
                left[name] = kept
    if not one:
        return one
    return left or None


def paths(fields: FieldSet, above: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Each path, as the real server goes through them: those of a level before those below it."""
    names = [name for name in in_order(fields) if name != "."]
    for name in names:
        if is_member(fields[name]):
            yield (*above, name)
    for name in names:
        yield from paths(fields[name], (*above, name))
