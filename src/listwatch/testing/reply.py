"""What a scripted server answers: a head, and a body in parts, late, never, or with a fault."""

from __future__ import annotations

import asyncio
import json
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from listwatch.rest.errors import ConnectionLost

__all__ = ["HANG", "Hang", "MemoryBody", "Part", "Pause", "Reply"]


@dataclass(frozen=True, slots=True)
class Pause:
    """Nothing comes for so many seconds of loop time, counted from when the part before was there.

    A reader that comes later than that does not wait: the pause is the server's, not the reader's.
    """

    seconds: float


class Hang:
    """The type of `HANG`."""

    def __repr__(self) -> str:
        return "HANG"


HANG: Final = Hang()
"""Nothing comes any more, and the connection stays open: a half-open socket, a stalled server."""

Part: TypeAlias = bytes | Pause | Exception | Hang
"""One step of a body: bytes that arrive in one read, silence, or a fault that ends it."""


class _End:
    """The clean end of a body."""


class MemoryBody:
    """A body that a test writes while somebody reads it: a `ByteStream` without a socket.

    It begins with `parts` and stays open until `end` or `fail`. One `push` is one read.

    >>> body = MemoryBody(b"first")
    >>> body.push(b"second")
    >>> body.end()
    >>> async def read_all() -> list[bytes]:
    ...     return [await body.receive() for _ in range(3)]
    >>> asyncio.run(read_all())
    [b'first', b'second', b'']
    """

    def __init__(self, *parts: Part) -> None:
        self._parts: deque[tuple[float | None, Part | _End]] = deque()
        self._there_at: float | None = (
            None  # loop time at which the part before was there to be read
        )
        self._changed = asyncio.Event()
        self._closed = asyncio.Event()
        self._over = False
        self.push(*parts)

    @property
    def pending(self) -> int:
        """How many parts nobody has received yet: what a server would still have to send."""
        return len(self._parts)

    @property
    def closed(self) -> bool:
        """Whether the reader has closed it."""
        return self._closed.is_set()

    async def wait_closed(self) -> None:
        """Return when the reader has closed it."""
        await self._closed.wait()

    def push(self, *parts: Part) -> None:
        """Let these arrive now, each as one read. From the loop's own thread only."""
        for part in parts:
            self._append(part)

    def end(self) -> None:
        """End the body cleanly."""
        self._append(_End())

    def fail(self, error: Exception) -> None:
        """End the body by raising `error` in its reader, such as a `ConnectionLost`."""
        self._append(error)

    def begin(self) -> None:
        """Start the clock of its pauses now, rather than at the first `receive`."""
        if self._there_at is None:
            self._there_at = asyncio.get_running_loop().time()

    async def receive(self) -> bytes:
        """The next bytes, or `b""` at the end and from then on.

        Raises the error that a test put there, every time, and `ConnectionLost` after `close`.
        Being cancelled loses nothing.
        """
        self.begin()
        while True:
            if self.closed and not self._over:
                raise ConnectionLost("the connection was closed by this side", url="")
            if not self._parts:
                self._changed.clear()
                await self._changed.wait()
                continue
            pushed_at, part = self._parts[0]
            if pushed_at is not None:
                self._there_at = max(self._there_at or 0.0, pushed_at)
            match part:
                case bytes():
                    self._parts.popleft()
                    if part:
                        return part
                case Pause():
                    await self._pass_over(part)
                case _End():
                    self._over = True
                    return b""
                case Exception():
                    raise part
                case Hang():
                    await self._closed.wait()

    def close(self) -> None:
        """Give it up, waking a `receive` that waits. Idempotent."""
        self._closed.set()
        self._changed.set()

    async def _pass_over(self, pause: Pause) -> None:
        over_at = (self._there_at or 0.0) + pause.seconds
        try:
            async with asyncio.timeout_at(over_at):
                await self._closed.wait()
        except TimeoutError:
            self._parts.popleft()
            self._there_at = over_at

    def _append(self, part: Part | _End) -> None:
        if self._parts and isinstance(self._parts[-1][1], _End | Exception | Hang):
            raise ValueError(f"this body is over already: {self._parts[-1][1]!r} was its last part")
        self._parts.append((_now(), part))
        self._changed.set()


@dataclass(frozen=True, slots=True)
class Reply:
    """One answer. It can be given many times, unless its body is a `MemoryBody`.

    `delay` seconds pass before the head is there. `body` is whole, or comes in parts and then ends,
    or is written by the test.

    >>> Reply(200, [b"{", Pause(2.0), b"}"]).status
    200
    """

    status: int = 200
    body: bytes | Sequence[Part] | MemoryBody = b""
    headers: Mapping[str, str] | Iterable[tuple[str, str]] = ()
    delay: float = 0.0

    @classmethod
    def json(cls, value: Any, *, status: int = 200, delay: float = 0.0) -> Reply:
        """An answer of JSON, such as a list, an object or a Status."""
        return cls(status, json.dumps(value).encode(), {"Content-Type": "application/json"}, delay)

    def open_body(self) -> MemoryBody:
        """The body of one answer."""
        if isinstance(self.body, MemoryBody):
            return self.body
        parts: Sequence[Part] = (self.body,) if isinstance(self.body, bytes) else self.body
        body = MemoryBody(*parts)
        if not (parts and isinstance(parts[-1], Exception | Hang)):
            body.end()
        return body


def _now() -> float | None:
    """Loop time, or None outside a loop."""
    try:
        return asyncio.get_running_loop().time()
    except RuntimeError:
        return None
