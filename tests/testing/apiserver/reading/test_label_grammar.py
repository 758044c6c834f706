"""Label selectors: what a real server takes, and what it said of what it does not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from listwatch.api import LabelSelector, SelectorError
from listwatch.testing.apiserver.reading.label_grammar import SelectorRefusal, read_label_selector

_RULE = (
    "consist of alphanumeric characters, '-', '_' or '.', and must start and end with an "
    "alphanumeric character"
)
_NAME = (
    f"must {_RULE} (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
    "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
)
_VALUE = (
    f"a valid label must be an empty string or {_RULE} (e.g. 'MyValue',  or 'my_value',  or "
    "'12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
)
_SUBDOMAIN = (
    "prefix part a lowercase RFC 1123 subdomain must consist of lower case alphanumeric "
    "characters, '-' or '.', and must start and end with an alphanumeric character (e.g. "
    "'example.com', regex used for validation is "
    r"'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
)
_OPERATORS = "in, notin, =, ==, !=, gt, lt"
_NUMBER = "for 'Gt', 'Lt' operators, the value must be an integer"
_AT = "unable to parse requirement: "


@pytest.mark.parametrize(
    ("text", "refusal"),
    [
        ("a=b=c", "found '=', expected: ',' or 'end of string'"),
        ("a=b c", "found 'c', expected: ',' or 'end of string'"),
        ("a in(b)c", "found 'c', expected: ',' or 'end of string'"),
        ("!a=b", "found '=', expected: ',' or 'end of string'"),
        ("=b", "found '=', expected: !, identifier, or 'end of string'"),
        (",a", "found ',', expected: !, identifier, or 'end of string'"),
        ("a,", "found '', expected: identifier after ','"),
        ("a,,b", "found ',', expected: identifier after ','"),
        ("a b", f"{_AT}found 'b', expected: {_OPERATORS}"),
        ("a!", f"{_AT}found '!', expected: {_OPERATORS}"),
        ("a in", f"{_AT}found '' expected: '('"),
        ("a in b", f"{_AT}found 'b' expected: '('"),
        ("a in (b", f"{_AT}found '', expected: ',' or ')'"),
        ("a in (b,", f"{_AT}found '', expected: ',', or identifier"),
        ("a in (,,=)", f"{_AT}found '=', expected: ',', or identifier"),
        ("a in (b c)", f"{_AT}found 'c', expected: ',' or ')'"),
        ("!", f"{_AT}found '', expected: identifier"),
        ("!!a", f"{_AT}found '!', expected: identifier"),
        ("a===b", f"{_AT}found '=', expected: identifier"),
        ("a<>b", f"{_AT}found '>', expected: identifier"),
        ("x=(", f"{_AT}found '(', expected: identifier"),
        ("-a=b", f'{_AT}<nil>: Invalid value: "-a": name part {_NAME}'),
        ("a&b=c", f'{_AT}<nil>: Invalid value: "a&b": name part {_NAME}'),
        (
            "a/b/c=d",
            f'{_AT}<nil>: Invalid value: "a/b/c": a valid label key {_NAME} with an optional DNS '
            "subdomain prefix and '/' (e.g. 'example.com/MyName')",
        ),
        ("/a=b", f'{_AT}<nil>: Invalid value: "/a": prefix part must be non-empty'),
        ("EX.com/a", f'{_AT}<nil>: Invalid value: "EX.com/a": {_SUBDOMAIN}'),
        (
            f"{'a' * 64}=b",
            f'{_AT}<nil>: Invalid value: "{"a" * 64}": name part must be no more than 63 bytes',
        ),
        (
            f"a={'b' * 64}",
            f'{_AT}values[0][a]: Invalid value: "{"b" * 64}": must be no more than 63 bytes',
        ),
        ("a=a_", f'{_AT}values[0][a]: Invalid value: "a_": {_VALUE}'),
        ("a=é", f'{_AT}values[0][a]: Invalid value: "é": {_VALUE}'),
        (
            "a in (é_,b_)",
            f'{_AT}[values[0][a]: Invalid value: "b_": {_VALUE}, values[1][a]: Invalid value: '
            f'"é_": {_VALUE}]',
        ),
        ("a>x", f'{_AT}values[0]: Invalid value: "x": {_NUMBER}'),
        ("a>", f'{_AT}values[0]: Invalid value: "": {_NUMBER}'),
        ("a<-3", f'{_AT}values[0][a]: Invalid value: "-3": {_VALUE}'),
    ],
)
def test_a_bad_selector_is_refused_in_the_words_of_the_real_server(text: str, refusal: str) -> None:
    with pytest.raises(SelectorRefusal) as caught:
        read_label_selector(text)
    assert str(caught.value) == refusal


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("", ""),
        (" a == b ,c", "a=b,c"),
        ("a notin ()", "a notin ()"),
        ("a in (,)", "a in ()"),
        ("a in (a,,b)", "a in (,a,b)"),
        ("a in (,,)", "a in ()"),
        ("a in (b,,)", "a in (,b)"),
        ("a in (b,,,c)", "a in (,b,c)"),
        ("a in (,b)", "a in (,b)"),
        ("in in (in)", "in in (in)"),
        ("!in,notin", "!in,notin"),
        ("a>5", "a>5"),
        ("a=", "a="),
    ],
)
def test_what_the_real_server_takes_is_taken(text: str, canonical: str) -> None:
    assert str(read_label_selector(text)) == canonical


_WORDS = st.sampled_from(
    ["a", "b", "in", "notin", "=", "==", "!=", "!", "(", ")", ",", "<", ">", " ", "5", "-", "x/y"]
)


@given(st.lists(_WORDS, max_size=8).map("".join))
def test_what_the_client_takes_means_the_same_to_the_server(text: str) -> None:
    """And the client takes whatever the server does, but for some rows of commas in a set."""
    try:
        expected: LabelSelector | None = LabelSelector.parse(text)
    except SelectorError:
        expected = None
    try:
        found: LabelSelector | None = read_label_selector(text)
    except SelectorRefusal:
        found = None
    assert found == expected or (expected is None and ",," in text.replace(" ", ""))
