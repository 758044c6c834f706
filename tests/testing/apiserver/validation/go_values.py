"""Values of the right JSON types, and else whatever."""

from __future__ import annotations

from random import Random
from typing import Any

from listwatch.testing.apiserver.types.go_structs import (
    Decoding,
    GoList,
    GoValue,
    Struct,
    WrongType,
    struct_of,
)
from listwatch.testing.apiserver.types.go_values import Quantity

__all__ = ["any_value", "decoded_value", "member_of"]

_TEXTS = ("", "a", "b", "Not_Valid!", "/a/../b", "a.b/c", "hugepages-2Mi", "ä\n", "\\", "10.0.0.1")
_NUMBERS = (-1, 0, 1, 2, 300, 70000)
_AMOUNTS = ("0", "-1", "1500m", "1Ki")


def member_of(api_version: str, kind: str, *path: str) -> GoValue:
    """A member of a built-in type."""
    node: Any = struct_of(api_version, kind)
    for name in path:
        node = node.fields[name][0]
    found: GoValue = node
    return found


def any_value(node: Any, rng: Random, likely: float = 0.5) -> Any:
    """A value of the type of `node`. `likely`: how likely it is that a member is there; those
    below it are less so.
    """
    if rng.random() < 0.05:
        return None
    if isinstance(node, Struct):
        return {
            name: any_value(child, rng, likely * 0.8)
            for name, (child, _) in node.fields.items()
            if rng.random() < likely
        }
    item = getattr(node, "item", None)
    if item is not None:
        values = [any_value(item, rng, likely) for _ in range(rng.randrange(3))]
        if isinstance(node, GoList):
            empty = {} if isinstance(item, Struct) else item.zero
            return [empty if value is None else value for value in values]
        return {rng.choice(_TEXTS): value or "" for value in values}
    kind = getattr(node, "kind", "")
    if kind == "boolean":
        return rng.random() < 0.5
    if kind in ("integer", "number"):
        return rng.choice(_NUMBERS)
    return rng.choice(_AMOUNTS if isinstance(node, Quantity) else _TEXTS)


def decoded_value(node: GoValue, rng: Random, likely: float = 0.9) -> Any:
    """Likewise, as a server has read it: nothing in it is null but what may be."""
    while True:
        try:
            return node.decode(any_value(node, rng, likely) or {}, "", "", Decoding())
        except WrongType:
            continue
