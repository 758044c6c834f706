"""YAML as the real server's library writes it: each expectation was made by that library."""

from __future__ import annotations

from typing import Any

import pytest

from listwatch.testing.apiserver.reading.yaml_text import yaml_text


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("web", "web"),
        ("", '""'),
        ("1", '"1"'),
        ("1.5e3", '"1.5e3"'),
        ("0x1F", '"0x1F"'),
        ("1_000", '"1_000"'),
        ("12:30", '"12:30"'),
        (".inf", '".inf"'),
        ("1e999", "1e999"),
        ("yes", '"yes"'),
        ("y", '"y"'),
        ("Null", '"Null"'),
        ("~", '"~"'),
        ("2026-01-02T03:04:05Z", '"2026-01-02T03:04:05Z"'),
        ("2026-13-02", "2026-13-02"),
        ("<<", "<<"),
        ("v1.2.3", "v1.2.3"),
        ("a: b", "'a: b'"),
        ("a:b", "a:b"),
        ("a #b", "'a #b'"),
        ("it's", "it's"),
        ("'a'", "'''a'''"),
        ("- a", "'- a'"),
        ("-a", "-a"),
        ("*", "'*'"),
        (" a", "' a'"),
        ("a\tb", '"a\\tb"'),
        ("a\rb", '"a\\rb"'),
        ("é", "é"),
        ("\N{GRINNING FACE}", '"\\U0001F600"'),
        ("a\nb", "|-\n  a\n  b"),
        ("a\nb\n", "|\n  a\n  b"),
        ("a\n\n", "|+\n  a\n"),
        ("\na\n", "|2\n\n  a"),
        ("a \nb", '"a \\nb"'),
        ("a\nb ", '"a\\nb "'),
    ],
)
def test_a_text_is_plain_where_it_reads_as_that_text(text: str, written: str) -> None:
    assert yaml_text({"k": text}) == f"k: {written}\n"


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (None, "null"),
        (True, "true"),
        (0, "0"),
        (1 << 63, "9223372036854775808"),
        (1.5, "1.5"),
        (3.0, "3"),
        (123456.0, "123456"),
        (1234567.5, "1.2345675e+06"),
        (-0.00001, "-1e-05"),
        (1e100, "1e+100"),
        ({}, "{}"),
        ([], "[]"),
    ],
)
def test_what_is_no_text(value: Any, written: str) -> None:
    assert yaml_text(value) == f"{written}\n"


def test_items_stand_below_the_name_of_their_list() -> None:
    value = {"a": [{"c": 1, "b": ["x"]}, ["y", ["z"]], []], "d": {"e": {}}}
    assert yaml_text(value) == ('a:\n- b:\n  - x\n  c: 1\n- - "y"\n  - - z\n- []\nd:\n  e: {}\n')


def test_names_are_in_the_order_of_people() -> None:
    names = ["b", "a10", "a9", "A", ".", "f:x", "10", "9", "a", "x-10", "x-9"]
    written = yaml_text(dict.fromkeys(names, 0)).splitlines()
    order = [line.partition(": 0")[0].strip('"') for line in written]
    assert order == [".", "9", "10", "A", "a", "a9", "a10", "b", "f:x", "x-9", "x-10"]


def test_a_long_name_is_on_a_line_of_its_own() -> None:
    long = "n" * 129
    assert yaml_text({long: {"a": 1}}) == f"? {long}\n: a: 1\n"


def test_long_texts_are_folded_at_a_single_space_behind_column_80() -> None:
    words = "w" * 70 + " behind the width"
    assert yaml_text({"name": words}) == f"name: {'w' * 70} behind\n  the width\n"
    quoted = "w" * 70 + ": behind  the width"
    assert yaml_text({"name": quoted}) == f"name: '{'w' * 70}: behind  the\n  width'\n"


def test_depth_is_no_matter() -> None:
    value: Any = 1
    for _ in range(20_000):
        value = [value]
    assert yaml_text(value).endswith("- - - 1\n")
