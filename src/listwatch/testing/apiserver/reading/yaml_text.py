"""JSON values as the YAML that the real server writes: its library's styles, order and folding.

>>> print(yaml_text({"spec": {"b": ["x", {"n": 1}], "a": "yes"}}), end="")
spec:
  a: "yes"
  b:
  - x
  - "n": 1
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cmp_to_key, lru_cache
from typing import Any

from .yaml_scalars import scalar_text

__all__ = ["yaml_text"]

_SIMPLE_KEY = 128
"""Bytes of the longest key that stands on the line of its value."""
_STEP = 2
_NUMBER = re.compile(r"\d+")


def yaml_text(value: Any, *, in_order: bool = True) -> str:
    """A document, with its newline at the end. `in_order`: whether names are sorted."""
    if not _has_parts(value):
        return scalar_text(value, 0, _STEP) + "\n"
    out: list[str] = []
    blocks = [_Block(value, 0, in_order, in_line=True)]
    while blocks:
        block = blocks[-1]
        item = next(block.items, None)
        if item is None:
            blocks.pop()
            continue
        name, below = item
        indent = block.indent
        if not block.in_line:
            out.append(" " * indent)
        block.in_line = False
        if name is None:
            out.append("-")
            column, opens_line = indent + 1, True
        elif _is_simple(name):
            key = _key_text(name)
            out.append(f"{key}:")
            column, opens_line = indent + len(key) + 1, False
        else:
            key = scalar_text(name, indent + _STEP, indent + _STEP)
            out.append(f"? {key}\n{' ' * indent}:")
            column, opens_line = indent + 1, True
        if not _has_parts(below):
            out.append(f" {scalar_text(below, column + 1, indent + _STEP)}\n")
        elif opens_line:
            out.append(" ")
            blocks.append(_Block(below, indent + _STEP, in_order, in_line=True))
        else:
            out.append("\n")
            # The items of a list stand below the first letter of its name.
            deeper = _STEP if isinstance(below, Mapping) else 0
            blocks.append(_Block(below, indent + deeper, in_order, in_line=False))
    return "".join(out)


class _Block:
    """A map or a list that is being written."""

    __slots__ = ("in_line", "indent", "items")

    def __init__(self, value: Any, indent: int, in_order: bool, *, in_line: bool) -> None:
        self.items: Iterator[tuple[str | None, Any]] = (
            iter([(name, value[name]) for name in (_sorted(tuple(value)) if in_order else value)])
            if isinstance(value, Mapping)
            else ((None, item) for item in value)
        )
        self.indent = indent
        self.in_line = in_line
        """Whether its first line has begun already."""


def _has_parts(value: Any) -> bool:
    return isinstance(value, (Mapping, list, tuple)) and bool(value)


def _is_simple(name: str) -> bool:
    return len(name) <= _SIMPLE_KEY and _is_simple_text(name)


@lru_cache(maxsize=4096)
def _is_simple_text(name: str) -> bool:
    has_breaks = any(mark in name for mark in "\r\n\x85\u2028\u2029")
    return not has_breaks and len(name.encode()) <= _SIMPLE_KEY


@lru_cache(maxsize=4096)
def _key_text(name: str) -> str:
    return scalar_text(name, 0, 0, folded=False)


@lru_cache(maxsize=1024)
def _sorted(names: tuple[str, ...]) -> tuple[str, ...]:
    """In the order of people: numbers by their value, letters behind all else."""
    return tuple(sorted(names, key=cmp_to_key(_compare)))


def _compare(one: str, other: str) -> int:
    at = _first_difference(one, other)
    if at is None:
        return len(one) - len(other)
    mine, theirs = one[at], other[at]
    if mine.isalpha() or theirs.isalpha():
        if mine.isalpha() and theirs.isalpha():
            return -1 if mine < theirs else 1
        return -1 if theirs.isalpha() else 1
    # A number that has begun before the difference: its zeros count.
    begun = 0
    if "0" in (mine, theirs):
        before = re.search(r"\d*$", one[:at])
        begun = int(before is not None and before[0].strip("0") != "")
    (my_number, my_digits), (their_number, their_digits) = (
        _number(one, at, begun),
        _number(other, at, begun),
    )
    if my_number != their_number:
        return -1 if my_number < their_number else 1
    if my_digits != their_digits:
        return my_digits - their_digits
    return -1 if mine < theirs else 1


def _first_difference(one: str, other: str) -> int | None:
    return next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), None)


def _number(text: str, at: int, begun: int) -> tuple[int, int]:
    found = _NUMBER.match(text, at)
    digits = found[0] if found else ""
    return int(f"{begun or ''}{digits[:19]}" or 0), len(digits)
