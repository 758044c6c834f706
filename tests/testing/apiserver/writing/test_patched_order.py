"""How what a JSON patch has made is shown (K29)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from listwatch.testing.apiserver.writing.patched_order import operated_order


@pytest.mark.parametrize(
    ("operations", "shown"),
    [
        ([], '{"b":{"y":[{"d":1,"c":2}],"x":2},"e/f":{"h":1,"g":2}}'),
        ([{"path": "/b/x"}], '{"b":{"x":2,"y":[{"d":1,"c":2}]},"e/f":{"h":1,"g":2}}'),
        ([{"path": "/b/y/0/c"}], '{"b":{"x":2,"y":[{"c":2,"d":1}]},"e/f":{"h":1,"g":2}}'),
        ([{"path": "/b/y/-"}], '{"b":{"x":2,"y":[{"d":1,"c":2}]},"e/f":{"h":1,"g":2}}'),
        ([{"from": "/e~1f/g"}], '{"b":{"y":[{"d":1,"c":2}],"x":2},"e/f":{"g":2,"h":1}}'),
        (
            [{"path": 5}, {"path": "/no/where"}],
            '{"b":{"y":[{"d":1,"c":2}],"x":2},"e/f":{"h":1,"g":2}}',
        ),
    ],
)
def test_what_operations_lead_to_is_sorted(operations: list[dict[str, Any]], shown: str) -> None:
    value = {"e/f": {"h": 1, "g": 2}, "b": {"y": [{"d": 1, "c": 2}], "x": 2}}
    made = operated_order(value, operations)
    assert json.dumps(made, separators=(",", ":")) == shown
