"""Cutting the items out of an array in JSON while it arrives.

There are three ways, each for where the one before it does not lead on:

- A guess. Servers write all items of a list alike, so how one begins says how the next will: `},`
  and that beginning is searched for, and what lies between two such places is cut out. That may be
  no whole item, where an item holds a list of things that begin like it, or several, where one
  begins otherwise. Whoever decodes the piece finds that out: a piece that begins where an item does
  and is one whole JSON object is the item, since no object has two ends. If it is not, `recut` cuts
  it and the rest of that read by the next way.
- A question. A decoder that is given an item and more complains of what follows it, and says where
  that begins.
- A search for the end of the value, sign by sign, which goes on however the item is cut.
"""

from __future__ import annotations

import re

import msgspec

from .errors import ObjectTooLarge
from .json_scanner import ValueScanner
from .list_framer import Piece

__all__ = ["ItemCutter"]

_PATIENCE = 256 * 1024
"""Bytes that are held for one item before its end is searched for."""

_MOST_SPACE = 64
"""Bytes between two items that are looked for; of more, none is found by guessing."""

_S = rb"[ \t\r\n]*+"
_TEXT = rb'"[^"\\]{0,256}+"'
_TYPE = rb'"(?:apiVersion|kind)"' + _S + b":" + _S + _TEXT
_BEGINNING = re.compile(
    # The first key alone would be too little where it is one of these: the owners of an object and
    # its managedFields may begin with them, too.
    (rb"\{" + _S + _TYPE + _S + b"," + _S + _TYPE + b"|")
    + (rb"\{" + _S + _TEXT + _S + b":" + _S + rb'[{\["]?')
)

_CERTAIN = -1  # in place of where a guessed piece ends
_CUT = -1  # in place of the size of an object


class ItemCutter:
    """Cuts the items of one array, for a `JSONListFramer`, which finds where they begin."""

    __slots__ = (
        "_ask_at",
        "_between",
        "_data",
        "_doubtful",
        "_ends",
        "_gap",
        "_guessing",
        "_held",
        "_pieces",
        "_scanner",
        "_tail",
        "limit",
        "unusual",
    )

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.unusual = 0
        self._pieces: list[Piece] = []
        self._data = b""  # what they were guessed from
        self._ends: list[int] = []  # where in it they end
        self._scanner = ValueScanner()
        self._held = bytearray()  # of an item, as far as the scanner has come
        self._tail = bytearray()  # begins with an item, and is searched already
        self._guessing = True
        self._gap = b""  # what lies between two items
        self._between = b""  # what is searched for: the last byte of an item, a gap, a beginning
        self._doubtful = False  # the next item has been guessed wrong
        self._ask_at = 0  # bytes of a tail that begins with such an item

    @property
    def held(self) -> int:
        """Bytes held for an item that is not complete yet."""
        return len(self._held) + len(self._tail)

    @property
    def inside(self) -> bool:
        """Whether `go_on` must come next."""
        return self._scanner.inside

    @property
    def is_open(self) -> bool:
        """Whether an item has begun and not ended."""
        return self._scanner.inside or bool(self._tail)

    def begin_read(self, data: bytes, *, guessing: bool) -> list[Piece]:
        """`data` will be looked at now. The list is that of the items that are found in it."""
        self._pieces, self._ends, self._data = [], [], data
        self._guessing = guessing
        return self._pieces

    def begin_array(self) -> None:
        """No item has come yet. What comes before the first is taken for what will come behind a
        comma.
        """
        self._gap = b","

    def add_to_gap(self, piece: bytes) -> None:
        """This stands between two items."""
        self._gap = (self._gap + piece)[:_MOST_SPACE]

    def begin(self, data: bytes, position: int, *, last: bool) -> int:
        """Cut out the item that begins at `position`, and maybe others behind it; how far this has
        come. `last` says that nothing comes behind `data`. Raises as `go_on` does.
        """
        if data[position : position + 1] != b"{":
            return self.go_on(data, position)
        if self._learn(data, position) and self._guessing and not self._doubtful:
            self._guess(data, position)
            return len(data)
        self._doubtful = False
        rest = memoryview(data)[position:]
        size = _size_of_object(rest) if _CAN_ASK else 0
        if size > 0:
            self._take(rest[:size], whole=True)
            return position + size
        if size == _CUT and not last and len(rest) < self._most:
            self._tail += rest
            self._ask_at = 2 * len(rest)  # by doubling, so that it is not looked at too often
            return len(data)
        return self.go_on(data, position)

    def go_on(self, data: bytes, position: int) -> int:
        """Search for the end of an item; how far this has come. Raises `BadByte` and
        `ObjectTooLarge`.
        """
        end = self._scanner.scan(data, position)
        reached = len(data) if end < 0 else end
        self._take(memoryview(data)[position:reached], whole=end >= 0)
        return reached

    def resume(self, data: bytes) -> bytes | None:
        """Go on with the items of earlier reads. What is returned begins with an item, too, and is
        to be looked through.
        """
        tail, between, most = self._tail, self._between, self._most
        size = len(tail)
        if not size:
            return data
        if size + len(data) < self._ask_at:
            tail += data
            return None
        seam = len(between) - 1
        if self._ask_at:
            at = most  # it is not searched for
        elif between in bytes(tail[-seam:]) + data[:seam]:
            self._data = self.take_tail() + data
            self._guess(self._data, 0)
            return None
        else:
            at = data.find(between)
        if size + (len(data) if at < 0 else at) >= most:
            self._doubtful = True
            self._data = self.take_tail() + data
            return self._data
        if at < 0:
            tail += data
        else:
            self._pieces.append(self.take_tail() + data[: at + 1])
            self._ends.append(at + 1)
            self._guess(data, at + 1 + len(self._gap))
        return None

    def take_tail(self) -> bytes:
        """What is held of the items that were guessed last; it begins with one."""
        taken = bytes(self._tail)
        self._tail = bytearray()  # a new one: an emptied one may keep its memory (C6)
        return taken

    def from_guess(self, index: int) -> bytes | None:
        """Take back all guesses from item `index` on: what they were made from is to be looked
        through again. None where that item was no guess.
        """
        end = self._ends[index]
        if end == _CERTAIN:
            return None
        # Behind a guess there are but others in the same read: nothing else has happened since.
        self._tail = bytearray()
        self._doubtful = True
        return b"".join((self._pieces[index], memoryview(self._data)[end:]))

    def _learn(self, data: bytes, position: int) -> bool:
        """What to search for, from how an item begins; whether that is known."""
        match = _BEGINNING.match(data, position)
        if match is None:
            return False
        self._between = b"}" + self._gap + match[0]
        return True

    def _guess(self, data: bytes, position: int) -> None:
        """Cut out the items that `data` completes, of which the first begins at `position`; hold
        the rest.
        """
        between, limit = self._between, self.limit
        step_over = 1 + len(self._gap)
        pieces, ends, find, view = self._pieces, self._ends, data.find, memoryview(data)
        while 0 <= (at := find(between, position)) < position + limit:
            end = at + 1
            pieces.append(view[position:end])
            ends.append(end)
            position = at + step_over
        self._tail += view[position:]
        self._ask_at = 0

    @property
    def _most(self) -> int:
        return min(_PATIENCE, self.limit)

    def _take(self, piece: memoryview, *, whole: bool) -> None:
        """An item, or part of one, that is certain."""
        size = len(self._held) + len(piece)
        if size > self.limit:
            raise ObjectTooLarge(self.limit, size)
        if not whole:
            self._held += piece
            return
        item: Piece = piece
        if self._held:
            item = bytes(self._held) + piece
            self._held = bytearray()
        self._pieces.append(item)
        self._ends.append(_CERTAIN)
        self.unusual += 1
        self._gap = b""


class _Object(msgspec.Struct):
    """Any object: all of it is passed over."""


_skip = msgspec.json.Decoder(_Object).decode
_TRUNCATED = "Input data was truncated"
_TRAILING = re.compile(r"trailing characters \(byte ([0-9]+)\)")


def _size_of_object(data: bytes | memoryview) -> int:
    """How many bytes the JSON object has with which `data` begins: `_CUT` where they are not all
    there, 0 where it cannot be said.
    """
    size = len(data)
    try:
        _skip(data)
    except msgspec.DecodeError as error:
        said = str(error)
        if said == _TRUNCATED:
            return _CUT
        trailing = _TRAILING.search(said)
        if trailing is None:
            return 0
        size = int(trailing[1]) - 1
    except RecursionError:
        return 0
    while size and data[size - 1] in b" \t\r\n":
        size -= 1
    return size


_QUESTIONS = {b'{"a":"}"} ,{': 9, b"{}]": 2, b"{}\n": 2, b'{"a":{}': _CUT, b'{"a"}': 0}

_CAN_ASK = all(_size_of_object(data) == size for data, size in _QUESTIONS.items())
"""Whether this msgspec says it in the words that are looked for."""
