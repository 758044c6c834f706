"""Bodies past aiohttp: it opens the connection and reads the head of an answer; the chunks behind
it are taken apart here, and it gets the last of them, so that it may use the connection again.

Why, and what it saves, is in docs/architecture.md. It leans on a few things that aiohttp does not
promise: that a connector makes its protocols by `_factory`, and that these are a `ResponseHandler`,
which is told of an answer to come by `set_response_params`, gets bytes by `data_received`, and
hands a head on by `feed_data`. Where one of them changes, aiohttp reads the bodies, too: nothing is
taken from it unless it has shown that it has read the head, the whole head, and nothing else.
"""

from __future__ import annotations

import asyncio
import functools
import re
from typing import Any

import aiohttp
from aiohttp.client_proto import ResponseHandler

from ._chunked import Dechunker
from ._inbox import Inbox

__all__ = ["READ_SIZE", "Incoming", "take_bodies"]

READ_SIZE = 320 * 1024
"""Bytes of one read at most: what asyncio's TLS holds back while nobody reads, 256 KiB, and some
records. Larger reads save no more; of 64 KiB they cost a fifth more an event, since each wakes the
reader.
"""

_RECORD = 17 * 1024
"""Bytes of a TLS record, which may be unpacked already and is then counted nowhere."""

_END_OF_HEAD = b"\r\n\r\n"
_BLANK_LINE = re.compile(rb"\n\r?\n")
_OVERLAP = len(_END_OF_HEAD) - 1
_SWITCHING_PROTOCOLS = 101


def take_bodies(connector: aiohttp.BaseConnector) -> bool:
    """Have the connections of `connector` read their chunked bodies here. False where aiohttp is
    not as it was.
    """
    make = getattr(connector, "_factory", None)
    if not isinstance(make, functools.partial) or make.func is not ResponseHandler:
        return False
    # One for all: what a read brings is taken out of it before the next read of any connection.
    buffer = memoryview(bytearray(READ_SIZE))
    connector._factory = functools.partial(  # type: ignore[assignment]  # its own signature
        Incoming, buffer, *make.args, **make.keywords
    )
    return True


class Incoming(ResponseHandler, asyncio.BufferedProtocol):
    """One connection of aiohttp's.

    It reads into a buffer that is there: for each read by `data_received` asyncio allocates 256
    KiB. (uvloop does not, and calls that.) The names of its own attributes are mangled, as those of
    aiohttp are not ours to know.
    """

    inbox: Inbox | None = None
    """Where the body of the newest answer arrives, if it is read here."""

    def __init__(self, buffer: memoryview, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.__buffer = self.__reading = buffer
        self.__loop = asyncio.get_running_loop()
        self.__in_head = False
        self.__strange = False  # the end of a head may have been elsewhere than it was looked for
        self.__tail = b""  # of what has come of the head
        self.__told: tuple[Any, Any] | None = None  # the newest head, and aiohttp's own body
        self.__chunks: Dechunker | None = None  # while a body is read here

    def set_response_params(self, **params: Any) -> None:
        if self.inbox is not None and not self.inbox.is_ended:
            self.__refuse()  # an answer came that nobody had asked for, and this may be its body
        self.inbox = None
        self.__chunks = None
        self.__in_head = True
        self.__strange = False
        self.__tail = b""
        super().set_response_params(**params)

    def get_buffer(self, sizehint: int) -> memoryview:
        # At the end of a TLS connection asyncio reads once and drops the rest.
        enough = sizehint + _RECORD <= len(self.__buffer)
        self.__reading = self.__buffer if enough else memoryview(bytearray(sizehint + _RECORD))
        return self.__reading

    def buffer_updated(self, nbytes: int) -> None:
        if self.__chunks is not None:
            self.__read_body(self.__chunks, self.__reading[:nbytes])
        else:
            self.data_received(bytes(self.__reading[:nbytes]))

    def data_received(self, data: bytes) -> None:
        if data and not self.__in_head and self.inbox is not None and self.inbox.is_ended:
            self.__refuse()  # it answers nothing
            return
        while self.__in_head and data:
            data = self.__read_head(data)
        if self.__chunks is not None:
            if data:
                self.__read_body(self.__chunks, data)
        else:
            super().data_received(data)  # nothing: aiohttp asks itself to go on with what it has

    def feed_data(self, data: Any, *size: Any) -> None:
        self.__told = data
        super().feed_data(data, *size)

    def connection_lost(self, exc: BaseException | None) -> None:
        super().connection_lost(exc)
        if self.inbox is not None:
            lost = exc if isinstance(exc, OSError) else aiohttp.ClientPayloadError("it is cut")
            self.inbox.fail(lost)
        self.__chunks = None

    def __refuse(self) -> None:
        self.force_close()
        if self.transport is not None:
            self.transport.abort()

    def __read_head(self, data: bytes) -> bytes:
        """Feed aiohttp one head, to its last byte and no further; what follows."""
        seen = self.__tail + data
        end = seen.find(_END_OF_HEAD)
        whole = end >= 0
        # aiohttp takes bare line feeds, too, and then has read on in the body.
        early = _BLANK_LINE.search(seen, 0, end + len(_END_OF_HEAD) if whole else len(seen))
        strange = early is not None and early.end() != end + len(_END_OF_HEAD)
        cut = end + len(_END_OF_HEAD) - len(self.__tail) if whole else len(data)
        self.__tail = b"" if whole else seen[-_OVERLAP:]
        self.__strange = self.__strange or strange
        told = self.__feed(data[:cut])
        if told is not None:
            message, body = told
            informational = 100 <= message.code < 200 and message.code != _SWITCHING_PROTOCOLS
            self.__in_head = informational
            plain = whole and not self.__strange
            if plain and not informational and message.chunked and not body.is_eof():
                self.__begin_body(body)
        elif self.transport is None or self.transport.is_closing():
            return b""  # this is no HTTP
        return data[cut:]

    def __feed(self, head: bytes) -> tuple[Any, Any] | None:
        super().data_received(head)
        told, self.__told = self.__told, None
        return told

    def __begin_body(self, body: Any) -> None:
        assert self.transport is not None
        self.__chunks = Dechunker()
        self.inbox = Inbox(self.transport, self.__loop)
        body.on_eof(self.inbox.end)  # comes with the last chunk, and its trailers

    def __read_body(self, chunks: Dechunker, data: bytes | memoryview) -> None:
        assert self.inbox is not None
        if piece := chunks.feed(data):
            self.inbox.put(piece)
        if chunks.rest is not None:
            self.__chunks = None
            super().data_received(chunks.rest)
        elif chunks.fault is not None:
            self.__chunks = None
            self.inbox.fail(chunks.fault)
            if self.transport is not None:
                self.transport.abort()
