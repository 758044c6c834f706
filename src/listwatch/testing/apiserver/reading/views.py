"""The forms in which objects are sent: here the whole object, in the version that was asked for."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from functools import cached_property, lru_cache
from typing import Any, Protocol

from ..storage.log import StoredObject
from ..types.served import ResourceType
from .encoding import go_json

__all__ = ["INITIAL_EVENTS_END", "FullView", "ListMetadata", "View", "full_view"]

INITIAL_EVENTS_END = {"k8s.io/initial-events-end": "true"}
"""The annotation of the bookmark behind the initial events."""


class ListMetadata:
    """The metadata of one page of a list."""

    __slots__ = ("continue_", "remaining", "rv")

    def __init__(self, rv: int, continue_: str = "", remaining: int | None = None) -> None:
        self.rv = rv
        self.continue_ = continue_
        self.remaining = remaining
        """How many objects are on later pages, where that is told."""

    @property
    def typed(self) -> dict[str, Any]:
        """In the order of the built-in types; what is empty is left out."""
        value: dict[str, Any] = {"resourceVersion": str(self.rv)}
        if self.continue_:
            value["continue"] = self.continue_
        if self.remaining is not None:
            value["remainingItemCount"] = self.remaining
        return value

    @property
    def custom(self) -> dict[str, Any]:
        """In the order of custom resources, where `continue` is always there."""
        value: dict[str, Any] = {"continue": self.continue_}
        if self.remaining is not None:
            value["remainingItemCount"] = self.remaining
        value["resourceVersion"] = str(self.rv)
        return value


class View(Protocol):
    """How one client sees the objects of one type."""

    @property
    def key(self) -> Hashable:
        """Equal for views that make the same bytes."""
        ...

    @property
    def one_not_list(self) -> str:
        """Why a list cannot be shown; empty: it can. The message of a 406."""
        ...

    @property
    def list_not_one(self) -> str:
        """Why a single object cannot be; likewise."""
        ...

    def one(self, found: StoredObject) -> bytes:
        """An object, without a newline."""
        ...

    def bookmark(self, rv: int, *, end: bool) -> bytes:
        """The object of a BOOKMARK; `end`: the one behind the initial events."""
        ...

    def page(self, items: Iterable[StoredObject], metadata: ListMetadata) -> bytes:
        """The whole body of a list."""
        ...


class FullView:
    """The whole object."""

    one_not_list = ""
    list_not_one = ""

    def __init__(self, of: ResourceType) -> None:
        self._type = of

    @cached_property
    def key(self) -> Hashable:
        return (self._type.api_version, self._type.kind)

    def one(self, found: StoredObject) -> bytes:
        shown = self._type.shown(found.value)
        return found.raw if shown is found.value else go_json(shown)

    def bookmark(self, rv: int, *, end: bool) -> bytes:
        of = self._type
        annotations = {"annotations": INITIAL_EVENTS_END} if end else {}
        names = {"apiVersion": of.api_version, "kind": of.kind}
        if of.custom:
            return go_json({**names, "metadata": {**annotations, "resourceVersion": str(rv)}})
        metadata = {"resourceVersion": str(rv), **annotations}
        return go_json(
            {
                "kind": of.kind,
                "apiVersion": of.api_version,
                "metadata": metadata,
                **of.zero_members,
            }
        )

    def page(self, items: Iterable[StoredObject], metadata: ListMetadata) -> bytes:
        of = self._type
        names = go_json({"kind": of.list_kind, "apiVersion": of.api_version})
        if of.custom:
            return b'{"apiVersion":%b,"items":[%b],"kind":%b,"metadata":%b}\n' % (
                go_json(of.api_version),
                b",".join(map(self.one, items)),
                go_json(of.list_kind),
                go_json(metadata.custom),
            )
        return b'%b,"metadata":%b,"items":[%b]}\n' % (
            names[:-1],
            go_json(metadata.typed),
            b",".join(map(self._item, items)),
        )

    @cached_property
    def _start(self) -> bytes:
        """How an object of a built-in type begins: what an item of a list has not."""
        names = go_json({"kind": self._type.kind, "apiVersion": self._type.api_version})
        return names[:-1] + b","

    def _item(self, found: StoredObject) -> bytes:
        data = self.one(found)
        start = self._start
        if data.startswith(start):
            return b"{" + data[len(start) :]
        value = dict(self._type.shown(found.value))
        value.pop("kind", None)
        value.pop("apiVersion", None)
        return go_json(value)


@lru_cache(maxsize=1024)
def full_view(of: ResourceType) -> FullView:
    return FullView(of)
