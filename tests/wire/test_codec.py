"""The seams of an encoding: what a codec of another kind would have to do."""

from __future__ import annotations

from typing import cast

import pytest

from listwatch.api import Event, ListMeta, PartialObjectMetadata, Status
from listwatch.wire import (
    Codec,
    Envelope,
    Framer,
    LengthDelimitedFramer,
    RawList,
    WatchDecoder,
    codec_for,
    decode_list,
    length_delimited_frame,
)


class LettersCodec:
    """An encoding as unlike JSON as can be: `T:object`, length-delimited."""

    media_type = "application/letters"
    media_types = frozenset({"application/letters", "application/letters-stream"})

    def framer(self) -> Framer:
        return LengthDelimitedFramer()

    def decode_envelope(self, frame: bytes) -> Envelope:
        kind, _, raw = frame.partition(b":")
        return Envelope(kind.decode(), raw)

    def decode_bookmark(self, raw: bytes) -> PartialObjectMetadata:
        return PartialObjectMetadata(kind="Letter")

    def decode_status(self, raw: bytes) -> Status:
        return Status(code=int(raw))

    def decode_list(self, body: bytes) -> RawList:
        return RawList("v1", "LetterList", ListMeta(), body.split(b","))


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
