"""What a protobuf answer gives to a decoder that asked for something else, and whom it names."""

from __future__ import annotations

from typing import NoReturn

import pytest

from listwatch.api import Event
from listwatch.cache import metadata_only
from listwatch.wire import ObjectDecodeError, WatchDecoder
from listwatch.wire.protobuf_codec import PROTOBUF_CODEC
from listwatch.wire.protobuf_object import decode_protobuf
from tests.support.vectors import vector

NODES = vector("k-watchlist-nodes-protobuf").body


@pytest.mark.clause("B9")
def test_a_watch_of_whole_objects_shows_the_metadata_that_was_asked_for() -> None:
    """As from a server that does not know the form."""
    first = WatchDecoder(metadata_only(), codec=PROTOBUF_CODEC).feed(NODES)[0]
    assert isinstance(first, Event)
    assert first.error is None
    assert (first.object.kind, first.object.key) == ("Node", "node-0")


@pytest.mark.clause("D6")
def test_an_object_that_its_decoder_refuses_is_named() -> None:
    class Refusing:
        reads = decode_protobuf.reads

        def __call__(self, raw: bytes) -> NoReturn:
            raise RuntimeError("a bug")

    first = WatchDecoder(Refusing(), codec=PROTOBUF_CODEC).feed(NODES)[0]
    assert isinstance(first, Event)
    assert isinstance(first.error, ObjectDecodeError)
    assert first.error.key == "node-0"
