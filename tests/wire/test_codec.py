"""The seams of an encoding: what a codec of another kind would have to do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import pytest

from listwatch.api import Event, ListMeta, PartialObjectMetadata, Status
from listwatch.wire import (
    Codec,
    Envelope,
    Framer,
    LengthDelimitedFramer,
    ListFramer,
    ListHead,
    ObjectDecoder,
    WatchDecoder,
    codec_for,
    decode_list,
    length_delimited_frame,
)

T = TypeVar("T")


class LettersCodec:
    """An encoding as unlike JSON as can be: `T:object`, length-delimited."""

    media_type = "application/letters"
    media_types = frozenset({"application/letters", "application/letters-stream"})

    def serves(self, decoder: ObjectDecoder[Any], form: str) -> bool:
        return not form

    def object_bytes(self, body: bytes) -> bytes:
        return body

    def framer(self) -> Framer:
        return LengthDelimitedFramer()

    usual_beginnings = ()
    usual_end = b""

    def decode_envelope(self, frame: bytes) -> Envelope:
        kind, _, raw = frame.partition(b":")
        return Envelope(kind.decode(), raw)

    def decode_bookmark(self, raw: bytes) -> PartialObjectMetadata:
        return PartialObjectMetadata(kind="Letter")

    def decode_status(self, raw: bytes) -> Status:
        return Status(code=int(raw))

    def list_framer(self) -> ListFramer:
        return CommaFramer()

    def decode_list(self, outside: bytes) -> ListHead:
        return ListHead("v1", "LetterList", ListMeta())

    def item_decoder(
        self, decoder: ObjectDecoder[T], head: ListHead
    ) -> Callable[[bytes | memoryview], T]:
        return lambda item: decoder(bytes(item))

    def is_typed(self, item: bytes | memoryview) -> bool:
        return True


class CommaFramer:
    """Its items have commas between them, and there is nothing else."""

    limit = 0
    unusual = 0
    outside = b""

    def __init__(self) -> None:
        self._body = b""

    def feed(self, data: bytes, /) -> list[bytes | memoryview]:
        self._body += data
        return []

    def end(self) -> list[bytes | memoryview]:
        return list(self._body.split(b","))

    def recut(self, index: int, /) -> None:
        return None


@pytest.mark.clause("B9", "D6")
def test_another_encoding_fits_under_the_same_watch_decoder() -> None:
    codec: Codec = LettersCodec()
    stream = b"".join(map(length_delimited_frame, [b"ADDED:a", b"ERROR:410", b"BOOKMARK:x"]))
    added, error, bookmark = cast(
        "list[Event[str]]", WatchDecoder(bytes.decode, codec=codec).feed(stream)
    )
    assert added.object == "a"
    assert error.status is not None
    assert error.status.code == 410
    assert isinstance(bookmark.object, PartialObjectMetadata)
    assert decode_list(b"a,b", bytes.decode, codec=codec).items == ["a", "b"]
    assert codec_for("application/letters-stream; x=y", [codec]) is codec
