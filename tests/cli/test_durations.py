from __future__ import annotations

import pytest

from listwatch.cli.durations import age_text, parse_duration


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("5s", 5),
        ("2m", 120),
        ("1h30m", 5400),
        ("500ms", 0.5),
        ("1.5h", 5400),
        ("1m2s3ms", 62.003),
        ("7", 7),
        ("0.25", 0.25),
        (" 3s ", 3),
        ("1d", 86400),
    ],
)
def test_a_duration_is_a_number_or_parts_with_units(text: str, seconds: float) -> None:
    assert parse_duration(text) == pytest.approx(seconds)


@pytest.mark.parametrize("text", ["", "s", "5x", "5 s", "-5s", "1h-5m", "5s5", "inf", "nan", "٣s"])
def test_anything_else_is_no_duration(text: str) -> None:
    with pytest.raises(ValueError, match="is no duration: expected one such as 5s"):
        parse_duration(text)


@pytest.mark.parametrize("text", ["0", "0s", "0h0m"])
def test_no_time_at_all_is_no_duration(text: str) -> None:
    with pytest.raises(ValueError, match="is no time at all"):
        parse_duration(text)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (-5, "<invalid>"),
        (-1, "0s"),
        (0.9, "0s"),
        (119, "119s"),
        (120, "2m"),
        (125, "2m5s"),
        (10 * 60 + 5, "10m"),
        (179 * 60, "179m"),
        (3 * 3600, "3h"),
        (7 * 3600 + 34 * 60, "7h34m"),
        (47 * 3600, "47h"),
        (48 * 3600, "2d"),
        (50 * 3600, "2d2h"),
        (9 * 86400 + 3600, "9d"),
        (729 * 86400, "729d"),
        (730 * 86400, "2y"),
        (3 * 365 * 86400 + 5 * 86400, "3y5d"),
        (9 * 365 * 86400 + 86400, "9y"),
    ],
)
def test_an_age_has_two_units_at_most(seconds: float, text: str) -> None:
    assert age_text(seconds) == text
