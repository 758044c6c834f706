"""The answer to a LIST: items and metadata (D7)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from listwatch.api import ListMeta

from .errors import ObjectDecodeError

__all__ = ["ObjectList"]

T = TypeVar("T")


@dataclass(slots=True)
class ObjectList(Generic[T]):
    """One LIST answer, or one page of it. Iterating gives the items."""

    items: list[T]
    metadata: ListMeta
    api_version: str = ""
    kind: str = ""
    """Of the list itself, such as `PodList`."""
    undecodable: list[ObjectDecodeError] = field(default_factory=list)
    """The items that their decoder refused, raw: they are on the server, and not in `items`
    (D6).
    """

    @property
    def resource_version(self) -> str:
        """The state of the server that this list shows, and where a watch goes on from it."""
        return self.metadata.resource_version

    @property
    def continue_(self) -> str:
        """The token for the next page; empty on the last (G3: nothing else says so)."""
        return self.metadata.continue_

    @property
    def remaining_item_count(self) -> int | None:
        """How many items follow on later pages, where the server says it."""
        return self.metadata.remaining_item_count

    def __iter__(self) -> Iterator[T]:
        return iter(self.items)

    def __len__(self) -> int:
        return len(self.items)
