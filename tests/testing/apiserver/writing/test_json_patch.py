"""JSON patch, by RFC 6902 and where the real server departs from it (K30)."""

from __future__ import annotations

import copy
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from listwatch.testing.apiserver.writing.json_patch import JSONPatchError, json_patch

WORKS: list[tuple[Any, list[dict[str, Any]], Any]] = [
    # The examples of RFC 6902, appendix A.
    (
        {"foo": "bar"},
        [{"op": "add", "path": "/baz", "value": "qux"}],
        {"baz": "qux", "foo": "bar"},
    ),
    (
        {"foo": ["bar", "baz"]},
        [{"op": "add", "path": "/foo/1", "value": "qux"}],
        {"foo": ["bar", "qux", "baz"]},
    ),
    ({"baz": "qux", "foo": "bar"}, [{"op": "remove", "path": "/baz"}], {"foo": "bar"}),
    ({"foo": [1, 2, 3]}, [{"op": "remove", "path": "/foo/1"}], {"foo": [1, 3]}),
    ({"baz": "qux"}, [{"op": "replace", "path": "/baz", "value": "boo"}], {"baz": "boo"}),
    (
        {"foo": {"bar": "baz", "waldo": "fred"}, "qux": {"corge": "grault"}},
        [{"op": "move", "from": "/foo/waldo", "path": "/qux/thud"}],
        {"foo": {"bar": "baz"}, "qux": {"corge": "grault", "thud": "fred"}},
    ),
    (
        {"foo": ["all", "grass", "cows", "eat"]},
        [{"op": "move", "from": "/foo/1", "path": "/foo/3"}],
        {"foo": ["all", "cows", "eat", "grass"]},
    ),
    (
        {"baz": "qux", "foo": ["a", 2, "c"]},
        [
            {"op": "test", "path": "/baz", "value": "qux"},
            {"op": "test", "path": "/foo/1", "value": 2},
        ],
        {"baz": "qux", "foo": ["a", 2, "c"]},
    ),
    (
        {"foo": "bar"},
        [{"op": "add", "path": "/child", "value": {"grandchild": {}}}],
        {"foo": "bar", "child": {"grandchild": {}}},
    ),
    (
        {"foo": "bar"},
        [{"op": "add", "path": "/baz", "value": "qux", "xyz": 1}],
        {"foo": "bar", "baz": "qux"},
    ),
    ({"/": 9, "~1": 10}, [{"op": "test", "path": "/~01", "value": 10}], {"/": 9, "~1": 10}),
    ({"a/b": 1}, [{"op": "remove", "path": "/a~1b"}], {}),
    ({"foo": ["bar"]}, [{"op": "add", "path": "/foo/-", "value": ["a"]}], {"foo": ["bar", ["a"]]}),
    ({"a": 1}, [{"op": "copy", "from": "/a", "path": "/b"}], {"a": 1, "b": 1}),
    ({"a": [1]}, [{"op": "add", "path": "/a/1", "value": 2}], {"a": [1, 2]}),
    ({"a": 1}, [], {"a": 1}),
    # Where the real server is laxer.
    ({}, [{"op": "replace", "path": "/a", "value": 1}], {"a": 1}),
    ({}, [{"op": "add", "path": "/a"}], {"a": None}),
    ({}, [{"op": "test", "path": "/a", "value": None}], {}),
    ({}, [{"op": "copy", "from": "/a", "path": "/b"}], {"b": None}),
    ({"a": [1, 2, 3]}, [{"op": "remove", "path": "/a/-1"}], {"a": [1, 2]}),
    ({"a": [1, 3]}, [{"op": "add", "path": "/a/01", "value": 2}], {"a": [1, 2, 3]}),
    ({}, [{"op": "add", "path": "a/b", "value": 1}], {"b": 1}),
    ({"a": 1}, [{"op": "replace", "path": "", "value": {"b": 2}}], {"b": 2}),
    ({"a": 1}, [{"op": "test", "path": "", "value": {"a": 1}}], {"a": 1}),
]

FAILS: list[tuple[Any, dict[str, Any]]] = [
    ({"baz": "qux"}, {"op": "test", "path": "/baz", "value": "bar"}),
    ({"foo": "bar"}, {"op": "add", "path": "/baz/bat", "value": "qux"}),
    ({"/": 9, "~1": 10}, {"op": "test", "path": "/~01", "value": "10"}),
    ({"a": 1}, {"op": "test", "path": "/a", "value": True}),
    ({"a": {"b": [1]}}, {"op": "test", "path": "/a", "value": {"b": [2]}}),
    ({}, {"op": "remove", "path": "/a"}),
    ({"a": [1]}, {"op": "remove", "path": "/a/1"}),
    ({"a": [1]}, {"op": "add", "path": "/a/3", "value": 1}),
    ({"a": [1]}, {"op": "add", "path": "/a/-3", "value": 1}),
    ({"a": [1]}, {"op": "replace", "path": "/a/x", "value": 1}),
    ({"a": [1]}, {"op": "replace", "path": "/a/-", "value": 1}),
    ({"a": "text"}, {"op": "add", "path": "/a/0", "value": 1}),
    ({}, {"op": "move", "from": "/a", "path": "/b"}),
    ({"a": 1}, {"op": "move", "path": "/b"}),
    ({"a": 1}, {"op": "copy", "from": 1, "path": "/b"}),
    ({}, {"op": "add", "path": "", "value": {}}),
    ({}, {"op": "replace", "path": "", "value": 1}),
    ({}, {"op": "remove", "path": ""}),
    ({}, {"op": "add", "value": 1}),
    ({}, {"op": "nonsense", "path": "/a"}),
    ({}, {"path": "/a"}),
    ({}, {}),
    ({"a": [1]}, {"op": "add", "path": "/a/1_0", "value": 1}),
    ({"a": [1]}, {"op": "add", "path": "/a/ 0", "value": 1}),
]


@pytest.mark.parametrize(("document", "operations", "patched"), WORKS)
def test_k30_operations_that_work(
    document: Any, operations: list[dict[str, Any]], patched: Any
) -> None:
    before = copy.deepcopy((document, operations))
    assert json_patch(document, operations) == patched
    assert (document, operations) == before


@pytest.mark.parametrize(("document", "operation"), FAILS)
def test_k30_operations_that_fail(document: Any, operation: dict[str, Any]) -> None:
    before = copy.deepcopy(document)
    with pytest.raises(JSONPatchError):
        json_patch(document, [operation])
    assert document == before


def test_what_no_path_leads_to_is_shared() -> None:
    document = {"spec": {"big": [1]}, "data": {"a": 1}}
    patched = json_patch(document, [{"op": "add", "path": "/data/b", "value": 2}])
    assert patched["spec"] is document["spec"]


SCALARS = st.none() | st.booleans() | st.integers() | st.text(max_size=3)
PATHS = st.sampled_from(
    ["", "/", "/a", "/a/0", "/a/-", "/b/c", "/b", "/b/~0", "a", "/a/-1", "/a/7"]
)
OPERATIONS = st.fixed_dictionaries(
    {
        "op": st.sampled_from(["add", "remove", "replace", "test", "move", "copy", "x"]),
        "path": PATHS,
    },
    optional={"value": SCALARS | st.just({"c": [1]}), "from": PATHS},
)


@given(st.lists(OPERATIONS, max_size=5))
def test_any_operations_end_in_a_document_or_a_refusal(operations: list[dict[str, Any]]) -> None:
    document = {"a": [1, 2], "b": {"c": "d"}}
    before = copy.deepcopy(document)
    with suppress(JSONPatchError):
        json_patch(document, operations)
    assert document == before


def test_neither_the_document_nor_the_patch_is_changed() -> None:
    document: dict[str, Any] = {"a": {"x": 1}, "l": [1]}
    value = {"z": 1}
    operations: list[dict[str, Any]] = [
        {"op": "copy", "from": "/a", "path": "/b"},
        {"op": "add", "path": "/b/y", "value": 2},
        {"op": "add", "path": "/a/w", "value": value},
        {"op": "add", "path": "/a/w/q", "value": 3},
        {"op": "add", "path": "/l/-", "value": 2},
        {"op": "move", "from": "/a/w", "path": "/c"},
        {"op": "add", "path": "/c/k", "value": 1},
    ]
    made = json_patch(document, operations)
    assert made == {
        "a": {"x": 1},
        "b": {"x": 1, "y": 2},
        "c": {"z": 1, "q": 3, "k": 1},
        "l": [1, 2],
    }
    assert (document, value) == ({"a": {"x": 1}, "l": [1]}, {"z": 1})


def test_copies_that_double_a_document_come_to_an_end() -> None:
    doubling = [{"op": "copy", "from": "/a", "path": f"/a/{at}"} for at in range(60)]
    with pytest.raises(JSONPatchError, match="copies of"):
        json_patch({"a": {"x": "y"}}, doubling)
