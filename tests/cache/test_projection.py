"""Projection: what is kept of an object, and which of its changes are told (K12)."""

from __future__ import annotations

import asyncio
import copy
import gc
import json
import pickle
import tracemalloc
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Struct

from listwatch import (
    Event,
    EventType,
    MalformedObject,
    ReflectorOptions,
    Store,
    Undecodable,
    Unstructured,
    decode_unstructured,
    identity_of,
)
from listwatch.cache.changes import Changes
from listwatch.cache.informer import SharedInformer
from listwatch.cache.mirror import Mirror
from listwatch.cache.projection import Projected, projected

from .scripted import Page, Scripted, Still, Watch, refused_object, settle

pytestmark = pytest.mark.clause("K12")


class Condition(Struct, frozen=True):
    type: str
    status: str


class Spec(Struct, frozen=True):
    unschedulable: bool = False


class NodeStatus(Struct, frozen=True):
    conditions: tuple[Condition, ...] = ()


class NodeView(Struct, frozen=True):
    """A node as a scheduler sees it."""

    spec: Spec = Spec()
    status: NodeStatus = NodeStatus()


def usable(node: Unstructured) -> tuple[bool, str]:
    """The same by a function."""
    view = node.decode(NodeView)
    ready = (known.status for known in view.status.conditions if known.type == "Ready")
    return view.spec.unschedulable, next(ready, "Unknown")


def node(
    name: str,
    rv: int,
    *,
    uid: str = "",
    cordoned: bool | None = None,
    ready: str = "True",
    beat: int = 0,
    padding: int = 0,
) -> bytes:
    """A node's JSON; `beat` is in what a heartbeat changes."""
    spec: dict[str, Any] = {"podCIDR": "10.0.0.0/24"}
    if cordoned is not None:
        spec["unschedulable"] = cordoned
    conditions = [
        {"type": kind, "status": status, "lastHeartbeatTime": f"2026-01-01T00:00:{beat:02}Z"}
        for kind, status in (("DiskPressure", "False"), ("Ready", ready))
    ]
    metadata = {"name": name, "uid": uid or f"uid-{name}", "resourceVersion": str(rv)}
    obj = {
        "kind": "Node",
        "apiVersion": "v1",
        "metadata": {**metadata, "managedFields": [{"manager": f"kubelet-{beat}"}]},
        "spec": spec,
        "status": {"conditions": conditions, "images": ["x" * padding]},
    }
    return json.dumps(obj).encode()


views = pytest.mark.parametrize("view", [NodeView, usable], ids=["struct", "function"])


def event(kind: EventType, raw: bytes, view: Any) -> Event[Any]:
    return Event(kind, projected(view)(raw), raw)


def modified(raw: bytes, view: Any = NodeView) -> Event[Any]:
    return event(EventType.MODIFIED, raw, view)


class TestDecoding:
    def test_the_fields_that_a_struct_declares_are_kept(self) -> None:
        raw = node("n", 7, cordoned=True)
        found = projected(NodeView)(raw)
        conditions = (Condition("DiskPressure", "False"), Condition("Ready", "True"))
        assert found.value == NodeView(Spec(True), NodeStatus(conditions))
        assert (found.key, found.namespace, found.name) == ("n", "", "n")
        assert (found.uid, found.resource_version) == ("uid-n", "7")

    def test_what_a_function_makes_of_the_object_is_kept(self) -> None:
        assert projected(usable)(node("n", 7, ready="False")).value == (False, "False")

    def test_a_namespaced_object_has_both_parts_of_its_key(self) -> None:
        found = projected(NodeView)(b'{"metadata":{"name":"a","namespace":"b"}}')
        assert (found.key, found.namespace, found.name) == ("b/a", "b", "a")
        assert identity_of(found) == ("b/a", "", "")

    def test_what_is_absent_or_null_has_its_default(self) -> None:
        for spec in (b"", b',"spec":null', b',"spec":{"unschedulable":null}'):
            found = projected(NodeView)(b'{"metadata":{"name":"a"}' + spec + b"}")
            assert found.value == NodeView()

    def test_what_a_function_gives_cannot_be_changed(self) -> None:
        found = projected(lambda obj: {"a": [1]})(b'{"metadata":{"name":"a"}}')
        with pytest.raises(TypeError):
            found.value["b"] = 2
        assert found.value["a"] == (1,)

    @pytest.mark.parametrize("settings", [{}, {"frozen": True, "eq": False}])
    def test_a_struct_that_could_be_changed_or_not_be_compared_is_refused(
        self, settings: dict[str, bool]
    ) -> None:
        class Loose(Struct, **settings):
            spec: Any = None

        with pytest.raises(TypeError, match="Loose must be a Struct with frozen=True"):
            projected(Loose)

    @pytest.mark.parametrize("raw", [b"[]", b'{"metadata":{}}', b'{"metadata":{"name":""}}'])
    def test_what_has_no_name_is_no_object(self, raw: bytes) -> None:
        with pytest.raises(MalformedObject):
            projected(NodeView)(raw)

    def test_equal_values_are_one_object_as_long_as_they_are_few(self) -> None:
        decode = projected(NodeView)
        assert decode(node("a", 1)).value is decode(node("b", 2, beat=1)).value
        many = projected(lambda obj: obj.resource_version)
        found = [many(node("a", rv)).value for rv in range(3_000)]
        assert found == [str(rv) for rv in range(3_000)]
        assert len(many._values) <= 1_000
        unhashable = projected(lambda obj: bytearray(b"a"))
        assert unhashable(node("a", 1)).value == bytearray(b"a")

    def test_two_of_the_same_view_are_equal(self) -> None:
        assert projected(NodeView) == projected(NodeView)
        assert hash(projected(usable)) == hash(projected(usable))
        assert projected(NodeView) != projected(usable)
        assert projected(NodeView) != decode_unstructured
        assert projected(projected(NodeView)) == projected(NodeView)
        assert repr(projected(NodeView)) == "projected(NodeView)"

    def test_it_pickles_and_copies(self) -> None:
        found = projected(usable)(node("n", 7))
        assert pickle.loads(pickle.dumps(found)) == copy.deepcopy(found) == found


class TestStore:
    @views
    def test_a_heartbeat_moves_the_rvs_and_tells_nobody(self, view: Any) -> None:
        store: Store[Any] = Store()
        store.replace([projected(view)(node("n", 1))], "1")
        assert store.apply([modified(node("n", 5, beat=1), view)]) == []
        assert (store.resource_version, store["n"].resource_version) == ("5", "5")

    @views
    def test_a_change_of_what_matters_is_told(self, view: Any) -> None:
        store: Store[Any] = Store()
        store.replace([projected(view)(node("n", 1))], "1")
        [delta] = store.apply([modified(node("n", 5, cordoned=True), view)])
        assert (delta.type, delta.object, delta.recreated) == ("MODIFIED", store["n"], False)
        assert delta.old.value == projected(view)(node("n", 1)).value != delta.object.value

    def test_of_a_batch_the_changes_alone_are_told_each_from_the_state_before(self) -> None:
        store: Store[Any] = Store()
        store.replace([projected(NodeView)(node("n", 1))], "1")
        deltas = store.apply(
            [
                modified(node("n", 2, beat=1)),
                modified(node("n", 3, beat=2, ready="False")),
                modified(node("n", 4, beat=3, ready="False")),
                modified(node("n", 5, beat=4)),
            ]
        )
        seen = [(delta.old.resource_version, delta.object.resource_version) for delta in deltas]
        assert seen == [("2", "3"), ("4", "5")]

    @pytest.mark.clause("I3")
    def test_an_older_state_is_late_measured_by_the_last_heartbeat(self) -> None:
        store: Store[Any] = Store()
        store.replace([projected(NodeView)(node("n", 1))], "1")
        store.apply([modified(node("n", 9, beat=1))])
        assert store.apply([modified(node("n", 5, cordoned=True))]) == []
        assert (store.late_writes, store["n"].value.spec.unschedulable) == (1, False)

    @pytest.mark.clause("K6")
    def test_the_same_view_of_another_object_is_told(self) -> None:
        store: Store[Any] = Store()
        store.replace([projected(NodeView)(node("n", 1))], "1")
        [delta] = store.apply([modified(node("n", 5, uid="another"))])
        assert delta.recreated
        replaced = store.replace([projected(NodeView)(node("n", 9, uid="third"))], "9")
        assert [delta.recreated for delta in replaced.deltas] == [True]

    def test_a_deletion_and_what_comes_after_it_are_told(self) -> None:
        store: Store[Any] = Store()
        store.replace([projected(NodeView)(node("n", 1))], "1")
        deltas = store.apply(
            [
                event(EventType.DELETED, node("n", 2), NodeView),
                event(EventType.ADDED, node("n", 3), NodeView),
            ]
        )
        assert [delta.type for delta in deltas] == ["DELETED", "ADDED"]

    @pytest.mark.clause("J2")
    @pytest.mark.parametrize("new_epoch", [False, True])
    def test_a_relist_tells_what_changed_and_takes_in_the_rvs(self, new_epoch: bool) -> None:
        store: Store[Any] = Store()
        decode = projected(NodeView)
        store.replace([decode(node(name, 10)) for name in "abc"], "10")
        nodes = [node("a", 21, beat=1), node("b", 22, cordoned=True), node("d", 23)]
        replaced = store.replace(map(decode, nodes), "30", new_epoch=new_epoch)
        told = [(delta.type, delta.key) for delta in replaced.deltas]
        assert told == [("MODIFIED", "b"), ("ADDED", "d"), ("DELETED", "c")]
        counted = (replaced.added, replaced.changed, replaced.vanished, replaced.kept)
        assert (counted, replaced.total) == ((1, 1, 1, 1), 3)
        versions = {key: store[key].resource_version for key in store}
        assert versions == {"a": "21", "b": "22", "d": "23"}

    @pytest.mark.clause("I2")
    def test_indexes_follow_the_value(self) -> None:
        store: Store[Any] = Store(indexes={"ready": lambda known: [known.value[1]]})
        store.replace([projected(usable)(node("n", 1))], "1")
        store.apply([modified(node("n", 2, beat=1), usable)])
        assert store.index_keys("ready", "True") == ["n"]
        store.apply([modified(node("n", 3, ready="False"), usable)])
        assert (store.index_values("ready"), store.index_keys("ready", "False")) == (
            ["False"],
            ["n"],
        )

    def test_values_that_cannot_be_compared_are_told(self) -> None:
        class Odd:
            def __eq__(self, other: object) -> bool:
                raise ValueError("the truth value is ambiguous")

        store: Store[Any] = Store()
        store.apply([event(EventType.ADDED, node("n", 1), lambda obj: Odd())])
        assert len(store.apply([modified(node("n", 2), lambda obj: Odd())])) == 1

    @pytest.mark.clause("H10")
    def test_becoming_unreadable_and_readable_again_is_told(self) -> None:
        store: Store[Any] = Store()
        store.replace([projected(NodeView)(node("n", 1))], "1")
        bad = Undecodable.of(node("n", 2), "its spec is a text")
        [delta] = store.apply([Event(EventType.MODIFIED, bad)])
        assert delta.object is bad
        [delta] = store.apply([modified(node("n", 3))])
        assert (delta.type, delta.old) == ("MODIFIED", bad)


class TestModel:
    """Drawn histories of two values, with relists, against what a listener makes of them."""

    @given(
        steps=st.lists(
            st.tuples(
                st.sampled_from(["put", "put", "put", "delete", "relist"]),
                st.lists(
                    st.tuples(st.sampled_from("abc"), st.booleans(), st.sampled_from(["u1", "u2"])),
                    max_size=4,
                ),
            ),
            max_size=12,
        )
    )
    def test_who_is_told_the_changes_alone_knows_all_values(
        self, steps: list[tuple[str, list[tuple[str, bool, str]]]]
    ) -> None:
        store: Store[Any] = Store()
        known: dict[str, tuple[str, bool]] = {}  # uid and value, by what was told
        server: dict[str, tuple[str, bool, str]] = {}
        rv = 0
        decode = projected(lambda obj: obj["spec"].get("unschedulable", False))
        for step, changes in steps:
            kind = EventType.DELETED if step == "delete" else EventType.MODIFIED
            events: list[Event[Any]] = []
            for name, value, uid in changes:
                rv += 1
                obj = decode(node(name, rv, uid=uid, cordoned=value, beat=rv % 60))
                events.append(Event(kind, obj))
                server[name] = (uid, value, str(rv))
                if step == "delete":
                    del server[name]
            if step == "relist":
                rv += 1
                newest = {event.object.key: event.object for event in events}
                present = [newest.get(name, store.known(name)) for name in server]
                deltas = store.replace(present, str(rv)).deltas
            else:
                deltas = store.apply(events)
            for delta in deltas:
                if delta.type is EventType.DELETED:
                    del known[delta.key]
                    continue
                told = (delta.object.uid, delta.object.value)
                assert known.get(delta.key) != told
                assert (delta.key in known) == (delta.type is EventType.MODIFIED)
                known[delta.key] = told
            assert known == {name: server[name][:2] for name in server}
            held = {key: (store[key].uid, store[key].value) for key in store}
            assert held == known
            versions = {key: store[key].resource_version for key in store}
            assert versions == {name: found[2] for name, found in server.items()}


class TestMemory:
    COUNT = 2_000

    def filled(self, view: Any) -> Store[Any]:
        store: Store[Any] = Store()
        decode = projected(view)
        name = "ip-10-0-{}-{}.eu-west-1.compute.internal"
        nodes = (
            node(name.format(n // 256, n % 256), n + 1, padding=1_000) for n in range(self.COUNT)
        )
        store.replace(map(decode, nodes), str(self.COUNT))
        return store

    @views
    def test_a_node_costs_its_names_and_little_more_also_after_a_heartbeat(self, view: Any) -> None:
        self.filled(view)
        gc.collect()
        tracemalloc.start()
        try:
            store = self.filled(view)
            gc.collect()
            at_first = tracemalloc.get_traced_memory()[0] / self.COUNT
            for number, key in enumerate(store.keys()):
                raw = node(key, self.COUNT + number + 1, beat=1, padding=1_000)
                assert store.apply([modified(raw, view)]) == []
            gc.collect()
            afterwards = tracemalloc.get_traced_memory()[0] / self.COUNT
        finally:
            tracemalloc.stop()
        assert 150 < at_first < 400
        assert afterwards < at_first + 20

    def test_the_gc_tracks_nothing_for_a_node_whose_view_is_plain(self) -> None:
        def tracked() -> int:
            gc.collect()
            return len(gc.get_objects())

        before = tracked()
        store = self.filled(lambda obj: obj.decode(NodeView).spec.unschedulable)
        assert tracked() - before < 100
        assert len(store) == self.COUNT


class Handler:
    """Writes down what it is told."""

    def __init__(self) -> None:
        self.added: list[str] = []
        self.updated: list[tuple[Any, Any]] = []
        self.deleted: list[str] = []

    def on_add(self, obj: Projected[Any], in_initial_list: bool) -> None:
        self.added.append(obj.key)

    def on_update(self, old: Projected[Any], new: Projected[Any]) -> None:
        self.updated.append((old.value, new.value))

    def on_delete(self, obj: Projected[Any]) -> None:
        self.deleted.append(obj.key)


@pytest.mark.virtual_time
class TestInformer:
    @views
    async def test_of_5000_nodes_heartbeats_the_real_changes_alone_are_told(
        self, view: Any
    ) -> None:
        count, decode = 5_000, projected(view)
        first = [decode(node(f"n{number}", number + 1)) for number in range(count)]
        source = Scripted(Page(*first, rv=count, kind="NodeList"), watch := Watch())
        informer: SharedInformer[Any] = SharedInformer(source, rng=Still())
        handler = Handler()
        informer.add_handler(handler, inline=True)
        rv = count
        async with informer:
            await informer.synced(timeout=10)
            for beat in (1, 2):
                for start in range(0, count, 500):
                    events = []
                    for number in range(start, start + 500):
                        rv += 1
                        changes = {"cordoned": True} if number == 7 else {}
                        if number == 4_000 and beat == 2:
                            changes = {"ready": "Unknown"}
                        raw = node(f"n{number}", rv, beat=beat, **changes)
                        events.append(modified(raw, view))
                    watch.send(*events)
            await informer.at_least(str(rv), timeout=10)
            assert informer.store["n0"].resource_version == str(count + count + 1)
        assert len(handler.added) == count
        changed = [(decode(node("n", 1)), decode(node("n", 1, cordoned=True)))]
        changed += [(changed[0][0], decode(node("n", 1, ready="Unknown")))]
        assert handler.updated == [(old.value, new.value) for old, new in changed]

    async def test_handlers_rest_across_a_relist_of_heartbeats(self) -> None:
        decode = projected(NodeView)
        first, later = Page(decode(node("n", 5)), rv=5), Page(decode(node("n", 8, beat=1)), rv=9)
        source = Scripted(first, watch := Watch())
        informer: SharedInformer[Any] = SharedInformer(source, rng=Still())
        informer.add_handler(handler := Handler(), inline=True)
        async with informer:
            await informer.synced(timeout=10)
            source.then(later, Watch())
            watch.fail(ValueError("a damaged frame"))
            await informer.at_least("9", timeout=60)
            assert informer.store["n"].resource_version == "8"
        assert (handler.added, handler.updated, handler.deleted) == (["n"], [], [])

    @pytest.mark.clause("H11")
    async def test_a_resync_tells_of_it_all_the_same(self) -> None:
        informer: SharedInformer[Any] = SharedInformer(
            Scripted(Page(projected(usable)(node("n", 5)), rv=5), Watch()),
            options=ReflectorOptions(resync_period=10),
            rng=Still(),
        )
        informer.add_handler(handler := Handler(), inline=True)
        async with informer:
            await informer.synced(timeout=10)
            await asyncio.sleep(15)
        assert handler.updated == [((False, "True"), (False, "True"))]

    @pytest.mark.clause("H10")
    async def test_a_view_that_fails_on_an_object_is_contained(self) -> None:
        decode = projected(NodeView)
        source = Scripted(Page(decode(node("n", 5)), rv=5), watch := Watch())
        informer: SharedInformer[Any] = SharedInformer(
            source, rng=Still(), on_error=lambda reflector, error: None
        )
        informer.add_handler(handler := Handler(), inline=True)
        async with informer:
            await informer.synced(timeout=10)
            bad = Unstructured.from_bytes(node("n", 6))
            watch.send(refused_object(EventType.MODIFIED, bad), modified(node("m", 7)))
            await settle()
            assert informer.health.undecodable == ("n",)
            assert (handler.added, handler.deleted) == (["n", "m"], [])
            watch.send(modified(node("n", 8, cordoned=True)))
            await settle()
            assert informer.health.undecodable == ()
        assert [new.spec.unschedulable for _, new in handler.updated] == [True]

    async def test_changes_and_mirrors_rest_as_well(self) -> None:
        decode = projected(NodeView)
        told: list[Any] = []
        source = Scripted(Page(decode(node("n", 5)), rv=5), watch := Watch())
        async with Mirror(source, on_deltas=told.extend, rng=Still()) as mirror:
            await mirror.synced(timeout=10)
            watch.send(modified(node("n", 6, beat=1)))
            await mirror.at_least("6", timeout=10)
        assert [delta.type for delta in told] == ["ADDED"]

        source = Scripted(Page(decode(node("n", 5)), rv=5), watch := Watch())
        watch.send(modified(node("n", 6, beat=1)), modified(node("n", 7, ready="False")))
        async with Changes(source, rng=Still()) as changes:
            seen = [await anext(aiter(changes)), await anext(aiter(changes))]
        assert [delta.object.resource_version for delta in seen] == ["5", "7"]
