"""A store as it was at one moment."""

from __future__ import annotations

from typing import Any

import pytest

from listwatch import ObjectDecodeError
from listwatch.cache import Store

from .pods import added, deleted, modified, node_of, pod, unreadable

pytestmark = pytest.mark.clause("I1")


def make() -> Store[Any]:
    store: Store[Any] = Store(indexes={"node": node_of})
    store.replace([pod("d/a", 1, node="n1"), pod("e/b", 2, node="n1"), unreadable("d/c", 3)], "7")
    return store


def reads(view: Any) -> tuple[Any, ...]:
    return (
        view.list(),
        view.list("d"),
        view.keys(),
        list(view),
        len(view),
        view.get("d/a"),
        view.get_by_key("d/zz", "none"),
        view.known("d/c"),
        "d/c" in view,
        "d/zz" in view,
        view.undecodable,
        view.by_index("node", "n1"),
        view.index_keys("node", "n1"),
        view.index_values("node"),
        view.index_names,
        view.resource_version,
        view.epoch,
    )


def test_a_snapshot_reads_as_the_store_does() -> None:
    store = make()
    assert reads(store.snapshot()) == reads(store)


@pytest.mark.clause("H14")
def test_a_snapshot_stays_as_it_is_whatever_is_written() -> None:
    store = make()
    snapshot = store.snapshot()
    before = reads(make())
    store.apply([modified(pod("d/a", 8, node="n2")), deleted(pod("e/b", 9))])
    store.apply([modified(pod("d/c", 10, node="n1"))])
    assert reads(snapshot) == before
    store.replace([], "20", new_epoch=True)
    store.add_index("all", lambda obj: ["all"])
    assert reads(snapshot) == before


def test_a_snapshot_shares_the_objects() -> None:
    store = make()
    assert store.snapshot()["d/a"] is store["d/a"]


def test_the_index_of_a_snapshot_asks_no_function_again() -> None:
    asked: list[str] = []

    def counted(obj: Any) -> list[str]:
        asked.append(obj.key)
        return node_of(obj)

    store: Store[Any] = Store(indexes={"node": counted})
    store.apply([added(pod("d/a", 1, node="n1"))])
    assert store.snapshot().by_index("node", "n1") == [store["d/a"]]
    assert asked == ["d/a"]


@pytest.mark.clause("H10")
def test_asking_a_snapshot_for_what_cannot_be_decoded_raises() -> None:
    snapshot = make().snapshot()
    with pytest.raises(ObjectDecodeError, match="d/c"):
        snapshot.get("d/c")
    with pytest.raises(ObjectDecodeError, match="d/c"):
        snapshot["d/c"]
    with pytest.raises(KeyError):
        snapshot["d/zz"]


def test_a_snapshot_has_no_writes() -> None:
    snapshot = make().snapshot()
    assert not {"add", "update", "delete", "apply", "replace", "bookmark"} & set(dir(snapshot))


def test_a_snapshot_says_what_it_is() -> None:
    assert repr(make().snapshot()) == "<Snapshot of 3 objects at rv=7>"
    assert repr(Store[Any]().snapshot()) == "<Snapshot of 0 objects at rv=(none)>"
