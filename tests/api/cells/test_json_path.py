"""Paths that may lead to several values."""

from __future__ import annotations

from typing import Any

import pytest

from listwatch.api.cells.json_path import JSONPath

OBJ = {"l": [{"x": "a"}, {"y": 1}, {"x": None}], "m": {"b": 2, "a": 1}, "n": None}


@pytest.mark.parametrize(
    ("text", "values"),
    [
        (".l[*].x", ["a", None]),
        (".l[1:]", [{"y": 1}, {"x": None}]),
        (".l[:-2].x", ["a"]),
        (".m.*", [1, 2]),
        (".m[*]", [1, 2]),
        (".n", [None]),
        (".n.x", []),
        (".m[0:1]", []),
    ],
)
def test_all_that_a_path_leads_to(text: str, values: list[Any]) -> None:
    path, rest = JSONPath.parse(text, several=True)
    assert rest == ""
    assert path.values_and_nulls(OBJ) == values
    assert path.values(OBJ) == [value for value in values if value is not None]


@pytest.mark.parametrize("text", [".l[*]", ".l[1:2]", ".m.*"])
def test_one_value_is_wanted_unless_several_are_welcome(text: str) -> None:
    with pytest.raises(ValueError, match="expected"):
        JSONPath.parse(text)
