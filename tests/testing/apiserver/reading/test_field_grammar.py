"""Field selectors: what a real server takes, and what it said of what it does not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from listwatch.api import FieldSelector, SelectorError
from listwatch.testing.apiserver.reading.field_grammar import read_field_selector
from listwatch.testing.apiserver.reading.label_grammar import SelectorRefusal


@pytest.mark.parametrize(
    ("text", "refusal"),
    [
        ("foo", "invalid selector: 'foo'; can't understand 'foo'"),
        ("z=1,b", "invalid selector: 'z=1,b'; can't understand 'b'"),
        (
            "metadata.name in (a)",
            "invalid selector: 'metadata.name in (a)'; can't understand 'metadata.name in (a)'",
        ),
        ("a=b=c", "invalid field selector: unescaped character in value: 61"),
        ("a===b", "invalid field selector: unescaped character in value: 61"),
        ("a!==b", "invalid field selector: unescaped character in value: 61"),
        ("a=b\\c", "invalid field selector: invalid escape sequence: \\c"),
        ("a=b\\", "invalid field selector: invalid escape sequence: \\"),
    ],
)
def test_a_bad_selector_is_refused_in_the_words_of_the_real_server(text: str, refusal: str) -> None:
    """K39."""
    with pytest.raises(SelectorRefusal) as caught:
        read_field_selector(text)
    assert str(caught.value) == refusal


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("", ""),
        (",", ""),
        ("=", ""),
        ("a=1,,", "a=1"),
        ("b==2,a!=1", "a!=1,b=2"),
        ("a=\\=x\\,y\\\\", "a=\\=x\\,y\\\\"),
        ("=x", "=x"),
        (" a= b ", " a= b "),
    ],
)
def test_what_the_real_server_takes_is_taken(text: str, canonical: str) -> None:
    assert str(read_field_selector(text)) == canonical


@given(st.lists(st.sampled_from(["a", "b.c", "=", "==", "!=", ",", "\\", "x"]), max_size=8))
def test_what_the_client_takes_the_server_takes(words: list[str]) -> None:
    text = "".join(words)
    try:
        expected = FieldSelector.parse(text)
    except SelectorError:
        return
    assert read_field_selector(text) == expected
