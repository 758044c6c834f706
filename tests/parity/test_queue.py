"""What client-go tries of its in-order queue. Ours is the store itself, which gives the deltas of
each batch in their order (J1): so these are stories of what a store tells (docs/parity.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count
from typing import Any

import pytest

from listwatch.api import Unstructured
from listwatch.cache import Delta, Mirror, ReflectorOptions, Store
from tests.cache.pods import added, deleted, modified, pod
from tests.cache.scripted import Page, Scripted, Still, Watch, failure, settle, until
from tests.cache.scripted import modified as changed
from tests.cache.scripted import pod as pod_in_default

Told = list[tuple[str, str, str]]
"""Type, key and RV; a deletion whose final state is unknown is `GONE`."""


def told(deltas: Sequence[Delta[Any]]) -> Told:
    return [
        (
            "GONE" if delta.final_state_unknown else delta.type.value,
            delta.key,
            delta.object.resource_version,
        )
        for delta in deltas
    ]


class Queue:
    """A store with all that it told."""

    def __init__(self, *known: Unstructured, rv: str = "") -> None:
        self.store: Store[Any] = Store()
        if known:
            self.store.replace(known, rv or "9")
        self.told: Told = []

    def take(self, *events: Any) -> Queue:
        self.told += told(self.store.apply(events))
        return self

    def replace(self, *items: Unstructured, rv: str) -> Queue:
        self.told += told(self.store.replace(items, rv).deltas)
        return self


@pytest.mark.clause("J1")
def test_every_event_of_every_object_is_told_in_the_order_in_which_it_came() -> None:
    versions = count(1)
    queue = Queue()
    expected: Told = []
    for n in range(100):
        batch = []
        for letter in "ab":
            version = next(versions)
            batch.append(added(pod(f"{letter}{n}", version)))
            expected.append(("ADDED", f"{letter}{n}", str(version)))
        queue.take(*batch)
    assert queue.told == expected


@pytest.mark.clause("J1")
def test_states_of_one_object_are_all_told_and_nobody_jumps_the_line() -> None:
    queue = Queue()
    queue.take(added(pod("foo", 10)), added(pod("bar", 11)), modified(pod("foo", 12)))
    queue.take(modified(pod("foo", 13)), added(pod("zab", 30)))
    queue.take(modified(pod("foo", 34)), deleted(pod("foo", 35)))
    assert queue.told == [
        ("ADDED", "foo", "10"),
        ("ADDED", "bar", "11"),
        ("MODIFIED", "foo", "12"),
        ("MODIFIED", "foo", "13"),
        ("ADDED", "zab", "30"),
        ("MODIFIED", "foo", "34"),
        ("DELETED", "foo", "35"),
    ]


@pytest.mark.clause("J1")
def test_a_change_of_what_is_not_known_is_an_add_and_its_deletion_is_nothing() -> None:
    """client-go queues the deletion, and its handlers are told of an object they never saw."""
    queue = Queue().take(modified(pod("bar", 15)), deleted(pod("baz", 20)))
    assert queue.told == [("ADDED", "bar", "15")]
    assert queue.store.resource_version == "20"


class TestASetThatReplaces:
    pytestmark = pytest.mark.clause("J2")

    def test_tells_an_object_that_was_deleted_and_is_there_again(self) -> None:
        queue = Queue(pod("foo", 1))
        queue.take(deleted(pod("foo", 10)))
        queue.replace(pod("foo", 12), rv="15")
        assert queue.told == [("DELETED", "foo", "10"), ("ADDED", "foo", "12")]

    def test_deletes_what_was_added_just_before(self) -> None:
        queue = Queue().take(added(pod("foo", 12))).replace(rv="13")
        assert queue.told == [("ADDED", "foo", "12"), ("GONE", "foo", "12")]

    def test_deletes_nothing_twice(self) -> None:
        queue = Queue().take(added(pod("foo", 12)), deleted(pod("foo", 13))).replace(rv="14")
        assert queue.told == [("ADDED", "foo", "12"), ("DELETED", "foo", "13")]
        queue = Queue().take(added(pod("foo", 12))).replace(rv="13").replace(rv="14")
        assert queue.told == [("ADDED", "foo", "12"), ("GONE", "foo", "12")]

    def test_that_is_the_same_tells_nothing_and_one_deletion_once_it_is_not(self) -> None:
        """client-go tells of each object in each set."""
        queue = Queue().take(added(pod("foo", 12)))
        queue.replace(pod("foo", 12), rv="13").replace(pod("foo", 12), rv="14").replace(rv="15")
        assert queue.told == [("ADDED", "foo", "12"), ("GONE", "foo", "12")]

    def test_deletes_the_newest_state_that_was_told(self) -> None:
        queue = Queue().take(
            added(pod("foo", 12)), deleted(pod("foo", 13)), added(pod("foo", 14, uid="u2"))
        )
        queue.replace(rv="15")
        assert queue.told[-1] == ("GONE", "foo", "14")

    @pytest.mark.parametrize(
        ("before", "gone"),
        [
            ([deleted(pod("baz", 10))], [("bar", "6")]),
            ([modified(pod("baz", 10))], [("bar", "6"), ("baz", "10")]),
            (
                [deleted(pod("bar", 10)), added(pod("bar", 100, uid="u2"))],
                [("bar", "100"), ("baz", "7")],
            ),
        ],
        ids=["after a deletion", "after a change", "after a re-creation"],
    )
    def test_deletes_each_key_that_is_missing_once_and_no_other(
        self, before: list[Any], gone: list[tuple[str, str]]
    ) -> None:
        queue = Queue(pod("foo", 5), pod("bar", 6), pod("baz", 7)).take(*before)
        queue.told.clear()
        queue.replace(pod("foo", 5), rv="200")
        assert sorted(queue.told) == sorted(("GONE", *each) for each in gone)
        assert queue.store.keys() == ["foo"]

    def test_deletes_what_the_set_before_it_had_changed_in_that_state(self) -> None:
        queue = Queue(pod("foo", 5), pod("bar", 6), pod("baz", 7))
        queue.replace(pod("bar", 100), pod("foo", 5), rv="101")
        queue.replace(pod("foo", 5), rv="102")
        assert queue.told == [
            ("MODIFIED", "bar", "100"),
            ("GONE", "baz", "7"),
            ("GONE", "bar", "100"),
        ]

    def test_with_one_key_twice_has_it_once(self) -> None:
        queue = Queue().replace(pod("a", 1), pod("a", 2), rv="3")
        assert queue.told == [("ADDED", "a", "2")]

    @pytest.mark.clause("H13")
    def test_stands_behind_a_bookmark_that_came_before_it(self) -> None:
        queue = Queue()
        queue.store.bookmark("123")
        assert queue.store.resource_version == "123"
        queue.replace(rv="1234")
        assert queue.told == []
        assert queue.store.resource_version == "1234"


@pytest.mark.virtual_time
@pytest.mark.clause("J3", "J4")
class TestWhoIsTold:
    """Through a mirror: batches, order of store and listener, what is of the first set."""

    async def test_is_told_a_read_at_a_time_also_of_one_object_twice(self) -> None:
        batches: list[Told] = []
        source = Scripted(
            Page(pod_in_default("1", 5), pod_in_default("2", 5), rv=9), watch := Watch()
        )
        mirror: Mirror[Any] = Mirror(
            source, on_deltas=lambda deltas: batches.append(told(deltas)), rng=Still()
        )
        async with mirror:
            await settle()
            watch.send(changed(pod_in_default("1", 10)), changed(pod_in_default("1", 11)))
            await settle()
            watch.send(changed(pod_in_default("2", 12)))
            await settle()
        assert batches == [
            [("ADDED", "default/1", "5"), ("ADDED", "default/2", "5")],
            [("MODIFIED", "default/1", "10"), ("MODIFIED", "default/1", "11")],
            [("MODIFIED", "default/2", "12")],
        ]

    async def test_finds_in_the_store_what_it_is_told_and_no_later_set_is_the_first(self) -> None:
        seen: list[tuple[str, str, str, bool]] = []

        def listen(deltas: Sequence[Delta[Any]]) -> None:
            for delta in deltas:
                held = mirror.store.get(delta.key)
                now = "" if held is None else held.resource_version
                seen.append((delta.type.value, delta.key[8:], now, delta.initial))

        source = Scripted(
            Page(pod_in_default("1", 1), pod_in_default("2", 2), pod_in_default("3", 3), rv=3),
            watch := Watch(),
            Page(pod_in_default("1", 4), pod_in_default("2", 5), pod_in_default("4", 6), rv=6),
            Watch(),
        )
        mirror: Mirror[Any] = Mirror(source, on_deltas=listen, rng=Still())
        async with mirror:
            await settle()
            watch.send(failure(410))
            await until(10)
        assert seen == [
            ("ADDED", "1", "1", True),
            ("ADDED", "2", "2", True),
            ("ADDED", "3", "3", True),
            ("MODIFIED", "1", "4", False),
            ("MODIFIED", "2", "5", False),
            ("ADDED", "4", "6", False),
            ("DELETED", "3", "", False),
        ]

    @pytest.mark.parametrize("items", [(), (pod_in_default("a", 1), pod_in_default("b", 2))])
    async def test_is_synced_with_the_first_set_whole_be_it_empty_and_not_before(
        self, items: tuple[Unstructured, ...]
    ) -> None:
        at_each: list[int] = []
        source = Scripted(watch_list=False)
        mirror: Mirror[Any] = Mirror(
            source, on_deltas=lambda deltas: at_each.append(len(mirror.store)), rng=Still()
        )
        async with mirror:
            await settle()
            with pytest.raises(TimeoutError):
                await mirror.synced(timeout=1)
        assert at_each == []
        source = Scripted(Page(*items, rv=2), Watch())
        mirror = Mirror(
            source, on_deltas=lambda deltas: at_each.append(len(mirror.store)), rng=Still()
        )
        async with mirror:
            await mirror.synced(timeout=1)
            assert len(mirror.store) == len(items)
        assert at_each == ([2] if items else [])

    @pytest.mark.clause("H11", "J1")
    async def test_of_a_resync_is_told_all_that_is_there_in_its_newest_state_in_one_batch(
        self,
    ) -> None:
        batches: list[list[Delta[Any]]] = []
        source = Scripted(
            Page(pod_in_default("gone", 1), pod_in_default("foo", 2), rv=2), watch := Watch()
        )
        mirror: Mirror[Any] = Mirror(
            source,
            on_deltas=lambda deltas: batches.append(list(deltas)),
            rng=Still(),
            options=ReflectorOptions(resync_period=40),
        )
        async with mirror:
            await until(39)
            watch.send(deleted(pod_in_default("gone", 3)), changed(pod_in_default("foo", 4)))
            await settle()
            batches.clear()
            await until(41)
            [[resync]] = batches
            assert told([resync]) == [("MODIFIED", "default/foo", "4")]
            assert resync.resync
            assert resync.old is resync.object is mirror.store.get("default/foo")
            batches.clear()
            watch.send(deleted(pod_in_default("foo", 5)))
            await until(81)
            assert told(batches[0]) == [("DELETED", "default/foo", "5")]
            assert batches[1:] == [], "of nothing there is no resync"
