"""What must hold for whoever uses the client, over real sockets and in real time.

The pace is that of a test: the same policy as always, with hundredths of seconds for seconds.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from listwatch import EventType, is_newer
from listwatch.cache import Changes, Delta, Pacing, ReflectorOptions
from listwatch.client import Client
from listwatch.testing.apiserver import EmbeddedServer

from .conftest import erase, on_server, turn, write

QUICK = ReflectorOptions(
    pacing=Pacing(
        first=0.02, cap=0.1, unreachable_cap=0.1, spread=0.02, burst=1000, slow_burst=1000
    )
)
PATIENCE = 30.0
"""Real seconds, after which something that should have come will not."""


@pytest.fixture
async def client(server: EmbeddedServer) -> AsyncIterator[Client]:
    async with Client(config=server.client_config()) as client:
        yield client


class Replay:
    """What a consumer knows if it believes every event, and what it checks of each."""

    def __init__(self, changes: Changes[Any]) -> None:
        self.changes = changes
        self.known: dict[str, Any] = {}
        self.events: list[Delta[Any]] = []
        self.came = asyncio.Event()

    async def follow(self) -> None:
        async with self.changes as changes:
            async for event in changes:
                self.take(event)
                self.came.set()

    def take(self, event: Delta[Any]) -> None:
        self.events.append(event)
        before = self.known.get(event.key)
        assert event.old == before, f"{event} says {event.old} was there, and {before} was"
        if event.type is EventType.ADDED:
            assert before is None, f"{event} tells again of what is known"
        else:
            assert before is not None, f"{event} tells of what was never there"
        if event.type is EventType.DELETED:
            del self.known[event.key]
            return
        if before is not None:
            assert event.object.resource_version != before.resource_version, f"{event} repeats"
            if event.object.uid == before.uid:
                assert is_newer(event.object.resource_version, before.resource_version)
        self.known[event.key] = event.object

    def shown(self) -> dict[str, str]:
        return {key: obj.resource_version for key, obj in self.known.items()}

    async def until_it_shows(self, server: EmbeddedServer) -> None:
        async with asyncio.timeout(PATIENCE):
            while self.shown() != on_server(server.core):
                self.came.clear()
                await self.came.wait()


async def told(replay: Replay, number: int) -> list[tuple[str, str]]:
    """Takes out what came, once there is so much."""
    async with asyncio.timeout(PATIENCE):
        while len(replay.events) < number:
            replay.came.clear()
            await replay.came.wait()
    found, replay.events = replay.events, []
    return sorted((event.type.value, event.key) for event in found)


class Followed:
    """A replay in a task of its own. What it found wrong is raised at the end."""

    def __init__(self, changes: Changes[Any]) -> None:
        self.replay = Replay(changes)

    async def __aenter__(self) -> Replay:
        self._group = asyncio.TaskGroup()
        await self._group.__aenter__()
        self._task = self._group.create_task(self.replay.follow())
        return self.replay

    async def __aexit__(self, *exc: Any) -> None:
        self._task.cancel()
        await self._group.__aexit__(*exc)


def expire(server: EmbeddedServer) -> None:
    """Have it forget all history, also what it holds in memory for watches."""
    server.compact()
    server.restart("kept")


@pytest.mark.parametrize("watch_list", [True, False])
@pytest.mark.parametrize("how", ["when the watch is opened", "in the stream", "as an answer"])
async def test_a_relist_is_turned_into_exactly_the_changed_set(
    client: Client, server: EmbeddedServer, how: str, watch_list: bool
) -> None:
    for name in ("stays", "changes", "goes"):
        write(server.core, name, x="1")
    notes: list[str] = []
    options = replace(QUICK, watch_list=watch_list)
    changes = client.watch(
        "configmaps", options=options, on_note=lambda note: notes.append(str(note))
    )
    async with Followed(changes) as replay:
        await told(replay, 3)
        last_known = replay.known["default/goes"]
        if how == "in the stream":
            server.faults.add("watch: error 410, once")
        elif how == "as an answer":
            server.faults.add("watch: answer 410, once")
        # All of this happens while the watch is away, and its history is gone when it is back.
        server.restart("kept")
        erase(server.core, "goes")
        write(server.core, "changes", x="2")
        write(server.core, "comes", x="1")
        expire(server)
        await replay.until_it_shows(server)
        gone = next(event for event in replay.events if event.type is EventType.DELETED)
        assert (gone.object, gone.final_state_unknown) == (last_known, True)
        assert await told(replay, 3) == [
            ("ADDED", "default/comes"),
            ("DELETED", "default/goes"),
            ("MODIFIED", "default/changes"),
        ]
        assert "watch expired, relisted: 1 new, 1 changed, 1 vanished" in notes
        write(server.core, "stays", x="2")
        assert await told(replay, 1) == [("MODIFIED", "default/stays")]


async def test_an_object_that_was_made_anew_can_be_told_from_a_changed_one(
    client: Client, server: EmbeddedServer
) -> None:
    write(server.core, "a", x="1")
    async with Followed(client.watch("configmaps", options=QUICK)) as replay:
        await told(replay, 1)
        server.restart("kept")
        erase(server.core, "a")
        write(server.core, "a", x="1")
        expire(server)
        await replay.until_it_shows(server)
        [event] = replay.events
        assert (event.type, event.recreated) == (EventType.MODIFIED, True)
        assert event.object.uid != event.old.uid


@pytest.mark.parametrize("down", [0.0, 0.3])
@pytest.mark.parametrize("history", ["kept", "lost", "back"])
async def test_a_watch_survives_a_restart_of_the_server(
    client: Client, server: EmbeddedServer, history: Any, down: float
) -> None:
    write(server.core, "old", x="1")
    backup = server.core.backup()
    async with Followed(client.watch("configmaps", options=QUICK)) as replay:
        for number in range(5):  # or what comes after could pass for what was there before (H18)
            write(server.core, "new", x=str(number))
        await replay.until_it_shows(server)
        server.restart(history, down=down, backup=backup)
        await turn()
        expected = {"kept": {"default/old", "default/new"}, "lost": set(), "back": {"default/old"}}
        if not down:
            assert set(on_server(server.core)) == expected[history]
        write(server.core, "after", x="1")
        await replay.until_it_shows(server)
        assert replay.shown().keys() == expected[history] | {"default/after"}


FAULTS = st.sampled_from(
    [
        "watch: cut after 1 events",
        "watch: cut after 3 events",
        "watch: cut after 700 bytes",
        "watch: cut after 1500 wire bytes",
        "watch: reset after 2 events",
        "watch: end after 2 events",
        "watch: drop 1 events after 1 events",
        "watch: error 410",
        "watch: error 410 after 2 events",
        "watch: error 429",
        "watch: error 500 after 1 events",
        "watch: garbage after 1 events",
        "watch: answer 410",
        "watch: answer 503",
        "watch: answer 429 with retry-after 0",
        "list: answer 500",
        "list: answer 410",
        "list: cut after 200 bytes",
        "watch: skip bookmarks",
        "any: refuse for 50ms",
    ]
)


@pytest.mark.clause("H6", "H8", "H14", "J2")
@settings(
    max_examples=12,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(
    faults=st.lists(st.tuples(FAULTS, st.integers(1, 3)), max_size=4),
    seed=st.integers(0, 2**32),
    watch_list=st.booleans(),
)
def test_whatever_goes_wrong_each_event_fits_what_is_known_and_all_of_it_is_told(
    faults: list[tuple[str, int]], seed: int, watch_list: bool
) -> None:
    asyncio.run(_trouble(faults, Random(seed), watch_list))


async def _trouble(faults: list[tuple[str, int]], rng: Random, watch_list: bool) -> None:
    names = [f"n{number}" for number in range(6)]
    async with (
        EmbeddedServer(rng=Random(1)) as server,
        Client(config=server.client_config()) as client,
    ):
        for name in names[:3]:
            write(server.core, name, x="0")
        for fault, times in faults:
            server.faults.add(f"{fault}, {times} times")
        options = replace(QUICK, watch_list=watch_list)
        async with Followed(client.watch("configmaps", options=options)) as replay:
            for step in range(60):
                name = rng.choice(names)
                if rng.random() < 0.3 and f"default/{name}" in on_server(server.core):
                    erase(server.core, name)
                else:
                    write(server.core, name, x=str(step))
                if rng.random() < 0.05:
                    expire(server)
                elif rng.random() < 0.05:
                    server.restart("kept")
                await turn(rng.randrange(40))
            server.faults.clear()
            await replay.until_it_shows(server)
            server.restart("kept")
            write(server.core, "last", x="0")
            await replay.until_it_shows(server)
