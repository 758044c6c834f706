"""RVs within one epoch: no state goes back, and what comes late is dropped."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from listwatch import (
    Event,
)
from listwatch.cache import Store

from .pods import added, deleted, modified, pod, pod_dict, unreadable


def make(*objects: Any, version: str = "10") -> Store[Any]:
    store: Store[Any] = Store()
    store.replace(objects, version)
    return store


@pytest.mark.clause("I3")
class TestALateWrite:
    @pytest.mark.parametrize("version", [4, 5])
    @pytest.mark.parametrize("event", [added, modified, deleted])
    @pytest.mark.parametrize("make_pod", [pod, pod_dict, unreadable])
    def test_of_a_state_that_is_not_newer_is_dropped_and_counted(
        self, version: int, event: Callable[[Any], Event[Any]], make_pod: Callable[..., Any]
    ) -> None:
        store = make(pod("d/a", 5))
        assert store.apply([event(make_pod("d/a", version))]) == []
        assert store.known("d/a") == pod("d/a", 5)
        assert store.late_writes == 1

    @pytest.mark.parametrize("version", [9, 10])
    def test_does_not_bring_back_what_is_gone(self, version: int) -> None:
        store = make()
        assert store.apply([added(pod("d/a", version))]) == []
        assert store.add(pod("d/a", version)) is None
        assert store.apply([deleted(pod("d/a", version))]) == []
        assert (len(store), store.late_writes) == (0, 3)

    def test_is_a_repeated_event(self) -> None:
        store = make()
        events = [added(pod("d/a", 11)), deleted(pod("d/a", 12)), added(pod("d/b", 13))]
        assert len(store.apply(events)) == 3
        assert store.apply(events) == []
        assert (store.keys(), store.late_writes, store.resource_version) == (["d/b"], 3, "13")

    def test_within_a_batch_is_dropped_too(self) -> None:
        store = make()
        store.apply([deleted(pod("d/a", 12)), added(pod("d/a", 11))])
        assert (len(store), store.late_writes) == (0, 1)

    def test_still_moves_the_rv_of_the_store(self) -> None:
        store = make()
        store.add(pod("d/a", 20))
        assert store.apply([modified(pod("d/a", 15))]) == []
        assert (store.resource_version, store["d/a"].resource_version) == ("15", "20")

    def test_compares_numbers_and_no_texts(self) -> None:
        store = make(pod("d/a", 9), version="9")
        assert len(store.apply([modified(pod("d/a", 10))])) == 1
        assert store.apply([modified(pod("d/a", 9))]) == []
        big = 10**40
        assert len(store.apply([modified(pod("d/a", big))])) == 1
        assert store.apply([modified(pod("d/a", big - 1))]) == []

    @pytest.mark.clause("A2")
    @pytest.mark.parametrize(("held", "comes"), [("b", "a"), ("a", "a"), ("", ""), ("5", "")])
    def test_is_none_where_the_rvs_cannot_be_compared(self, held: str, comes: str) -> None:
        store = make(pod("d/a", held, node="old"), version="")
        assert len(store.apply([modified(pod("d/a", comes, node="new"))])) == 1
        assert store["d/a"]["spec"]["node"] == "new"
        assert store.late_writes == 0

    def test_of_a_relist_keeps_the_newer_state_that_is_here(self) -> None:
        store = make(pod("d/a", 5))
        store.add(pod("d/a", 30))
        outcome = store.replace([pod("d/a", 8)], "20")
        assert (outcome.deltas, outcome.kept, store.late_writes) == ([], 1, 1)
        assert store["d/a"].resource_version == "30"


@pytest.mark.clause("D4", "A2")
@pytest.mark.parametrize(
    ("at", "read", "then"),
    [
        ("10", "12", "12"),
        ("9", "10", "10"),
        ("10", "9", "10"),
        ("10", "10", "10"),
        ("", "5", "5"),
        ("10", "", "10"),
        ("10", "0", "10"),
        ("", "0", ""),
        ("10", "abc", "abc"),
        ("abc", "abd", "abd"),
        ("abd", "abc", "abc"),
        ("abc", "10", "10"),
    ],
)
def test_the_rv_moves_forward_and_carries_along_what_cannot_be_compared(
    at: str, read: str, then: str
) -> None:
    by_bookmark, by_event = make(version=at), make(version=at)
    by_bookmark.bookmark(read)
    by_event.apply([added(pod("d/a", read))])
    assert by_bookmark.resource_version == by_event.resource_version == then
