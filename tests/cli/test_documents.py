from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from listwatch.cli.documents import (
    compact,
    list_document,
    pretty,
    without_managed_fields,
    yaml_text,
)

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(max_size=8),
    lambda children: (
        st.lists(children, max_size=3) | st.dictionaries(st.text(max_size=5), children, max_size=3)
    ),
    max_leaves=12,
)


def test_json_that_is_on_one_line_is_not_touched() -> None:
    raw = b'{"a" : 1.0e3,  "b":"\\u003c\\/"}'
    assert compact(raw) is raw


def test_json_that_is_spread_over_lines_is_joined_without_reading_its_values() -> None:
    raw = b'{\r\n  "a": 1.0e3,\n  "b": "\\u003c\\n", "c": 12345678901234567890123\n}'
    assert compact(raw) == b'{"a":1.0e3,"b":"\\u003c\\n","c":12345678901234567890123}'


def test_pretty_json_has_four_spaces_and_keeps_every_value_as_it_was() -> None:
    assert pretty(b'{"b":1.0,"a":[],"c":[{"d":"\\u003c"}]}').decode() == (
        '{\n    "b": 1.0,\n    "a": [],\n    "c": [\n        {\n'
        '            "d": "\\u003c"\n        }\n    ]\n}\n'
    )


def test_managed_fields_are_taken_out_and_nothing_else_is_touched() -> None:
    raw = b'{"b":1.0,"metadata":{"name":"\\u003c","managedFields":[{"a":1}],"x": 2},"a": [ ]}'
    assert without_managed_fields(raw) == (b'{"b":1.0,"metadata":{"name":"\\u003c","x":2},"a":[ ]}')


@pytest.mark.parametrize(
    "raw",
    [
        b"{}",
        b'{"metadata":null,"managedFields":1}',
        b'{"metadata":{"name":"managedFields"}, "a":1}',
    ],
)
def test_an_object_without_managed_fields_stays_as_it_is(raw: bytes) -> None:
    assert without_managed_fields(raw) == raw


def test_several_objects_make_a_list_as_kubectl_makes_it() -> None:
    assert json.loads(list_document([b'{"kind":"Pod"}', b'{"kind":"Node"}'])) == {
        "apiVersion": "v1",
        "kind": "List",
        "metadata": {"resourceVersion": ""},
        "items": [{"kind": "Pod"}, {"kind": "Node"}],
    }
    assert json.loads(list_document([]))["items"] == []


def test_yaml_keeps_the_order_of_the_keys_and_folds_nothing() -> None:
    raw = msgspec.json.encode({"b": "x " * 200, "a": {"c": [1, {"d": None}], "e": []}})
    long = ("x " * 200).strip()
    assert yaml_text(raw) == f"b: '{long} '\na:\n  c:\n  - 1\n  - d: null\n  e: []\n"


def test_yaml_shows_lines_as_lines() -> None:
    assert yaml_text(b'{"script":"one\\ntwo\\n"}') == "script: |\n  one\n  two\n"


@pytest.mark.parametrize(
    "text",
    [
        *("yes", "no", "on", "off", "y", "N", "true", "null", "~", "=", "<<", ""),
        *("1", "+1", "1.0", ".5", "1.", "1e3", "1_000", "012", "09", "0o7", "0x1F"),
        *(".inf", "-.INF", ".nan", "2026-11-29T12:00:00Z", "12:30:45"),
    ],
)
def test_yaml_quotes_a_text_that_somebody_could_take_for_something_else(text: str) -> None:
    printed = yaml_text(msgspec.json.encode({"a": text})).strip()
    assert printed in (f"a: '{text}'", f'a: "{text}"')


@pytest.mark.parametrize("text", ["10.0.0.1", "v1", "nginx:1.27", "a-b", "12ab", "100m", "1Gi"])
def test_yaml_does_not_quote_what_is_a_text_to_all(text: str) -> None:
    assert yaml_text(msgspec.json.encode({"a": text})) == f"a: {text}\n"


def test_yaml_never_says_an_object_by_reference_to_another() -> None:
    assert "&" not in yaml_text(b'{"a":{"x":["y"]},"b":{"x":["y"]}}')


@given(value=JSON)
def test_yaml_says_what_json_says(value: Any) -> None:
    assert yaml.safe_load(yaml_text(msgspec.json.encode(value))) == value


@given(value=JSON)
def test_pretty_and_compact_json_say_what_json_says(value: Any) -> None:
    raw = msgspec.json.encode(value)
    assert json.loads(pretty(raw)) == value
    assert compact(pretty(raw)) == raw
