"""The words of refusals (K29)."""

from __future__ import annotations

import pytest

from listwatch.testing.apiserver.validation.problems import (
    go_quoted,
    invalid_field,
    unsupported_field,
)


@pytest.mark.parametrize(
    ("text", "quoted"),
    [
        ("", r'""'),
        ("a b", r'"a b"'),
        ("<&>'`", '"<&>\'`"'),
        ('"\\', r'"\"\\"'),
        (r"\u0007 \u00", r'"\\u0007 \\u00"'),
        ("\a\b\f\n\r\t\v", r'"\a\b\f\n\r\t\v"'),
        ("\x00\x1f\x7f", r'"\x00\x1f\x7f"'),
        ("\x80\x9f", r'"\u0080\u009f"'),
        ("\xa0\xad", r'"\u00a0\u00ad"'),
        ("\xe9\u0301", '"\xe9\u0301"'),
        ("\u2028\u2029\u200b\u2003", r'"\u2028\u2029\u200b\u2003"'),
        ("\ufeff\ufffd\ufffe", '"\\ufeff\ufffd\\ufffe"'),
        ("\ue000\u0378", r'"\ue000\u0378"'),
        ("\U000e0001\U0010ffff", r'"\U000e0001\U0010ffff"'),
        ("\U0001f600", '"\U0001f600"'),
    ],
)
def test_texts_are_quoted_as_the_real_server_quotes_them(text: str, quoted: str) -> None:
    assert go_quoted(text) == quoted


def test_half_of_a_pair_is_quoted_as_what_cannot_be_read() -> None:
    assert go_quoted("a\ud800") == '"a\ufffd"'


def test_values_of_enumerations_are_shown_as_json() -> None:
    problem = unsupported_field("spec.type", "<a>", ["B", "C"])
    assert problem.message == ('Unsupported value: "\\u003ca\\u003e": supported values: "B", "C"')
    assert unsupported_field("a", None, ["B"]).message == (
        'Unsupported value: null: supported values: "B"'
    )


def test_values_of_other_texts_are_quoted() -> None:
    plain = unsupported_field("roleRef.kind", "<a>\a", ["Role"], plain=True)
    assert plain.message == 'Unsupported value: "<a>\\a": supported values: "Role"'
    assert invalid_field("a", "<a>", "").message == 'Invalid value: "<a>"'
