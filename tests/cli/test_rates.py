from __future__ import annotations

import pytest

from listwatch.cli.rates import parse_rate, rate_text


@pytest.mark.parametrize(
    ("text", "rate"),
    [("20/s", 20.0), ("20", 20.0), (" 0.5/s ", 0.5), ("90/m", 1.5), ("36/h", 0.01), (".5", 0.5)],
)
def test_a_rate_is_a_number_a_second_or_in_another_time(text: str, rate: float) -> None:
    assert parse_rate(text) == pytest.approx(rate)


@pytest.mark.parametrize(
    "text", ["", "fast", "0/s", "0", "-1/s", "20/d", "20/", "/s", "1e9", "99999999", "20 s", "٣"]
)
def test_anything_else_is_none(text: str) -> None:
    with pytest.raises(ValueError, match=r"rate|above 0"):
        parse_rate(text)


@pytest.mark.parametrize("text", ["20/s", "1.5/s", "30/m", "1/m", "36/h"])
def test_a_rate_is_told_as_it_was_given(text: str) -> None:
    assert rate_text(parse_rate(text)) == text
