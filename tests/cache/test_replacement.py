"""A whole new set in place of the old one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from listwatch.cache import Store

from .pods import added, in_a_table, in_protobuf, modified, pod, pod_dict, unreadable


def make(*objects: Any, version: str = "10") -> Store[Any]:
    store: Store[Any] = Store()
    store.replace(objects, version)
    return store


@pytest.mark.clause("J2", "H14")
class TestAReplacement:
    def test_tells_exactly_what_differs(self) -> None:
        store = make(pod("d/same", 1), pod("d/old", 2), pod("d/gone", 3))
        outcome = store.replace([pod("d/new", 11), pod("d/old", 12), pod("d/same", 1)], "20")
        assert [(delta.key, delta.type.value) for delta in outcome.deltas] == [
            ("d/new", "ADDED"),
            ("d/old", "MODIFIED"),
            ("d/gone", "DELETED"),
        ]
        assert (outcome.added, outcome.changed, outcome.vanished, outcome.kept) == (1, 1, 1, 1)
        assert outcome.total == len(store) == 3
        assert (store.resource_version, store.epoch) == ("20", 0)

    def test_tells_of_one_deletion_for_each_key_that_vanished_with_its_last_known_state(
        self,
    ) -> None:
        last = pod("d/gone", 3)
        store = make(last)
        [delta] = store.replace([], "20").deltas
        assert delta.final_state_unknown
        assert delta.object is delta.old is last

    def test_keeps_the_objects_and_the_keys_that_stay(self) -> None:
        store = make(*[pod(f"d/{number}", number) for number in range(1, 9)])
        keys, objects = store.keys(), store.list()
        again = [pod(f"d/{number}", number) for number in range(1, 9)]
        assert store.replace(again, "20").deltas == []
        again[3] = pod("d/4", 15)
        store.replace([*again, pod("d/9", 16)], "21")
        assert all(now is then for now, then in zip(store.keys(), keys, strict=False))
        kept = [now is then for now, then in zip(store.list(), objects, strict=False)]
        assert kept == [True, True, True, False, True, True, True, True]

    def test_of_another_uid_at_the_same_rv_is_a_change(self) -> None:
        store = make(pod("d/a", 1))
        [delta] = store.replace([pod("d/a", 1, uid="u2")], "20").deltas
        assert delta.recreated

    def test_of_objects_without_rvs_compares_all_of_them(self) -> None:
        store = make(pod("d/a", "", node="n1"), pod_dict("d/b", "", node="n1"))
        again = [pod("d/a", "", node="n2"), pod_dict("d/b", "", node="n1")]
        assert [delta.key for delta in store.replace(again, "20").deltas] == ["d/a"]

    def test_takes_the_newest_of_objects_that_come_twice(self) -> None:
        store = make(pod("d/a", 1), pod("d/b", 2))
        outcome = store.replace(
            [
                pod("d/a", 1),
                pod("d/b", 12),
                pod("d/c", 15),
                pod("d/b", 11),
                pod("d/a", 13),
                pod("d/a", 1),
                pod("d/c", 15),
            ],
            "20",
        )
        assert [(delta.key, delta.object.resource_version) for delta in outcome.deltas] == [
            ("d/b", "12"),
            ("d/c", "15"),
            ("d/a", "13"),
        ]
        assert (outcome.added, outcome.changed, outcome.vanished, outcome.kept) == (1, 2, 0, 0)

    def test_reads_its_items_once_and_as_they_come(self) -> None:
        store = make(pod("d/a", 1))

        def items() -> Iterator[Any]:
            yield pod("d/b", 11)
            assert store.keys() == ["d/a"]
            yield pod("d/c", 12)

        store.replace(items(), "20")
        assert store.keys() == ["d/b", "d/c"]

    def test_whose_items_fail_changes_nothing(self) -> None:
        store = make(pod("d/a", 1))

        def items() -> Iterator[Any]:
            yield pod("d/b", 11)
            raise ConnectionError("the page did not come")

        with pytest.raises(ConnectionError):
            store.replace(items(), "20")
        assert (store.keys(), store.resource_version) == (["d/a"], "10")

    def test_that_is_the_first_set_says_so(self) -> None:
        store: Store[Any] = Store()
        [first] = store.replace([pod("d/a", 1)], "10").deltas
        [second] = store.replace([pod("d/a", 11)], "20").deltas
        assert (first.initial, second.initial) == (True, False)
        store = make()
        [later] = store.replace([pod("d/a", 11)], "20").deltas
        assert not later.initial


@pytest.mark.clause("H18")
class TestANewEpoch:
    def test_is_counted_and_takes_older_rvs(self) -> None:
        store = make(pod("d/a", 9), pod("d/gone", 8))
        outcome = store.replace([pod("d/a", 3), pod("d/new", 2)], "4", new_epoch=True)
        assert (outcome.added, outcome.changed, outcome.vanished) == (1, 1, 1)
        assert (store.resource_version, store.epoch, store.late_writes) == ("4", 1, 0)
        assert store["d/a"].resource_version == "3"
        assert len(store.apply([modified(pod("d/a", 5)), added(pod("d/b", 6))])) == 2

    @pytest.mark.parametrize("make_pod", [pod, pod_dict, unreadable, in_protobuf, in_a_table])
    def test_keeps_only_what_is_the_same_to_the_last_byte(
        self, make_pod: Callable[..., Any]
    ) -> None:
        store = make(make_pod("d/a", 9, node="n1"), make_pod("d/b", 9, node="n1"))
        held = store.known("d/a")
        outcome = store.replace(
            [make_pod("d/a", 9, node="n1"), make_pod("d/b", 9, node="n2")], "9", new_epoch=True
        )
        assert [(delta.key, delta.type.value) for delta in outcome.deltas] == [("d/b", "MODIFIED")]
        assert outcome.kept == 1
        assert store.known("d/a") is held

    def test_is_one_for_a_set_that_is_the_same(self) -> None:
        store = make(pod("d/a", 9))
        assert store.replace([pod("d/a", 9)], "9", new_epoch=True).deltas == []
        assert store.epoch == 1
