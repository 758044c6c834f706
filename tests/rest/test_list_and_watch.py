"""LIST and WATCH: what is made of the answer, over a transport without sockets."""

from __future__ import annotations

import asyncio
import logging
from typing import Any, assert_type

import msgspec
import pytest

from listwatch.api import (
    APIError,
    Event,
    EventType,
    Forbidden,
    Unstructured,
)
from listwatch.rest.errors import ConnectionLost, UnexpectedContent
from listwatch.rest.transport import HTTPRequest
from listwatch.testing import HANG, MemoryBody, Reply, in_turn
from listwatch.watch import broken_by
from listwatch.wire import ListDecodeError, decode_dict
from tests.rest.scripted import PODS, WIDGETS, Pod, client_of, pod, pod_list, replay
from tests.support.vectors import vector, vectors

pytestmark = pytest.mark.virtual_time


class TestList:
    @pytest.mark.clause("B2", "D7")
    async def test_the_list_of_a_real_server(self) -> None:
        client, _ = client_of(in_turn(replay(vector("k-list-pods"))))
        found = await client.list(PODS)
        assert found.kind == "PodList"
        assert found.resource_version
        assert found.items
        assert {item.kind for item in found} == {"Pod"}

    async def test_it_is_typed_by_its_decoder(self) -> None:
        client, _ = client_of(lambda request: Reply.json(pod_list(pod("x"))))
        lazy = await client.list(PODS)
        assert_type(lazy.items, list[Unstructured])
        plain = await client.list(PODS, decoder=decode_dict)
        assert_type(plain.items, list[dict[str, Any]])
        assert plain.items[0]["metadata"]["name"] == "x"

    @pytest.mark.clause("D6")
    async def test_items_that_cannot_be_decoded_are_kept_apart_and_logged_by_their_key(
        self, caplog: pytest.LogCaptureFixture
    ) -> None:
        items = [pod("good", node="n"), pod("bad", node=1), pod("worse", node=2)]
        client, _ = client_of(in_turn(Reply.json(pod_list(*items))))
        found = await client.list(PODS, decoder=msgspec.json.Decoder(Pod).decode)
        assert len(found.items) == 1
        assert [problem.key for problem in found.undecodable] == ["a/bad", "a/worse"]
        logged = [r.getMessage() for r in caplog.records if r.name == "listwatch.rest"]
        assert [key in message for key, message in zip(("a/bad", "a/worse"), logged, strict=True)]

    @pytest.mark.clause("B6")
    @pytest.mark.parametrize("content_type", [None, "", "nonsense", "application/", "json"])
    async def test_an_absent_or_malformed_type_is_logged_and_read_as_json(
        self, content_type: str | None, caplog: pytest.LogCaptureFixture
    ) -> None:
        headers = {} if content_type is None else {"Content-Type": content_type}
        body = msgspec.json.encode(pod_list(pod("x")))
        client, _ = client_of(in_turn(Reply(200, body, headers)))
        with caplog.at_level(logging.WARNING):
            found = await client.list(PODS)
        assert [item.name for item in found] == ["x"]
        assert "Content-Type" in caplog.text

    @pytest.mark.clause("B6")
    @pytest.mark.parametrize(
        "content_type",
        [
            "application/json",
            "application/json; charset=utf-8",
            "APPLICATION/JSON",
            "application/json;stream=watch",
        ],
    )
    async def test_json_by_any_of_its_names(
        self, content_type: str, caplog: pytest.LogCaptureFixture
    ) -> None:
        body = msgspec.json.encode(pod_list(pod("x")))
        client, _ = client_of(in_turn(Reply(200, body, {"Content-Type": content_type})))
        assert len(await client.list(PODS)) == 1
        assert caplog.text == ""

    @pytest.mark.clause("B6")
    async def test_an_unknown_type_is_an_error_that_quotes_2_kib_of_the_body(self) -> None:
        body = MemoryBody(b"<html>" + b"x" * 3000, HANG)
        client, transport = client_of(in_turn(Reply(200, body, {"Content-Type": "text/html"})))
        with pytest.raises(UnexpectedContent, match="'text/html'") as caught:
            await client.list(PODS)
        assert caught.value.body == b"<html>" + b"x" * 2042
        assert body.closed
        assert transport.open_responses == 0

    async def test_an_answer_that_is_no_list_is_an_error(self) -> None:
        client, transport = client_of(in_turn(Reply.json(pod("x"))))
        with pytest.raises(ListDecodeError):
            await client.list(PODS)
        assert transport.open_responses == 0

    @pytest.mark.clause("A5")
    async def test_the_refusal_of_a_real_server(self) -> None:
        client, transport = client_of(in_turn(replay(vector("k-auth-403-list"))))
        with pytest.raises(Forbidden):
            await client.list(PODS)
        assert transport.open_responses == 0


class TestCancellation:
    pytestmark = pytest.mark.clause("B8")

    @pytest.mark.parametrize("content_type", ["application/json", "text/html"])
    @pytest.mark.parametrize("verb", ["list", "object", "raw"])
    async def test_cancelling_inside_the_body_closes_it(self, verb: str, content_type: str) -> None:
        body = MemoryBody(b'{"kind":', HANG)
        client, transport = client_of(in_turn(Reply(200, body, {"Content-Type": content_type})))
        request = client.get().path("/x")
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(10):
                await getattr(request, verb)()
        assert body.closed
        assert transport.open_responses == 0


class TestWatch:
    @pytest.mark.clause("B2")
    async def test_the_events_come_as_they_arrive(self) -> None:
        body = MemoryBody()
        reply = Reply(200, body, {"Content-Type": "application/json"})
        client, transport = client_of(in_turn(reply))
        async with await client.watch(PODS) as watch:
            events = aiter(watch)
            for name in ("x", "y"):
                waiting = asyncio.ensure_future(anext(events))
                await asyncio.sleep(100)
                body.push(msgspec.json.encode({"type": "ADDED", "object": pod(name)}) + b"\n")
                event = await waiting
                assert_type(event, Event[Unstructured])
                assert (event.type, event.object.key) == (EventType.ADDED, f"a/{name}")
        assert transport.open_responses == 0
        assert body.closed

    @pytest.mark.clause("B2")
    async def test_a_watch_is_typed_by_its_decoder(self) -> None:
        line = msgspec.json.encode({"type": "ADDED", "object": pod("x")})
        client, _ = client_of(in_turn(Reply(200, line, {"Content-Type": "application/json"})))
        async with await client.watch(PODS, decoder=decode_dict) as watch:
            objects = [event.object async for event in watch]
        assert_type(objects, list[dict[str, Any]])
        assert objects == [pod("x")]

    @pytest.mark.clause("B2")
    async def test_every_recorded_watch_in_json_can_be_read(self) -> None:
        recordings = [
            recording
            for recording in vectors()
            if recording.is_watch
            and recording.status == 200
            and (recording.headers.get("Content-Type") or "").startswith("application/json")
            and recording.body
        ]
        assert len(recordings) > 100
        for recording in recordings:
            client, transport = client_of(in_turn(replay(recording)))
            async with await client.watch(WIDGETS) as watch:
                events = [event async for event in watch]
            assert events, recording.name
            assert transport.open_responses == 0

    @pytest.mark.clause("B5")
    async def test_one_that_cannot_be_opened_is_empty_and_says_why(self) -> None:
        client, _ = client_of(lambda request: ConnectionLost("gone"), max_retries=1)
        async with await client.watch(PODS) as watch:
            assert [event async for event in watch] == []
            assert str(broken_by(watch)) == "gone"

    @pytest.mark.clause("B6")
    async def test_an_unknown_type_is_an_error_and_its_connection_closed(self) -> None:
        body = MemoryBody(b"<html>sign in", HANG)
        client, transport = client_of(in_turn(Reply(200, body, {"Content-Type": "text/html"})))
        with pytest.raises(UnexpectedContent, match="sign in"):
            await client.watch(PODS)
        assert body.closed
        assert transport.open_responses == 0

    @pytest.mark.clause("B6")
    async def test_an_absent_type_is_read_as_json(self) -> None:
        line = msgspec.json.encode({"type": "ADDED", "object": pod("x")})
        client, _ = client_of(in_turn(Reply(200, line)))
        async with await client.watch(PODS) as watch:
            assert [event.object.name async for event in watch] == ["x"]

    @pytest.mark.clause("B6", "A5")
    @pytest.mark.parametrize("name", ["k-auth-403-watch", "3-watch-rv-invalid", "k-auth-401-watch"])
    async def test_a_refusal_of_a_real_server_is_an_error_and_leaves_nothing_open(
        self, name: str
    ) -> None:
        recorded = vector(name)
        client, transport = client_of(in_turn(replay(recorded)))
        with pytest.raises(APIError) as caught:
            await client.watch(PODS)
        assert caught.value.code == recorded.status
        assert transport.open_responses == 0

    @pytest.mark.clause("C5")
    async def test_the_limit_of_one_event_is_the_clients(self) -> None:
        lines = [
            msgspec.json.encode({"type": "ADDED", "object": pod(name, padding="x" * size)}) + b"\n"
            for name, size in (("small", 10), ("large", 10_000))
        ]
        reply = Reply(200, lines, {"Content-Type": "application/json"})
        client, _ = client_of(in_turn(reply), max_frame=1000)
        async with await client.watch(PODS) as watch:
            events = [event async for event in watch]
        assert [event.type for event in events] == [EventType.ADDED, EventType.ERROR]

    @pytest.mark.clause("B8")
    async def test_cancelling_the_opening_leaves_nothing(self) -> None:
        async def slow(request: HTTPRequest) -> Reply:
            await asyncio.sleep(10)
            return Reply.json({})

        client, transport = client_of(slow)
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(5):
                await client.watch(PODS)
        assert transport.open_responses == 0
