"""Strategic merge patch: a merge patch that merges lists too, by the keys of their items.

Which lists merge, and by what, are facts of the built-in types (types/fields.py). Directives in the
patch say otherwise: `$patch`, `$retainKeys`, `$deleteFromPrimitiveList/NAME`,
`$setElementOrder/NAME`.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any

from ..types.fields import Node, schemas

__all__ = ["StrategicMergeError", "go_text", "strategic_merge"]

_PATCH = "$patch"
_RETAIN = "$retainKeys"
_DELETE = "$deleteFromPrimitiveList"
_ORDER = "$setElementOrder"
_OTHER: Node = {}
"""Of members that no schema tells of: they merge as in any merge patch, lists as wholes."""
_BAD_DELETE = "invalid patch format of primitive list"
_BAD_RETAIN = "invalid patch format of retainKeys"
_BAD_ORDER = "invalid patch format of setElementOrder list"
_LIST_OF_LISTS = "lists of lists are not supported"


class StrategicMergeError(Exception):
    """The patch makes no sense; the text is the real server's."""

    def __init__(self, text: str, code: int = 500) -> None:
        self.code = code
        super().__init__(text)


def strategic_merge(node: Node, old: Mapping[str, Any], patch: Mapping[str, Any]) -> dict[str, Any]:
    """`old`, of the type of a schema, with `patch` in it. Neither is changed; what the patch does
    not name is shared with the result. Raises `StrategicMergeError`.

    >>> from listwatch.testing.apiserver.types.fields import schemas
    >>> spec = schemas()["io.k8s.api.core.v1.PodSpec"]
    >>> old = {"containers": [{"name": "a", "image": "x"}, {"name": "b"}]}
    >>> strategic_merge(spec, old, {"containers": [{"name": "a", "image": "y"}]})
    {'containers': [{'name': 'a', 'image': 'y'}, {'name': 'b'}]}
    """
    return _map(_resolved(node), old, patch)


def _map(node: Node, old: Mapping[str, Any] | None, patch: Mapping[str, Any]) -> dict[str, Any]:
    if _PATCH in patch:
        directive = patch[_PATCH]
        if directive == "replace":
            return {name: value for name, value in patch.items() if name != _PATCH}
        if directive == "delete":
            return {}
        raise StrategicMergeError(
            f"unknown patch type: {go_text(directive)} in map: {go_text(patch)}"
        )
    made = dict(old or {})
    left = dict(patch)
    _retain(made, left)
    _order(node, made, left)
    for name, value in left.items():
        deletes = name.startswith(_DELETE)
        if deletes:
            name = _key(name, _DELETE, _BAD_DELETE)
        if value is None:
            made.pop(name, None)
        elif name not in made:
            kept = None if deletes else _plain(value)
            if kept is not None:
                made[name] = kept
        else:
            before = made[name]
            if isinstance(before, dict) and isinstance(value, dict):
                if _strategy(node, name) == "replace":
                    made[name] = value
                else:
                    made[name] = _map(_member(node, name), before, value)
            elif isinstance(before, list) and isinstance(value, list):
                made[name] = _merged_list(node, name, before, value, deletes=deletes)
            elif not deletes:
                kept = _plain(value)
                if kept is None:
                    del made[name]
                else:
                    made[name] = kept
    return made


def _plain(value: Any) -> Any:
    """What a patch adds: without nulls, and without what has but a `$patch` directive."""
    if isinstance(value, dict):
        if _PATCH in value:
            return None
        return {name: kept for name, item in value.items() if (kept := _plain(item)) is not None}
    if isinstance(value, list):
        return [kept for item in value if (kept := _plain(item)) is not None or item is None]
    return value


def _retain(made: dict[str, Any], patch: dict[str, Any]) -> None:
    """`$retainKeys`: what of the old object may stay."""
    if _RETAIN not in patch:
        return
    kept = patch.pop(_RETAIN)
    if not isinstance(kept, list):
        raise StrategicMergeError(_BAD_RETAIN, 400)
    for name, value in patch.items():
        if value is None or name.startswith((_DELETE, _ORDER)):
            continue
        if name not in kept:
            raise StrategicMergeError(_BAD_RETAIN, 400)
    for name in tuple(made):
        if name not in kept:
            del made[name]


def _order(node: Node, made: dict[str, Any], patch: dict[str, Any]) -> None:
    """`$setElementOrder/NAME`: merge that list now, and put it in this order."""
    for directive in [name for name in patch if name.startswith(_ORDER)]:
        order = patch.pop(directive)
        if not isinstance(order, list):
            raise _wrong_type("[]interface {}", order)
        name = _key(directive, _ORDER, _BAD_ORDER)
        old, new = made.get(name), patch.get(name)
        for found in (old, new):
            if found is not None and not isinstance(found, list):
                raise _wrong_type("[]interface {}", found)
        key = _merge_key(node, name)
        _check_order(new or [], order, key)
        if name in made and name not in patch:
            merged = list(old or ())
        elif name not in made and name in patch:
            merged = list(new or ())
        elif name in made:
            merged = _merged_list(node, name, old or [], new or [], deletes=False)
        else:
            continue
        made[name] = _in_order(merged, order, old or [], key)
        patch.pop(name, None)


def _check_order(items: Sequence[Any], order: Sequence[Any], key: str) -> None:
    if not items or not order:
        return
    wanted = [item for item in items if not (isinstance(item, dict) and _PATCH in item)]
    at = 0
    for place in order:
        if at < len(wanted) and _same(wanted[at], place, key):
            at += 1
    if at < len(wanted):
        raise StrategicMergeError(
            f"The order in patch list:\n{go_text(list(items))}\n doesn't match {_ORDER} list:\n"
            f"{go_text(list(order))}\n"
        )


def _same(one: Any, other: Any, key: str) -> bool:
    if not key:
        return bool(one == other)
    for item in (one, other):
        if not isinstance(item, dict):
            raise _wrong_type("map[string]interface {}", item)
        if key not in item:
            raise _no_key(item, key)
    return bool(one[key] == other[key])


def _merged_list(
    node: Node, name: str, old: list[Any], new: list[Any], *, deletes: bool
) -> list[Any]:
    if _strategy(node, name) != "merge" and not deletes:
        return new
    if not old and not new:
        return old
    if isinstance((old or new)[0], list):
        raise StrategicMergeError(_LIST_OF_LISTS, 422)
    kinds = {type(item) for item in (*old, *new)}
    if len(kinds) > 1:
        raise StrategicMergeError(
            f"list element types are not identical: [{go_text(old)} {go_text(new)}]"
        )
    key = ""
    if not issubclass(kinds.pop(), dict):
        if deletes:
            gone = _places(new, "")
            return [item for item in old if _hashable(item) not in gone]
        merged = list(dict.fromkeys((*old, *new)))
    else:
        key = _merge_key(node, name)
        if not key:
            raise StrategicMergeError("cannot merge lists without merge key for type struct")
        old, new = _special(old, new, key)
        merged = _items(_member(node, name).get("items") or _OTHER, old, new, key)
    return _in_order(merged, new, old, key)


def _special(old: list[Any], new: list[Any], key: str) -> tuple[list[Any], list[Any]]:
    """The lists after the items of the patch that are but directives."""
    plain = []
    replaces = False
    gone: set[Any] = set()
    for item in new:
        directive = item.get(_PATCH)
        if _PATCH not in item:
            plain.append(item)
        elif directive == "delete":
            if key not in item:
                raise _no_key(item, key)
            gone.add(_hashable(item[key]))
        elif directive == "replace":
            replaces = True
        elif directive == "merge":
            raise StrategicMergeError("merging lists cannot yet be specified in the patch")
        else:
            raise StrategicMergeError(
                f"unknown patch type: {go_text(directive)} in map: {go_text(item)}"
            )
    if gone:
        old = [other for other in old if _hashable(other.get(key)) not in gone]
    return (plain, []) if replaces else (old, plain)


def _items(node: Node, old: list[Any], new: list[Any], key: str) -> list[Any]:
    made = list(old)
    inside = _resolved(node)
    places = _places(made, key)
    for item in new:
        if key not in item:
            raise _no_key(item, key)
        at = places.setdefault(_hashable(item[key]), len(made))
        if at == len(made):
            made.append(item)
        else:
            made[at] = _map(inside, made[at], item)
    return made


def _in_order(merged: list[Any], order: list[Any], old: list[Any], key: str) -> list[Any]:
    """Items that `order` has come in its order; the others keep theirs, and stand before the first
    that they stood before in the old list.
    """

    if key and any(key not in item for item in (*merged, *order)):
        raise _no_key(next(item for item in (*merged, *order) if key not in item), key)
    wanted, before = _places(order, key), _places(old, key)

    def place(places: Mapping[Any, int], item: Any) -> int:
        return places.get(_hashable(item.get(key) if key else item), -1)

    said = deque(
        sorted(
            (item for item in merged if place(wanted, item) >= 0),
            key=lambda item: place(wanted, item),
        )
    )
    others = deque(
        sorted(
            (item for item in merged if place(wanted, item) < 0),
            key=lambda item: place(before, item),
        )
    )
    made = []
    while said and others:
        mine, theirs = place(before, others[0]), place(before, said[0])
        made.append((others if 0 <= mine < theirs else said).popleft())
    return [*made, *said, *others]


def _places(items: Sequence[Any], key: str) -> dict[Any, int]:
    """Where each item is first, by its key; without a key, by itself."""
    places: dict[Any, int] = {}
    for at, item in enumerate(items):
        places.setdefault(_hashable(item.get(key) if key else item), at)
    return places


def _hashable(value: Any) -> Any:
    """The value, or for a map or list something that stands for it."""
    if isinstance(value, dict | list):
        return json.dumps(value, sort_keys=True).encode()
    return value


# What the schemas tell


def _resolved(node: Node) -> Node:
    reference = node.get("ref") or node.get("$ref")
    return schemas()[reference] if reference else node


def _member(node: Node, name: str) -> Node:
    found = (node.get("properties") or _OTHER).get(name)
    if found is None:
        more = node.get("additionalProperties")
        found = more if isinstance(more, dict) else _OTHER
    return _resolved(found)


def _strategy(node: Node, name: str) -> str:
    found = (node.get("properties") or _OTHER).get(name) or _OTHER
    strategies = (found.get("patch-strategy") or "").split(",")
    return next((one for one in strategies if one and one != "retainKeys"), "")


def _merge_key(node: Node, name: str) -> str:
    found = (node.get("properties") or _OTHER).get(name) or _OTHER
    return found.get("patch-merge-key") or ""


def _key(name: str, directive: str, problem: str) -> str:
    prefix, slash, key = name.partition("/")
    if prefix != directive or not slash:
        raise StrategicMergeError(problem, 400)
    return key


def _wrong_type(expected: str, found: Any) -> StrategicMergeError:
    kinds: dict[type, str] = {
        str: "string",
        bool: "bool",
        int: "int64",
        float: "float64",
        list: "[]interface {}",
        dict: "map[string]interface {}",
    }
    actual = kinds.get(type(found), "<nil>")
    return StrategicMergeError(f"expected a {expected}, but received a {actual}")


def _no_key(item: Any, key: str) -> StrategicMergeError:
    return StrategicMergeError(f"map: {go_text(item)} does not contain declared merge key: {key}")


def go_text(value: Any) -> str:
    """As Go's `%v` prints it."""
    if isinstance(value, dict):
        return f"map[{' '.join(f'{name}:{go_text(value[name])}' for name in sorted(value))}]"
    if isinstance(value, list):
        return f"[{' '.join(map(go_text, value))}]"
    if isinstance(value, bool):
        return "true" if value else "false"
    return "<nil>" if value is None else str(value)
