from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import Any

import pytest

from listwatch.testing.apiserver.embedded import EmbeddedServer
from listwatch.testing.apiserver.messages import Answer
from listwatch.testing.apiserver.storage.log import WriteLog
from tests.testing.apiserver.fake_core import FakeCore, FakeStream
from tests.testing.apiserver.wire_client import WireClient


class LoggedCore(FakeCore):
    """With a store, as the real core has one."""

    def __init__(self) -> None:
        super().__init__(small=Answer(status=200, body=b"small\n"))
        self.state = self
        self.log = WriteLog(lambda: 0.0)
        self.clock = asyncio.get_running_loop().time
        self.wall = lambda: datetime(2026, 1, 1, tzinfo=UTC)
        for name in ("a", "b"):
            self.log.put("pods", ("default", name), {"metadata": {"name": name}})

    def compact(self, rv: int | None = None) -> None:
        super().compact()
        self.log.compact(self.log.revision if rv is None else rv)

    def end_watches(self) -> None:
        self.done.append("end watches")


class Controlled:
    def __init__(self, server: EmbeddedServer, client: WireClient, core: LoggedCore) -> None:
        self.server, self.client, self.core = server, client, core

    async def ask(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        data = (
            b"" if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
        )
        head = f"{method} /_listwatch/{path} HTTP/1.1\r\nHost: x\r\n"
        self.client.send(f"{head}Content-Length: {len(data)}\r\n\r\n".encode() + data)
        answer = await self.client.answer()
        return answer.status, json.loads(answer.body)


@pytest.fixture
async def control() -> AsyncIterator[Controlled]:
    core = LoggedCore()
    async with EmbeddedServer(core, control=True) as server, WireClient(server) as client:
        yield Controlled(server, client, core)


async def test_it_is_not_there_unless_it_is_asked_for() -> None:
    async with EmbeddedServer(FakeCore()) as server, WireClient(server) as client:
        answer = await client.ask("/_listwatch/state")
        assert answer.status == 404
        assert answer.body == b"404 page not found\n"


async def test_everything_else_goes_to_the_core(control: Controlled) -> None:
    assert (await control.client.ask("/small")).body == b"small\n"


async def test_state_says_what_the_server_holds_and_does(control: Controlled) -> None:
    control.core.answers["/watch"] = FakeStream()
    async with WireClient(control.server) as watching:
        watching.send(b"GET /watch HTTP/1.1\r\nHost: x\r\n\r\n")
        await watching.head()
        status, state = await control.ask("GET", "state")
    assert status == 200
    assert state == {
        "resourceVersion": "3",
        "compactedBefore": "0",
        "objects": {"pods": 2},
        "requests": 1,
        "watches": 1,
        "refusing": False,
        "faults": [],
    }


async def test_faults_are_added_looked_at_and_removed(control: Controlled) -> None:
    status, added = await control.ask("POST", "faults", {"fault": "get /small: answer 503, once"})
    assert (status, added["id"], added["fault"]) == (200, 1, "get /small: answer 503, once")
    assert (await control.client.ask("/small")).status == 503
    assert (await control.client.ask("/small")).status == 200
    _, found = await control.ask("GET", "faults")
    assert found == [
        {
            "id": 1,
            "fault": "get /small: answer 503, once",
            "requests": 2,
            "applied": 1,
            "spent": True,
        }
    ]
    _, log = await control.ask("GET", "log")
    assert [entry["request"] for entry in log] == ["get /small"]
    assert (await control.ask("GET", "faults/1"))[1] == found[0]
    assert (await control.ask("DELETE", "faults/1"))[0] == 200
    assert (await control.ask("DELETE", "faults/1"))[0] == 404
    await control.ask("POST", "faults", {"fault": "any: delay 1s"})
    assert await control.ask("DELETE", "faults") == (200, [])
    assert len(control.server.faults) == 0


async def test_a_line_that_is_no_fault_is_refused_with_its_place(control: Controlled) -> None:
    status, answer = await control.ask("POST", "faults", {"fault": "watch: explode"})
    assert (status, answer["position"]) == (400, 7)
    assert "'explode' is none of" in answer["error"]


async def test_history_can_be_forgotten(control: Controlled) -> None:
    assert await control.ask("POST", "compact", {"resourceVersion": "2"}) == (
        200,
        {"compactedBefore": "2"},
    )
    assert await control.ask("POST", "compact") == (200, {"compactedBefore": "3"})
    status, answer = await control.ask("POST", "compact", {"resourceVersion": "x"})
    assert (status, answer["error"]) == (400, "resourceVersion should be a number")


async def test_restart_ends_all_connections_but_the_one_that_asks(control: Controlled) -> None:
    control.core.answers["/watch"] = FakeStream()
    async with WireClient(control.server) as watching:
        watching.send(b"GET /watch HTTP/1.1\r\nHost: x\r\n\r\n")
        await watching.head()
        assert (await control.ask("POST", "restart", {"history": "lost"}))[0] == 200
        assert await watching.rest() == b""
    assert control.core.done == ["restart lost"]
    assert (await control.ask("GET", "state"))[0] == 200


async def test_restart_can_go_back_to_a_backup(control: Controlled) -> None:
    assert (await control.ask("POST", "restart", {"history": "back"}))[0] == 409
    assert await control.ask("POST", "backup") == (200, {"resourceVersion": "3"})
    assert (await control.ask("POST", "restart", {"history": "back"}))[0] == 200
    assert control.core.done[0].startswith("restart <")


async def test_the_server_can_be_down_for_a_while(control: Controlled) -> None:
    await control.ask("POST", "restart", {"down": 100})
    with pytest.raises(ConnectionRefusedError):
        async with WireClient(control.server):
            pass
    _, state = await control.ask("GET", "state")
    assert state["refusing"] is True


async def test_watches_certificates_and_tokens_have_their_ends(control: Controlled) -> None:
    assert await control.ask("POST", "end-watches") == (200, {"ended": 0})
    assert control.core.done == ["end watches"]
    assert await control.ask("POST", "rotate-certificate", {"authority": True}) == (200, {})
    control.core.auth = None  # type: ignore[attr-defined]
    assert await control.ask("POST", "expire-tokens", {"token": "abc"}) == (200, {})


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "problem"),
    [
        ("GET", "nothing", None, 404, "there is no /_listwatch/nothing; there are backup, "),
        ("PUT", "faults", None, 405, "/_listwatch/faults takes GET and POST and DELETE"),
        ("POST", "faults", b"{", 400, "the body is no JSON"),
        ("POST", "faults", b"[]", 400, "the body should be a JSON object"),
        ("POST", "faults", {"fault": 3}, 400, "fault should be text"),
        ("POST", "restart", {"history": "sideways"}, 400, "history should be kept, lost or back"),
        ("POST", "restart", {"down": -1}, 400, "down should be a number of seconds"),
        ("POST", "restart", {"down": True}, 400, "down should be a number of seconds"),
        ("POST", "rotate-certificate", {"authority": 1}, 400, "authority should be true or false"),
        ("GET", "faults/7", None, 404, "there is no fault 7"),
    ],
)
async def test_what_makes_no_sense_is_refused_in_words(
    control: Controlled, method: str, path: str, body: Any, status: int, problem: str
) -> None:
    found, answer = await control.ask(method, path, body)
    assert found == status
    assert problem in answer["error"]
