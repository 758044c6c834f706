"""The heads of CBOR data items (RFC 8949, section 3): what stands before the content of an item."""

from __future__ import annotations

__all__ = [
    "ARRAY",
    "BREAK",
    "BYTES",
    "FEW",
    "INDEFINITE",
    "MAP",
    "NOWHERE",
    "OF_A_BYTE",
    "SIMPLE",
    "STEPS",
    "TAG",
    "TEXT",
    "BadItem",
    "argument_of",
    "head_of_text",
    "head_size",
]

BYTES, TEXT, ARRAY, MAP, TAG, SIMPLE = range(2, 8)
"""Major types, the upper three bits of the first byte. 0 and 1 are integers; the last is also that
of floats.
"""

BREAK = 0xFF
"""Ends what does not say how long it is."""

FEW, INDEFINITE = 24, 31
"""The lower five bits: below the one they are the argument, the other stands for none."""

NOWHERE = -1

OF_A_BYTE = (BYTES << 5 | 24, TEXT << 5 | 24)
"""The first bytes of strings whose size is in the second."""

_WIDTHS = {24: 1, 25: 2, 26: 4, 27: 8}  # bytes of the argument, by the lower five bits


class BadItem(Exception):
    """What is at `position` of the data just looked at can be no part of a CBOR data item, or of
    one that is wanted here. `NOWHERE` is for what has no place of its own.
    """

    def __init__(self, position: int, problem: str) -> None:
        super().__init__(problem if position == NOWHERE else f"{problem} at byte {position}")
        self.position = position
        self.problem = problem


def head_size(lead: int) -> int:
    """Bytes of a head that begins with this one; 0 where none does."""
    low = lead & 31
    if low < FEW:
        return 1
    if low == INDEFINITE:
        return int(lead >> 5 not in (0, 1, TAG))
    return 1 + _WIDTHS[low] if low in _WIDTHS else 0


def argument_of(data: bytes | bytearray, position: int, end: int) -> int:
    """The number in the head between these."""
    low = data[position] & 31
    return low if low < FEW else int.from_bytes(data[position + 1 : end], "big")


def head_of_text(size: int) -> bytes:
    """What stands before a text of so many bytes."""
    major = TEXT << 5
    if size < FEW:
        return bytes((major | size,))
    low, width = next((low, width) for low, width in _WIDTHS.items() if size < 1 << 8 * width)
    return bytes((major | low,)) + size.to_bytes(width, "big")


def _step(lead: int) -> int:
    major, low, size = lead >> 5, lead & 31, head_size(lead)
    if not size or low == INDEFINITE or major == TAG:
        return 0
    if major in (0, 1, SIMPLE):
        return size
    if low >= FEW:
        return 0
    if major in (BYTES, TEXT):
        return size + low
    return -low * (2 if major == MAP else 1) or size


STEPS = tuple(map(_step, range(256)))
"""By the first byte of an item, for the short ones, which most are: how many bytes it has, or, for
a container that is not empty, minus how many items it holds. 0 for what is neither.
"""
