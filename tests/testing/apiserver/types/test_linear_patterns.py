"""Patterns in linear time: the same answers as Python's engine, without its explosions."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from listwatch.testing.apiserver.types.go_patterns import compiled_pattern
from listwatch.testing.apiserver.types.linear_patterns import LinearPattern, may_explode

_ATOMS = [
    "a",
    "b",
    ".",
    r"\w",
    r"\d",
    r"\s",
    "[a-c]",
    "[^a]",
    "(?:a|b)",
    "(ab|a)",
    r"\b",
    "^",
    "x{2}",
]
_ATOMS += ["b{1,3}", "(?i:A)", r"[\d_]", "a*", "b+?", "(?:a|b)*", r"(?:\w-)?", r"\Z", "|"]


@given(
    st.lists(st.sampled_from(_ATOMS), max_size=7).map("".join), st.text("aabbA1 _-\nx", max_size=9)
)
def test_it_finds_what_python_finds(pattern: str, text: str) -> None:
    expected = re.search(pattern, text, re.ASCII) is not None
    assert LinearPattern(pattern, re.ASCII).search(text) is expected


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        ("^(a+)+$", "a" * 20_000 + "b"),
        ("^(a|a)*$", "a" * 20_000 + "b"),
        ("(a*)*b", "a" * 20_000),
        ("(x+x+)+y", "x" * 20_000),
        ("a*b", "a" * 20_000),
        (r"^(\w+\s?)*$", "word " * 5_000 + "!"),
        ("^(a{0,20}){0,20}$", "a" * 400 + "b"),
    ],
)
def test_no_pattern_takes_longer_than_its_text(pattern: str, text: str) -> None:
    """Python's engine would not come back from most of them."""
    found = compiled_pattern(pattern)
    assert isinstance(found, LinearPattern)
    assert not found.search(text)


@pytest.mark.parametrize("pattern", ["^[a-z]+$", "^[a-z]{1,63}$", "^a?b$", "abc", "^(red|blue)$"])
def test_what_does_no_harm_is_left_to_python(pattern: str) -> None:
    assert not may_explode(pattern, re.ASCII)


def test_what_needs_too_many_states_is_no_linear_pattern() -> None:
    with pytest.raises(OverflowError, match="too many states"):
        LinearPattern("(?:a{1000}){1000}", re.ASCII)
