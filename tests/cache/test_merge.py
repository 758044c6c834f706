"""Several sets as one: an object is there while one of them has it (K9)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from listwatch import Unstructured
from listwatch.api import EventType
from listwatch.cache import Delta, Identity, Store, Undecodable
from listwatch.cache._merge import Merge
from listwatch.cache._told import Told

from .scripted import added, deleted, modified, names, pod

pytestmark = pytest.mark.clause("K9")

ADDED, MODIFIED, DELETED = EventType.ADDED, EventType.MODIFIED, EventType.DELETED


class Union:
    """A merge of parts, which tells what it is told."""

    def __init__(self, *parts: str, store: Any = None, identify: Any = None) -> None:
        known = {} if identify is None else {"identify": identify}
        self.store: Store[Any] = Store(**known) if store is None else store
        self.parts: dict[str, Store[Any]] = {part: Store(**known) for part in parts}
        self.batches: list[list[Delta[Any]]] = []
        self.errors: list[Exception] = []
        self.merge: Merge[Any] = Merge(
            self.store,
            self.parts,
            identify or _identity,
            self._tell,
            self.errors.append,
        )
        self._told = {part: self._part(part) for part in parts}

    def _part(self, part: str) -> Told[Any]:
        return Told(
            self.parts[part],
            lambda deltas: self.merge.take(part, deltas),
            lambda: self.merge.has_set(part),
        )

    def _tell(self, deltas: Sequence[Delta[Any]]) -> None:
        # The store is at the end of the batch already.
        for delta in {delta.key: delta for delta in deltas}.values():
            there = None if delta.type is DELETED else delta.object
            assert self.store.known(delta.key) is there
        self.batches.append(list(deltas))

    def __getitem__(self, part: str) -> Told[Any]:
        return self._told[part]

    def take(self) -> list[list[str]]:
        """What was told since the last time, a list for each batch."""
        batches, self.batches = self.batches, []
        return [[_said(delta) for delta in batch] for batch in batches]


def _identity(obj: Any) -> Identity:
    return Identity(obj.key, obj.uid, obj.resource_version)


def _said(delta: Delta[Any]) -> str:
    old: Any = delta.old
    marks = [
        name
        for name in ("initial", "recreated", "final_state_unknown", "resync")
        if getattr(delta, name)
    ]
    versions = f"{old.resource_version if old else '-'} {delta.object.resource_version}"
    return " ".join([str(delta.type), delta.key[8:], versions, *marks])


# Sets that have nothing in common


@pytest.mark.clause("J1", "K9")
def test_what_one_read_of_a_part_brought_is_told_whole_and_in_its_order() -> None:
    union = Union("x", "y")
    union["x"].replace([pod("a", 1)], "2")
    union.take()
    union["x"].apply(
        [
            modified(pod("a", 3)),
            added(pod("b", 4)),
            modified(pod("a", 5)),
            deleted(pod("a", 6)),
            added(pod("a", 7, uid="another")),
            added(pod("c", 8)),
            deleted(pod("c", 9)),
        ]
    )
    assert union.take() == [
        [
            "MODIFIED a 1 3",
            "ADDED b - 4",
            "MODIFIED a 3 5",
            "DELETED a 5 6",
            "ADDED a - 7",
            "ADDED c - 8",
            "DELETED c 8 9",
        ]
    ]
    assert names(union.store) == {"a": "7", "b": "4"}


@pytest.mark.clause("J1", "J2", "K6", "K9")
def test_a_set_of_a_part_is_one_step_with_its_marks() -> None:
    union = Union("x", "y")
    union["x"].replace([pod("a", 1), pod("b", 2), pod("c", 3)], "4")
    union["y"].replace([pod("z", 5)], "6")
    assert union.take() == [
        ["ADDED a - 1 initial", "ADDED b - 2 initial", "ADDED c - 3 initial"],
        ["ADDED z - 5 initial"],
    ]
    union["x"].replace([pod("a", 1), pod("b", 7, uid="another"), pod("d", 8)], "9")
    assert union.take() == [
        ["MODIFIED b 2 7 recreated", "ADDED d - 8", "DELETED c 3 3 final_state_unknown"]
    ]


@pytest.mark.clause("K9", "I2")
def test_the_union_has_indexes_of_its_own_which_may_fail() -> None:
    store: Store[Any] = Store(indexes={"spec": lambda obj: [obj["spec"]]})
    union = Union("x", "y", store=store)
    union["x"].replace([pod("a", 1, spec="s"), pod("b", 2)], "3")
    union["y"].apply([added(pod("c", 4, spec="s"))])
    assert sorted(store.index_keys("spec", "s")) == ["default/a", "default/c"]
    assert len(store) == 3
    assert len(union.errors) == 1


# Sets that overlap


def test_in_two_parts_it_is_there_once() -> None:
    union = Union("x", "y")
    union["x"].replace([pod("a", 1)], "2")
    union["y"].replace([pod("a", 1)], "2")
    union["x"].apply([modified(pod("a", 3))])
    union["y"].apply([modified(pod("a", 3))])
    assert union.take() == [["ADDED a - 1 initial"], ["MODIFIED a 1 3"]]


def test_it_is_gone_when_none_has_it_any_more() -> None:
    union = Union("x", "y")
    for part in "xy":
        union[part].replace([pod("a", 1)], "2")
    union.take()
    union["x"].apply([deleted(pod("a", 3))])
    assert union.take() == []
    assert names(union.store) == {"a": "1"}
    union["y"].apply([deleted(pod("a", 3))])
    assert union.take() == [["DELETED a 1 3"]]
    assert names(union.store) == {}


def test_the_newest_state_is_shown_whoever_has_it() -> None:
    union = Union("x", "y")
    union["x"].replace([pod("a", 5)], "6")
    union["y"].replace([pod("a", 3)], "4")
    assert names(union.store) == {"a": "5"}
    union["y"].apply([modified(pod("a", 4))])
    assert names(union.store) == {"a": "5"}
    union["y"].apply([modified(pod("a", 7))])
    assert names(union.store) == {"a": "7"}
    assert union.take() == [["ADDED a - 5 initial"], ["MODIFIED a 5 7"]]


@pytest.mark.clause("I3", "K9")
def test_who_lags_behind_takes_no_object_back_to_an_older_state() -> None:
    union = Union("x", "y")
    for part in "xy":
        union[part].replace([pod("a", 1), pod("b", 2)], "3")
    union["x"].apply([modified(pod("a", 4)), modified(pod("b", 5))])
    union.take()
    # Both leave the selection of x, and y has not heard of anything yet.
    union["x"].apply([deleted(pod("a", 6)), deleted(pod("b", 7))])
    assert union.take() == []
    assert names(union.store) == {"a": "4", "b": "5"}
    union["y"].apply([modified(pod("a", 4)), modified(pod("b", 5))])
    assert union.take() == []
    union["y"].apply([modified(pod("a", 6)), deleted(pod("b", 7))])
    assert union.take() == [["MODIFIED a 4 6", "DELETED b 5 7"]]
    union["y"].apply([modified(pod("a", 8))])
    assert union.take() == [["MODIFIED a 6 8"]]


@pytest.mark.clause("I3", "K9")
def test_who_lags_behind_brings_no_object_back_that_is_gone() -> None:
    """Property 3, no resurrection."""
    union = Union("x", "y")
    union["x"].replace([], "1")
    union["y"].replace([], "1")
    union["x"].apply([added(pod("a", 3)), deleted(pod("a", 9))])
    assert union.take() == [["ADDED a - 3", "DELETED a 3 9"]]
    union["y"].apply([added(pod("a", 3)), modified(pod("a", 5))])
    assert union.take() == []
    union["y"].apply([deleted(pod("a", 9)), added(pod("a", 10, uid="another"))])
    assert union.take() == [["ADDED a - 10"]]


@pytest.mark.clause("J2", "K9")
def test_nor_one_of_whose_end_nobody_knows_more_than_that() -> None:
    union = Union("x", "y")
    union["x"].replace([pod("a", 3)], "4")
    union["y"].replace([], "2")
    union["x"].replace([], "9")
    union.take()
    union["y"].apply([added(pod("a", 3))])
    union["y"].bookmark("4")
    union["x"].apply([added(pod("b", 10))])
    assert union.take() == [["ADDED b - 10"]]
    # It has left the selection of x only, at a time that x does not know.
    union["y"].apply([modified(pod("a", 6))])
    assert union.take() == [["ADDED a - 6"]]


def test_an_object_that_moves_from_one_part_to_another() -> None:
    for first, last in ("xy", "yx"):
        union = Union("x", "y")
        union["x"].replace([pod("a", 3)], "4")
        union["y"].replace([], "4")
        union.take()
        moves = {"x": [deleted(pod("a", 5))], "y": [added(pod("a", 5))]}
        union[first].apply(moves[first])
        union[last].apply(moves[last])
        told = [line for batch in union.take() for line in batch]
        assert told == (["DELETED a 3 5", "ADDED a - 5"] if first == "x" else ["MODIFIED a 3 5"])


@pytest.mark.clause("H18", "K9")
def test_what_was_left_out_as_over_may_be_there_in_another_history() -> None:
    union = Union("x", "y")
    for part in "xy":
        union[part].replace([], "1")
    union["x"].apply([added(pod("a", 3)), deleted(pod("a", 9))])
    union["y"].apply([added(pod("a", 3))])
    union.take()
    # The server has lost the deletion before y heard of it.
    union["x"].replace([pod("a", 3)], "5", new_epoch=True)
    assert union.take() == [["ADDED a - 3"]]
    union["y"].replace([pod("a", 3)], "5", new_epoch=True)
    assert union.take() == []
    union = Union("x", "y")
    for part in "xy":
        union[part].replace([], "1")
    union["x"].apply([added(pod("a", 3)), deleted(pod("a", 9))])
    union["y"].apply([added(pod("a", 3))])
    union.take()
    union["y"].replace([pod("a", 3)], "5", new_epoch=True)
    assert union.take() == [["ADDED a - 3"]]


def test_of_what_is_gone_no_more_is_remembered_than_it_must() -> None:
    union = Union("x", "y", "z")
    for part in "xy":
        union[part].replace([], "1")
    for rv in range(10, 8000, 3):
        union["x"].apply([added(pod(f"p{rv}", rv)), deleted(pod(f"p{rv}", rv + 1))])
        if rv == 4000:
            assert len(union.merge._gone) == 1000  # z has had no set
            union["z"].replace([], "4100")
            union["y"].bookmark("3900")
            union.batches.clear()
            union["x"].apply([added(pod("last", 4002))])
            assert len(union.merge._gone) <= 60
    union["y"].bookmark("9000")
    union["z"].bookmark("9000")
    union["x"].apply([modified(pod("last", 9000))])
    assert union.merge._gone == {}


@pytest.mark.clause("K6", "K9")
def test_two_lives_of_an_object_in_two_parts() -> None:
    union = Union("x", "y")
    for part in "xy":
        union[part].replace([pod("a", 1)], "2")
    union.take()
    union["x"].apply([deleted(pod("a", 3)), added(pod("a", 4, uid="another"))])
    union["y"].apply([deleted(pod("a", 3)), added(pod("a", 4, uid="another"))])
    assert union.take() == [["MODIFIED a 1 4 recreated"]]


@pytest.mark.clause("H10", "K9")
def test_what_one_part_cannot_decode() -> None:
    union = Union("x", "y", identify=_identity)
    broken: Any = Undecodable.of(pod("a", 4).raw, "no such field")
    union["x"].replace([pod("a", 1)], "2")
    union["y"].replace([pod("a", 1)], "2")
    union["x"].apply([modified(broken)])
    assert union.store.undecodable == {"default/a": broken}
    # It can be decoded after all, in the same state.
    union["x"].replace([pod("a", 4)], "5")
    assert union.store.undecodable == {}
    assert names(union.store) == {"a": "4"}
    assert [len(batch) for batch in union.take()] == [1, 1, 1]


# History that went back


@pytest.mark.clause("H18", "K9")
def test_the_history_of_one_part_may_go_back() -> None:
    union = Union("x", "y")
    union["x"].replace([pod("a", 10), pod("b", 11)], "12")
    union["y"].replace([pod("z", 11)], "12")
    union.take()
    union["x"].replace([pod("a", 5)], "6", new_epoch=True)
    assert union.take() == [["MODIFIED a 10 5", "DELETED b 11 11 final_state_unknown"]]
    union["x"].apply([modified(pod("a", 7))])
    assert union.take() == [["MODIFIED a 5 7"]]


@pytest.mark.clause("H18", "K9")
@pytest.mark.parametrize("order", ["xy", "yx"])
def test_what_both_have_goes_back_with_the_last_of_them(order: str) -> None:
    union = Union("x", "y")
    for part in "xy":
        union[part].replace([pod("a", 10), pod("b", 11)], "12")
    union.take()
    first, last = order
    union[first].replace([pod("a", 5)], "6", new_epoch=True)
    assert union.take() == []
    assert names(union.store) == {"a": "10", "b": "11"}
    union[last].replace([pod("a", 5)], "6", new_epoch=True)
    assert union.take() == [["MODIFIED a 10 5", "DELETED b 11 11 final_state_unknown"]]


@pytest.mark.clause("H18", "K9")
@pytest.mark.parametrize("order", ["xy", "yx"])
def test_another_history_may_have_given_the_same_rv_to_something_else(order: str) -> None:
    union = Union("x", "y")
    for part in "xy":
        union[part].replace([pod("a", 10)], "10")
    for part in order:
        union[part].replace([pod("a", 10, spec={"new": True})], "10", new_epoch=True)
    assert union.store["default/a"]["spec"] == {"new": True}
    assert [len(batch) for batch in union.take()] == [1, 1]


@pytest.mark.clause("H18", "K9")
@pytest.mark.parametrize("has_it", [True, False])
def test_what_was_kept_for_who_lags_behind_goes_back_too(has_it: bool) -> None:
    union = Union("x", "y")
    for part in "xy":
        union[part].replace([pod("a", 3)], "4")
    union["x"].apply([modified(pod("a", 9)), deleted(pod("a", 10))])
    assert names(union.store) == {"a": "9"}
    union.take()
    # The server lost those two writes before y heard of them.
    union["y"].replace([pod("a", 3)] if has_it else [], "5", new_epoch=True)
    assert union.take() == [["MODIFIED a 9 3" if has_it else "DELETED a 9 9 final_state_unknown"]]
    assert names(union.store) == names(union.parts["y"])


# Resync


@pytest.mark.clause("H11", "J1", "K9")
def test_a_resync_of_each_part_tells_of_each_object_once() -> None:
    union = Union("x", "y")
    union["x"].replace([pod("a", 1), pod("b", 2), pod("c", 3)], "4")
    union["y"].replace([pod("a", 1), pod("b", 5), pod("d", 6)], "7")
    union["x"].apply([modified(pod("c", 8)), deleted(pod("a", 9))])
    union.take()
    union["x"].resync()
    union["y"].resync()
    [first, last] = union.batches
    assert [_said(delta) for delta in first] == ["MODIFIED c 8 8 resync"]
    assert [_said(delta) for delta in last] == [
        "MODIFIED a 1 1 resync",
        "MODIFIED b 5 5 resync",
        "MODIFIED d 6 6 resync",
    ]
    for delta in [*first, *last]:
        assert delta.object is delta.old is union.store[delta.key]


# Whatever happens

NAMES = st.sampled_from(["a", "b", "c"])
LABELS = st.sampled_from(["", "x", "y", "xy"])
WRITES = st.lists(st.tuples(NAMES, LABELS, st.booleans()), max_size=25)


class World:
    """A server, with parts that watch it, each with its own selection and at its own pace."""

    def __init__(self, writes: list[tuple[str, str, bool]]) -> None:
        self.rv = 0
        self.objects: dict[str, Unstructured] = {}
        self.log: dict[str, list[Any]] = {"x": [], "y": []}
        for name, labels, ends in writes:
            self._write(name, labels, ends)

    def _write(self, name: str, labels: str, ends: bool) -> None:
        self.rv += 1
        old = self.objects.pop(name, None)
        life = old.uid if old is not None else f"uid-{self.rv}"
        new = pod(name, self.rv, uid=life, labels=labels)
        if not ends:
            self.objects[name] = new
        for part, events in self.log.items():
            had = old is not None and part in old["labels"]
            has = not ends and part in labels
            if has:
                events.append(modified(new) if had else added(new))
            elif had:
                events.append(deleted(new))


@given(WRITES, st.data())
def test_at_the_end_it_is_the_union_and_until_then_nothing_goes_back(
    writes: list[tuple[str, str, bool]], data: st.DataObject
) -> None:
    world, union = World(writes), Union("x", "y")
    left = {part: list(events) for part, events in world.log.items()}
    shown: dict[str, Any] = {}
    newest: dict[str, int] = {}
    while parts := [part for part, events in left.items() if events]:
        part = data.draw(st.sampled_from(parts))
        count = data.draw(st.integers(1, len(left[part])))
        union[part].apply(left[part][:count])
        del left[part][:count]
        for batch in union.batches:
            for delta in batch:
                assert delta.old is shown.get(delta.key)
                version, before = int(delta.object.resource_version), newest.get(delta.key, 0)
                assert version > before or (version == before and delta.type is not MODIFIED)
                newest[delta.key] = version
                if delta.type is DELETED:
                    del shown[delta.key]
                else:
                    shown[delta.key] = delta.object
        union.batches.clear()
        assert dict(union.store.items()) == shown
    truth = {obj.key: obj for obj in world.objects.values() if obj["labels"]}
    assert shown == truth
