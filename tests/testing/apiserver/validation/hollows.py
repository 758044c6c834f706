"""Objects of which something is missing, null or empty, which checks have to bear."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from listwatch.testing.apiserver.validation.checks import Checks

__all__ = ["bears_hollows", "hollows"]


_MAPS = frozenset({"capacity", "labels", "matchLabels", "nodeSelector", "podFixed"})
"""Members that are maps of texts."""


def hollows(value: Any, *, in_map: bool = False) -> Iterator[Any]:
    """Variants of `value`, each without one thing, as they may be after Go has read them: there is
    no null in lists, nor among the texts of a map.
    """
    if isinstance(value, dict):
        yield {}
        for name, item in value.items():
            without = {key: found for key, found in value.items() if key != name}
            yield without
            if not in_map:
                yield {**without, name: None}
            below = hollows(item, in_map=name in _MAPS)
            yield from ({**value, name: hollow} for hollow in below)
    elif isinstance(value, list):
        yield []
        for at, item in enumerate(value):
            for hollow in hollows(item):
                yield [*value[:at], hollow, *value[at + 1 :]]


def bears_hollows(checks: Checks, obj: dict[str, Any]) -> None:
    """Everything that is looked at in an object, in all its hollows. Raises what the checks do."""
    metadata = {"name": "a", "namespace": "b"}
    whole = {**obj, "metadata": metadata}
    for hollow in hollows(obj):
        new = {**hollow, "metadata": metadata}
        list(checks.create(new))
        list(checks.warnings(new))
        for first, second in ((new, whole), (whole, new)):
            list(checks.of_update(first, second))
            for name in ("status", *checks.subresources):
                list(checks.of_subresource(name, first, second))
