"""Whatever is written, the store is what a naive model of it says, its indexes are those of its
objects, and its deltas tell all of it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from listwatch import Event, EventType
from listwatch.cache import Delta, Store, Undecodable

from .pods import pod, unreadable

KEYS = ("d/a", "d/b", "e/a", "c")


class Known(NamedTuple):
    """An object in the model. RV 0 stands for none."""

    key: str
    version: int
    uid: str
    values: tuple[str, ...]
    readable: bool

    def build(self) -> Any:
        make = pod if self.readable else unreadable
        return make(self.key, self.version or "", uid=self.uid, values=list(self.values))


def built(known: Known | None) -> bytes | None:
    return None if known is None else known.build().raw


def values_of(obj: Any) -> list[str]:
    return list(obj["spec"]["values"])


states = st.builds(
    Known,
    key=st.sampled_from(KEYS),
    version=st.integers(-4, 6),  # against the store's own RV, when it is used
    uid=st.sampled_from(["u1", "u2"]),
    values=st.lists(st.sampled_from(["x", "y", "z"]), max_size=3).map(tuple),
    readable=st.sampled_from([True, True, True, False]),
)
writes = st.tuples(st.sampled_from(["ADDED", "MODIFIED", "DELETED"]), states)


class StoreModel(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.store: Store[Any] = Store(indexes={"value": values_of})
        self.objects: dict[str, Known] = {}
        self.version = 0
        self.epoch = 0
        self.late = 0
        self.replayed: dict[str, bytes] = {}

    def near(self, state: Known) -> Known:
        return state._replace(version=max(0, self.version + state.version))

    # What the model says.

    def write(self, kind: str, state: Known) -> bool:
        old = self.objects.get(state.key)
        seen = old.version if old is not None else self.version
        if state.version and seen and state.version <= seen:
            self.late += 1
            return False
        if kind == "DELETED":
            return self.objects.pop(state.key, None) is not None
        self.objects[state.key] = state
        return True

    # What both do.

    @rule(batch=st.lists(writes, max_size=6), moves=st.booleans())
    def apply(self, batch: list[tuple[str, Known]], moves: bool) -> None:
        events: list[Event[Any]] = []
        changes: list[str] = []
        for kind, state in batch:
            # Each near the RV that the store has by then.
            near = self.near(state)
            events.append(Event(EventType(kind), near.build()))
            if self.write(kind, near):
                changes.append(near.key)
            if moves:
                self.version = max(self.version, near.version)
        deltas = self.store.apply(events, moves_rv=moves)
        assert [delta.key for delta in deltas] == changes
        self.replay(deltas)

    @rule(state=states)
    def add(self, state: Known) -> None:
        near = self.near(state)
        delta = self.store.add(near.build())
        assert (delta is not None) == self.write("ADDED", near)
        self.replay([delta] if delta else [])

    @rule(key=st.sampled_from(KEYS))
    def delete(self, key: str) -> None:
        delta = self.store.delete(key)
        assert (delta is not None) == (self.objects.pop(key, None) is not None)
        self.replay([delta] if delta else [])

    @rule(ahead=st.integers(-3, 5))
    def bookmark(self, ahead: int) -> None:
        version = max(0, self.version + ahead)
        self.store.bookmark(str(version))
        self.version = max(self.version, version)

    @rule(
        items=st.lists(states, max_size=5),
        same=st.sets(st.sampled_from(KEYS)),
        ahead=st.integers(0, 5),
        new_epoch=st.booleans(),
    )
    def replace(self, items: list[Known], same: set[str], ahead: int, new_epoch: bool) -> None:
        sent = [self.objects[key] for key in KEYS if key in same and key in self.objects]
        sent += [self.near(state) for state in items]
        before = dict(self.objects)
        kept: dict[str, Known] = {}
        for state in sent:
            old = kept.get(state.key) or before.get(state.key)
            kept[state.key] = old if old and not self.is_news(old, state, new_epoch) else state
        expected = {key: state for key, state in kept.items() if before.get(key) != state}
        vanished = before.keys() - kept.keys()
        self.objects = kept
        self.version = max(1, self.version + ahead)
        self.epoch += new_epoch
        held = {key: self.store.known(key) for key in before}
        outcome = self.store.replace(
            [state.build() for state in sent], str(self.version), new_epoch=new_epoch
        )
        told = {delta.key for delta in outcome.deltas}
        assert told == expected.keys() | vanished
        assert len(told) == len(outcome.deltas)
        assert outcome.added == len(kept.keys() - before.keys())
        assert outcome.vanished == len(vanished)
        assert outcome.total == len(kept)
        for key in before.keys() & kept.keys() - expected.keys():
            assert self.store.known(key) is held[key]
        self.replay(outcome.deltas)

    def is_news(self, old: Known, new: Known, new_epoch: bool) -> bool:
        if new_epoch or not (old.version or new.version):
            return old != new
        if (old.uid, old.version) == (new.uid, new.version):
            return new.readable and not old.readable
        if old.version and new.version and new.version < old.version:
            self.late += 1
            return False
        return True

    def replay(self, deltas: list[Delta[Any]]) -> None:
        """The deltas alone, on a plain dict."""
        for delta in deltas:
            before = self.replayed.get(delta.key)
            assert before == (None if delta.old is None else delta.old.raw)
            assert isinstance(delta.object, Undecodable) == (delta.error is not None)
            recreated = delta.type is EventType.MODIFIED and delta.old.uid != delta.object.uid
            assert delta.recreated == recreated
            if delta.type is EventType.DELETED:
                assert before is not None
                del self.replayed[delta.key]
            else:
                assert (before is None) == (delta.type is EventType.ADDED)
                self.replayed[delta.key] = delta.raw

    # What must hold.

    @invariant()
    def the_objects_are_those_of_the_model(self) -> None:
        expected = {key: built(state) for key, state in self.objects.items()}
        held = {key: self.store.known(key) for key in self.store}
        assert {key: entry.raw for key, entry in held.items()} == expected
        assert self.replayed == expected
        assert len(self.store) == len(expected)
        readable = {key for key, state in self.objects.items() if state.readable}
        assert {obj.key for obj in self.store.list()} == readable
        assert self.store.undecodable.keys() == expected.keys() - readable

    @invariant()
    def rv_and_counts_are_those_of_the_model(self) -> None:
        assert self.store.resource_version == (str(self.version) if self.version else "")
        assert (self.store.epoch, self.store.late_writes) == (self.epoch, self.late)

    @invariant()
    def the_indexes_are_those_of_the_objects(self) -> None:
        expected: dict[str, set[str]] = {}
        for obj in self.store.list():
            for value in values_of(obj):
                expected.setdefault(value, set()).add(obj.key)
        for view in (self.store, self.store.snapshot()):
            assert set(view.index_values("value")) == expected.keys()
            for value, keys in expected.items():
                found = view.by_index("value", value)
                assert len(found) == len(keys)
                assert {obj.key for obj in found} == set(view.index_keys("value", value)) == keys


TestStoreModel = pytest.mark.clause("I1", "I2", "I3", "J2", "H18", "H10")(StoreModel.TestCase)
TestStoreModel.settings = settings(max_examples=60, stateful_step_count=25, deadline=None)
