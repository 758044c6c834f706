"""A configuration merged into an object: what the configuration says wins, part by part."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .typed_items import Several, indexed, item_name
from .typed_types import ListType, Type

__all__ = ["merged"]


def merged(of: Type | None, live: Any, config: Any) -> Any:
    """`live` with `config` in it. Neither is changed. Raises `TypedError`.

    What the configuration leaves out stays, in the parts that are owned one by one; a null there
    counts as said.
    """
    if of is None or not (live or config):
        return config
    if isinstance(live or config, dict) and isinstance(config or live, dict):
        if of.map is None or of.map.atomic:
            return config
        result = dict(live or {})
        for name, value in (config or {}).items():
            if name in result:
                result[name] = merged(of.map.member(name), result[name], value)
            else:
                result[name] = value
        return result
    if isinstance(live or config, list) and isinstance(config or live, list):
        if of.list is None or of.list.atomic:
            return config
        return _list(of.list, live or [], config or [])
    return config


def _list(of: ListType, live: Sequence[Any], config: Sequence[Any]) -> list[Any]:
    """Items in the order of the configuration; those that only the live list has keep their place
    among the ones that both have.
    """
    items = of.item
    mine, now = indexed(of, live), indexed(of, config)
    left = [item_name(of, item) for item in live]
    right = list(now)
    shared = iter([name for name in right if name in mine])
    awaited = next(shared, None)
    done: set[str] = set()
    made: list[Any] = []

    def both(name: str) -> Any:
        before, after = mine.get(name), now[name]
        if name not in mine or isinstance(before, Several):
            return after
        return merged(items, before, after)

    at = to = 0
    while at < len(left) or to < len(right):
        if at < len(left) and to < len(right):
            name = left[at]
            if name == right[to]:
                done.add(name)
                made.append(both(name))
                at, to = at + 1, to + 1
                awaited = next(shared, None)
                continue
            if name in now and awaited is not None and name != awaited:
                at += 1  # its turn comes with the configuration's order
                continue
        if at < len(left):
            name = left[at]
            if name not in now:
                made.append(live[at])
                at += 1
                continue
            if name in done:
                at += 1
        if to < len(right):
            name = right[to]
            done.add(name)
            made.append(both(name))
            to += 1
            if name == awaited:
                awaited = next(shared, None)
    return made
