"""How a schema prunes and completes what is read by it."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from listwatch.testing.apiserver.types.custom_schema import CustomSchema

_ROOT: dict[str, Any] = {
    "type": "object",
    "properties": {
        "spec": {
            "type": "object",
            "properties": {
                "a": {"type": "string", "default": "x"},
                "n": {"type": "integer"},
                "maybe": {"type": "string", "nullable": True},
                "list": {
                    "type": "array",
                    "items": {"type": "object", "properties": {"b": {"type": "integer"}}},
                },
                "map": {"type": "object", "additionalProperties": {"type": "string"}},
                "any": {"type": "object", "additionalProperties": True},
                "free": {
                    "type": "object",
                    "x-kubernetes-preserve-unknown-fields": True,
                    "properties": {"known": {"type": "object", "properties": {}}},
                },
                "inner": {
                    "type": "object",
                    "x-kubernetes-embedded-resource": True,
                    "properties": {"spec": {"type": "object"}},
                },
                "deep": {
                    "type": "object",
                    "default": {},
                    "properties": {"c": {"type": "integer", "default": 3}},
                },
            },
        }
    },
}
SCHEMA = CustomSchema(_ROOT)
NAMES = {"apiVersion": "example.com/v1", "kind": "Thing", "metadata": {"name": "a"}}
FILLED = {"a": "x", "deep": {"c": 3}}


@pytest.mark.parametrize(
    ("sent", "read"),
    [
        ({}, FILLED),
        ({"a": None, "n": None, "maybe": None}, {**FILLED, "maybe": None}),
        ({"bogus": {"x": 1}}, FILLED),
        ({"list": [{"b": 1, "c": 2}, {}]}, {**FILLED, "list": [{"b": 1}, {}]}),
        ({"list": [None]}, {**FILLED, "list": [None]}),
        ({"map": {"k": "v", "gone": None}}, {**FILLED, "map": {"k": "v"}}),
        ({"any": {"k": {"x": 1}, "m": 1}}, {**FILLED, "any": {"k": {}, "m": 1}}),
        (
            {"free": {"x": {"y": None}, "known": {"z": 1}}},
            {**FILLED, "free": {"x": {"y": None}, "known": {}}},
        ),
        (
            {"inner": {"kind": "K", "metadata": {"name": "a", "x": 1}, "x": 1}},
            {**FILLED, "inner": {"kind": "K", "metadata": {"name": "a"}}},
        ),
        ({"deep": {"c": None}}, FILLED),
        ({"n": {"wrong": 1}}, {**FILLED, "n": {}}),
    ],
)
def test_what_is_read(sent: dict[str, Any], read: dict[str, Any]) -> None:
    value = {**NAMES, "spec": sent}
    before = copy.deepcopy(value)
    assert SCHEMA.read(value) == {**NAMES, "spec": read}
    assert value == before


def test_what_is_complete_is_not_copied() -> None:
    value = {**NAMES, "spec": {**FILLED, "list": [{"b": 1}], "map": {"k": "v"}}}
    assert SCHEMA.read(value) is value


def test_unknown_members_are_told_sorted_and_those_of_inner_metadata_last() -> None:
    value = {
        **NAMES,
        "zzz": 1,
        "spec": {
            "list": [{"b": 1}, {"x": 1}],
            "inner": {"metadata": {"bogus": 1}, "x": 2},
            "any": {"k": {"x": 1}},
            "b": 1,
        },
    }
    assert SCHEMA.unknown(value) == [
        "spec.any.k.x",
        "spec.b",
        "spec.inner.x",
        "spec.list[1].x",
        "zzz",
        "spec.inner.metadata.bogus",
    ]


_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda below: (
        st.lists(below, max_size=3)
        | st.dictionaries(st.sampled_from(["a", "b", "list", "map", "free", "deep"]), below)
    ),
    max_leaves=12,
)


@given(st.dictionaries(st.sampled_from(["a", "n", "list", "map", "inner", "deep", "x"]), _values))
def test_what_was_read_reads_the_same_again(spec: dict[str, Any]) -> None:
    once = SCHEMA.read({**NAMES, "spec": spec})
    assert SCHEMA.read(once) == once
    assert SCHEMA.unknown(once) == []
