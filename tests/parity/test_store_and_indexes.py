"""What client-go tries of its stores and indexes, told as stories of ours (docs/parity.md)."""

from __future__ import annotations

from typing import Any

import pytest

from listwatch.api import Event, MalformedObject, Unstructured
from listwatch.cache import Store
from tests.cache.pods import added, deleted, modified, pod, unreadable


def tags(obj: Any) -> list[str]:
    return list(obj["spec"].get("tags", ()))


def view(store: Store[Any]) -> dict[str, set[str]]:
    return {value: set(store.index_keys("tags", value)) for value in store.index_values("tags")}


def tagged(key: str, version: int, *values: str) -> Unstructured:
    return pod(f"d/{key}", version, tags=list(values))


@pytest.mark.clause("I1")
def test_one_object_is_added_changed_and_deleted_and_a_set_replaces_what_is_left() -> None:
    store: Store[Any] = Store()
    store.add(pod("foo", 1, val="bar"))
    assert store["foo"]["spec"]["val"] == "bar"
    store.update(pod("foo", 2, val="baz"))
    assert store["foo"]["spec"]["val"] == "baz"
    store.delete(pod("foo", 2))
    assert "foo" not in store
    for version, (key, val) in enumerate((("a", "b"), ("c", "d"), ("e", "e")), start=3):
        store.add(pod(key, version, val=val))
    assert sorted(obj["spec"]["val"] for obj in store.list()) == ["b", "d", "e"]
    store.replace([pod("foo", 7), pod("bar", 8)], "9")
    assert sorted(store.keys()) == ["bar", "foo"]


@pytest.mark.clause("I2")
def test_objects_of_many_values_come_under_each_of_them_and_go_with_each() -> None:
    store: Store[Any] = Store(indexes={"tags": tags})
    for event, expected in (
        (added(tagged("1", 1, "foo")), {"foo": "1"}),
        (added(tagged("2", 2, "bar")), {"foo": "1", "bar": "2"}),
        (modified(tagged("2", 3, "foo", "bar")), {"foo": "12", "bar": "2"}),
        (modified(tagged("1", 4, "foo", "bar")), {"foo": "12", "bar": "12"}),
        (added(tagged("3", 5, "foo", "bar", "baz")), {"foo": "123", "bar": "123", "baz": "3"}),
        (modified(tagged("1", 6, "foo")), {"foo": "123", "bar": "23", "baz": "3"}),
        (modified(tagged("2", 7, "bar")), {"foo": "13", "bar": "23", "baz": "3"}),
        (deleted(tagged("1", 8, "foo")), {"foo": "3", "bar": "23", "baz": "3"}),
        (deleted(tagged("3", 9)), {"bar": "2"}),
    ):
        store.apply([event])
        keys = {value: {f"d/{key}" for key in each} for value, each in expected.items()}
        assert view(store) == keys


@pytest.mark.clause("I2")
def test_a_value_keeps_those_that_still_have_it_and_goes_with_the_last() -> None:
    store: Store[Any] = Store(indexes={"tags": lambda obj: ["all"]})
    store.apply([added(pod("d/stays", 1)), added(pod("d/goes", 2))])
    assert view(store) == {"all": {"d/stays", "d/goes"}}
    store.delete("d/goes")
    assert view(store) == {"all": {"d/stays"}}
    store.delete("d/stays")
    assert store.index_values("tags") == []


@pytest.mark.clause("I2")
def test_values_are_listed_and_what_lost_a_value_is_no_longer_found_by_it() -> None:
    store: Store[Any] = Store(indexes={"tags": tags})
    one, two, three = (
        tagged("one", 1, "ernie", "bert"),
        tagged("two", 2, "bert", "oscar"),
        tagged("tre", 3, "ernie", "elmo"),
    )
    for obj in (one, two, three):
        store.add(obj)
    assert set(store.index_values("tags")) == {"ernie", "bert", "oscar", "elmo"}
    assert store.by_index("tags", "ernie") == [one, three]
    assert store.by_index("tags", "elmo1") == []
    store.delete(three)
    assert store.by_index("tags", "ernie") == [one]
    assert store.by_index("tags", "elmo") == []
    store.update(tagged("two", 4, "oscar"))
    assert store.by_index("tags", "bert") == [one]


@pytest.mark.clause("I1", "I3", "H13")
@pytest.mark.parametrize(
    ("event", "rv"),
    [
        (added(pod("d/b", 10)), "10"),
        (added(pod("d/b", 20)), "20"),
        (deleted(pod("d/a", 30)), "30"),
        (deleted(pod("d/never", 40)), "40"),
        (modified(unreadable("d/a", 50)), "50"),
        (modified(pod("d/a", "no-number")), "no-number"),
        (added(pod("d/b", 7)), "10"),
    ],
    ids=["the same", "newer", "deleted", "unknown", "undecodable", "not comparable", "older"],
)
def test_the_rv_of_a_store_is_that_of_what_it_was_told_last(event: Event[Any], rv: str) -> None:
    store: Store[Any] = Store()
    assert store.resource_version == ""
    store.apply([added(pod("d/a", 10))])
    assert store.resource_version == "10"
    store.apply([event])
    assert store.resource_version == rv


@pytest.mark.clause("I1", "I3")
def test_a_batch_moves_the_rv_to_its_newest_and_a_set_to_its_own() -> None:
    store: Store[Any] = Store()
    store.apply([added(pod("d/a", 40))])
    store.apply([modified(pod("d/b", 40)), modified(pod("d/c", 30)), modified(pod("d/d", 50))])
    assert store.resource_version == "50"
    store.replace([pod("d/x", 40), pod("d/y", 30)], "60")
    assert store.resource_version == "60"
    store.delete("d/x")
    assert store.resource_version == "60", "a write of one's own moves nothing"


@pytest.mark.clause("I1", "I2")
@pytest.mark.parametrize("good", [0, 1, 2])
def test_a_batch_with_an_object_without_a_key_changes_nothing_at_all(good: int) -> None:
    """client-go applies what it can of a batch and reports the rest."""
    store: Store[Any] = Store(indexes={"tags": tags})
    store.apply([added(tagged("a", 1, "x"))])
    nameless = Unstructured.from_dict({"kind": "Pod", "apiVersion": "v1", "metadata": {}})
    batch = [tagged("b", 2, "y"), tagged("c", 3, "y")][:good]
    with pytest.raises(MalformedObject):
        store.apply([added(obj) for obj in (*batch, nameless)])
    assert store.keys() == ["d/a"]
    assert view(store) == {"x": {"d/a"}}
    assert store.resource_version == "1"
