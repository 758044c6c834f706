"""Whatever is written, the store is what a naive model of it says, its indexes are those of its
objects, its snapshots stay as they were, and its deltas tell all of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from listwatch import Event, EventType
from listwatch.cache import Delta, Snapshot, Store, Undecodable, _keys
from listwatch.cache.indexes import Index, Values

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


def first_of(obj: Any) -> tuple[str, ...]:
    return tuple(values_of(obj)[:1])


def state_of(obj: Any) -> Iterator[str]:
    yield f"{obj.uid} {obj.resource_version}"


FUNCTIONS: dict[str, Any] = {"value": values_of, "first": first_of, "state": state_of}


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
        self.seen: list[tuple[Snapshot[Any], dict[str, Known]]] = []
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

    @precondition(lambda self: len(self.store.index_names) < len(FUNCTIONS))
    @rule()
    def add_index(self) -> None:
        name = next(name for name in FUNCTIONS if name not in self.store.index_names)
        self.store.add_index(name, FUNCTIONS[name])

    @rule()
    def snapshot(self) -> None:
        self.seen = [*self.seen[-2:], (self.store.snapshot(), dict(self.objects))]

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
        now = (self.store, self.objects), (self.store.snapshot(), self.objects)
        for view, objects in (*now, *self.seen):
            readable = [known.build() for known in objects.values() if known.readable]
            for name in view.index_names:
                expected: dict[str, set[str]] = {}
                for obj in readable:
                    for value in FUNCTIONS[name](obj):
                        expected.setdefault(value, set()).add(obj.key)
                assert set(view.index_values(name)) == expected.keys()
                for value, keys in expected.items():
                    found = view.by_index(name, value)
                    assert len(found) == len(keys)
                    assert {obj.key for obj in found} == set(view.index_keys(name, value)) == keys
            for namespace in ("d", "e", "zz"):
                expected_keys = {obj.key for obj in readable if obj.namespace == namespace}
                assert {obj.key for obj in view.list(namespace)} == expected_keys

    @invariant()
    def of_equal_texts_one_is_kept(self) -> None:
        indexes = self.store._state.indexes
        keys = {id(key) for key in self.store}
        assert {id(key) for key in indexes.rows} <= keys
        held = {id(key): key for index in indexes.all for key in held_by(index)}
        assert held.keys() <= keys
        for column, index in enumerate(indexes.named.values()):
            texts = [text for row in indexes.rows.values() for text in texts_of(row[column])]
            assert len({id(text) for text in texts}) == len(index.values())


def held_by(index: Index) -> list[str]:
    return [key for value in index.values() for key in index.keys(value)]


def texts_of(values: Values) -> tuple[str, ...]:
    return () if values is None else values if isinstance(values, tuple) else (values,)


class StoreModelOfManyKeys(StoreModel):
    """The same, where four keys are as many as hundreds are."""

    def __init__(self) -> None:
        super().__init__()
        self._few = _keys._FEW
        _keys._FEW = 2

    def teardown(self) -> None:
        _keys._FEW = self._few


CLAUSES = pytest.mark.clause("I1", "I2", "I3", "J2", "H18", "H10")
TestStoreModel = CLAUSES(StoreModel.TestCase)
TestStoreModel.settings = settings(max_examples=60, stateful_step_count=25, deadline=None)
TestStoreModelOfManyKeys = CLAUSES(StoreModelOfManyKeys.TestCase)
TestStoreModelOfManyKeys.settings = settings(max_examples=60, stateful_step_count=25, deadline=None)
