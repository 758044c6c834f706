"""The items of lists that are owned one by one, by the names that `fieldsV1` gives them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any

import msgspec

from ..reading.encoding import go_json
from .typed_types import ListType

__all__ = ["Several", "TypedError", "in_order", "indexed", "item_name", "path_text"]

_decode = msgspec.json.Decoder().decode


class TypedError(Exception):
    """A value is not what its type says; the text is the real server's, without the path."""


class Several(list[Any]):
    """The items of one name, where a list has it more than once."""


def item_name(of: ListType, item: Any) -> str:
    """`k:{"name":"a"}` for an item that has keys, `v:"a"` for one of a set. Raises `TypedError`."""
    if not of.keys:
        if item is None:
            raise TypedError("associative list without keys has an element that's an explicit null")
        if isinstance(item, list | dict):
            kind = "list" if isinstance(item, list) else "map/struct"
            raise TypedError(f"associative list without keys has an element that's a {kind} type")
        if isinstance(item, float) and item.is_integer():
            item = int(item)
        return f"v:{go_json(item).decode()}"
    if item is None:
        raise TypedError("associative list with keys may not have a null element")
    if not isinstance(item, dict):
        raise TypedError("associative list with keys may not have non-map elements")
    values = {}
    inside = of.item.map
    for key in sorted(of.keys):
        if key in item:
            values[key] = item[key]
        elif inside is not None and (default := inside.default(key)) is not None:
            values[key] = default
    if not values:
        keys = " ".join(f'"{key}"' for key in of.keys)
        raise TypedError(
            f"associative list with keys has an element that omits all key fields [{keys}] (and "
            "doesn't have default values for any key fields)"
        )
    return f"k:{go_json(values).decode()}"


def indexed(of: ListType, items: Sequence[Any]) -> dict[str, Any]:
    """The items by name, in order; `Several` where a name comes again."""
    found: dict[str, Any] = {}
    for item in items:
        name = item_name(of, item)
        if name in found:
            before = found[name]
            if isinstance(before, Several):
                before.append(item)
            else:
                found[name] = Several([before, item])
        else:
            found[name] = item
    return found


def in_order(names: Iterable[str]) -> list[str]:
    """As the real server writes them: `.`, members, items by key, items by value."""
    return sorted(names, key=_rank)


def _rank(name: str) -> tuple[int, Any]:
    kind = name[:2]
    if kind == "f:":
        return (1, name)
    if kind in ("k:", "v:"):
        return (2 if kind == "k:" else 3, _rank_of_item(name))
    return (0, "") if name == "." else (4, name)


@lru_cache(maxsize=4096)
def _rank_of_item(name: str) -> Any:
    try:
        value = _decode(name[2:])
    except ValueError:  # half of a surrogate pair, which only `json` reads
        value = json.loads(name[2:])
    if name[0] == "k" and isinstance(value, dict):
        return tuple((key, _rank_of_value(value[key])) for key in sorted(value))
    return _rank_of_value(value)


def _rank_of_value(value: Any) -> tuple[int, Any]:
    if isinstance(value, bool):
        return (2, value)
    if isinstance(value, int | float):
        return (0, value)
    if isinstance(value, str):
        return (1, value)
    return (3, go_json(value).decode())


def path_text(names: Iterable[str]) -> str:
    """A path as messages have it: `.spec.containers[name="a"].image`."""
    return "".join(map(_part, names))


def _part(name: str) -> str:
    if name.startswith("f:"):
        return f".{name[2:]}"
    value = json.loads(name[2:])
    if name.startswith("k:"):
        return f"[{','.join(f'{key}={_shown(value[key])}' for key in sorted(value))}]"
    return f"[={_shown(value)}]"


def _shown(value: Any) -> str:
    return go_json(value).decode()
