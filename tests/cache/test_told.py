"""The queue of deltas between a reflector and those who are told: one step each (J)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from listwatch.api import EventType
from listwatch.cache import Delta, Store, Undecodable
from listwatch.cache._told import Told

from .scripted import added, deleted, modified, pod

ADDED, MODIFIED, DELETED = EventType.ADDED, EventType.MODIFIED, EventType.DELETED


class Listener:
    """Is told, and looks at the store meanwhile."""

    def __init__(self) -> None:
        self.batches: list[list[Delta[Any]]] = []
        self.sets = 0
        self.store: Store[Any] = Store(indexes={"name": lambda obj: [obj.name]})
        self.told: Told[Any] = Told(self.store, self.on_deltas, self.on_replaced)

    def on_deltas(self, deltas: Sequence[Delta[Any]]) -> None:
        for delta in {delta.key: delta for delta in deltas}.values():
            there = None if delta.type is DELETED else delta.object
            assert self.store.known(delta.key) is there
            assert self.store.by_index("name", delta.object.name) == ([there] if there else [])
        self.batches.append(list(deltas))

    def on_replaced(self) -> None:
        self.sets += 1
        self.batches.append([])

    def take(self) -> list[list[str]]:
        batches, self.batches = self.batches, []
        return [
            [f"{delta.type} {delta.key[8:]} {delta.object.resource_version}" for delta in batch]
            for batch in batches
        ]


@pytest.mark.clause("J1", "J3")
def test_a_batch_is_told_in_one_go_in_its_order_when_store_and_indexes_have_changed() -> None:
    listener = Listener()
    listener.told.apply([added(pod("a", 1)), added(pod("b", 2)), modified(pod("a", 3))])
    assert listener.take() == [["ADDED a 1", "ADDED b 2", "MODIFIED a 3"]]
    listener.told.apply([deleted(pod("a", 4)), added(pod("a", 5, uid="another"))])
    assert listener.take() == [["DELETED a 4", "ADDED a 5"]]


@pytest.mark.clause("J1", "J2", "J4")
def test_a_set_is_told_as_one_and_after_it_that_it_was_a_set() -> None:
    listener = Listener()
    listener.told.replace([pod("a", 1), pod("b", 2), pod("c", 3)], "4")
    assert listener.take() == [["ADDED a 1", "ADDED b 2", "ADDED c 3"], []]
    kept = listener.store["default/a"]
    listener.told.replace([pod("a", 1), pod("c", 5), pod("d", 6)], "7")
    [batch, _] = listener.batches
    assert listener.take() == [["MODIFIED c 5", "ADDED d 6", "DELETED b 2"], []]
    assert [delta.final_state_unknown for delta in batch] == [False, False, True]
    assert listener.store["default/a"] is kept
    assert listener.sets == 2


@pytest.mark.clause("J2")
def test_a_set_without_news_tells_nothing_but_that_it_came() -> None:
    listener = Listener()
    listener.told.replace([pod("a", 1)], "4")
    listener.take()
    listener.told.replace([pod("a", 1)], "9")
    assert listener.take() == [[]]


@pytest.mark.clause("J1", "J2", "H11")
def test_a_resync_tells_of_all_as_one() -> None:
    listener = Listener()
    broken: Any = Undecodable.of(pod("c", 3).raw, "no such field")
    listener.told.replace([pod("a", 1), pod("b", 2), broken], "4")
    listener.batches.clear()
    listener.told.resync()
    [batch] = listener.batches
    assert [(delta.type, delta.key, delta.resync) for delta in batch] == [
        (MODIFIED, "default/a", True),
        (MODIFIED, "default/b", True),
    ]
    assert all(delta.old is delta.object is listener.store[delta.key] for delta in batch)


@pytest.mark.clause("I3", "J1")
def test_what_changes_nothing_is_not_told() -> None:
    listener = Listener()
    listener.told.apply([added(pod("a", 5))])
    listener.take()
    listener.told.apply([modified(pod("a", 4)), deleted(pod("b", 5))])
    listener.told.bookmark("9")
    assert listener.take() == []
    assert listener.told.late_writes == 2
    assert listener.told.resource_version == "9"


@pytest.mark.clause("J3")
def test_a_listener_that_raises_is_logged_and_stops_nothing(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def broken(deltas: Sequence[Delta[Any]]) -> None:
        raise LookupError("a listener with a bug")

    sets: list[int] = []
    store: Store[Any] = Store()
    told: Told[Any] = Told(store, broken, lambda: sets.append(len(store)))
    told.replace([pod("a", 1)], "4")
    told.apply([added(pod("b", 5))])
    assert len(store) == 2
    assert sets == [1]
    assert caplog.text.count("LookupError: a listener with a bug") == 2


def test_it_is_as_its_store_is() -> None:
    store: Store[Any] = Store()
    told: Told[Any] = Told(store, None, list)
    told.replace([pod("a", 1), Undecodable.of(pod("b", 2).raw, "no such field")], "4")
    told.replace([pod("a", 1)], "3", new_epoch=True)
    told.resync()
    assert (len(told), told.epoch, told.resource_version) == (1, 1, "3")
    assert told.known("default/a") is store.known("default/a")
    assert told.undecodable == {}
