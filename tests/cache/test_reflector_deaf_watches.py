"""Watches that are not ours, and do not do as they are told."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator
from typing import Any, Self

import pytest

from listwatch import Event, EventType, ListMeta, ListOptions, Liveness, ObjectList, Unstructured
from listwatch.cache import Mirror, ReflectorOptions

pytestmark = [pytest.mark.virtual_time]


class Deaf:
    """Says nothing, for ever, and does not stop."""

    def __init__(self, *, raises: bool) -> None:
        self.raises = raises

    async def batches(self) -> AsyncIterator[list[Event[Any]]]:
        await asyncio.get_running_loop().create_future()
        yield []

    def stop(self) -> None:
        if self.raises:
            raise OSError("it cannot be stopped")

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None: ...


class Source:
    supports_watch_list = False

    def __init__(self, *, raises: bool, first: Any = None) -> None:
        self.opened = 0
        self.raises = raises

    async def alist(self, options: ListOptions, /) -> ObjectList[Unstructured]:
        return ObjectList([], ListMeta(resource_version="5"))

    async def awatch(self, options: ListOptions, /) -> Any:
        self.opened += 1
        return Deaf(raises=self.raises)


@pytest.mark.clause("E4")
@pytest.mark.parametrize("raises", [False, True])
async def test_a_watch_that_does_not_heed_its_stop_is_left_behind(raises: bool) -> None:
    for seed in range(20):  # it is left at whatever comes between two watches
        source = Source(raises=raises)
        options = ReflectorOptions(liveness=Liveness(idle=10))
        async with Mirror(source, options=options, rng=random.Random(seed)) as mirror:
            await mirror.synced()
            await asyncio.sleep(50 + seed)
            assert source.opened >= 3


async def test_leaving_a_mirror_over_such_a_watch_takes_no_time() -> None:
    loop = asyncio.get_running_loop()
    async with Mirror(Source(raises=False)) as mirror:
        await mirror.synced()
        await asyncio.sleep(20)
        began = loop.time()
    assert loop.time() == began


async def test_who_is_told_of_a_set_and_raises_ends_nothing(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def broken() -> None:
        raise LookupError("a listener with a bug")

    async with Mirror(Source(raises=False), on_set=broken) as mirror:
        await mirror.synced()
        await asyncio.sleep(5)
        assert mirror.health.ready
    assert "what is told of a whole set failed" in caplog.text


@pytest.mark.clause("H10")
async def test_a_bookmark_that_is_none_ends_the_watch_not_the_mirror() -> None:
    class Odd(Deaf):
        async def batches(self) -> AsyncIterator[list[Event[Any]]]:
            yield [Event(EventType.BOOKMARK, {"metadata": {"resourceVersion": "9"}})]

    class OddSource(Source):
        async def awatch(self, options: ListOptions, /) -> Any:
            self.opened += 1
            return Odd(raises=False)

    source = OddSource(raises=False)
    async with Mirror(source) as mirror:
        await mirror.synced()
        await asyncio.sleep(30)
        assert source.opened > 1
        assert "BOOKMARK" in mirror.health.last_error


def test_an_event_is_printed_without_its_bytes() -> None:
    pod = Unstructured.from_dict({"kind": "Pod", "metadata": {"name": "a", "resourceVersion": "7"}})
    assert repr(Event(EventType.ADDED, pod, pod.raw)) == "Event(ADDED, <Pod a rv=7>)"
