"""What is around the items of a list in JSON, looked through sign by sign while it arrives (C8)."""

from __future__ import annotations

import enum
import re
from collections.abc import Mapping

import msgspec

from .errors import FrameSyntaxError, ObjectTooLarge, UnexpectedEOF, quote
from .framer import DEFAULT_LIMIT
from .json_items import ItemCutter
from .json_scanner import BadByte, ValueScanner
from .list_framer import Piece

__all__ = ["JSONListFramer"]

_SPACE = re.compile(rb"[ \t\r\n]*+")


class _Place(enum.Enum):
    """What comes next, where no key, value or item has begun."""

    START = "'{'"
    FIRST_KEY = "a string or '}'"
    KEY = "a string"
    COLON = "':'"
    VALUE = "a value"
    AFTER_VALUE = "',' or '}'"
    FIRST_ITEM = "an item or ']'"
    ITEM = "an item"
    AFTER_ITEM = "',' or ']'"
    END = "the end"


_AFTER: Mapping[tuple[_Place, bytes], _Place] = {
    (_Place.START, b"{"): _Place.FIRST_KEY,
    (_Place.FIRST_KEY, b"}"): _Place.END,
    (_Place.COLON, b":"): _Place.VALUE,
    (_Place.AFTER_VALUE, b","): _Place.KEY,
    (_Place.AFTER_VALUE, b"}"): _Place.END,
    (_Place.FIRST_ITEM, b"]"): _Place.AFTER_VALUE,
    (_Place.AFTER_ITEM, b","): _Place.ITEM,
    (_Place.AFTER_ITEM, b"]"): _Place.AFTER_VALUE,
}
_CLOSING: Mapping[_Place, bytes] = {
    _Place.START: b"{}",
    _Place.AFTER_VALUE: b"}",
    _Place.FIRST_ITEM: b"]}",
    _Place.ITEM: b"]}",
    _Place.AFTER_ITEM: b"]}",
    _Place.END: b"",
}
"""What makes a whole list of one that has come so far. In other places it is inside a member."""

_KEYS = (_Place.FIRST_KEY, _Place.KEY)
_ITEMS = (_Place.FIRST_ITEM, _Place.ITEM)
_GAPS = (_Place.FIRST_ITEM, _Place.AFTER_ITEM, _Place.ITEM)


class JSONListFramer:
    """Cuts a list in JSON, laid out in any way, its members in any order.

    >>> framer = JSONListFramer()
    >>> [bytes(item) for item in framer.feed(b'{"kind":"PodList", "items":[{"a":1},{"a":')]
    [b'{"a":1}']
    >>> [bytes(item) for item in framer.feed(b'2}],"metadata":{}}') + framer.end()]
    [b'{"a":2}']
    >>> framer.outside
    b'{"kind":"PodList","items":[],"metadata":{}}'
    """

    __slots__ = (
        "_ended",
        "_fed",
        "_had_items",
        "_items",
        "_members",
        "_outside",
        "_place",
        "_scanner",
    )

    def __init__(self, limit: int = DEFAULT_LIMIT) -> None:
        self._items = ItemCutter(limit)
        self._had_items = False
        self._place = _Place.START
        self._scanner = ValueScanner()  # of a key, or a value that is not the items
        self._outside = bytearray()  # the list without its items and white space
        self._members = 0  # how much of that is whole members
        self._fed = 0  # bytes
        self._ended = False

    @property
    def limit(self) -> int:
        return self._items.limit

    @limit.setter
    def limit(self, limit: int) -> None:
        self._items.limit = limit

    @property
    def unusual(self) -> int:
        return self._items.unusual

    @property
    def held(self) -> int:
        """Bytes held for an item that is not complete yet."""
        return self._items.held

    @property
    def outside(self) -> bytes:
        closing = _CLOSING.get(self._place)
        if closing is None:
            return (bytes(self._outside[: self._members]) or b"{") + b"}"
        return bytes(self._outside) + closing

    def feed(self, data: bytes, /) -> list[Piece]:
        self._fed += len(data)
        pieces = self._items.begin_read(data, guessing=True)
        unseen = self._items.resume(data)
        if unseen is not None:
            self._look_through(unseen)
        return pieces

    def end(self) -> list[Piece]:
        self._ended = True
        data = self._items.take_tail()
        pieces = self._items.begin_read(data, guessing=False)
        self._look_through(data)
        if self._place is not _Place.END:
            raise UnexpectedEOF(self._fed)
        return pieces

    def recut(self, index: int, /) -> list[Piece] | None:
        data = self._items.from_guess(index)
        if data is None:
            return None
        pieces = self._items.begin_read(data, guessing=False)
        self._look_through(data)
        return pieces

    def _look_through(self, data: bytes) -> None:
        """`data` ends where all ends that was fed."""
        position = 0
        try:
            while position < len(data):
                if self._items.inside:
                    position = self._after_item(self._items.go_on(data, position))
                elif self._scanner.inside:
                    position = self._scan(data, position)
                else:
                    position = self._step(data, position)
        except BadByte as bad:
            raise self._fault(bad.problem, data, bad.position) from None

    def _step(self, data: bytes, position: int) -> int:
        """Pass over white space and one sign, or begin with a key, value or item."""
        place = self._place
        space = _SPACE.match(data, position)
        if space is not None and space[0]:
            position = space.end()
            if place in _GAPS:
                self._items.add_to_gap(space[0])
        sign = data[position : position + 1]
        if not sign:
            return position
        after = _AFTER.get((place, sign))
        if after is None and place is _Place.VALUE and sign == b"[" and self._is_items:
            after = _Place.FIRST_ITEM
        if after is not None:
            if place is _Place.AFTER_ITEM:
                self._items.add_to_gap(sign)
            if after is not _Place.ITEM:
                self._outside += sign
            self._enter(after)
            return position + 1
        if place in _ITEMS:
            return self._after_item(self._items.begin(data, position, last=self._ended))
        if place is not _Place.VALUE and (place not in _KEYS or sign != b'"'):
            raise self._fault(f"expected {place.value}", data, position)
        return self._scan(data, position)

    def _scan(self, data: bytes, position: int) -> int:
        """Go on to the end of a key or value; where that is, or the data ends."""
        end = self._scanner.scan(data, position)
        reached = len(data) if end < 0 else end
        self._outside += memoryview(data)[position:reached]
        if len(self._outside) > self.limit:
            raise ObjectTooLarge(self.limit, len(self._outside))
        if end >= 0 and self._place is _Place.VALUE:
            self._enter(_Place.AFTER_VALUE)
        elif end >= 0:
            if self._is_items and self._had_items:
                raise self._fault('a second "items"', data, position)
            self._had_items = self._had_items or self._is_items
            self._place = _Place.COLON
        return reached

    def _after_item(self, position: int) -> int:
        self._place = _Place.ITEM if self._items.is_open else _Place.AFTER_ITEM
        return position

    def _enter(self, place: _Place) -> None:
        self._place = place
        if place is _Place.AFTER_VALUE:
            self._members = len(self._outside)
        elif place is _Place.FIRST_ITEM:
            self._items.begin_array()

    @property
    def _is_items(self) -> bool:
        """Whether it is the items' member whose key, or value, comes now."""
        key = bytes(self._outside[self._members + 1 :]).removesuffix(b":")
        return key == b'"items"' or (b"\\" in key and _text(key) == "items")

    def _fault(self, problem: str, data: bytes, position: int) -> FrameSyntaxError:
        place = quote(data, max(position, 0))
        return FrameSyntaxError(problem, self._fed - len(data) + position, place)


def _text(key: bytes) -> object:
    try:
        return msgspec.json.decode(key)
    except msgspec.DecodeError:
        return None  # no name of ours
