"""Bodies and decoders for the tests of this room."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from listwatch.api import Event, EventType, Unstructured
from listwatch.watch import BodyDecoder
from listwatch.wire import WatchDecoder, decode_unstructured


def line(name: str, kind: str = "ADDED") -> bytes:
    pod = {"kind": "Pod", "apiVersion": "v1", "metadata": {"name": name, "resourceVersion": "1"}}
    return json.dumps({"type": kind, "object": pod}).encode() + b"\n"


def event(name: str) -> Event[str]:
    return Event(EventType.ADDED, name)


class Body:
    """A body of given pieces. An exception among them is raised; after the last one a read waits
    until the body is closed.
    """

    def __init__(self, *pieces: bytes | Exception, ends: bool = True) -> None:
        self.pieces = [*pieces, *([b""] if ends else [])]
        self.reads = 0
        self.closed = asyncio.Event()

    async def receive(self) -> bytes:
        self.reads += 1
        if not self.pieces:
            await self.closed.wait()
            raise ConnectionResetError("closed under its reader")
        piece = self.pieces.pop(0)
        if isinstance(piece, Exception):
            raise piece
        return piece

    def close(self) -> None:
        self.closed.set()


def decoder_of(body: Body) -> BodyDecoder[Unstructured]:
    return BodyDecoder(body, WatchDecoder(decode_unstructured))


class ScriptDecoder:
    """A Decoder of given batches; an exception among them is raised; after the last one it waits
    until it is cancelled.
    """

    def __init__(self, *batches: list[Event[Any]] | BaseException) -> None:
        self.batches = list(batches)
        self.calls = 0
        self.closings = 0
        self.waiting = asyncio.Event()

    async def decode(self) -> list[Event[Any]]:
        self.calls += 1
        if not self.batches:
            self.waiting.set()
            await asyncio.Event().wait()
        batch = self.batches.pop(0)
        if isinstance(batch, BaseException):
            raise batch
        return batch

    def close(self) -> None:
        self.closings += 1
