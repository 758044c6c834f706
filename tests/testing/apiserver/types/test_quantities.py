"""Quantities: how they are read, and how they come back (K30)."""

from __future__ import annotations

import string
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from listwatch.testing.apiserver.types.quantities import (
    canonical_quantity,
    quantity_in_thousandths,
    quantity_sum,
    quantity_value,
)


@pytest.mark.parametrize(
    ("sent", "back"),
    [
        ("1", "1"),
        ("1000m", "1"),
        ("0.5", "500m"),
        ("+.5", "500m"),
        ("1024Mi", "1Gi"),
        ("1.5Ki", "1536"),
        ("1023Ki", "1023Ki"),
        ("0.1Ki", "102400m"),
        (" 1 ", "1"),
        ("-0", "0"),
        ("0e5", "0"),
        # What the real server takes for the shortest form comes back as it was sent.
        ("5.", "5."),
        ("+1", "+1"),
        ("1.500", "1.500"),
        ("1E3", "1E3"),
        ("1e+3", "1e+3"),
        ("1E", "1E"),
        ("1e-9", "1e-9"),
        ("1e99", "1e99"),
        ("1e1000", "10e999"),
        # What has no digits is nothing, so long as it looks like a number.
        ("-", "0"),
        (".", "0"),
        ("Ki", "0"),
        ("E", "0"),
        # Limits of 64 bits.
        ("8Ei", "9223372036854775807"),
        ("-100Ei", "-9223372036854775807"),
        ("9999999999999999999", "9999999999999999999"),
        # No suffix is long enough, and the real server then writes none.
        ("1000E", "1"),
    ],
)
def test_a_quantity_comes_back_as_from_a_real_server(sent: str, back: str) -> None:
    assert canonical_quantity(sent) == back


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "quantities must match the regular expression"),
        ("0x1", "quantities must match the regular expression"),
        ("1.1.1", "quantities must match the regular expression"),
        ("1_0", "quantities must match the regular expression"),
        ("٣", "quantities must match the regular expression"),
        ("1 2", "quantities must match the regular expression"),
        ("1K", "unable to parse quantity's suffix"),
        ("1e", "unable to parse quantity's suffix"),
        ("1e+", "unable to parse quantity's suffix"),
        ("--1", "unable to parse quantity's suffix"),
        ("1e99999999999999999999", "unable to parse quantity's suffix"),
        (".e-10", "unable to parse numeric part of quantity"),
        ("1" * 100_000, "unable to parse numeric part of quantity"),
    ],
)
def test_what_is_no_quantity_is_told_as_go_tells_it(text: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        canonical_quantity(text)
    with pytest.raises(ValueError, match=said):
        quantity_value(text)


@pytest.mark.parametrize(
    ("sent", "kept"),
    [
        ("1n", "1m"),
        ("1e-9", "1e-3"),
        ("-0.0001", "-1m"),
        ("1500u", "2m"),
        ("1Ki", "1Ki"),
        ("5.", "5."),
    ],
)
def test_only_thousandths_are_kept(sent: str, kept: str) -> None:
    assert quantity_in_thousandths(sent) == kept


@pytest.mark.parametrize("text", ["1e2147483647", "1e-999999999", "-1e2147483648"])
def test_an_amount_beyond_all_amounts_costs_nothing(text: str) -> None:
    assert (quantity_value(text) < 0) == text.startswith("-")
    assert canonical_quantity(text)
    assert quantity_in_thousandths(text)


@given(
    st.from_regex(r"[+-]?[0-9]{0,20}(\.[0-9]{0,12})?", fullmatch=True),
    st.sampled_from(
        ["", "n", "u", "m", "k", "M", "G", "T", "P", "E", "e3", "E-2", "Ki", "Gi", "Ei"]
    ),
)
def test_what_comes_back_means_the_same_and_stays(number: str, suffix: str) -> None:
    try:
        value = quantity_value(number + suffix)
    except ValueError:
        return
    back = canonical_quantity(number + suffix)
    assert canonical_quantity(back) == back
    if abs(value) < 10**18:
        assert quantity_value(back) == value
        assert (
            0 <= abs(quantity_value(quantity_in_thousandths(back))) - abs(value) < Fraction(1, 1000)
        )


@given(st.text(st.sampled_from(string.printable + "٣é"), max_size=12))
def test_any_text_is_a_quantity_or_refused(text: str) -> None:
    try:
        value = quantity_value(text)
    except ValueError:
        return
    assert (value == 0) == (canonical_quantity(text) == "0")


@pytest.mark.parametrize(
    ("one", "other", "together"),
    [
        ("1Gi", "512Mi", "1536Mi"),
        ("0", "1Ki", "1Ki"),
        ("1500m", "500m", "2"),
        ("1", "-1", "0"),
        ("5.", "1", "6"),
        ("1e3", "1", "1001"),
        ("1Ki", "1m", "1024001m"),
    ],
)
def test_a_sum_has_the_form_of_what_is_added_to(one: str, other: str, together: str) -> None:
    assert quantity_sum(one, other) == together
