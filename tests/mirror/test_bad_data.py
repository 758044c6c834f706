"""Data that cannot be read: no object appears, stays or vanishes wrongly (H10)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from listwatch import EventType, ObjectDecodeError
from listwatch.api import Unstructured
from listwatch.cache import Cause, Undecodable, Undecoded
from listwatch.rest.transport import Headers, HTTPRequest, Transport
from listwatch.wire import decode_unstructured

from .world import World, open_world

pytestmark = [pytest.mark.virtual_time, pytest.mark.clause("H10")]

BOTH_WAYS = pytest.mark.parametrize("watch_list", [True, False], ids=["watch-list", "list"])


class Rewriting:
    """A transport that changes what travels in watches, a line at a time."""

    def __init__(self, behind: Transport, rewrite: Callable[[bytes], bytes]) -> None:
        self._behind = behind
        self._rewrite = rewrite

    async def send(self, request: HTTPRequest) -> Any:
        response = await self._behind.send(request)
        is_watch = any(name == "watch" for name, _ in request.query)
        return _Rewritten(response, self._rewrite) if is_watch else response

    async def close(self) -> None:
        await self._behind.close()


class _Rewritten:
    def __init__(self, response: Any, rewrite: Callable[[bytes], bytes]) -> None:
        self._response = response
        self._rewrite = rewrite
        self._rest = b""

    @property
    def status(self) -> int:
        status: int = self._response.status
        return status

    @property
    def headers(self) -> Headers:
        headers: Headers = self._response.headers
        return headers

    async def receive(self) -> bytes:
        while True:
            data: bytes = await self._response.receive()
            if not data:
                rest, self._rest = self._rest, b""
                return rest
            *lines, self._rest = (self._rest + data).split(b"\n")
            if lines:
                return b"".join(self._rewrite(line) + b"\n" for line in lines)

    async def read(self, limit: int | None = None) -> bytes:
        found: bytes = await self._response.read(limit)
        return found

    def close(self) -> None:
        self._response.close()


def refuses(name: str) -> Callable[[bytes], Unstructured]:
    """A decoder that raises for one object, as long as its data say `bad`."""

    def decode(raw: bytes) -> Unstructured:
        found = decode_unstructured(raw)
        if found.name == name and b'"bad"' in raw:
            raise ValueError(f"{name} is not to my taste")
        return found

    return decode


def relists(world: World) -> int:
    return sum(world.mirror.health.relists.values())


# Frames


@BOTH_WAYS
async def test_a_frame_that_cannot_be_read_costs_one_relist(watch_list: bool) -> None:
    async with open_world(watch_list=watch_list) as world:
        world.faults.add("watch configmaps: garbage after 2 events, once")
        world.core.end_watches()
        await asyncio.sleep(5)
        for turn in range(6):
            world.put("a", n=str(turn))
            world.put(f"new-{turn}", n="0")
        world.delete("b")
        await asyncio.sleep(10)
        await world.caught_up()
        assert len(world.faults.log) == 1
        assert world.mirror.health.relists == {Cause.UNREADABLE: 1}


async def test_garbage_on_every_watch_costs_relists_at_the_pace_of_any_refusal() -> None:
    async with open_world("watch configmaps: garbage after 1s", synced=False) as world:
        await asyncio.sleep(600)
        settled = [time for time, _ in world.requests if time >= 120]
        assert len(settled) <= 480 / 60 * 4 + 4
        world.faults.clear()
        world.put("d", n="0")
        await asyncio.sleep(62)
        await world.caught_up()


@BOTH_WAYS
async def test_an_object_too_large_comes_with_the_relist(watch_list: bool) -> None:
    async with open_world(watch_list=watch_list, max_frame=64 << 10) as world:
        world.put("huge", text="x" * 100_000)
        world.put("small", n="0")
        await asyncio.sleep(10)
        await world.caught_up()
        assert "default/huge" in world.mirror.store
        assert relists(world) >= 1
        assert len(world.requests) <= 10
        world.delete("huge")  # the last state is in this event: it is too large as well
        await asyncio.sleep(20)
        await world.caught_up()
        assert "default/huge" not in world.mirror.store


async def test_an_object_padded_beyond_the_limit_is_not_lost() -> None:
    async with open_world(max_frame=64 << 10) as world:
        world.faults.add("watch configmaps: oversize 100KiB, once")
        world.core.end_watches()
        await asyncio.sleep(5)
        world.put("d", n="0")
        world.put("e", n="0")
        await asyncio.sleep(10)
        await world.caught_up()
        assert relists(world) == 1


# Envelopes


@pytest.mark.parametrize(
    ("what", "to"),
    [
        (b'"type":"MODIFIED"', b'"type":"CHANGED"'),
        (b'"type":"MODIFIED"', b'"kind":"MODIFIED"'),
        (b'"object":', b'"subject":'),
        (b'"name":"a"', b'"nome":"a"'),
        (b'"metadata":', b'"mietadata":'),
        (b'"metadata":{', b'"metadata":[{'),
    ],
    ids=["type", "no type", "no object", "no name", "no metadata", "no JSON"],
)
async def test_an_event_whose_object_cannot_be_told_costs_one_relist(
    what: bytes, to: bytes
) -> None:
    times = [1]

    def rewrite(line: bytes) -> bytes:
        if times and b'"MODIFIED"' in line and b'"name":"a"' in line:
            times.pop()
            return line.replace(what, to, 1)
        return line

    async with open_world(wrap=lambda behind: Rewriting(behind, rewrite)) as world:
        await asyncio.sleep(5)
        world.put("a", n="1")
        world.put("d", n="0")
        world.delete("b")
        await asyncio.sleep(15)
        await world.caught_up()
        assert times == []
        assert relists(world) == 1


# Objects


@BOTH_WAYS
async def test_an_object_that_the_decoder_refuses_is_there_by_its_key(watch_list: bool) -> None:
    async with open_world(synced=False, watch_list=watch_list, decoder=refuses("odd")) as world:
        world.put("odd", n="bad")  # before the first request: the set begins with it
        await world.mirror.synced()
        world.check()
        store = world.mirror.store
        assert "default/odd" in store
        assert len(store) == 4
        assert [obj.name for obj in store.list()] == ["a", "b", "c"]
        assert world.mirror.health.undecodable == ("default/odd",)
        with pytest.raises(ObjectDecodeError, match="taste"):
            store.get("default/odd")
        assert [note.key for note in world.notes if isinstance(note, Undecoded)] == ["default/odd"]


@BOTH_WAYS
async def test_it_changes_and_goes_like_any_other(watch_list: bool) -> None:
    kinds: list[tuple[EventType, bool]] = []

    async with open_world(watch_list=watch_list, decoder=refuses("odd")) as world:
        world.seen.on_delta = lambda delta: (
            kinds.append((delta.type, isinstance(delta.object, Undecodable)))
            if delta.key == "default/odd"
            else None
        )
        for value in ("good", "bad", "bad", "good", "bad"):
            world.put("odd", n=value, turn=str(len(kinds)))
            await asyncio.sleep(1)
            await world.caught_up()
            assert (world.mirror.health.undecodable != ()) == (value == "bad")
        world.delete("odd")
        await asyncio.sleep(1)
        await world.caught_up()
        assert "default/odd" not in world.mirror.store
        assert world.mirror.health.undecodable == ()
        assert relists(world) == 0
    assert kinds == [
        (EventType.ADDED, False),
        (EventType.MODIFIED, True),
        (EventType.MODIFIED, True),
        (EventType.MODIFIED, False),
        (EventType.MODIFIED, True),
        (EventType.DELETED, True),
    ]


@BOTH_WAYS
async def test_a_relist_neither_loses_nor_repeats_it(watch_list: bool) -> None:
    async with open_world(watch_list=watch_list, decoder=refuses("odd")) as world:
        world.put("odd", n="bad")
        await asyncio.sleep(1)
        await world.caught_up()
        told = world.seen.total
        world.expire(lambda: world.put("a", n="1"))
        await asyncio.sleep(70)
        await world.caught_up()
        assert relists(world) == 1
        assert world.seen.total == told + 1
        # While nobody looks it is mended, and while nobody looks again it is gone.
        for change in (lambda: world.put("odd", n="good"), lambda: world.delete("odd")):
            world.expire(change)
            await asyncio.sleep(70)
            await world.caught_up()
            assert world.mirror.health.undecodable == ()
        assert relists(world) == 3


async def test_a_decoder_that_refuses_everything_makes_nothing_vanish() -> None:
    broken = False

    def decode(raw: bytes) -> Unstructured:
        if broken:
            raise TypeError("out of order")
        return decode_unstructured(raw)

    async with open_world(decoder=decode) as world:
        broken = True
        for name in "abc":
            world.put(name, n="1")
        await asyncio.sleep(1)
        await world.caught_up()
        assert sorted(world.mirror.health.undecodable) == [f"default/{name}" for name in "abc"]
        assert len(world.mirror.store) == 3
        broken = False
        world.put("a", n="2")
        await asyncio.sleep(1)
        await world.caught_up()
        assert sorted(world.mirror.health.undecodable) == ["default/b", "default/c"]
        assert relists(world) == 0


async def test_an_object_of_another_kind_is_kept_by_its_key_and_not_taken_for_one() -> None:
    on = True

    def rewrite(line: bytes) -> bytes:
        if on and b'"name":"odd"' in line:
            return line.replace(b'"kind":"ConfigMap"', b'"kind":"Secret"', 1)
        return line

    async with open_world(wrap=lambda behind: Rewriting(behind, rewrite)) as world:
        world.put("odd", n="0")
        await asyncio.sleep(1)
        await world.caught_up()
        assert "default/odd" in world.mirror.health.undecodable
        with pytest.raises(ObjectDecodeError, match="Secret"):
            world.mirror.store.get("default/odd")
        assert all(obj.kind == "ConfigMap" for obj in world.mirror.store.list())
        on = False
        world.put("odd", n="1")
        await asyncio.sleep(1)
        await world.caught_up()
        assert world.mirror.health.undecodable == ()
        on = True
        world.delete("odd")  # told as the end of a Secret, it is the end of this key all the same
        await asyncio.sleep(1)
        await world.caught_up()
        assert "default/odd" not in world.mirror.store
        assert relists(world) == 0
