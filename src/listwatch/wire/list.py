"""The answer to a LIST: items and metadata (D7)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from listwatch.api import ListMeta

from .codec import Codec
from .decoders import ObjectDecoder, object_decode_error
from .errors import ObjectDecodeError
from .json_codec import JSON_CODEC

__all__ = ["ObjectList", "decode_list"]

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


def decode_list(
    body: bytes, decoder: ObjectDecoder[T], *, codec: Codec = JSON_CODEC
) -> ObjectList[T]:
    """Read a whole LIST body.

    Items that lack kind and apiVersion, as typed ones do, get the list's, so that an object is the
    same from LIST and from WATCH. Raises `ListDecodeError` where the body is no list, and the
    `APIError` of a Status that came in its place.
    """
    raw = codec.decode_list(body)
    items: list[T] = []
    undecodable: list[ObjectDecodeError] = []
    for item in raw.items:
        if isinstance(item, ObjectDecodeError):
            undecodable.append(item)
            continue
        try:
            items.append(decoder(item))
        except Exception as error:  # anybody's code: one object it fails on costs no other (D6)
            undecodable.append(object_decode_error(item, error))
    return ObjectList(items, raw.metadata, raw.api_version, raw.kind, undecodable)
