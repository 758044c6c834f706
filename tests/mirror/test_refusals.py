"""Whatever a server answers, it is not flooded; and once it behaves, the mirror is there by itself.

Over real sockets the server counts what reaches it in ten seconds of real time. On virtual time the
same goes on for ten minutes.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from itertools import pairwise, product
from random import Random
from typing import Any

import pytest

from listwatch import ClientConfig, ListWatch, RESTClient
from listwatch.cache import Mirror, Pacing, ReflectorOptions
from listwatch.client import Client
from listwatch.testing.apiserver import EmbeddedServer, ServerTransport

from .refusals import MODES, Broken, LeastSpread, Mode
from .refusing_server import RefusingServer
from .refusing_transport import RefusingTransport
from .seen import Seen, assert_same, identities
from .world import CONFIG_MAPS, new_core, put, there_on


def most_within(seconds: float, times: Sequence[float]) -> int:
    """The most that there were in any so many seconds."""
    most, first = 0, 0
    for last, time in enumerate(times):
        while times[first] <= time - seconds:
            first += 1
        most = max(most, last - first + 1)
    return most


@asynccontextmanager
async def mirror_over(
    client: RESTClient, *, watch_list: bool, rng: Random, **options: Any
) -> AsyncIterator[tuple[Mirror[Any], Seen]]:
    seen = Seen()
    mirror: Mirror[Any] = Mirror(
        ListWatch.from_client(client, CONFIG_MAPS),
        kind="ConfigMap",
        options=ReflectorOptions(watch_list=watch_list, **options),
        on_deltas=seen,
        rng=rng,
    )
    seen.epoch = lambda: mirror.store.epoch
    async with mirror:
        yield mirror, seen


# Ten seconds of real time, over sockets


@dataclass(frozen=True)
class Case:
    mode: Mode
    watch_list: bool
    from_the_start: bool
    by_name: bool = False
    """Of a type that has to be looked for first (discovery), through a Client."""

    def __str__(self) -> str:
        way = "watch-list" if self.watch_list else "list"
        when = "from the start" if self.from_the_start else "later"
        return f"{self.mode}, {way}, {when}{', by name' * self.by_name}"

    @asynccontextmanager
    async def mirror(self, config: ClientConfig) -> AsyncIterator[Mirror[Any]]:
        if self.by_name:
            async with (
                Client(config=config) as by_name,
                by_name.mirror("widgets.example.com") as mirror,
            ):
                yield mirror
            return
        # The least spread, so the most load.
        async with (
            RESTClient(config) as client,
            mirror_over(client, watch_list=self.watch_list, rng=LeastSpread()) as (mirror, _),
        ):
            yield mirror

    async def play(self, upstream: EmbeddedServer, servers: dict[int, RefusingServer]) -> int:
        """The most requests in ten seconds; raises where the mirror does not recover."""
        mode = self.mode if self.from_the_start else None
        async with RefusingServer(("127.0.0.1", upstream.port), mode) as server:
            servers[server.port] = server
            async with self.mirror(ClientConfig(server=server.url)) as mirror:
                if not self.from_the_start:
                    await mirror.synced(timeout=5)
                    await asyncio.sleep(0.5)  # real: a watch that has been open for a moment
                    server.requests.clear()
                    await server.behave(self.mode)
                await asyncio.sleep(10)  # real: that is the point
                count = most_within(10.0, server.requests)
                await server.behave(None)
                await mirror.synced(timeout=60)
                storage = "example.com/widgets" if self.by_name else "configmaps"
                there = there_on(upstream.core, storage)
                await mirror.at_least(max((rv for _, rv in there.values()), key=int), timeout=60)
                assert_same(identities(mirror.store), there)
        return count


@contextmanager
def counting_connects(servers: dict[int, RefusingServer]) -> Iterator[None]:
    """A connection that is refused reaches no server: it is counted where it sets out."""
    loop: Any = asyncio.get_running_loop()
    connect = loop.sock_connect

    async def counted(sock: Any, address: Any) -> Any:
        server = servers.get(address[1])
        if server is not None:
            server.attempted()
        return await connect(sock, address)

    loop.sock_connect = counted
    try:
        yield
    finally:
        del loop.sock_connect


@pytest.mark.clause("H7", "H8", "H9", "B4")
async def test_no_refusal_costs_a_server_more_than_ten_requests_in_ten_seconds() -> None:
    cases = [Case(*parts) for parts in product(MODES, (True, False), (True, False))]
    cases += [Case(mode, True, True, by_name=True) for mode in MODES]
    servers: dict[int, RefusingServer] = {}
    async with EmbeddedServer() as upstream:
        upstream.core.load([_WIDGETS, _WIDGET])
        for name in "abc":
            put(upstream.core, name, n="0")
        with counting_connects(servers):
            found = await asyncio.gather(
                *(case.play(upstream, servers) for case in cases), return_exceptions=True
            )
    asked = dict(zip(map(str, cases), found, strict=True))
    failed = {case: repr(error) for case, error in asked.items() if not isinstance(error, int)}
    assert failed == {}
    counts = {case: count for case, count in asked.items() if isinstance(count, int)}
    assert {case: count for case, count in counts.items() if count > 10} == {}
    silent = [case for case, count in counts.items() if count == 0]
    assert silent == []  # where nothing was asked, nothing was shown


_WIDGETS = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "widgets.example.com"},
    "spec": {
        "group": "example.com",
        "scope": "Namespaced",
        "names": {"plural": "widgets", "singular": "widget", "kind": "Widget"},
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "schema": {"openAPIV3Schema": {"type": "object"}},
            }
        ],
    },
}
_WIDGET = {
    "apiVersion": "example.com/v1",
    "kind": "Widget",
    "metadata": {"name": "one", "namespace": "default"},
}


# Ten minutes of virtual time, without sockets


@dataclass
class Played:
    transport: RefusingTransport
    mirror: Mirror[Any]
    refused_from: float
    refused_until: float
    recovered: float

    def times(self) -> list[float]:
        return [t for t in self.transport.requests if self.refused_from <= t < self.refused_until]

    def targets(self) -> list[str]:
        sent = zip(self.transport.requests, self.transport.targets, strict=True)
        return [target for time, target in sent if time >= self.refused_from]


async def play(mode: Mode, *, watch_list: bool, from_the_start: bool, rng: Random) -> Played:
    """Ten minutes of it, and what follows."""
    loop = asyncio.get_running_loop()
    core = new_core()
    for name in "abc":
        put(core, name, n="0")
    transport = RefusingTransport(ServerTransport(core), mode if from_the_start else None)
    config = ClientConfig(server="http://memory")
    async with (
        RESTClient(config, transport=transport, max_retries=0) as client,
        mirror_over(client, watch_list=watch_list, rng=rng) as (mirror, seen),
    ):
        if not from_the_start:
            await mirror.synced()
            await asyncio.sleep(1)
            transport.behave(mode)
        begun = loop.time()
        await asyncio.sleep(600)
        put(core, "a", n="1")
        core.state.log.delete("configmaps", ("default", "b"))
        put(core, "d", n="0")
        transport.behave(None)
        over = loop.time()
        # 30 s, spread to twice as much, and one for the unclean end; a Retry-After is shorter.
        await mirror.synced(timeout=70)
        await mirror.store.at_least(str(core.state.log.revision), timeout=70)
        recovered = loop.time()
        assert_same(identities(mirror.store), there_on(core))
        seen.check(there_on(core))
        played = Played(transport, mirror, begun, over, recovered)
    assert transport.open_responses == 0
    return played


@pytest.mark.virtual_time
@pytest.mark.clause("H7", "H8", "H9")
@pytest.mark.parametrize("from_the_start", [True, False], ids=["from the start", "later"])
@pytest.mark.parametrize("watch_list", [True, False], ids=["watch-list", "list"])
@pytest.mark.parametrize("mode", MODES, ids=str)
async def test_in_the_long_run_a_refusal_costs_four_requests_a_minute(
    mode: Mode, watch_list: bool, from_the_start: bool
) -> None:
    for rng in (LeastSpread(), Random(7)):
        played = await play(mode, watch_list=watch_list, from_the_start=from_the_start, rng=rng)
        times = played.times()
        assert most_within(10.0, times) <= 10
        settled = [time for time in times if time >= played.refused_from + 120]
        assert 1 <= most_within(60.0, settled) <= 4
        assert len(settled) >= 4  # it goes on trying


@pytest.mark.virtual_time
@pytest.mark.clause("H9")
@pytest.mark.parametrize("mode", [m for m in MODES if m.retry_after and m.lists], ids=str)
@pytest.mark.parametrize("watch_list", [True, False], ids=["watch-list", "list"])
async def test_what_the_server_asks_to_wait_is_waited(mode: Mode, watch_list: bool) -> None:
    played = await play(mode, watch_list=watch_list, from_the_start=True, rng=LeastSpread())
    times = played.times()
    assert min(b - a for a, b in pairwise(times)) >= mode.retry_after


@pytest.mark.virtual_time
@pytest.mark.clause("H7", "H8")
@pytest.mark.parametrize(
    "mode",
    [
        Mode("refused", Broken.REFUSED, Broken.REFUSED),
        *(mode for mode in MODES if mode.name in ("429", "429 with Retry-After")),
    ],
    ids=str,
)
async def test_waiting_for_a_server_that_is_down_or_busy_costs_no_relist(mode: Mode) -> None:
    played = await play(mode, watch_list=True, from_the_start=False, rng=Random(3))
    sets = [t for t in played.targets() if "watch=" not in t or "sendInitialEvents" in t]
    # The look whether history went back is a list of one object (H18).
    assert [target for target in sets if "limit=1" not in target.split("?")[1].split("&")] == []
    assert played.mirror.health.relists == {}


@pytest.mark.virtual_time
@pytest.mark.clause("K10")
async def test_health_says_what_is_wrong_and_that_nothing_is_there_yet() -> None:
    transport = RefusingTransport(
        ServerTransport(new_core()), next(mode for mode in MODES if mode.name == "403")
    )
    config = ClientConfig(server="http://memory")
    async with (
        RESTClient(config, transport=transport, max_retries=0) as client,
        mirror_over(client, watch_list=True, rng=Random(5)) as (mirror, _),
    ):
        await asyncio.sleep(60)
        health = mirror.health
        assert not health.synced
        assert not health.ready
        assert "forbidden" in health.last_error
        assert health.requests == len(transport.requests)
        with pytest.raises(TimeoutError):
            await mirror.synced(timeout=5)


@pytest.mark.virtual_time
async def test_a_reflector_that_does_not_pace_itself_would_be_found_out() -> None:
    hasty = Pacing(first=0.1, cap=0.1, unreachable_cap=0.1, spread=0.0, burst=99, slow_burst=99)
    transport = RefusingTransport(ServerTransport(new_core()), MODES[0])
    config = ClientConfig(server="http://memory")
    async with (
        RESTClient(config, transport=transport) as client,
        mirror_over(client, watch_list=True, rng=LeastSpread(), pacing=hasty),
    ):
        await asyncio.sleep(30)
    assert most_within(10.0, transport.requests) > 10


def test_what_is_most_within_some_seconds_is_counted_from_each_request_on() -> None:
    assert most_within(10.0, [0, 5, 9.9, 10, 10.5, 30]) == 4
    assert most_within(10.0, []) == 0
