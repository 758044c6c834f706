"""Where one JSON value ends, found in pieces: the general path of the JSON framer.

A pushdown machine over tokens. Between two tokens it is in one of the states below; inside a string
or a bare word (number, true, false, null) it remembers that too, so that no byte is looked at twice
however the input is cut (C7).

    state          the next token may be                         and then
    VALUE          `{`  `[`  string  word                        OBJECT, ARRAY, AFTER, AFTER
    ARRAY          as VALUE, or `]`                              ... or AFTER
    OBJECT         string, or `}`                                COLON, or AFTER
    KEY            string                                        COLON
    COLON          `:`                                           VALUE
    AFTER          `,` or the closing bracket of the container   KEY or VALUE, or AFTER

The value has ended when AFTER is reached with no container open. What it accepts is JSON, but for
the insides of escapes (`\\u12G4`) and UTF-8, which the decoder checks.
"""

from __future__ import annotations

import enum
import re
from functools import cache

__all__ = ["BadByte", "ValueScanner"]

_MAX_DEPTH = 10_000
"""Containers open at once: the limit of Go's encoding/json, so what a server can write can be
read.
"""

_MAX_WORD = 1_000
"""Bytes of a number: longer than anything that is one."""

_CONTROL = "a control character inside a string"

_WHITESPACE = re.compile(rb"[ \t\r\n]*+")
_STRING_REST = re.compile(rb'(?:[^"\\\x00-\x1f]++|\\[^\x00-\x1f])*+')
_WORD_REST = re.compile(rb"[-+.0-9A-Za-z]*+")
_WORD = re.compile(rb"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?|true|false|null")

# Runs of whole members or elements, taken in one step of the regular expression engine instead of
# many of ours. A value in a run may itself hold containers, this many deep: a value that is cut by
# the end of the data, or is deeper, is looked at once more for each, so it stays a small number.
_RUN_DEPTH = 2
_S = rb'"(?:[^"\\\x00-\x1f]++|\\[^\x00-\x1f])*+"'
_W = rb"(?:-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?(?:[eE][-+]?[0-9]++)?|true|false|null)"
_N = rb"[ \t\r\n]*+"


def _member(value: bytes) -> bytes:
    return _S + _N + b":" + _N + value + _N


def _listing(item: bytes) -> bytes:
    return b"(?:" + item + b"(?:," + _N + item + b")*+)?+"


def _value(depth: int) -> bytes:
    if not depth:
        return b"(?:" + _S + b"|" + _W + b")"
    inner = _value(depth - 1)
    of_object = rb"\{" + _N + _listing(_member(inner)) + rb"\}"
    of_array = rb"\[" + _N + _listing(inner + _N) + rb"\]"
    return b"(?:" + b"|".join((_S, _W, of_object, of_array)) + b")"


@cache
def _runs() -> tuple[re.Pattern[bytes], re.Pattern[bytes]]:
    """Runs of members and of elements; compiled when first needed, since most streams never do."""
    value = _value(_RUN_DEPTH)
    members = b"(?:" + _member(value) + b"," + _N + b")*+"
    elements = b"(?:" + value + _N + b"," + _N + b")*+"
    return re.compile(members), re.compile(elements)


class _State(enum.Enum):
    VALUE = "a value"
    ARRAY = "a value or ']'"
    OBJECT = "a string or '}'"
    KEY = "a string"
    COLON = "':'"
    AFTER = "',' or the end of the object or array"


class BadByte(Exception):
    """What stands at `position` of the data just scanned can be no part of a JSON value.

    `reached` is where that was noticed: at the end of a bare word, which may have begun before this
    data. Neither depends on how the data is cut.
    """

    def __init__(self, position: int, problem: str, reached: int | None = None) -> None:
        super().__init__(problem)
        self.position = position
        self.problem = problem
        self.reached = position if reached is None else reached


class ValueScanner:
    """Finds the end of JSON values one after another. It holds nothing of what it has seen but its
    place in it.
    """

    __slots__ = (
        "_elements",
        "_escaped",
        "_in_string",
        "_members",
        "_stack",
        "_started",
        "_state",
        "_word",
    )

    def __init__(self) -> None:
        self._members, self._elements = _runs()
        self._reset()

    def _reset(self) -> None:
        self._state = _State.VALUE
        self._stack = bytearray()  # the open brackets
        self._started = False
        self._in_string = False
        self._escaped = False  # the data ended right behind a backslash
        self._word: bytes | None = None  # a bare word that the data may have cut

    @property
    def inside(self) -> bool:
        """Whether a value has begun and not ended."""
        return self._started

    def scan(self, data: bytes | bytearray, position: int) -> int:
        """Go on from `position` to the end of the value; the index behind it, or -1 where all of
        `data` belongs to it.

        The first call for a value must be given its first byte (no white space before it). Raises
        `BadByte`.
        """
        self._started = True
        size = len(data)
        while True:
            if self._in_string:
                position = self._string(data, position)
            elif self._word is not None:
                position = self._bare_word(data, position)
            if position < 0:
                return -1
            if self._state is _State.AFTER and not self._stack:
                self._reset()
                return position
            position = self._whitespace_and_runs(data, position)
            if position >= size:
                return -1
            position = self._token(data, position)

    def finish(self) -> bool:
        """Say that the stream ended. True where that ends the value: only a bare word at the
        outermost level. Raises `BadByte`.
        """
        if self._word is not None and not self._stack:
            self._check_word(0)
            self._reset()
            return True
        return False

    def _whitespace_and_runs(self, data: bytes | bytearray, position: int) -> int:
        start = position = self._skip(_WHITESPACE, data, position)
        if self._state in (_State.KEY, _State.OBJECT):
            position = self._skip(self._members, data, start)
            if position > start:
                self._state = _State.KEY
        elif self._state is _State.ARRAY or (
            self._state is _State.VALUE and self._stack.endswith(b"[")
        ):
            position = self._skip(self._elements, data, start)
            if position > start:
                self._state = _State.VALUE
        return position

    @staticmethod
    def _skip(pattern: re.Pattern[bytes], data: bytes | bytearray, position: int) -> int:
        match = pattern.match(data, position)
        return match.end() if match else position

    def _token(self, data: bytes | bytearray, position: int) -> int:
        byte = bytes(data[position : position + 1])
        state = self._state
        if byte == b'"' and state not in (_State.COLON, _State.AFTER):
            self._state = _State.COLON if state in (_State.KEY, _State.OBJECT) else _State.AFTER
            self._in_string = True
            return position + 1
        if byte == b":" and state is _State.COLON:
            self._state = _State.VALUE
        elif byte == b"," and state is _State.AFTER:
            self._state = _State.KEY if self._stack.endswith(b"{") else _State.VALUE
        elif byte in (b"{", b"[") and state in (_State.VALUE, _State.ARRAY):
            if len(self._stack) >= _MAX_DEPTH:
                raise BadByte(position, f"more than {_MAX_DEPTH} nested objects and arrays")
            self._stack += byte
            self._state = _State.OBJECT if byte == b"{" else _State.ARRAY
        elif byte in (b"}", b"]") and self._closes(byte):
            del self._stack[-1]
            self._state = _State.AFTER
        elif byte in b"-0123456789tfn" and state in (_State.VALUE, _State.ARRAY):
            self._word = b""
            return position
        else:
            raise BadByte(position, f"expected {state.value}")
        return position + 1

    def _closes(self, byte: bytes) -> bool:
        if self._state is _State.AFTER:
            return self._stack.endswith(b"{" if byte == b"}" else b"[")
        return self._state is (_State.OBJECT if byte == b"}" else _State.ARRAY)

    def _string(self, data: bytes | bytearray, position: int) -> int:
        if self._escaped:
            if position >= len(data):
                return -1
            if data[position] < 0x20:
                raise BadByte(position - 1, _CONTROL, position)
            position += 1
            self._escaped = False
        position = self._skip(_STRING_REST, data, position)
        if position >= len(data):
            return -1
        if data[position] == 0x22:
            self._in_string = False
            return position + 1
        if data[position] != 0x5C:
            raise BadByte(position, _CONTROL)
        if position + 1 < len(data):
            raise BadByte(position, _CONTROL, position + 1)
        self._escaped = True
        return -1

    def _bare_word(self, data: bytes | bytearray, position: int) -> int:
        assert self._word is not None
        end = self._skip(_WORD_REST, data, position)
        self._word += bytes(data[position:end])
        if len(self._word) > _MAX_WORD:
            start = end - len(self._word)
            raise BadByte(start, f"a word of more than {_MAX_WORD} bytes", start + _MAX_WORD)
        if end >= len(data):
            return -1
        self._check_word(end)
        self._word = None
        self._state = _State.AFTER
        return end

    def _check_word(self, end: int) -> None:
        assert self._word is not None
        if not _WORD.fullmatch(self._word):
            raise BadByte(end - len(self._word), "neither a number nor true, false or null", end)
