"""Values of types: what differs, what a configuration says, what merging and taking away leave."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from listwatch.testing.apiserver.writing.field_sets import (
    FieldSet,
    difference,
    intersection,
    paths,
    union,
)
from listwatch.testing.apiserver.writing.typed_checks import type_problems
from listwatch.testing.apiserver.writing.typed_compare import compare
from listwatch.testing.apiserver.writing.typed_items import in_order, path_text
from listwatch.testing.apiserver.writing.typed_merge import merged
from listwatch.testing.apiserver.writing.typed_sets import named_members, paths_of, remaining
from listwatch.testing.apiserver.writing.typed_types import builtin_type, custom_type

POD = builtin_type("v1", "Pod")
ITEM = {"type": "object", "properties": {"name": {"type": "string"}, "v": {"type": "integer"}}}
THING = custom_type(
    {
        "type": "object",
        "properties": {
            "one": {"type": "integer"},
            "words": {"type": "object", "additionalProperties": {"type": "string"}},
            "tags": {
                "type": "array",
                "items": {"type": "string"},
                "x-kubernetes-list-type": "set",
            },
            "items": {
                "type": "array",
                "items": ITEM,
                "x-kubernetes-list-type": "map",
                "x-kubernetes-list-map-keys": ["name"],
            },
            "plain": {"type": "array", "items": {"type": "string"}},
        },
    }
)
LETTERS = st.sampled_from("abc")
ITEMS = st.dictionaries(LETTERS, st.integers(0, 2), max_size=3).map(
    lambda found: [{"name": name, "v": value} for name, value in found.items()]
)
THINGS = st.fixed_dictionaries(
    {},
    optional={
        "one": st.integers(0, 2),
        "words": st.dictionaries(LETTERS, LETTERS),
        "tags": st.lists(LETTERS, unique=True),
        "items": ITEMS,
        "plain": st.lists(LETTERS, max_size=2),
    },
)


def plain(fields: FieldSet) -> set[tuple[str, ...]]:
    return set(paths(fields))


@given(THINGS)
def test_a_value_does_not_differ_from_itself(value: Any) -> None:
    assert compare(THING, value, dict(value)) == ({}, {})
    assert merged(THING, value, value) == value


@given(THINGS, THINGS)
def test_what_is_applied_is_there_then(live: Any, config: Any) -> None:
    result = merged(THING, live, config)
    assert merged(THING, result, config) == result
    changed, removed = compare(THING, live, result)
    assert not removed or plain(removed).isdisjoint(plain(paths_of(THING, config)))
    assert bool(changed or removed) == (compare(THING, live, result) != ({}, {}))


@given(THINGS)
def test_without_all_its_paths_nothing_is_left(value: Any) -> None:
    fields = named_members(THING, paths_of(THING, value))
    left = remaining(THING, value, fields) or {}
    assert not plain(paths_of(THING, left))
    assert remaining(THING, value, {}) in (value, None)


@given(THINGS, THINGS)
def test_sets_intersect(one: Any, other: Any) -> None:
    mine, theirs = paths_of(THING, one), paths_of(THING, other)
    both = intersection(mine, theirs) if mine and theirs else None
    assert plain(both or {}) == plain(mine) & plain(theirs)
    if mine and theirs:
        assert plain(union(mine, theirs)) == plain(mine) | plain(theirs)
        assert plain(difference(mine, theirs) or {}) == plain(mine) - plain(theirs)


@pytest.mark.parametrize(
    ("live", "config", "result"),
    [
        ("abc", "ca", "bca"),
        ("abc", "xb", "axbc"),
        ("", "ab", "ab"),
        ("ab", "", "ab"),
        ("abcd", "db", "acdb"),
    ],
)
def test_items_keep_the_order_of_the_configuration(live: str, config: str, result: str) -> None:
    whole = merged(THING, {"tags": list(live)}, {"tags": list(config)})
    assert "".join(whole["tags"]) == result


def test_ports_are_told_apart_by_two_keys_one_of_which_has_a_default() -> None:
    container = {"name": "c", "ports": [{"containerPort": 80}]}
    fields = paths_of(POD, {"spec": {"containers": [container]}})
    (*_, name, port) = min(paths(fields), key=lambda path: (len(path) != 5, path))
    assert (name, port) == ("f:ports", 'k:{"containerPort":80,"protocol":"TCP"}')


def test_numbers_are_in_order_by_value() -> None:
    names = ['k:{"port":443}', "f:b", 'k:{"port":80}', ".", 'v:"b"', "f:a", 'v:"a"']
    assert in_order(names) == [
        ".",
        "f:a",
        "f:b",
        'k:{"port":80}',
        'k:{"port":443}',
        'v:"a"',
        'v:"b"',
    ]


def test_paths_are_written_as_messages_have_them() -> None:
    assert path_text(("f:a", 'k:{"name":"b","port":1}', "f:c", 'v:"d"')) == (
        '.a[name="b",port=1].c[="d"]'
    )


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ({"one": "x"}, ".one: expected numeric (int or float), got string"),
        ({"words": 5}, ".words: expected map, got &{5}"),
        ({"tags": "a"}, ".tags: expected list, got &{a}"),
        ({"tags": ["a", "a"]}, '.tags: duplicate entries for key [="a"]'),
        ({"tags": [None]}, ".tags: element 0: associative list without keys has an element that's"),
        ({"items": [None]}, ".items: element 0: associative list with keys may not have a null"),
        ({"items": [{"v": 1}]}, ".items: element 0: associative list with keys has an element"),
        ({"items": [{"name": "a", "w": 1}]}, '.items[name="a"].w: field not declared in schema'),
        ({"plain": [{}]}, ".plain[0]: expected string, got &value.valueUnstructured{Value:map[str"),
    ],
)
def test_what_a_type_does_not_allow(value: Any, said: str) -> None:
    (problem,) = type_problems(THING, value)
    assert problem.startswith(said)
