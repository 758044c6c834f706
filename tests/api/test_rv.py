"""The order of resource versions."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from listwatch.api import compare_resource_versions, is_newer

pytestmark = pytest.mark.clause("A2")

decimals = st.integers(min_value=1, max_value=10**60)


@given(decimals, decimals)
def test_decimals_compare_as_integers_of_any_length(a: int, b: int) -> None:
    assert compare_resource_versions(str(a), str(b)) == (a > b) - (a < b)
    assert is_newer(str(a), str(b)) == (a > b)


def test_thousands_of_digits_compare_too() -> None:
    assert compare_resource_versions("9" * 10_000, "1" + "0" * 10_000) == -1


@pytest.mark.parametrize(
    "rv", ["", "0", "007", "-1", "+1", "1.5", " 1", "1 ", "abc", "0x1", "١٢", "²"]
)
def test_what_is_no_plain_decimal_is_never_compared(rv: str) -> None:
    assert compare_resource_versions(rv, "5") is None
    assert compare_resource_versions("5", rv) is None
    assert compare_resource_versions(rv, rv) is None
    assert not is_newer(rv, "5")
    assert not is_newer("5", rv)
