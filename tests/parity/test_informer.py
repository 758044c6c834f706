"""Shared informers: handlers that come and go, as client-go tries it (docs/parity.md)."""

from __future__ import annotations

import asyncio
import gc
import weakref
from functools import partial
from random import Random
from typing import Any

import pytest

from listwatch.api import Unstructured
from listwatch.cache import SharedInformer, State
from tests.cache.scripted import (
    Page,
    Scripted,
    Still,
    Watch,
    added,
    deleted,
    end_of_initial_events,
    modified,
    pod,
    settle,
)

from .handlers import Blocked, Handler, make, said

pytestmark = pytest.mark.virtual_time


# Handlers come and go


@pytest.mark.clause("K1", "K5")
async def test_handlers_are_removed_one_by_one_before_and_while_it_runs() -> None:
    informer, _ = make(Page(pod("a", 1), rv=1), watch := Watch())
    handlers = [Handler() for _ in range(4)]
    registrations = [informer.add_handler(handler) for handler in handlers]
    informer.remove_handler(registrations[0])
    async with informer:
        await settle()
        informer.remove_handler(registrations[1])
        watch.send(modified(pod("a", 2)))
        await settle()
        informer.remove_handler(registrations[2])
        watch.send(modified(pod("a", 3)))
        await settle()
    assert [handler.told for handler in handlers] == [
        [],
        ["+a1"],
        ["+a1", "a1>a2"],
        ["+a1", "a1>a2", "a2>a3"],
    ]


@pytest.mark.clause("K5")
@pytest.mark.parametrize("when", ["before", "while it runs", "after"])
async def test_a_handler_that_was_removed_is_let_go(when: str) -> None:
    informer, _ = make(Page(pod("a", 1), rv=1), Watch())
    handler = Handler()
    lives = weakref.ref(handler)
    registration = informer.add_handler(handler)
    del handler
    if when == "before":
        informer.remove_handler(registration)
    async with informer:
        await settle()
        if when == "while it runs":
            informer.remove_handler(registration)
        await settle()
    if when == "after":
        informer.remove_handler(registration)
    del registration
    await settle()
    gc.collect()
    assert lives() is None


@pytest.mark.clause("K5")
async def test_a_registration_is_that_of_its_own_informer_whoever_is_asked_to_remove_it() -> None:
    """client-go's other informer does nothing."""
    informer, _ = make(Page(pod("a", 1), rv=1), watch := Watch())
    other, _ = make(Page(pod("a", 1), rv=1), other_watch := Watch())
    here, there = Handler(), Handler()
    registration, _ = informer.add_handler(here), other.add_handler(there)
    async with informer, other:
        await settle()
        other.remove_handler(registration)
        watch.send(modified(pod("a", 2)))
        other_watch.send(modified(pod("a", 2)))
        await settle()
    assert here.told == ["+a1"]
    assert there.told == ["+a1", "a1>a2"]


@pytest.mark.clause("K1", "K5")
async def test_one_handler_added_twice_is_told_twice_and_removed_one_at_a_time() -> None:
    informer, _ = make(Page(pod("a", 1), rv=1), watch := Watch())
    handler = Handler()
    first, second = informer.add_handler(handler), informer.add_handler(handler)
    assert first is not second
    async with informer:
        await settle()
        assert handler.take() == ["+a1", "+a1"]
        first.remove()
        watch.send(modified(pod("a", 2)))
        await settle()
        assert handler.take() == ["a1>a2"]
        second.remove()
        watch.send(modified(pod("a", 3)))
        await settle()
    assert handler.told == []


@pytest.mark.clause("K5")
async def test_removing_what_was_removed_is_nothing() -> None:
    informer, _ = make(Page(pod("a", 1), rv=1), Watch())
    registration = informer.add_handler(Handler())
    for _ in range(2):
        registration.remove()
        informer.remove_handler(registration)
        await registration.removed()
    async with informer:
        await settle()
        registration.remove()
        await registration.removed()
    registration.remove()
    await registration.removed()


@pytest.mark.clause("K2", "K3")
async def test_a_handler_that_comes_later_is_told_what_is_there_then_what_comes() -> None:
    informer, _ = make(Page(rv=1), watch := Watch())
    early, late = Handler(), Blocked()
    first = informer.add_handler(early)
    assert not first.is_synced
    async with informer:
        await first.synced(timeout=10)
        assert first.is_synced
        watch.send(added(pod("pod", 2)))
        await settle()
        assert early.take() == ["pod2"]
        second = informer.add_handler(late)
        await late.began.wait()
        assert not second.is_synced, "before it has finished anything"
        watch.send(added(pod("other", 3)))
        await settle()
        assert not second.is_synced
        late.let.set()
        await second.synced(timeout=10)
        await settle()
        assert late.take() == ["+pod2", "other3"]
        assert early.take() == ["other3"]


@pytest.mark.clause("K2")
async def test_a_handler_that_comes_in_the_moment_of_the_start_misses_and_repeats_nothing() -> None:
    for steps in range(30):
        informer, _ = make(Page(pod("a", 1), rv=1), watch := Watch())
        handler = Handler()
        watch.send(modified(pod("a", 2)), added(pod("b", 3)))
        async with informer:
            for _ in range(steps):
                await asyncio.sleep(0)
            informer.add_handler(handler)
            await settle()
        known: dict[str, str] = {}
        for told in handler.told:
            if ">" in told:
                old, new = told.split(">")
                assert known[old[0]] == old
                known[old[0]] = new
            else:
                obj = told.lstrip("+")
                assert obj[0] not in known
                known[obj[0]] = obj
        assert known == {"a": "a2", "b": "b3"}, steps


@pytest.mark.clause("K2")
async def test_a_handler_added_to_one_that_has_ended_is_told_the_set_and_nothing_more() -> None:
    """client-go refuses it."""
    informer, _ = make(Page(pod("a", 1), rv=1), Watch())
    async with informer:
        await informer.synced(timeout=10)
    handler = Handler()
    registration = informer.add_handler(handler)
    await registration.synced(timeout=10)
    await registration.removed()
    assert handler.told == ["+a1"]


@pytest.mark.clause("K5", "H17")
async def test_a_handler_may_be_removed_from_one_that_has_ended() -> None:
    informer, _ = make(Page(pod("a", 1), rv=1), Watch())
    registration = informer.add_handler(Handler())
    async with informer:
        await settle()
    informer.remove_handler(registration)
    await registration.removed()


@pytest.mark.clause("K10", "H17")
async def test_it_says_whether_it_has_begun_and_ended() -> None:
    informer, _ = make(Page(pod("a", 1), rv=1), Watch())
    handler = Handler()
    informer.add_handler(handler)
    assert informer.health.state is State.STARTING
    assert not informer.is_synced
    async with informer:
        await settle()
        assert handler.told == ["+a1"]
        assert informer.health.state is State.WATCHING
        assert informer.is_synced
        informer.stop()
        await settle()
        assert informer.health.state is State.STOPPED
        assert informer.is_synced, "it has had the set"
    assert informer.health.state is State.STOPPED


@pytest.mark.clause("K1", "K2", "K5")
@pytest.mark.parametrize("seed", range(5))
async def test_handlers_that_come_and_go_in_the_middle_of_everything_hear_what_is_true(
    seed: int,
) -> None:
    rng = Random(seed)
    informer, _ = make(Page(rv=1), watch := Watch())
    steady = Handler()
    informer.add_handler(steady)
    kept: list[Any] = []

    async def come_and_go() -> None:
        for _ in range(100):
            if rng.random() < 0.5:
                kept.append(informer.add_handler(Handler()))
            elif kept:
                informer.remove_handler(kept.pop(rng.randrange(len(kept))))
            await asyncio.sleep(0)

    async with informer:
        async with asyncio.TaskGroup() as group:
            for _ in range(10):
                group.create_task(come_and_go())
            alive: dict[str, int] = {}
            for version in range(2, 500):
                name = rng.choice("abcdefgh")
                if name not in alive:
                    watch.send(added(pod(name, version)))
                elif rng.random() < 0.5:
                    watch.send(modified(pod(name, version)))
                else:
                    watch.send(deleted(pod(name, version)))
                    del alive[name]
                    version = 0
                if version:
                    alive[name] = version
                if version % 7 == 0:
                    await asyncio.sleep(0)
        await settle(2000)
        late = Handler()
        informer.add_handler(late)
        await settle()
        shown = sorted(f"{name}{version}" for name, version in alive.items())
        assert sorted(late.told) == ["+" + each for each in shown]
        assert sorted(said(obj) for obj in informer.store.list()) == shown
        assert len(steady.told) == 498


# Names, and when a handler is synced


async def a_function(obj: Unstructured, in_initial_list: bool) -> None: ...


NAMED = Handler()


@pytest.mark.clause("K4")
@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        ({"on_add": a_function}, "a_function"),
        ({"on_update": NAMED.on_update, "on_delete": NAMED.on_delete}, "Handler.on_update"),
        ({"on_delete": NAMED.on_delete}, "Handler.on_delete"),
        ({"handler": NAMED}, "Handler"),
        ({"on_add": partial(a_function)}, "partial"),
        ({"on_add": lambda obj, initial: None}, "<lambda>"),
        ({"on_add": a_function, "name": "mine"}, "mine"),
    ],
)
async def test_a_handler_without_a_name_goes_by_what_it_is(
    arguments: dict[str, Any], name: str
) -> None:
    informer, _ = make(Page(rv=1), Watch())
    assert informer.add_handler(**arguments).name == name


@pytest.mark.clause("K1")
@pytest.mark.parametrize("handler", [None, object()])
async def test_a_handler_that_can_be_told_nothing_is_refused(handler: object | None) -> None:
    informer, _ = make(Page(rv=1), Watch())
    with pytest.raises(TypeError, match="at least one of"):
        informer.add_handler(handler)


@pytest.mark.clause("K3", "J4")
@pytest.mark.parametrize("finishes", [False, True])
@pytest.mark.parametrize("comes", [False, True])
@pytest.mark.parametrize("objects", [0, 2])
async def test_a_handler_is_synced_when_the_set_has_come_and_it_has_finished_all_of_it(
    objects: int, comes: bool, finishes: bool
) -> None:
    there = [pod(f"p{n}", n + 1) for n in range(objects)]
    source = Scripted(watch := Watch(*map(added, there)), watch_list=True)
    informer: SharedInformer[Any] = SharedInformer(source, rng=Still())
    handler = Blocked()
    registration = informer.add_handler(handler)
    if finishes:
        handler.let.set()
    async with informer:
        await settle()
        assert not registration.is_synced
        if comes:
            watch.send(end_of_initial_events(9))
        await settle()
        assert informer.is_synced is comes
        assert registration.is_synced is (comes and (finishes or not objects))
        assert len(handler.told) == (objects if comes and finishes else 0)
