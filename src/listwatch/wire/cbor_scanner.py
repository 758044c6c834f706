"""Where one CBOR data item ends, found in pieces.

It counts, for each container that is open, the items that are still to come. No byte is looked at
twice however the input is cut, but for a head that a cut goes through (C7), and the insides of
strings are not looked at at all.
"""

from __future__ import annotations

from math import inf

from .cbor_heads import (
    ARRAY,
    BREAK,
    BYTES,
    FEW,
    INDEFINITE,
    MAP,
    OF_A_BYTE,
    SIMPLE,
    STEPS,
    TAG,
    TEXT,
    BadItem,
    argument_of,
    head_size,
)

__all__ = ["ItemScanner"]

_MAX_DEPTH = 10_000
"""Containers open at once: as in JSON, and as in Kubernetes' own decoder."""

_RESERVED = 32
"""Simple values below this are not written in two bytes."""

# By the first byte: 0 also for the simple values in two bytes, which are to be looked at.
_STEPS = tuple(0 if lead == SIMPLE << 5 | FEW else step for lead, step in enumerate(STEPS))


class ItemScanner:
    """Finds the end of data items one after another. It holds nothing of what it has seen but its
    place in it.
    """

    __slots__ = ("_chunks", "_head", "_left", "_outer", "_skip", "_tagged", "inside")

    def __init__(self) -> None:
        self.inside = False
        """Whether an item has begun and not ended."""
        # Items to come in the container that is open, and in those around it. Where it does not
        # say how many: infinity in an array, and in a map less than 0, even where a key may come.
        self._left: float = 1
        self._outer: list[float] = []
        self._skip = 0  # bytes to come of an item whose head was seen
        self._head = b""  # as much of a head as was there before the data ended
        self._tagged = False  # the data ended with a tag
        self._chunks = 0  # inside a string in chunks: the major type of these

    def scan(self, data: bytes, position: int = 0) -> int:
        """Look at `data` from `position` on, where there is at least one byte: where the item ends,
        or -1 if it does not end here. Raises `BadItem`.
        """
        self.inside = True
        taken = len(self._head)
        if not taken:
            return self._scan(data, position)
        # At most once a read, so that this costs no more than the read itself.
        whole, shift = self._head + data[position:], position - taken
        self._head = b""
        try:
            end = self._scan(whole, 0)
        except BadItem as bad:
            raise BadItem(bad.position + shift, bad.problem) from None
        return end if end < 0 else end + shift

    def _scan(self, data: bytes, position: int) -> int:
        size, steps, outer = len(data), _STEPS, self._outer
        position += self._skip
        self._skip = 0
        if self._tagged:
            self._tagged = False
            self._item_follows(data, position)
        if self._chunks:
            position = self._pass_chunks(data, position)
        left = self._settled()
        while position < size and left:
            step = steps[data[position]]
            if step > 0:
                position += step
                left -= 1
                if left:
                    continue
            elif step < 0:
                self._check_depth(position)
                outer.append(left - 1)
                left = -step
                position += 1
                continue
            elif data[position] in OF_A_BYTE and position + 1 < size:
                position += 2 + data[position + 1]
                left -= 1
            else:
                self._left = left
                position = self._pass_long(data, position)
                left = self._left
            while outer and not left:
                left = outer.pop()
        self._left = left
        if position > size:
            self._skip = position - size
        elif not left:
            self._left, self.inside = 1, False
            return position
        return -1

    def _settled(self) -> float:
        while self._outer and not self._left:
            self._left = self._outer.pop()
        return self._left

    def _pass_long(self, data: bytes, position: int) -> int:
        """Pass over a head whose number is not in its first byte, or which is a tag, and over the
        content of a string; where that ends, which may be behind the data.
        """
        lead = data[position]
        if lead == BREAK:
            return self._pass_break(position)
        major, size = lead >> 5, head_size(lead)
        if not size:
            raise BadItem(position, f"a byte {lead:#04x}, with which no item begins,")
        if major in (ARRAY, MAP):
            self._check_depth(position)
        end = position + size
        if end > len(data):
            self._head = data[position:]
            return len(data)
        if major == TAG:
            self._item_follows(data, end)
        elif lead & 31 == INDEFINITE:
            return self._begin_indefinite(data, position)
        else:
            number = argument_of(data, position, end)
            if major in (ARRAY, MAP) and number:
                self._outer.append(self._left - 1)
                self._left = number * (2 if major == MAP else 1)
                return end
            self._left -= 1
            if major in (BYTES, TEXT):
                return end + number
            if major == SIMPLE and number < _RESERVED:
                raise BadItem(end - 1, f"a simple value {number} in two bytes")
        return end

    def _begin_indefinite(self, data: bytes, position: int) -> int:
        major = data[position] >> 5
        if major in (BYTES, TEXT):
            self._chunks = major
            return self._pass_chunks(data, position + 1)
        self._outer.append(self._left - 1)
        self._left = inf if major == ARRAY else -2
        return position + 1

    def _pass_break(self, position: int) -> int:
        left = self._left
        if left != inf and (left > 0 or left % 2):
            raise BadItem(position, "a break where an item must come")
        self._left = self._outer.pop()
        return position + 1

    def _pass_chunks(self, data: bytes, position: int) -> int:
        while position < len(data):
            lead = data[position]
            if lead == BREAK:
                self._chunks = 0
                self._left -= 1
                return position + 1
            size = head_size(lead)
            if lead >> 5 != self._chunks or not size or lead & 31 == INDEFINITE:
                raise BadItem(position, f"a byte {lead:#04x} where a piece of a string must come")
            end = position + size
            if end > len(data):
                self._head = data[position:]
                return len(data)
            position = end + argument_of(data, position, end)
        return position

    def _item_follows(self, data: bytes, position: int) -> None:
        if position >= len(data):
            self._tagged = True
        elif data[position] == BREAK:
            raise BadItem(position, "a break where an item must come")

    def _check_depth(self, position: int) -> None:
        if len(self._outer) >= _MAX_DEPTH:
            raise BadItem(position, f"more than {_MAX_DEPTH} nested arrays and maps")
