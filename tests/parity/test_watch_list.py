"""The initial set through a watch, and its check, as client-go tries them (docs/parity.md)."""

from __future__ import annotations

from typing import Any

import pytest

from listwatch.cache import ReflectorOptions, SetsDiffer
from tests.cache.scripted import (
    Page,
    Scripted,
    Watch,
    WithMetadata,
    added,
    bookmark,
    end_of_initial_events,
    names,
    pod,
    reflecting,
    refusal,
    settle,
    until,
)

pytestmark = pytest.mark.virtual_time


# WatchList


@pytest.mark.clause("H4", "H6")
@pytest.mark.parametrize("events", [(), (added(pod("p1", 1)),)], ids=["none", "one"])
async def test_no_event_before_the_marker_moves_the_rv(events: tuple[Any, ...]) -> None:
    source = Scripted(watch := Watch(*events), watch_list=True)
    async with reflecting(source) as life:
        assert life.reflector.last_sync_resource_version == ""
        watch.send(end_of_initial_events(2))
        await settle()
        assert life.reflector.last_sync_resource_version == "2"


@pytest.mark.clause("H4")
async def test_a_stream_that_ends_before_its_marker_is_asked_for_anew_and_after_it_goes_on() -> (
    None
):
    source = Scripted(
        before := Watch(added(pod("p1", 1))),
        whole := Watch(added(pod("p1", 1)), added(pod("p2", 2)), end_of_initial_events(2)),
        after := Watch(),
        watch_list=True,
    )
    async with reflecting(source) as life:
        before.end()
        await settle()
        assert len(life.store) == 0
        await until(10)
        assert names(life.store) == {"p1": "1", "p2": "2"}
        whole.send(added(pod("p3", 3)))
        await settle()
        whole.end()
        await until(20)
        after.send(added(pod("p4", 4)))
        await settle()
        assert source.asked == ["watch-list rv=-", "watch-list rv=-", "watch rv=3"]
        assert names(life.store) == {"p1": "1", "p2": "2", "p3": "3", "p4": "4"}


@pytest.mark.clause("H4", "H8")
async def test_a_watch_that_expires_after_a_watch_list_is_a_watch_list_and_no_error() -> None:
    source = Scripted(
        first := Watch(added(pod("p1", 1)), end_of_initial_events(2)),
        refusal(410),
        Watch(added(pod("p1", 1)), added(pod("p3", 3)), end_of_initial_events(9)),
        watch_list=True,
    )
    async with reflecting(source) as life:
        first.send(added(pod("p3", 3)), bookmark(4))
        await settle()
        first.end()
        await until(10)
        assert source.asked == ["watch-list rv=-", "watch rv=4", "watch-list rv=4"]
        assert names(life.store) == {"p1": "1", "p3": "3"}
        assert life.sets[-1].vanished == 0
        assert life.task is not None
        assert not life.task.done()


# What is checked after a WatchList (H16)


@pytest.mark.clause("H16", "I4")
@pytest.mark.parametrize("transform", [False, True])
async def test_a_check_of_what_a_transform_made_smaller_finds_no_difference(
    transform: bool,
) -> None:
    whole = pod("pod-1", 1, spec={"nodeName": "n1"})
    kept = pod("pod-1", 1) if transform else whole
    source = WithMetadata(
        Watch(added(kept), end_of_initial_events(1)), Page(whole, rv=1), watch_list=True
    )
    async with reflecting(source, options=ReflectorOptions(consistency_check=True)) as life:
        assert source.asked == ["watch-list rv=-", "metadata rv=1 Exact limit=500"]
        assert life.errors == []
        assert life.store.get("default/pod-1") is kept


@pytest.mark.clause("H16")
async def test_a_check_of_an_empty_set_finds_no_difference() -> None:
    source = WithMetadata(Watch(end_of_initial_events(2)), Page(rv=2), watch_list=True)
    async with reflecting(source, options=ReflectorOptions(consistency_check=True)) as life:
        assert len(source.asked) == 2
        assert life.errors == []


@pytest.mark.clause("H16")
async def test_an_object_that_only_the_list_has_is_a_difference_and_the_reflector_lives_on() -> (
    None
):
    source = WithMetadata(
        watch := Watch(added(pod("p1", 1)), end_of_initial_events(2)),
        Page(pod("p1", 1), pod("p2", 2), rv=2),
        watch_list=True,
    )
    async with reflecting(source, options=ReflectorOptions(consistency_check=True)) as life:
        [error] = life.errors
        assert isinstance(error, SetsDiffer)
        assert error.keys == ["default/p2"]
        assert watch.is_open
