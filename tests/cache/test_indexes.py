"""Indexes: from a value to the objects that have it, always in step with them."""

from __future__ import annotations

from typing import Any

import pytest

from listwatch import ListWatchError
from listwatch.cache import IndexFunctionError, Store

from .pods import added, deleted, modified, node_of, pod, unreadable

pytestmark = pytest.mark.clause("I2")


def tags_of(obj: Any) -> list[str]:
    return list(obj["spec"].get("tags", ()))


def fussy(obj: Any) -> list[str]:
    if obj["spec"].get("bad"):
        raise ValueError("no such field")
    return node_of(obj)


def make(**functions: Any) -> Store[Any]:
    store: Store[Any] = Store(indexes=functions or {"node": node_of})
    store.apply(
        [
            added(pod("d/a", 1, node="n1")),
            added(pod("d/b", 2, node="n2")),
            added(pod("d/c", 3, node="n1")),
            added(pod("d/free", 4)),
        ]
    )
    return store


def view(store: Store[Any], name: str = "node") -> dict[str, list[str]]:
    return {value: store.index_keys(name, value) for value in store.index_values(name)}


def test_an_index_finds_the_objects_that_have_a_value() -> None:
    store = make()
    assert store.by_index("node", "n1") == [store["d/a"], store["d/c"]]
    assert store.index_keys("node", "n1") == ["d/a", "d/c"]
    assert store.index_values("node") == ["n1", "n2"]
    assert store.by_index("node", "n9") == store.index_keys("node", "n9") == []


def test_an_object_is_found_by_each_of_its_values_once() -> None:
    store = make(tags=tags_of)
    store.apply([added(pod("d/x", 9, tags=["red", "blue", "red"]))])
    assert view(store, "tags") == {"red": ["d/x"], "blue": ["d/x"]}
    store.apply([modified(pod("d/x", 10, tags=["blue", "green"]))])
    assert view(store, "tags") == {"blue": ["d/x"], "green": ["d/x"]}


def test_an_object_that_changes_is_found_by_its_new_value_only() -> None:
    store = make()
    store.apply([modified(pod("d/a", 5, node="n2")), modified(pod("d/free", 6, node="n3"))])
    assert view(store) == {"n2": ["d/b", "d/a"], "n1": ["d/c"], "n3": ["d/free"]}


def test_a_value_that_nobody_has_any_more_is_gone() -> None:
    store = make()
    store.apply([deleted(pod("d/b", 5, node="n2")), modified(pod("d/c", 6))])
    assert view(store) == {"n1": ["d/a"]}
    store.delete("d/a")
    assert view(store) == {}


def test_values_that_live_short_leave_nothing_behind() -> None:
    store: Store[Any] = Store(indexes={"node": node_of})
    for version in range(1, 200):
        store.apply([modified(pod("d/a", version, node=f"n{version}"))])
    assert view(store) == {"n199": ["d/a"]}
    indexes = store._state.indexes
    assert indexes.named["node"].values() == ["n199"]
    assert indexes.rows == {"d/a": ("n199",)}


def test_a_relist_brings_the_indexes_along() -> None:
    store = make()
    store.replace([pod("d/a", 1, node="n1"), pod("d/c", 7, node="n2"), pod("d/e", 8)], "9")
    assert view(store) == {"n1": ["d/a"], "n2": ["d/c"]}


def test_a_relist_changes_no_index_of_the_set_before() -> None:
    store = make()
    before = store._state
    expected = {value: before.indexes.named["node"].keys(value) for value in ("n1", "n2", "n3")}
    store.replace(
        [pod("d/a", 7, node="n2"), pod("d/c", 3, node="n1"), pod("d/e", 8, node="n3")], "9"
    )
    assert {value: before.indexes.named["node"].keys(value) for value in expected} == expected
    assert view(store) == {"n1": ["d/c"], "n2": ["d/a"], "n3": ["d/e"]}


def test_the_function_is_asked_about_what_changed_only() -> None:
    asked: list[str] = []

    def counted(obj: Any) -> list[str]:
        asked.append(obj.key)
        return node_of(obj)

    store = make(node=counted)
    asked.clear()
    store.apply([modified(pod("d/a", 5, node="n2")), added(pod("d/b", 2, node="n2"))])
    store.replace([pod("d/a", 5, node="n2"), pod("d/b", 2, node="n2"), pod("d/c", 7)], "7")
    assert asked == ["d/a", "d/c"]


def test_a_function_need_not_give_the_same_answer_twice() -> None:
    answers = iter(["first", "second"])
    store: Store[Any] = Store(indexes={"odd": lambda obj: [next(answers)]})
    store.apply([added(pod("d/a", 1)), added(pod("d/b", 2))])
    store.apply([deleted(pod("d/a", 3)), deleted(pod("d/b", 4))])
    assert view(store, "odd") == {}


@pytest.mark.clause("H10")
def test_an_object_that_cannot_be_decoded_is_in_no_index() -> None:
    store = make()
    store.apply([modified(unreadable("d/a", 5)), added(unreadable("d/z", 6))])
    assert view(store) == {"n2": ["d/b"], "n1": ["d/c"]}
    store.apply([modified(pod("d/a", 7, node="n1"))])
    assert view(store) == {"n2": ["d/b"], "n1": ["d/c", "d/a"]}


class TestAddingAnIndex:
    def test_builds_it_of_what_is_there(self) -> None:
        store: Store[Any] = Store()
        store.apply([added(pod("d/a", 1, node="n1")), added(unreadable("d/b", 2))])
        store.add_index("node", node_of)
        assert store.index_names == ("node",)
        assert view(store) == {"n1": ["d/a"]}
        store.apply([modified(pod("d/b", 3, node="n2"))])
        assert view(store) == {"n1": ["d/a"], "n2": ["d/b"]}

    def test_to_an_empty_store_is_fine(self) -> None:
        store: Store[Any] = Store()
        store.add_index("node", node_of)
        assert view(store) == {}

    def test_under_a_name_that_is_taken_is_refused(self) -> None:
        with pytest.raises(ValueError, match="an index 'node' already"):
            make().add_index("node", tags_of)

    def test_whose_function_fails_leaves_the_store_without_it(self) -> None:
        store = make()
        store.apply([added(pod("d/x", 9, bad=True))])
        with pytest.raises(IndexFunctionError, match="index 'fussy' failed on d/x"):
            store.add_index("fussy", fussy)
        assert store.index_names == ("node",)


@pytest.mark.parametrize("ask", ["by_index", "index_keys"])
def test_an_index_that_does_not_exist_is_said_to_be_none_of_those_there(ask: str) -> None:
    with pytest.raises(KeyError, match="no index 'zone'; there are: node"):
        getattr(make(), ask)("zone", "a")
    with pytest.raises(KeyError, match="there are: none"):
        Store[Any]().index_values("zone")


class TestAFunctionThatRaises:
    @pytest.mark.parametrize(
        "write",
        [
            lambda store: store.add(pod("d/x", 9, bad=True)),
            lambda store: store.update(pod("d/a", 9, bad=True)),
            lambda store: store.apply(
                [modified(pod("d/b", 8, node="n7")), added(pod("d/x", 9, bad=True))]
            ),
            lambda store: store.replace([pod("d/x", 9, bad=True)], "9", new_epoch=True),
        ],
        ids=["add", "update", "apply", "replace"],
    )
    def test_leaves_store_and_indexes_as_they_were(self, write: Any) -> None:
        store = make(first=node_of, second=fussy)
        before = store.list(), view(store, "first"), view(store, "second")
        with pytest.raises(IndexFunctionError) as caught:
            write(store)
        assert (store.list(), view(store, "first"), view(store, "second")) == before
        assert (store.resource_version, store.epoch, store.index_failures) == ("4", 0, 0)
        assert caught.value.index == "second"
        assert caught.value.key in ("d/x", "d/a")
        assert isinstance(caught.value.__cause__, ValueError)
        assert "ValueError: no such field" in str(caught.value)

    @pytest.mark.parametrize("by_relist", [False, True])
    def test_costs_a_mirror_that_object_in_that_index_only(self, by_relist: bool) -> None:
        store = make(first=node_of, second=fussy)
        reports: list[Exception] = []
        bad = pod("d/a", 9, node="n5", bad=True)
        if by_relist:
            kept = [pod("d/b", 2, node="n2"), pod("d/c", 3, node="n1")]
            store.replace([bad, *kept], "9", report=reports.append)
        else:
            store.apply([modified(bad)], report=reports.append)
        assert store["d/a"] is bad
        assert view(store, "first")["n5"] == ["d/a"]
        assert view(store, "second") == {"n1": ["d/c"], "n2": ["d/b"]}
        assert [str(report) for report in reports] == [
            "index 'second' failed on d/a: ValueError: no such field"
        ]
        assert store.index_failures == 1
        store.apply([modified(pod("d/a", 10, node="n5"))], report=reports.append)
        assert view(store, "second")["n5"] == ["d/a"]

    def test_is_reported_when_the_store_shows_the_object(self) -> None:
        store = make(second=fussy)
        seen: list[Any] = []
        store.apply(
            [added(pod("d/x", 9, bad=True))], report=lambda error: seen.append(store.get("d/x"))
        )
        assert seen == [store["d/x"]]

    @pytest.mark.parametrize(
        ("answer", "problem"),
        [
            ("n1", "gave the text 'n1'"),
            ([None], "gave None, which is no text"),
            ([["n1"]], "unhashable"),
            (None, "not iterable"),
        ],
    )
    def test_or_gives_no_list_of_texts_fails_the_same_way(self, answer: Any, problem: str) -> None:
        store: Store[Any] = Store(indexes={"node": lambda obj: answer})
        with pytest.raises(IndexFunctionError, match=problem):
            store.add(pod("d/a", 1))
        assert len(store) == 0

    def test_raises_an_error_of_ours(self) -> None:
        assert issubclass(IndexFunctionError, ListWatchError)


def test_a_function_may_read_the_store_and_sees_it_as_it_was_before() -> None:
    counts: list[int] = []

    def curious(obj: Any) -> list[str]:
        counts.append(len(store.list()))
        return []

    store: Store[Any] = Store(indexes={"curious": curious})
    store.apply([added(pod("d/a", 1)), added(pod("d/b", 2))])
    assert counts == [0, 0]


def test_a_function_that_writes_to_the_store_is_refused() -> None:
    def wild(obj: Any) -> list[str]:
        if obj.name == "a":
            store.add(pod("d/b", 2))
        return []

    store: Store[Any] = Store(indexes={"wild": wild})
    with pytest.raises(RuntimeError, match="in the middle of another write"):
        store.add(pod("d/a", 1))
    assert store.keys() == ["d/b"]


def test_an_index_holds_each_value_once_in_memory() -> None:
    store: Store[Any] = Store(indexes={"node": lambda obj: ["".join(node_of(obj)), "all"]})
    store.apply([added(pod(f"d/{number}", number, node="n1")) for number in range(1, 9)])
    rows = store._state.indexes.rows.values()
    assert set(rows) == {(("n1", "all"),)}
    assert len({id(text) for row in rows for values in row if values for text in values}) == 2
