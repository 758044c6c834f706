"""docs/parity.md stays true: every test that it names exists, and its numbers add up."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

TESTS = Path(__file__).parent.parent
PAGE = (TESTS.parent / "docs" / "parity.md").read_text("utf-8")
NAMED = sorted(set(re.findall(r"`([\w/]+\.py::[\w:]+)`", PAGE)))
ROWS = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in PAGE.splitlines()
    if line.startswith("|") and not line.startswith(("| client-go", "|---"))
]


@cache
def named_in(path: Path) -> frozenset[str]:
    """`test_x`, and `TestX::test_y` for those in a class."""
    found: set[str] = set()
    for node in ast.parse(path.read_text("utf-8")).body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            found.add(node.name)
        elif isinstance(node, ast.ClassDef):
            found |= {
                f"{node.name}::{each.name}"
                for each in node.body
                if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef)
            }
    return frozenset(name for name in found if name.split("::")[-1].startswith("test_"))


@pytest.mark.parametrize("name", NAMED)
def test_each_test_that_the_page_names_exists(name: str) -> None:
    path, _, test = name.partition("::")
    assert (TESTS / path).is_file(), path
    assert test in named_in(TESTS / path)


def test_the_page_names_every_test_that_was_made_for_it() -> None:
    here = {
        f"parity/{path.name}::{test}"
        for path in Path(__file__).parent.glob("test_*.py")
        if path != Path(__file__)
        for test in named_in(path)
    }
    assert here - set(NAMED) == set()


def test_every_case_has_a_test_or_a_reason() -> None:
    assert len(ROWS) > 100
    for row in ROWS:
        assert len(row) == 3, row
        assert "::" in row[2] or row[2].startswith("not here: "), row


def test_the_cases_are_as_many_as_the_page_says() -> None:
    shown = left_out = 0
    for _, case, ours in ROWS:
        number = re.search(r"\((\d+) cases\)$", case)
        if ours.startswith("not here: "):
            left_out += int(number[1]) if number else 1
        else:
            shown += int(number[1]) if number else 1
    said = f"{shown + left_out} cases: {shown} are shown, {left_out} are left out"
    assert said in PAGE
