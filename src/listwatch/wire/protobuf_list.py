"""Cutting the items out of a list in protobuf while it arrives (C8).

The body is an envelope whose field 2 is the list, whose field 2 in turn is, each time it comes, an
item: so it is in Kubernetes for lists of every type. Both may have their fields in any order.
"""

from __future__ import annotations

from listwatch.api import MalformedObject

from .errors import FrameSyntaxError, ObjectTooLarge, UnexpectedEOF, quote
from .framer import DEFAULT_LIMIT
from .list_framer import Piece
from .protobuf_unknown import MAGIC, unwrap, varint

__all__ = ["ProtobufListFramer"]

_LIST = _ITEM = 0x12
"""The key of field 2, in front of a length: of the envelope the list, of the list an item."""

_NUMBER, _LENGTH = 0, 2
_FIXED = {1: 8, 5: 4}
"""How fields travel; of a fixed size, with the bytes. There are two more ways, which nothing in
Kubernetes uses.
"""

_LONGEST = 10
"""Bytes of a number, at most."""


class ProtobufListFramer:
    """Cuts a list in protobuf.

    A body that is no list, by its kind, has no items: all of it is outside.

    >>> framer = ProtobufListFramer()
    >>> named = b"\\x0a\\x0b" + b"\\x0a\\x02v1" + b"\\x12\\x05PList"
    >>> items = b"\\x12\\x08" + b"\\x12\\x02ab" + b"\\x12\\x02c"
    >>> [bytes(item) for item in framer.feed(b"k8s\\0" + named + items)]
    [b'ab']
    >>> [bytes(item) for item in framer.feed(b"d") + framer.end()]
    [b'cd']
    >>> framer.outside
    b'k8s\\x00\\n\\x0b\\n\\x02v1\\x12\\x05PList\\x12\\x00'
    """

    __slots__ = (
        "_before",
        "_begun",
        "_envelope",
        "_had_list",
        "_has_items",
        "_held",
        "_left",
        "_list",
        "_needed",
        "limit",
    )

    unusual = 0
    """Of no item the end is looked for: each says how long it is."""

    def __init__(self, limit: int = DEFAULT_LIMIT) -> None:
        self.limit = limit
        self._held = bytearray()  # of a field that is not complete
        self._needed = 0  # bytes of it without which there is nothing to see
        self._before = 0  # bytes that are behind us
        self._begun = False
        self._envelope = bytearray()  # its fields, without the list
        self._had_list = False
        self._left = 0  # bytes of the list still to come
        self._list = bytearray()  # its fields that are no items
        self._has_items = True

    @property
    def held(self) -> int:
        """Bytes held for an item that is not complete yet."""
        return len(self._held)

    @property
    def outside(self) -> bytes:
        size = varint(len(self._list))
        return b"".join((MAGIC, self._envelope, bytes((_LIST,)), size, self._list))

    def feed(self, data: bytes, /) -> list[Piece]:
        if self._held:
            self._held += data
            if len(self._held) < self._needed:
                return []
            data = bytes(self._held)
            self._held = bytearray()  # a new one: an emptied one may keep its memory (C6)
        pieces: list[Piece] = []
        position = 0
        while position < len(data):
            if self._left:
                after = self._take_of_list(data, position, pieces)
            elif self._begun:
                after = self._take_of_envelope(data, position)
            else:
                after = self._begin(data)
            if not after:
                self._held += memoryview(data)[position:]
                break
            position = after
        self._before += position
        return pieces

    def end(self) -> list[Piece]:
        if self._held or self._left or not self._had_list:
            raise UnexpectedEOF(self._before + len(self._held))
        return []

    def recut(self, index: int, /) -> None:
        """None: the lengths are the server's word, so no cut is a guess."""

    # Each of these takes one thing, and says where it ends: 0 where it is not complete.

    def _begin(self, data: bytes) -> int:
        size = len(MAGIC)
        if data[:size] != MAGIC[: len(data)]:
            raise self._fault(f"expected {MAGIC!r}", data, 0)
        self._begun = len(data) >= size
        return size if self._begun else self._wait(size)

    def _take_of_envelope(self, data: bytes, position: int) -> int:
        key, start, end = self._field(data, position)
        if not start:
            return 0
        if key != _LIST:
            return self._keep(self._envelope, data, position, end)
        if self._had_list:
            raise self._fault("a second list", data, position)
        self._had_list = True
        self._left = end - start
        self._has_items = _may_be_list(self.outside)
        return start

    def _take_of_list(self, data: bytes, position: int, pieces: list[Piece]) -> int:
        key, start, end = self._field(data, position)
        most = position + self._left
        if end > most or (not start and len(data) >= most):
            raise self._fault("a field that is longer than its message", data, position)
        if not start:
            return 0
        if key != _ITEM or not self._has_items:
            after = self._keep(self._list, data, position, end)
        elif end - start > self.limit:
            raise ObjectTooLarge(self.limit, end - start)
        elif end > len(data):
            after = self._wait(end - position)
        else:
            pieces.append(memoryview(data)[start:end])
            after = end
        if after:
            self._left -= after - position
        return after

    def _keep(self, where: bytearray, data: bytes, position: int, end: int) -> int:
        """A field that is outside the items."""
        size = len(self._envelope) + len(self._list) + end - position
        if size > self.limit:
            raise ObjectTooLarge(self.limit, size)
        if end > len(data):
            return self._wait(end - position)
        where += memoryview(data)[position:end]
        return end

    def _wait(self, needed: int) -> int:
        self._needed = needed
        return 0

    def _field(self, data: bytes, position: int) -> tuple[int, int, int]:
        """The key of the field that is at `position`, where its value begins, and where it ends.
        Zeros where that cannot be seen yet.
        """
        key, start = self._number(data, position)
        if not start:
            return 0, 0, 0
        if key < 1 << 3:
            raise self._fault("a field without a number", data, position)
        way = key & 7
        if way == _LENGTH:
            size, start = self._number(data, start)
            return key, start, start + size
        if way == _NUMBER:
            _, end = self._number(data, start)
            return key, start if end else 0, end
        if way in _FIXED:
            return key, start, start + _FIXED[way]
        raise self._fault(f"a field of wire type {way}", data, position)

    def _number(self, data: bytes, position: int) -> tuple[int, int]:
        """A number, and where it ends: 0 where that cannot be seen yet."""
        value = 0
        for at in range(position, min(position + _LONGEST, len(data))):
            byte = data[at]
            value |= (byte & 0x7F) << 7 * (at - position)
            if byte < 0x80:
                return value, at + 1
        if len(data) - position >= _LONGEST:
            raise self._fault("a number without an end", data, position)
        self._needed = 0  # the next byte may complete it
        return 0, 0

    def _fault(self, problem: str, data: bytes, position: int) -> FrameSyntaxError:
        return FrameSyntaxError(problem, self._before + position, quote(data, position))


def _may_be_list(outside: bytes) -> bool:
    """Whether what has this envelope may be a list, or does not say what it is (yet)."""
    try:
        kind = unwrap(outside).kind
    except MalformedObject:
        return True  # the codec says so, to whom it is to be said
    return not kind or kind.endswith("List")
