from __future__ import annotations

import re

from listwatch.testing.churn.templates import Template

PLACES = re.compile(r"[?].")


def test_places_are_filled_in_values_names_and_lists() -> None:
    text = '{"?a":"x?a?b","b":["?b",1,{"c":"100%"}],"d":{"e?b":{}},"f":{"g":["h"]}}'
    filled = Template(text, PLACES).fill({"?a": "A", "?b": "B"})
    assert filled == {
        "A": "xAB",
        "b": ["B", 1, {"c": "100%"}],
        "d": {"eB": {}},
        "f": {"g": ["h"]},
    }
    assert list(filled) == ["A", "b", "d", "f"]


def test_a_percent_sign_stays_one() -> None:
    assert Template('{"a":"100% of ?a %s"}', PLACES).fill({"?a": "x"}) == {"a": "100% of x %s"}


def test_what_has_no_places_is_shared_and_the_object_is_not() -> None:
    template = Template('{"a":"?a","b":{"c":["d"]}}', PLACES)
    one, other = template.fill({"?a": "1"}), template.fill({"?a": "2"})
    assert one["b"] is other["b"]
    assert one["a"] != other["a"]
    plain = Template('{"a":1}', PLACES)
    assert plain.fill({}) is not plain.fill({})
