"""CBOR to that part of CBOR that says no more than JSON can, before it is decoded.

Kubernetes writes text in byte strings, since Go does not know that its strings are UTF-8, and real
bytes in byte strings that are tagged to become base64 (`k8s.io/apimachinery`, serializer/cbor). In
what comes out all strings are text, each of one piece, and there are no tags. What JSON has no word
for is refused: so the decoder behind it has no other object to make than JSON's, and nothing that
would bring it to follow references, compile patterns or go too deep.
"""

from __future__ import annotations

from base64 import b64encode, urlsafe_b64encode
from binascii import hexlify
from collections.abc import Callable, Mapping
from math import inf
from typing import NamedTuple

from .cbor_heads import (
    ARRAY,
    BREAK,
    BYTES,
    INDEFINITE,
    MAP,
    OF_A_BYTE,
    SIMPLE,
    STEPS,
    TAG,
    TEXT,
    BadItem,
    argument_of,
    head_of_text,
    head_size,
)

__all__ = ["Plain", "plain", "text_of"]

_MAX_DEPTH = 256
"""Containers within each other in one object. cbor2 goes to about 400."""


def _base64url(content: bytes) -> bytes:
    return urlsafe_b64encode(content).rstrip(b"=")


_ENCODED: Mapping[int, Callable[[bytes], bytes]] = {21: _base64url, 22: b64encode, 23: hexlify}
"""By tag (RFC 8949, section 3.4.5.2): the text that a byte string stands for, as Kubernetes makes
it.
"""

_REFUSED = {
    1: "a time in seconds (tag 1), where Kubernetes writes it as text",
    2: "an integer of any size (tag 2)",
    3: "an integer of any size (tag 3)",
}

_EXPONENTS = {25: 0x7C00, 26: 0x7F80_0000, 27: 0x7FF0_0000_0000_0000}
"""The bits of a float that are all set where it is no finite number, by the lower five bits of its
head.
"""

_WORDS = range(0xF4, 0xF7)  # false, true, null

# As those, but for floats and simple values, which are to be looked at.
_STEPS = tuple(
    0 if lead >> 5 == SIMPLE and lead not in _WORDS else step for lead, step in enumerate(STEPS)
)

_AS_TEXT = bytes(lead | 0x20 if lead >> 5 == BYTES else lead for lead in range(256))
"""By the first byte of an item: that of the same string as text; of all else itself."""


class Plain(NamedTuple):
    """A data item that says no more than JSON can, but for names that are no text or come twice."""

    item: bytes
    members: int
    """How many keys there are in all maps together."""


def plain(item: bytes | memoryview) -> Plain:
    """Raises `BadItem` for what is not exactly one data item, or has no equal in JSON."""
    return _Plainer(item).plain()


def text_of(item: bytes) -> bytes | None:
    """The content of a string; None for what is none."""
    made = plain(item).item
    return made[head_size(made[0]) :] if made[0] >> 5 == TEXT else None


class _Plainer:
    """One item on its way."""

    def __init__(self, item: bytes | memoryview) -> None:
        self._data = bytearray(item)  # its strings become text in their place
        self._instead: list[tuple[int, int, bytes]] = []  # from, to, and what stands there then
        self._left: float = 1  # see ItemScanner
        self._outer: list[float] = []
        self._members = 0

    def plain(self) -> Plain:
        data, size, steps, outer = self._data, len(self._data), _STEPS, self._outer
        position = 0
        left: float = 1
        while left:
            if position >= size:
                raise BadItem(size, "the end of an item that is not complete")
            lead = data[position]
            step = steps[lead]
            if step > 0:
                data[position] = _AS_TEXT[lead]
                position += step
                left -= 1
                if left:
                    continue
            elif step < 0:
                self._check_depth(position)
                outer.append(left - 1)
                left = -step
                if lead >> 5 == MAP:
                    self._members += lead & 31
                position += 1
                continue
            elif lead in OF_A_BYTE and position + 1 < size:
                data[position] = _AS_TEXT[lead]
                position += 2 + data[position + 1]
                left -= 1
            else:
                self._left = left
                position = self._long(position)
                left = self._left
            while outer and not left:
                left = outer.pop()
        if position > size:
            raise BadItem(size, "the end of an item that is not complete")
        if position < size:
            raise BadItem(position, "something behind the item")
        return Plain(self._joined(), self._members)

    def _joined(self) -> bytes:
        """The item with all that stands instead of parts of it."""
        data, position = memoryview(self._data), 0
        parts: list[bytes | memoryview] = []
        for start, end, instead in self._instead:
            parts += (data[position:start], instead)
            position = end
        return b"".join((*parts, data[position:]))

    def _long(self, position: int) -> int:
        """What one look at the first byte is not enough for; where that ends."""
        data, lead = self._data, self._data[position]
        if lead == BREAK:
            return self._end_indefinite(position)
        end, number = self._head(position)
        major, low = lead >> 5, lead & 31
        if major == TAG:
            return self._tagged(position)
        if major in (BYTES, TEXT):
            self._left -= 1
            if low == INDEFINITE:
                return self._chunks(position, None)
            data[position] = _AS_TEXT[lead]
            return end + number
        if major in (ARRAY, MAP):
            self._open(position, major, number, indefinite=low == INDEFINITE)
            return end
        self._left -= 1
        exponent = _EXPONENTS.get(low)
        if exponent is None:
            raise BadItem(position, f"a simple value ({number}) that is not in JSON")
        if number & exponent == exponent:
            raise BadItem(position, "a number that is not finite, for which JSON has no word,")
        return end

    def _head(self, position: int) -> tuple[int, int]:
        """Where the head at this place ends, and its number."""
        if position >= len(self._data):
            raise BadItem(position, "the end of an item that is not complete")
        lead = self._data[position]
        size = head_size(lead)
        if not size:
            raise BadItem(position, f"a byte {lead:#04x}, with which no item begins,")
        end = position + size
        if end > len(self._data):
            raise BadItem(len(self._data), "the end of an item that is not complete")
        return end, argument_of(self._data, position, end)

    def _open(self, position: int, major: int, number: int, *, indefinite: bool) -> None:
        self._check_depth(position)
        self._outer.append(self._left - 1)
        if indefinite:
            self._left = inf if major == ARRAY else -2
        elif major == ARRAY:
            self._left = number
        else:
            self._left = 2 * number
            self._members += number

    def _end_indefinite(self, position: int) -> int:
        left = self._left
        if left != inf:
            if left > 0 or left % 2:
                raise BadItem(position, "a break where an item must come")
            self._members += int(-2 - left) // 2
        self._left = self._outer.pop()
        return position + 1

    def _tagged(self, position: int) -> int:
        """Leave out the tags that stand here, and a string with them that they make another of."""
        end, encoded = position, None
        while True:
            item = end
            end, number = self._head(item)
            lead = self._data[item]
            if lead >> 5 != TAG:
                break
            if number in _REFUSED:
                raise BadItem(item, _REFUSED[number])
            encoded = _ENCODED.get(number, encoded)
        if lead == BREAK:
            raise BadItem(item, "a break where an item must come")
        self._instead.append((position, item, b""))
        if encoded is None:
            return item
        if lead >> 5 in (ARRAY, MAP):
            raise BadItem(item, "a list or map that is tagged as bytes are")
        if lead >> 5 != BYTES:
            return item
        self._left -= 1
        if lead & 31 == INDEFINITE:
            return self._chunks(item, encoded)
        return self._replace(item, end + number, encoded(self._content(end, number)))

    def _chunks(self, position: int, encoded: Callable[[bytes], bytes] | None) -> int:
        """Join a string that comes in pieces."""
        major, end = self._data[position] >> 5, position + 1
        parts = []
        while True:
            start, number = self._head(end)
            lead = self._data[end]
            if lead == BREAK:
                break
            if lead >> 5 != major or lead & 31 == INDEFINITE:
                raise BadItem(end, f"a byte {lead:#04x} where a piece of a string must come")
            parts.append(self._content(start, number))
            end = start + number
        joined = b"".join(parts)
        return self._replace(position, start, encoded(joined) if encoded else joined)

    def _content(self, start: int, size: int) -> bytes:
        if start + size > len(self._data):
            raise BadItem(len(self._data), "the end of an item that is not complete")
        return bytes(self._data[start : start + size])

    def _replace(self, start: int, end: int, text: bytes) -> int:
        self._instead.append((start, end, head_of_text(len(text)) + text))
        return end

    def _check_depth(self, position: int) -> None:
        if len(self._outer) >= _MAX_DEPTH:
            raise BadItem(position, f"more than {_MAX_DEPTH} lists and maps within each other")
