"""Cutting the items out of a list in CBOR while it arrives (C8)."""

from __future__ import annotations

import enum

from .cbor_heads import (
    ARRAY,
    BREAK,
    INDEFINITE,
    MAP,
    TAG,
    BadItem,
    argument_of,
    head_size,
)
from .cbor_plain import text_of
from .cbor_scanner import ItemScanner
from .errors import FrameSyntaxError, ObjectTooLarge, UnexpectedEOF, quote
from .framer import DEFAULT_LIMIT
from .list_framer import Piece

__all__ = ["CBORListFramer"]

_MAP_BEGIN, _NO_ITEMS, _END = b"\xbf", b"\x80", b"\xff"


class _Place(enum.Enum):
    """What comes next, or goes on."""

    START = enum.auto()
    KEY = enum.auto()
    VALUE = enum.auto()
    ITEMS = enum.auto()
    """The value of the key `items`, of which nothing has come."""
    ITEM = enum.auto()
    END = enum.auto()


class CBORListFramer:
    """Cuts a list in CBOR, its members in any order.

    >>> framer = CBORListFramer()
    >>> framer.feed(bytes.fromhex("a2 646b696e64 63462e4c 656974656d73 82 a0 a16161"))
    [b'\\xa0']
    >>> framer.feed(b"\\x01") + framer.end()
    [b'\\xa1aa\\x01']
    >>> framer.outside  # of no set length, and its array of items empty
    b'\\xbfdkindcF.Leitems\\x80\\xff'
    """

    __slots__ = (
        "_fed",
        "_had_items",
        "_held",
        "_items_to_come",
        "_members",
        "_members_to_come",
        "_outside",
        "_place",
        "_rest",
        "_scanner",
        "limit",
    )

    unusual = 0
    """No end is guessed, so there is no usual one."""

    def __init__(self, limit: int = DEFAULT_LIMIT) -> None:
        self.limit = limit
        self._place = _Place.START
        self._scanner = ItemScanner()  # of a key, a value or an item
        self._members_to_come: int | None = None  # None: until a break
        self._items_to_come: int | None = None
        self._had_items = False
        self._outside = bytearray()  # the members, without the items
        self._members = 0  # how much of that is whole members
        self._held = bytearray()  # of an item
        self._rest = b""  # as much of a head as was there before a read ended
        self._fed = 0  # bytes

    @property
    def held(self) -> int:
        """Bytes held for an item that is not complete yet."""
        return len(self._held)

    @property
    def outside(self) -> bytes:
        return _MAP_BEGIN + bytes(self._outside[: self._members]) + _END

    def feed(self, data: bytes, /) -> list[Piece]:
        self._fed += len(data)
        data, self._rest = self._rest + data, b""
        pieces: list[Piece] = []
        position = 0
        try:
            while position < len(data):
                position = self._step(data, position, pieces)
        except BadItem as bad:
            offset = self._fed - len(data) + bad.position
            raise FrameSyntaxError(bad.problem, offset, quote(data, max(bad.position, 0))) from None
        return pieces

    def end(self) -> list[Piece]:
        if self._place is not _Place.END:
            raise UnexpectedEOF(self._fed)
        return []

    def recut(self, index: int, /) -> None:
        """None: an item says where it ends, so no cut is a guess."""

    def _step(self, data: bytes, position: int, pieces: list[Piece]) -> int:
        place = self._place
        if self._scanner.inside:
            return self._scan(data, position, pieces)
        if place is _Place.END:
            raise BadItem(position, "something behind the list")
        is_break = data[position] == BREAK
        if is_break and place is _Place.KEY and self._members_to_come is None:
            self._place = _Place.END
            return position + 1
        if is_break and place is _Place.ITEM and self._items_to_come is None:
            self._end_member()
            return position + 1
        if place in (_Place.START, _Place.ITEMS):
            return self._open(data, position, pieces)
        return self._scan(data, position, pieces)

    def _open(self, data: bytes, position: int, pieces: list[Piece]) -> int:
        """Look at the head of the list, or of its items."""
        lead, wanted = data[position], MAP if self._place is _Place.START else ARRAY
        major, end = lead >> 5, position + head_size(lead)
        if major not in (TAG, wanted) or end == position:
            if wanted is MAP:
                raise BadItem(position, "expected a map")
            self._place = _Place.VALUE  # null, or what its decoder will refuse
            return self._scan(data, position, pieces)
        if end > len(data):
            self._rest = data[position:]
            return len(data)
        if major == TAG:
            return end
        number = None if lead & 31 == INDEFINITE else argument_of(data, position, end)
        if wanted is MAP:
            self._members_to_come = number
            self._place = _Place.END if number == 0 else _Place.KEY
        else:
            self._items_to_come = number
            self._outside += _NO_ITEMS
            self._members = len(self._outside)
            self._place = _Place.ITEM
            if number == 0:
                self._end_member()
        return end

    def _scan(self, data: bytes, position: int, pieces: list[Piece]) -> int:
        """Go on to the end of a key, value or item; where that is, or the data ends."""
        end = self._scanner.scan(data, position)
        reached = len(data) if end < 0 else end
        piece, whole = data[position:reached], end >= 0
        if self._place is _Place.ITEM:
            self._take_item(piece, pieces, whole=whole)
            return reached
        self._outside += piece
        if len(self._outside) > self.limit:
            raise ObjectTooLarge(self.limit, len(self._outside))
        if whole and self._place is _Place.KEY:
            self._end_key(reached)
        elif whole:
            self._end_member()
        return reached

    def _take_item(self, piece: bytes, pieces: list[Piece], *, whole: bool) -> None:
        size = len(self._held) + len(piece)
        if size > self.limit:
            raise ObjectTooLarge(self.limit, size)
        if not whole:
            self._held += piece
            return
        pieces.append(b"".join((self._held, piece)) if self._held else piece)
        if self._held:
            self._held = bytearray()  # a new one: an emptied one may keep its memory (C6)
        if self._items_to_come is not None:
            self._items_to_come -= 1
            if not self._items_to_come:
                self._end_member()

    def _end_key(self, position: int) -> None:
        is_items = text_of(bytes(self._outside[self._members :])) == b"items"
        if is_items and self._had_items:
            raise BadItem(position, 'a second "items"')
        self._had_items = self._had_items or is_items
        self._place = _Place.ITEMS if is_items else _Place.VALUE

    def _end_member(self) -> None:
        self._members = len(self._outside)
        self._place = _Place.KEY
        if self._members_to_come is not None:
            self._members_to_come -= 1
            if not self._members_to_come:
                self._place = _Place.END
