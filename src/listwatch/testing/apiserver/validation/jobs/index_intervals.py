"""Indexes of a Job's pods, as they are written: `1,3-5,7`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..problems import go_quoted

__all__ = ["IntervalError", "common_index", "count_of_indexes"]

_MOST = 2**63
_is_number = re.compile("[+-]?[0-9]+").fullmatch


class IntervalError(ValueError):
    """A text that is none of indexes, in the words of the real server."""


def count_of_indexes(text: str, completions: int) -> int:
    """How many they are. Raises `IntervalError` where one is not below `completions`, or where
    they do not go up.
    """
    total, last = 0, None
    for part in text.split(",") if text else ():
        first, end = _interval(part, completions)
        if last is not None and last >= first:
            raise _not_increasing(last, first)
        total += end - first + 1
        last = end
    return total


def common_index(text: str, other: str, completions: int) -> int | None:
    """The first index that both have. What is not well written is left out of account."""
    if not text or not other:
        return None
    ones, twos = _intervals(text, completions), _intervals(other, completions)
    one, two = next(ones, None), next(twos, None)
    while one is not None and two is not None:
        if one[0] <= two[1] and two[0] <= one[1]:
            return max(one[0], two[0])
        if one[0] <= two[0]:
            one = next(ones, None)
        else:
            two = next(twos, None)
    return None


def _intervals(text: str, completions: int) -> Iterator[tuple[int, int]]:
    for part in text.split(","):
        try:
            yield _interval(part, completions)
        except IntervalError:
            continue  # told elsewhere


def _interval(text: str, completions: int) -> tuple[int, int]:
    parts = text.split("-")
    if len(parts) > 2:
        raise IntervalError(
            f"the fragment {go_quoted(text)} violates the requirement that an index interval can "
            "have at most two parts separated by '-'"
        )
    numbers = [_index(part, completions) for part in parts]
    if len(numbers) == 2 and numbers[0] >= numbers[1]:
        raise _not_increasing(*numbers)
    return numbers[0], numbers[-1]


def _index(text: str, completions: int) -> int:
    if not _is_number(text) or len(text.lstrip("+-0")) > 19 or not -_MOST <= int(text) < _MOST:
        raise IntervalError(f"cannot convert string to integer for index: {go_quoted(text)}")
    if int(text) >= completions:
        raise IntervalError(f"too large index: {go_quoted(text)}")
    return int(text)


def _not_increasing(previous: int, current: int) -> IntervalError:
    return IntervalError(f"non-increasing order, previous: {previous}, current: {current}")
