"""What client-go tries of its RetryWatcher, told as stories of ours (docs/parity.md)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from listwatch.api import Event, EventType, ListOptions, Status
from listwatch.cache.retry_watcher import RetryWatcher
from listwatch.watch import EmptyWatch, StreamWatcher
from tests.cache.scripted import Still, added, error_event, failure, pod, refusal, settle, until
from tests.watch.streams import ScriptDecoder

pytestmark = pytest.mark.virtual_time

Story = Callable[[int], list[Event[Any]] | Exception | EmptyWatch[Any]]
"""What comes of the watch of this number, from 1 on."""


def at(rv: int) -> Event[Any]:
    return added(pod(f"pod-{rv}", rv))


class Server:
    """Opens watches; each is sent what the story has for it, from the RV on that is asked for.
    With `closes_after` so many events are sent, then it ends; else it stays open.
    """

    def __init__(self, story: Story, *, closes_after: int | None = None, all: bool = False) -> None:
        self.story = story
        self.closes_after = closes_after
        self.sends_all = all
        self.opened: list[str] = []

    async def awatch(self, options: ListOptions, /) -> Any:
        self.opened.append(options.resource_version)
        found = self.story(len(self.opened))
        if isinstance(found, Exception):
            raise found
        if isinstance(found, EmptyWatch):
            return found
        began = int(options.resource_version)
        sent = [event for event in found if self.sends_all or rv_of(event) > began]
        if self.closes_after is not None and sent:
            return StreamWatcher(ScriptDecoder(*([e] for e in sent[: self.closes_after]), []))
        return StreamWatcher(ScriptDecoder(*([event] for event in sent)))


def rv_of(event: Event[Any]) -> float:
    if event.type is EventType.ERROR:
        return float("inf")
    return int(event.object.resource_version)


async def follow(server: Server, rv: str, seconds: float = 300) -> list[str]:
    """RVs of what is delivered within this time; `ERROR code` for an error, `end` for the end."""
    found: list[str] = []

    async def read() -> None:
        async with RetryWatcher(server, rv, rng=Still()) as watch:
            async for event in watch:
                error = event.type is EventType.ERROR
                found.append(
                    f"ERROR {event.status.code}" if error else event.object.resource_version
                )
        found.append("end")

    task = asyncio.create_task(read())
    await until(seconds)
    task.cancel()
    await asyncio.wait([task])
    return found


@pytest.mark.clause("L1")
@pytest.mark.parametrize("rv", ["", "0"])
async def test_it_begins_at_a_point_in_history(rv: str) -> None:
    with pytest.raises(ValueError, match="no point in history"):
        RetryWatcher(Server(lambda number: []), rv)


@pytest.mark.clause("L1", "L2")
@pytest.mark.parametrize(
    "first", [refusal(500), refusal(503), refusal(429), RuntimeError("test error"), EmptyWatch()]
)
async def test_a_watch_that_does_not_open_is_opened_again(first: Any) -> None:
    server = Server(lambda number: first if number == 1 else [at(2)])
    assert await follow(server, "1", 100) == ["2"]
    assert server.opened[:2] == ["1", "1"]


@pytest.mark.clause("L2")
@pytest.mark.parametrize("code", [410, 403, 401])
async def test_what_waiting_does_not_mend_is_delivered_as_an_error_and_the_end(code: int) -> None:
    """client-go asks for ever for what has expired before it could watch."""
    server = Server(lambda number: refusal(code))
    assert await follow(server, "5") == [f"ERROR {code}", "end"]
    assert server.opened == ["5"]


@pytest.mark.clause("L2")
@pytest.mark.parametrize("code", [410, 403, 401])
async def test_the_same_in_a_watch_ends_it_after_what_came_before(code: int) -> None:
    server = Server(lambda number: [at(5), at(6), failure(code), at(7), at(8)])
    assert await follow(server, "5") == ["6", f"ERROR {code}", "end"]
    assert server.opened == ["5"]


@pytest.mark.clause("L1")
@pytest.mark.parametrize(
    ("rv", "sent", "delivered"),
    [
        ("1", [2], ["2"]),
        ("1", [1, 2], ["2"]),
        ("3", [2], []),
        ("3", [2, 3, 4], ["4"]),
    ],
)
async def test_what_is_at_or_below_where_it_stands_is_not_delivered(
    rv: str, sent: list[int], delivered: list[str]
) -> None:
    server = Server(lambda number: [at(each) for each in sent], all=True)
    assert await follow(server, rv, 100) == delivered
    assert server.opened == [rv]


FOREIGN = Event(EventType.ERROR, pod("no-status", 1))


@pytest.mark.clause("L2", "D3")
@pytest.mark.parametrize(
    "error",
    [failure(504), failure(500), error_event(Status(code=666)), FOREIGN],
    ids=["timeout", "internal error", "unexpected code", "no Status at all"],
)
async def test_any_other_error_in_a_watch_is_gone_on_after(error: Event[Any]) -> None:
    story = {1: [at(6), error, at(7)]}
    server = Server(lambda number: story.get(number, [at(6), at(7)]))
    assert await follow(server, "5", 100) == ["6", "7"]
    assert server.opened == ["5", "6"]


@pytest.mark.clause("L1")
@pytest.mark.parametrize(
    ("rv", "history", "size", "opened"),
    [
        ("5", [6], 1, "56"),
        ("4", [5, 6], 1, "456"),
        ("4", [5, 7], 1, "457"),
        ("2", [5, 7], 1, "257"),
        ("2", [5, 6, 7, 9], 1, "25679"),
        ("2", [1, 2, 5, 6, 7, 9], 1, "25679"),
        ("1", [1, 2, 5, 6, 7, 9], 2, "1579"),
    ],
)
async def test_watches_that_end_again_and_again_make_one_stream(
    rv: str, history: list[int], size: int, opened: str
) -> None:
    server = Server(lambda number: [at(each) for each in history], closes_after=size)
    expected = [str(each) for each in history if each > int(rv)]
    assert await follow(server, rv, 145) == expected
    assert "".join(server.opened) == opened


@pytest.mark.clause("E3", "L1")
async def test_stopping_it_with_events_that_nobody_read_ends_it() -> None:
    server = Server(lambda number: [at(2), at(3)])
    watch: RetryWatcher[Any] = RetryWatcher(server, "1", rng=Still())
    events = aiter(watch)
    assert (await anext(events)).object.resource_version == "2"
    watch.stop()
    watch.stop()
    assert [event async for event in events] == []
    await settle()
    assert asyncio.get_running_loop().time() == 0
