"""The store: objects by key, written a batch at a time, read from anywhere."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from listwatch import (
    Event,
    EventType,
    FrozenDict,
    MalformedObject,
    ObjectDecodeError,
    PartialObjectMetadata,
    Unstructured,
)
from listwatch.cache import Identity, Store

from .pods import added, deleted, modified, pod, pod_dict, unreadable


def make(*objects: Any, version: str = "10") -> Store[Any]:
    store: Store[Any] = Store()
    store.replace(objects, version)
    return store


@pytest.mark.clause("I1", "A3")
class TestReading:
    def test_one_object_is_found_by_its_key_or_by_an_object_of_that_key(self) -> None:
        held = pod("d/a", 1)
        store = make(held)
        assert store.get("d/a") is store.get_by_key("d/a") is store["d/a"] is held
        assert store.get(pod("d/a", 99)) is held
        assert "d/a" in store

    def test_what_is_not_there_is_the_default(self) -> None:
        store = make(pod("d/a", 1))
        assert store.get("d/b") is store.get_by_key("d/b") is store.known("d/b") is None
        assert store.get("d/b", 7) == store.get_by_key("d/b", 7) == 7
        assert "d/b" not in store
        with pytest.raises(KeyError):
            store["d/b"]

    def test_all_objects_are_listed_or_those_of_one_namespace(self) -> None:
        store = make(pod("d/a", 1), pod("e/a", 2), pod("d/b", 3), pod("node", 4), pod("dd/a", 5))
        assert store.keys() == list(store) == ["d/a", "e/a", "d/b", "node", "dd/a"]
        assert [obj.key for obj in store.list()] == store.keys()
        assert [obj.key for obj in store.list("d")] == ["d/a", "d/b"]
        assert store.list("zz") == []
        assert len(store) == 5

    def test_what_a_read_returns_is_the_readers_own(self) -> None:
        store = make(pod("d/a", 1), unreadable("d/b", 2))
        store.list().clear()
        store.keys().clear()
        store.undecodable.clear()  # type: ignore[attr-defined]
        assert (len(store.keys()), len(store.list()), len(store.undecodable)) == (2, 1, 1)

    def test_a_store_says_what_it_is(self) -> None:
        assert repr(make(pod("d/a", 1))) == "<Store of 1 objects at rv=10>"
        assert repr(Store[Any]()) == "<Store of 0 objects at rv=(none)>"


@pytest.mark.clause("H10")
class TestAnObjectThatCannotBeDecoded:
    def test_counts_as_there(self) -> None:
        broken = unreadable("d/b", 2)
        store = make(pod("d/a", 1), broken)
        assert len(store) == 2
        assert "d/b" in store
        assert store.keys() == ["d/a", "d/b"]
        assert store.known("d/b") is broken
        assert store.undecodable == {"d/b": broken}

    def test_is_in_no_list_and_raises_for_who_asks_for_it(self) -> None:
        store = make(pod("d/a", 1), unreadable("d/b", 2))
        assert store.list() == store.list("d") == [pod("d/a", 1)]
        for ask in (store.get, store.get_by_key, store.__getitem__):
            with pytest.raises(ObjectDecodeError, match="d/b: it is broken"):
                ask("d/b")

    def test_comes_changes_heals_and_goes_like_any_other(self) -> None:
        store = make()
        kinds = []
        for event in (
            added(unreadable("d/a", 11)),
            modified(pod("d/a", 12)),
            modified(unreadable("d/a", 13)),
            deleted(unreadable("d/a", 14)),
        ):
            [delta] = store.apply([event])
            kinds.append((delta.type.value, "d/a" in store, len(store.undecodable)))
        assert kinds == [
            ("ADDED", True, 1),
            ("MODIFIED", True, 0),
            ("MODIFIED", True, 1),
            ("DELETED", False, 0),
        ]

    def test_is_never_taken_for_vanished(self) -> None:
        store = make(pod("d/a", 1), pod("d/b", 2))
        outcome = store.replace([pod("d/a", 1), unreadable("d/b", 5)], "20")
        assert [(delta.type, delta.key) for delta in outcome.deltas] == [
            (EventType.MODIFIED, "d/b")
        ]
        assert store.undecodable.keys() == {"d/b"}

    def test_that_a_relist_decodes_is_news_even_at_the_same_rv(self) -> None:
        store = make(unreadable("d/a", 1), unreadable("d/b", 2))
        outcome = store.replace([pod("d/a", 1), unreadable("d/b", 2)], "20")
        assert [(delta.type, delta.key) for delta in outcome.deltas] == [
            (EventType.MODIFIED, "d/a")
        ]
        assert store.list() == [pod("d/a", 1)]
        assert store.undecodable.keys() == {"d/b"}

    def test_takes_no_readable_one_of_the_same_rv_away(self) -> None:
        store = make(pod("d/a", 1))
        assert store.replace([unreadable("d/a", 1)], "20").deltas == []
        assert store.get("d/a") == pod("d/a", 1)


@pytest.mark.clause("I1")
class TestWritingOneObject:
    def test_add_and_update_put_it_in_whether_its_key_is_there_or_not(self) -> None:
        store: Store[Any] = Store()
        for write in (store.add, store.update):
            key = f"d/{write.__name__}"
            first, second = write(pod(key, 1)), write(pod(key, 2))
            assert first is not None
            assert second is not None
            assert (first.type, second.type) == (EventType.ADDED, EventType.MODIFIED)
            assert store[key] == pod(key, 2)

    def test_it_moves_no_rv_of_the_store_so_that_order_does_not_matter(self) -> None:
        store: Store[Any] = Store()
        assert store.add(pod("d/a", 9)) is not None
        assert store.add(pod("d/b", 3)) is not None
        assert store.resource_version == ""

    @pytest.mark.parametrize("what", ["d/a", pod("d/a", 5), pod("d/a", 6), unreadable("d/a", 5)])
    def test_delete_takes_it_out_by_key_or_object(self, what: Any) -> None:
        store = make(pod("d/a", 5), pod("d/b", 6))
        delta = store.delete(what)
        assert delta is not None
        assert (delta.type, delta.key, delta.old) == (EventType.DELETED, "d/a", pod("d/a", 5))
        assert store.keys() == ["d/b"]

    def test_delete_of_what_is_not_there_is_nothing(self) -> None:
        store = make(pod("d/a", 5))
        assert store.delete("d/b") is store.delete(pod("d/b", 1)) is None
        assert store.late_writes == 0

    @pytest.mark.clause("I3")
    def test_delete_of_an_older_state_is_late(self) -> None:
        store = make(pod("d/a", 5))
        assert store.delete(pod("d/a", 4)) is None
        assert store.late_writes == 1
        assert "d/a" in store

    def test_delete_forgets_what_could_not_be_decoded(self) -> None:
        store = make(unreadable("d/a", 5))
        delta = store.delete("d/a")
        assert delta is not None
        assert delta.error is not None
        assert store.undecodable == {}


@pytest.mark.clause("I1", "H6")
class TestABatch:
    def test_comes_in_whole_with_its_deltas_in_order(self) -> None:
        store = make(pod("d/a", 1))
        deltas = store.apply(
            [
                added(pod("d/b", 11)),
                modified(pod("d/a", 12)),
                modified(pod("d/b", 13)),
                deleted(pod("d/a", 14)),
            ]
        )
        assert [(delta.key, delta.type.value) for delta in deltas] == [
            ("d/b", "ADDED"),
            ("d/a", "MODIFIED"),
            ("d/b", "MODIFIED"),
            ("d/a", "DELETED"),
        ]
        assert deltas[2].old is deltas[0].object
        assert store.list() == [pod("d/b", 13)]
        assert store.resource_version == "14"

    def test_may_delete_and_make_an_object_again(self) -> None:
        store = make(pod("d/a", 1))
        events = [deleted(pod("d/a", 11)), added(pod("d/a", 12, uid="u2"))]
        assert [delta.type for delta in store.apply(events)] == [
            EventType.DELETED,
            EventType.ADDED,
        ]
        assert store["d/a"].uid == "u2"

    def test_moves_the_rv_even_where_it_changes_nothing(self) -> None:
        store = make()
        assert store.apply([deleted(pod("d/a", 12))]) == []
        assert store.resource_version == "12"

    def test_of_initial_events_moves_no_rv(self) -> None:
        store: Store[Any] = Store()
        store.apply([added(pod("d/a", 12)), added(pod("d/b", 7))], moves_rv=False)
        assert store.keys() == ["d/a", "d/b"]
        assert store.resource_version == ""

    def test_that_is_empty_is_fine(self) -> None:
        assert make().apply([]) == []

    @pytest.mark.parametrize(
        "event",
        [
            Event(EventType.BOOKMARK, PartialObjectMetadata()),
            Event(EventType.ERROR, pod("d/a", 12)),
        ],
        ids=["bookmark", "error"],
    )
    def test_with_an_event_of_another_type_is_refused_whole(self, event: Event[Any]) -> None:
        store = make()
        with pytest.raises(ValueError, match="takes ADDED, MODIFIED and DELETED, not"):
            store.apply([added(pod("d/a", 11)), event])
        assert (store.keys(), store.resource_version) == ([], "10")

    @pytest.mark.parametrize("nameless", [Unstructured.from_bytes(b"{}"), {}, b"raw", None])
    def test_with_an_object_without_a_name_is_refused_whole(self, nameless: Any) -> None:
        store = make()
        with pytest.raises(MalformedObject):
            store.apply([added(pod("d/a", 11)), added(nameless)])
        with pytest.raises(MalformedObject):
            store.replace([pod("d/a", 11), nameless], "12")
        assert (store.keys(), store.resource_version) == ([], "10")


@pytest.mark.clause("A6")
class TestWhatIsKept:
    def test_a_dict_is_frozen_on_its_way_in(self) -> None:
        store = make()
        value = pod_dict("d/a", 11, containers=[{"image": "nginx"}])
        [delta] = store.apply([added(value)])
        store.replace([value, pod_dict("d/b", 12, ports=[80])], "12")
        value["spec"]["containers"][0]["image"] = "changed"
        assert store["d/a"]["spec"]["containers"][0]["image"] == "nginx"
        assert isinstance(store["d/a"], FrozenDict)
        assert delta.object is store["d/a"]
        with pytest.raises(TypeError, match="read-only"):
            store["d/b"]["spec"]["ports"] = []
        with pytest.raises(AttributeError):
            store["d/b"]["spec"]["ports"].append(443)

    def test_an_unstructured_object_is_kept_as_it_is(self) -> None:
        held = pod("d/a", 11)
        store = make(held)
        assert store["d/a"] is held

    def test_objects_of_any_form_are_kept(self) -> None:
        partial = PartialObjectMetadata.from_bytes(pod("d/a", 11).raw)
        model = SimpleNamespace(
            metadata=SimpleNamespace(name="b", namespace="d", uid="u1", resource_version="12")
        )
        store = make(partial, model, version="12")
        assert store.get(model) is model
        assert store.list() == [partial, model]
        assert store.replace([partial, model], "13").deltas == []

    def test_a_function_of_ones_own_may_say_what_an_object_is(self) -> None:
        def identify(row: tuple[str, int]) -> Identity:
            return Identity(row[0], "", str(row[1]))

        store: Store[tuple[str, int]] = Store(identify=identify)
        store.replace([("a", 1), ("b", 2)], "5")
        assert store.apply([modified(("a", 1))]) == []
        store.apply([modified(("a", 6)), added(unreadable("c", 7)), modified(unreadable("b", 8))])
        assert store.list() == [("a", 6)]
        assert store.get(("a", 0)) == ("a", 6)
        assert [delta.key for delta in store.replace([("a", 6)], "9").deltas] == ["b", "c"]
        assert store.delete(unreadable("a", 6)) is not None


def test_a_resync_of_a_bare_store_changes_nothing() -> None:
    store = make(pod("d/a", 1))
    store.resync()
    assert (store.keys(), store.resource_version) == (["d/a"], "10")
