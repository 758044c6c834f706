"""What waits between a connection and the reader of a body; no sockets here."""

from __future__ import annotations

import asyncio

import pytest

from listwatch.rest._inbox import Inbox


class Source(asyncio.ReadTransport):
    """A connection that remembers what it was told."""

    def __init__(self) -> None:
        super().__init__()
        self.told: list[str] = []
        self.closing = False

    def is_closing(self) -> bool:
        return self.closing

    def pause_reading(self) -> None:
        self.told.append("pause")

    def resume_reading(self) -> None:
        self.told.append("resume")


@pytest.fixture
def source() -> Source:
    return Source()


@pytest.fixture
async def inbox(source: Source) -> Inbox:
    return Inbox(source, asyncio.get_running_loop())


async def test_all_that_is_there_is_one_read(inbox: Inbox) -> None:
    inbox.put(b"a")
    inbox.put(b"bc")
    assert await inbox.receive() == b"abc"
    inbox.put(b"d")
    assert await inbox.receive() == b"d"


async def test_a_reader_that_waits_is_woken(inbox: Inbox) -> None:
    reading = asyncio.create_task(inbox.receive())
    await asyncio.sleep(0)
    inbox.put(b"a")
    inbox.put(b"b")
    assert await reading == b"ab"


@pytest.mark.clause("E2")
async def test_what_came_is_given_before_the_end_or_a_failure_and_these_again_and_again(
    inbox: Inbox, source: Source
) -> None:
    inbox.put(b"a")
    inbox.end()
    inbox.fail(OSError("after the end"))
    assert [await inbox.receive() for _ in range(3)] == [b"a", b"", b""]

    other = Inbox(source, asyncio.get_running_loop())
    other.put(b"a")
    other.fail(OSError("first"))
    other.fail(OSError("second"))
    assert await other.receive() == b"a"
    for _ in range(2):
        with pytest.raises(OSError, match="first"):
            await other.receive()


@pytest.mark.parametrize("how", ["end", "fail"])
async def test_the_end_wakes_a_reader(inbox: Inbox, how: str) -> None:
    reading = asyncio.create_task(inbox.receive())
    await asyncio.sleep(0)
    if how == "end":
        inbox.end()
        assert await reading == b""
    else:
        inbox.fail(OSError("gone"))
        with pytest.raises(OSError, match="gone"):
            await reading


@pytest.mark.clause("E1")
async def test_with_128_kib_unread_no_more_is_taken_until_they_are_read(
    inbox: Inbox, source: Source
) -> None:
    for _ in range(128):
        inbox.put(b"x" * 1024)
    assert source.told == []
    inbox.put(b"y")
    inbox.put(b"z")
    assert source.told == ["pause"]
    assert len(await inbox.receive()) == 128 * 1024 + 2
    assert source.told == ["pause", "resume"]
    inbox.put(b"x")
    assert await inbox.receive() == b"x"
    assert source.told == ["pause", "resume"]


@pytest.mark.clause("E1")
async def test_a_body_that_ended_holds_no_connection_back(inbox: Inbox, source: Source) -> None:
    """The next answer comes over it, and may be read before this one is."""
    inbox.put(b"x" * 200_000)
    inbox.end()
    assert source.told == ["pause", "resume"]
    assert len(await inbox.receive()) == 200_000
    assert source.told == ["pause", "resume"]


async def test_a_connection_that_is_closing_is_left_alone(inbox: Inbox, source: Source) -> None:
    source.closing = True
    inbox.put(b"x" * 200_000)
    assert source.told == []
    source.closing = False
    inbox.put(b"x")
    source.closing = True
    await inbox.receive()
    assert source.told == ["pause"]


async def test_it_has_one_reader(inbox: Inbox) -> None:
    reading = asyncio.create_task(inbox.receive())
    await asyncio.sleep(0)
    with pytest.raises(RuntimeError, match="another task"):
        await inbox.receive()
    inbox.put(b"a")
    assert await reading == b"a"


@pytest.mark.clause("B8")
async def test_a_reader_that_was_cancelled_loses_nothing(inbox: Inbox) -> None:
    reading = asyncio.create_task(inbox.receive())
    await asyncio.sleep(0)
    inbox.put(b"a")
    reading.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reading
    assert await inbox.receive() == b"a"
