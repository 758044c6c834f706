"""Go's regular expressions."""

from __future__ import annotations

import pytest

from listwatch.testing.apiserver.types.go_patterns import compiled_pattern, pattern_problem


@pytest.mark.parametrize(
    ("pattern", "matching", "others"),
    [
        ("^a$", ["a"], ["a\n", "b"]),
        (r"\Aa\z", ["a"], ["ab"]),
        (r"^\d+$", ["1"], ["\u0661", ""]),
        (r"^[[:alpha:]_]+$", ["a_"], ["1"]),
        (r"^\p{L}+$", ["a\u00fc"], ["1"]),
        (r"^[\p{Lu}-]+$", ["A-"], ["a"]),
        (r"^\PL$", ["1"], ["a"]),
        ("(?i)^ABC$", ["abc"], ["abd"]),
        ("^(?i)ABC$", ["abc"], ["abd"]),
        ("^(?P<x>a)(?:b)$", ["ab"], ["a"]),
        ("^(?<x>a)$", ["a"], ["b"]),
        (r"^\Qa.b\E$", ["a.b"], ["axb"]),
        ("^a{2,3}?$", ["aa"], ["a"]),
        ("^{$", ["{"], ["a"]),
        ("^[]a]$", ["]", "a"], ["b"]),
        ("^[^-a[]$", ["b"], ["-", "["]),
        (r"^\s$", [" "], ["\v", "a"]),
        (r"^\x{41}$", ["A"], ["B"]),
        (r"^\.$", ["."], ["a"]),
    ],
)
def test_what_matches(pattern: str, matching: list[str], others: list[str]) -> None:
    assert pattern_problem(pattern) == ""
    found = compiled_pattern(pattern)
    assert found is not None
    assert [text for text in matching if not found.search(text)] == []
    assert [text for text in others if found.search(text)] == []


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        ("(", "missing closing ): `(`"),
        ("a)", "unexpected ): `a)`"),
        ("[a", "missing closing ]: `[a`"),
        ("*a", "missing argument to repetition operator: `*`"),
        ("a|*", "missing argument to repetition operator: `*`"),
        ("a**", "invalid nested repetition operator: `**`"),
        ("a{2}{3}", "invalid nested repetition operator: `{2}{3}`"),
        ("a{1001}", "invalid repeat count: `{1001}`"),
        ("(?=a)", "invalid or unsupported Perl syntax: `(?=`"),
        ("(?<!a)", "invalid named capture: `(?<!a)`"),
        ("(?P<a-b>c)", "invalid named capture: `(?P<a-b>`"),
        ("(?P=a)", "invalid or unsupported Perl syntax: `(?P`"),
        (r"\q", r"invalid escape sequence: `\q`"),
        (r"(a)\1", r"invalid escape sequence: `\1`"),
        ("[b-a]", "invalid character class range: `b-a`"),
        ("[[:foo:]]", "invalid character class range: `[:foo:]`"),
        (r"[a-\d]", r"invalid escape sequence: `\d`"),
        ("a\\", "trailing backslash at end of expression: ``"),
    ],
)
def test_what_go_does_not_compile(pattern: str, text: str) -> None:
    assert pattern_problem(pattern) == f"error parsing regexp: {text}"


def test_what_is_not_understood_here_refuses_nothing() -> None:
    assert pattern_problem(r"\p{Greek}") == ""
    assert compiled_pattern(r"\p{Greek}") is None
