"""Two readings of one set, compared (H16, K11)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from listwatch.api import ListOptions, ListWatchError, PartialObjectMetadata
from listwatch.wire import ObjectList

from .identity import Identify, identity_of
from .pager import Pager
from .undecodable import Undecodable

__all__ = ["MetadataLister", "SetsDiffer", "Shown", "differing", "read_identities"]

Shown = Mapping[str, tuple[str, str]]
"""uid and RV by key."""

_NAMED = 3


class SetsDiffer(ListWatchError):
    """Two ways to read one set gave different ones; `keys` are those that differ."""

    def __init__(self, keys: list[str], what: str) -> None:
        named = ", ".join(keys[:_NAMED]) + (" ..." if len(keys) > _NAMED else "")
        super().__init__(f"{what}: {len(keys)} objects differ: {named}")
        self.keys = keys


class _HasMetadata(Protocol):
    async def alist_metadata(self, options: ListOptions, /) -> ObjectList[Any]: ...


class MetadataLister:
    """The metadata of a source's objects as a lister of its own."""

    def __init__(self, source: _HasMetadata) -> None:
        self.alist = source.alist_metadata


async def read_identities(
    pager: Pager[Any], options: ListOptions, identify: Identify = identity_of
) -> dict[str, tuple[str, str]]:
    """The uid and RV of each object of a list. Raises as `Pager` does, and `MalformedObject`."""
    found: dict[str, tuple[str, str]] = {}
    async for page in pager.pages(options):
        if page.restarted:
            found.clear()
        raw = [Undecodable.of(problem.raw, problem) for problem in page.list.undecodable]
        for item in (*page.list.items, *raw):
            whole = not isinstance(item, PartialObjectMetadata)
            key, uid, rv = identify(item) if whole else identity_of(item)
            found[key] = uid, rv
    return found


def differing(one: Shown, other: Shown) -> list[str]:
    """The keys under which the two show different objects."""
    return [key for key in {**one, **other} if one.get(key) != other.get(key)]
