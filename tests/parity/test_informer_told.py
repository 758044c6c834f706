"""Shared informers: what handlers are told, as client-go tries it (docs/parity.md)."""

from __future__ import annotations

from typing import Any

import pytest

from listwatch.api import Unstructured
from listwatch.cache import ReflectorOptions
from tests.cache.scripted import (
    Page,
    Watch,
    added,
    deleted,
    failure,
    modified,
    pod,
    refusal,
    settle,
    until,
)

from .handlers import Handler, make

pytestmark = pytest.mark.virtual_time


# What it is told


@pytest.mark.clause("K1", "J3", "J2", "K6")
async def test_a_watch_that_lost_events_is_made_up_for_by_a_relist_that_tells_what_changed() -> (
    None
):
    informer, _ = make(
        Page(pod("pod1", 1), pod("pod2", 2), pod("pod0", 3), rv=3),
        watch := Watch(),
        Page(pod("pod1", 1), pod("pod2", 5), pod("pod3", 4), rv=6),
        Watch(),
        options=ReflectorOptions(resync_period=50),
    )
    handler = Handler()
    informer.add_handler(handler)
    async with informer:
        await settle()
        assert handler.take() == ["+pod11", "+pod22", "+pod03"]
        watch.send(failure(410))
        await until(10)
        assert sorted(handler.take()) == sorted(["pod22>pod25", "pod34", "-pod03?"])
        await until(50)
        assert sorted(handler.take()) == ["pod11>pod11", "pod25>pod25", "pod34>pod34"]


@pytest.mark.clause("H11", "K1")
async def test_a_resync_tells_every_handler_of_all_objects_each_period() -> None:
    informer, source = make(
        Page(pod("pod1", 1), pod("pod2", 2), rv=2),
        Watch(),
        options=ReflectorOptions(resync_period=2),
    )
    handlers = [Handler(), Handler()]
    for handler in handlers:
        informer.add_handler(handler)
    async with informer:
        await settle()
        assert [handler.take() for handler in handlers] == [["+pod11", "+pod22"]] * 2
        for seconds in (2, 4):
            await until(seconds - 0.5)
            assert [handler.take() for handler in handlers] == [[], []]
            await until(seconds)
            again = [handler.take() for handler in handlers]
            assert again == [["pod11>pod11", "pod22>pod22"]] * 2
        assert len(source.requests) == 2


@pytest.mark.clause("H12")
async def test_the_error_handler_hears_of_a_list_that_is_refused() -> None:
    errors: list[Exception] = []
    informer, _ = make(refusal(403), on_error=lambda reflector, error: errors.append(error))
    async with informer:
        await settle()
    assert "a scripted 403" in str(errors[0])


@pytest.mark.clause("I2")
async def test_it_has_the_indexes_it_was_made_with_and_those_added_later() -> None:
    def labels(obj: Unstructured) -> list[str]:
        return list(obj["spec"])

    informer, _ = make(
        Page(pod("pod1", 1, spec={"a": 1, "b": 1}), pod("pod2", 2, spec={"b": 2}), rv=2),
        watch := Watch(),
        indexes={"labels": labels},
    )
    async with informer:
        await informer.synced(timeout=10)
        assert [obj.name for obj in informer.store.by_index("labels", "a")] == ["pod1"]
        watch.send(added(pod("pod3", 3, spec={"a": 3})))
        await settle()
        assert [obj.name for obj in informer.store.by_index("labels", "a")] == ["pod1", "pod3"]
        informer.store.add_index("again", labels)
        assert [obj.name for obj in informer.store.by_index("again", "a")] == ["pod1", "pod3"]
        for name in ("labels", "again"):
            assert set(informer.store.index_values(name)) == {"a", "b"}


@pytest.mark.clause("J3", "I1")
@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        ((), (pod("1", 1),), ["1:1"]),
        ((pod("1", 1), pod("3", 2)), (), ["1:-", "3:-"]),
        (
            (pod("1", 1), pod("2", 2), pod("3", 3)),
            (pod("1", 4), pod("2", 5), pod("4", 6)),
            ["1:4", "2:5", "3:-", "4:6"],
        ),
    ],
    ids=["made", "deleted", "made, changed and deleted"],
)
async def test_whoever_is_told_of_a_new_set_finds_the_store_with_all_of_it(
    before: tuple[Any, ...], after: tuple[Any, ...], told: list[str]
) -> None:
    found: list[str] = []

    def look(obj: Any) -> None:
        key = obj.key
        now = informer.store.get(key)
        found.append(f"{key[8:]}:{now.resource_version if now else '-'}")

    informer, _ = make(Page(*before, rv=3), watch := Watch(), Page(*after, rv=6), Watch())
    async with informer:
        await settle()
        informer.add_handler(
            on_add=lambda obj, initial: None if initial else look(obj),
            on_update=lambda old, new: look(new),
            on_delete=look,
            inline=True,
        )
        watch.send(failure(410))
        await settle()
    assert sorted(found) == told


# Filters


@pytest.mark.clause("K7")
@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        (True, True, "pod2>pod4"),
        (False, True, "pod4"),
        (True, False, "-pod4"),
        (False, False, None),
    ],
    ids=["still", "begins", "stops", "never"],
)
async def test_a_filter_makes_an_update_what_it_looks_like_from_behind_it(
    old: bool, new: bool, told: str | None
) -> None:
    informer, _ = make(Page(pod("pod", 2, spec={"seen": old}), rv=3), watch := Watch())
    handler = Handler()
    informer.add_handler(handler, filter=lambda obj: obj["spec"]["seen"])
    async with informer:
        await settle()
        assert handler.take() == (["+pod2"] if old else [])
        watch.send(modified(pod("pod", 4, spec={"seen": new})))
        await settle()
        assert handler.take() == ([told] if told else [])


@pytest.mark.clause("K7")
@pytest.mark.parametrize("seen", [True, False])
async def test_a_filter_lets_additions_and_deletions_through_or_not(seen: bool) -> None:
    informer, _ = make(Page(pod("a", 1, spec={"seen": seen}), rv=1), watch := Watch())
    handler = Handler()
    informer.add_handler(handler, filter=lambda obj: obj["spec"]["seen"])
    async with informer:
        await settle()
        watch.send(added(pod("b", 2, spec={"seen": seen})))
        watch.send(deleted(pod("b", 3, spec={"seen": seen})))
        await settle()
    assert handler.told == (["+a1", "b2", "-b3"] if seen else [])
