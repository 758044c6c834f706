"""What client-go tries of a request, a watch above all, told our way (docs/parity.md)."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from listwatch.api import (
    Conflict,
    EventType,
    Forbidden,
    InternalError,
    NotFound,
    Unauthorized,
)
from listwatch.rest import ConnectionLost
from listwatch.rest.errors import ConnectionRefused, TransportTimeout
from listwatch.testing import MemoryBody, Reply, in_turn
from listwatch.watch import broken_by
from tests.rest.scripted import PODS, Asked, busy, client_of, pod, status

pytestmark = pytest.mark.virtual_time


def lines(*events: tuple[str, str]) -> list[bytes]:
    return [
        json.dumps({"type": kind, "object": pod(name)}).encode() + b"\n" for kind, name in events
    ]


@pytest.mark.clause("B6", "A5")
@pytest.mark.parametrize(
    ("code", "body", "headers", "error", "said"),
    [
        (
            403,
            status(403, "Forbidden", "secrets is forbidden"),
            {"Content-Type": "application/json"},
            Forbidden,
            "secrets is forbidden",
        ),
        (403, b"", {}, Forbidden, ""),
        (401, b"", {}, Unauthorized, ""),
        (401, status(401, "Unauthorized"), {}, Unauthorized, ""),
    ],
    ids=["with a Status", "empty", "401 empty", "401 with a Status"],
)
async def test_a_watch_that_is_refused_raises_what_the_server_said(
    code: int, body: bytes, headers: dict[str, str], error: type[Exception], said: str
) -> None:
    client, transport = client_of(in_turn(Reply(code, body, headers)))
    with pytest.raises(error) as caught:
        await client.watch(PODS)
    assert said in str(caught.value)
    assert len(transport.requests) == 1
    assert transport.open_responses == 0


@pytest.mark.clause("B5")
@pytest.mark.parametrize("max_retries", [0, 2])
async def test_a_watch_whose_connection_always_ends_first_is_empty_after_the_retries(
    max_retries: int,
) -> None:
    lost = ConnectionLost("ended before the answer")
    client, transport = client_of(lambda request: lost, max_retries=max_retries)
    async with await client.watch(PODS) as watch:
        assert [event async for event in watch] == []
        assert broken_by(watch) is lost
    assert len(transport.requests) == 1 + max_retries


@pytest.mark.clause("B4")
async def test_a_watch_of_a_server_that_stays_busy_raises_after_the_retries() -> None:
    client, transport = client_of(lambda request: busy(500, "1"), max_retries=2)
    with pytest.raises(InternalError):
        await client.watch(PODS)
    assert [received.time for received in transport.requests] == [0, 1, 2]
    assert transport.open_responses == 0


@pytest.mark.clause("B2", "B4")
@pytest.mark.parametrize("refusals", [0, 3])
async def test_a_watch_that_opens_after_retries_gives_all_its_events(refusals: int) -> None:
    body = lines(("ADDED", "first"), ("MODIFIED", "second"), ("DELETED", "last"))
    answers = [busy(429, "1")] * refusals + [Reply(200, body)]
    client, transport = client_of(in_turn(*answers), max_retries=refusals)
    async with await client.watch(PODS) as watch:
        events = [(event.type, event.object.name) async for event in watch]
    assert events == [
        (EventType.ADDED, "first"),
        (EventType.MODIFIED, "second"),
        (EventType.DELETED, "last"),
    ]
    assert len(transport.requests) == 1 + refusals
    assert transport.open_responses == 0


@pytest.mark.clause("B4", "B5")
async def test_a_busy_answer_then_a_lost_connection_then_a_watch_leaves_nothing_open() -> None:
    bodies = [MemoryBody(b"busy"), MemoryBody(*lines(("ADDED", "a")))]
    for body in bodies:
        body.end()
    client, transport = client_of(
        in_turn(
            Reply(500, bodies[0], {"Retry-After": "1"}),
            ConnectionLost("cut"),
            Reply(200, bodies[1]),
        ),
        max_retries=2,
    )
    async with await client.watch(PODS) as watch:
        assert [event.object.name async for event in watch] == ["a"]
    assert len(transport.requests) == 3
    assert transport.open_responses == 0


LOST = ConnectionLost("reset, or EOF, or a broken pipe")
REFUSED = ConnectionRefused("nobody listens")
SLOW = TransportTimeout("no answer in time")
OK = Reply(200, b"")


def anew(answer: Any) -> Any:
    """An exception carries what happened to it: each request gets its own."""
    return type(answer)(str(answer)) if isinstance(answer, Exception) else answer


@pytest.mark.clause("B4", "B5")
@pytest.mark.parametrize(
    ("answer", "list_retried", "watch_retried"),
    [
        (busy(429, "0"), True, True),
        (busy(503, "0"), True, True),
        (busy(500, None), False, False),
        (busy(429, None), False, False),
        (LOST, False, True),
        (SLOW, False, True),
        (REFUSED, False, False),
        (OK, False, False),
        (busy(301, "0"), False, False),
    ],
    ids=[
        "429 with Retry-After",
        "503 with Retry-After",
        "500 without",
        "429 without",
        "connection lost",
        "timed out",
        "connection refused",
        "200",
        "301 with Retry-After",
    ],
)
@pytest.mark.parametrize("verb", ["list", "watch", "POST", "PATCH", "DELETE"])
async def test_what_is_sent_again(
    answer: Any, list_retried: bool, watch_retried: bool, verb: str
) -> None:
    """client-go repeats a GET whose connection was lost, too: here that is for the caller, unless
    it is a watch.
    """
    client, transport = client_of(lambda request: anew(answer), max_retries=2)
    try:
        match verb:
            case "list":
                await client.get().resource(PODS).raw()
            case "watch":
                async with await client.watch(PODS) as watch:
                    assert [event async for event in watch] == []
            case _:
                await client.request(verb).path("/api/v1/x").body({"a": 1}).raw()
    except Exception as error:
        assert not isinstance(error, AssertionError)  # noqa: PT017 - any refusal will do
    again = watch_retried if verb == "watch" else list_retried
    assert len(transport.requests) == (3 if again else 1)
    assert transport.open_responses == 0


@pytest.mark.clause("B4")
async def test_a_write_is_sent_again_with_its_whole_body() -> None:
    body = b"abcd" * 1000
    answers = [busy(code, "0") for code in (429, 500, 501, 504)]
    client, transport = client_of(in_turn(*answers, Reply(200, b"done")))
    assert await client.request("POST").path("/foo/bar/baz").body(body).raw() == b"done"
    assert [received.request.body for received in transport.requests] == [body] * 5


@pytest.mark.clause("B4")
@pytest.mark.parametrize(("max_retries", "works"), [(0, False), (1, True), (5, True)])
async def test_as_many_retries_as_are_allowed_may_be_needed(max_retries: int, works: bool) -> None:
    asked = Asked(in_turn(busy(429, "1"), Reply(200, b"yes")), max_retries=max_retries)
    if works:
        assert await asked.ends() == b"yes"
        assert asked.times == [0, 1]
    else:
        await asked.fails()
        assert asked.times == [0]


@pytest.mark.clause("B4")
@pytest.mark.parametrize(
    ("answers", "noted"),
    [
        ([busy(), busy(), REFUSED], "429"),
        ([LOST, busy(), busy(), REFUSED], "429"),
        ([LOST, REFUSED], "reset, or EOF"),
        ([SLOW, LOST, REFUSED], "reset, or EOF"),
        ([REFUSED], ""),
    ],
    ids=["busy", "lost, then busy", "lost", "slow, then lost", "nothing before"],
)
async def test_an_error_mentions_the_one_just_before_it(answers: list[Any], noted: str) -> None:
    """client-go mentions the last error, and passes over answers that said when to ask again."""
    error = await Asked(in_turn(*map(anew, answers)), max_retries=8).fails(watch=True)
    assert isinstance(error, ConnectionRefused)
    notes = getattr(error, "__notes__", [])
    assert (len(notes) == 1 and noted in notes[0]) if noted else notes == []


@pytest.mark.clause("A5")
@pytest.mark.parametrize(
    ("code", "error"),
    [(500, InternalError), (409, Conflict), (404, NotFound), (401, Unauthorized), (403, Forbidden)],
)
@pytest.mark.parametrize("content_type", [None, "application/json", "text/any", "application/,x"])
async def test_an_answer_that_is_no_status_is_the_error_of_its_code(
    code: int, error: type[Exception], content_type: str | None
) -> None:
    headers = {} if content_type is None else {"Content-Type": content_type}
    client, transport = client_of(in_turn(Reply(code, b"aaaaa", headers)))
    with pytest.raises(error) as caught:
        await client.list(PODS)
    assert str(caught.value) != "aaaaa"
    assert "aaaaa" in str(caught.value)
    assert transport.open_responses == 0


@pytest.mark.clause("B8")
async def test_many_requests_at_once_are_each_retried_on_their_own() -> None:
    client, transport = client_of(lambda request: busy(429, "0"), max_retries=3)

    async def one(number: int) -> None:
        with pytest.raises(Exception, match="busy"):
            await client.read(f"/api/v1/{number}")

    async with asyncio.TaskGroup() as group:
        for number in range(20):
            group.create_task(one(number))
    paths = [received.request.path for received in transport.requests]
    assert {path: paths.count(path) for path in paths} == {f"/api/v1/{n}": 4 for n in range(20)}
    assert transport.open_responses == 0
