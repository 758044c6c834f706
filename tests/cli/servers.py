"""Servers for the command to talk to: over loopback, each in a thread and an event loop of its own,
because the command runs an event loop itself.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from typing import Any, TypeAlias, TypeVar

from listwatch.testing import Match, Recording, ReplayServer

S = TypeVar("S")

Answer: TypeAlias = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@contextmanager
def in_thread(make: Callable[[], AbstractAsyncContextManager[S]]) -> Iterator[S]:
    """Enter it in another thread, and leave it there."""
    started: list[S] = []
    ready = threading.Event()
    ended: list[Callable[[], object]] = []
    errors: list[BaseException] = []

    async def live() -> None:
        loop, end = asyncio.get_running_loop(), asyncio.Event()
        async with make() as server:
            started.append(server)
            ended.append(lambda: loop.call_soon_threadsafe(end.set))
            ready.set()
            await end.wait()

    def run() -> None:
        try:
            asyncio.run(live())
        except BaseException as error:  # the test is to see it, not the thread's end
            errors.append(error)
        finally:
            ready.set()

    thread = threading.Thread(target=run, name="server of a test")
    thread.start()
    ready.wait()
    try:
        if errors:
            raise errors[0]
        yield started[0]
    finally:
        for end in ended:
            end()
        thread.join()
    if errors:
        raise errors[0]


@contextmanager
def replaying(
    recordings: Sequence[Recording], *, match: Match = Match.PATH, **options: Any
) -> Iterator[ReplayServer]:
    with in_thread(lambda: ReplayServer(recordings, match=match, **options)) as server:
        yield server


@contextmanager
def serving(answer: bytes | Answer) -> Iterator[str]:
    """A server whose every connection gets these bytes after its request, and is closed then, or
    does what the function does; its address.
    """

    @asynccontextmanager
    async def make() -> AsyncIterator[str]:
        tasks: dict[asyncio.Task[None], asyncio.StreamWriter] = {}

        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            try:
                await reader.readuntil(b"\r\n\r\n")
                if callable(answer):
                    await answer(reader, writer)
                else:
                    writer.write(answer)
                    await writer.drain()
            except (OSError, asyncio.IncompleteReadError):
                pass  # the command has gone, which it may do at any time
            finally:
                writer.close()
                writer.transport.abort() if writer.transport.get_write_buffer_size() else None

        def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            task = asyncio.get_running_loop().create_task(serve(reader, writer))
            tasks[task] = writer
            task.add_done_callback(tasks.pop)

        server = await asyncio.start_server(connected, "127.0.0.1", 0)
        try:
            yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        finally:
            await _turns()  # asyncio leaks who is let in while its server closes (Python 3.11)
            server.close()
            for task, writer in tuple(tasks.items()):
                task.cancel()
                writer.close()  # a task that has not begun yet will not do it
            await asyncio.gather(*tasks, return_exceptions=True)
            await server.wait_closed()
            await _turns()

    with in_thread(make) as url:
        yield url


async def _turns() -> None:
    """Let connections open that are about to, and those close that have been told to: it takes
    asyncio some turns.
    """
    for _ in range(5):
        await asyncio.sleep(0)


def http(
    body: bytes, *, status: str = "200 OK", content_type: str | None = "application/json"
) -> bytes:
    """An answer with that body."""
    kind = f"Content-Type: {content_type}\r\n" if content_type is not None else ""
    head = f"HTTP/1.1 {status}\r\n{kind}Content-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    return head.encode() + body


STREAM = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n"
"""The head of a watch that ends with its connection."""


def streaming(*pieces: bytes) -> Answer:
    """A watch that sends these, and then nothing more, until the command goes."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(STREAM)
        for piece in pieces:
            writer.write(piece)
            await writer.drain()
        await reader.read()

    return answer


async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Half open: the request is taken, and nothing comes back."""
    await reader.read()
