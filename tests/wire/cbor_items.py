"""CBOR in every way of writing it, and an independent reading of it."""

from __future__ import annotations

import struct
from random import Random
from typing import Any

import cbor2
from hypothesis import strategies as st

from listwatch.wire import Frames, FramingError
from listwatch.wire.cbor_framer import CBORFramer

SELF_DESCRIBED = b"\xd9\xd9\xf7"

_TEXT = st.text(alphabet=st.sampled_from("ab\x00 \xff€😀"), max_size=30)
_FLOATS = st.floats(allow_nan=False, allow_infinity=False)
_INTEGERS = st.integers(-(2**64), 2**64 - 1) | st.integers(-300, 300)
VALUES = st.recursive(
    st.none() | st.booleans() | _INTEGERS | _FLOATS | _TEXT | _TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_TEXT, inner, max_size=3),
    max_leaves=8,
)
RANDOMS = st.integers(0, 2**32).map(Random)


class Writer:
    """Writes JSON values in CBOR. With a `Random` it draws of the ways that there are for each;
    without one it writes as Kubernetes does.
    """

    def __init__(self, random: Random | None = None) -> None:
        self._random = random

    def item(self, value: Any) -> bytes:
        return self._tags() + self._untagged(value)

    def _untagged(self, value: Any) -> bytes:
        if value is None:
            return b"\xf6"
        if isinstance(value, bool):
            return b"\xf5" if value else b"\xf4"
        if isinstance(value, int):
            return self._head(0, value) if value >= 0 else self._head(1, -1 - value)
        if isinstance(value, float):
            return self._float(value)
        if isinstance(value, str):
            return self._string(value)
        if isinstance(value, dict):
            parts = [self.item(each) for pair in value.items() for each in pair]
            return self._container(5, len(value), parts)
        return self._container(4, len(value), [self.item(each) for each in value])

    def chance(self, of: int) -> bool:
        return self._random is not None and not self._random.randrange(of)

    def _head(self, major: int, number: int) -> bytes:
        forms: list[bytes] = [bytes((major << 5 | number,))] if number < 24 else []
        forms += [
            bytes((major << 5 | low,)) + number.to_bytes(size, "big")
            for low, size in ((24, 1), (25, 2), (26, 4), (27, 8))
            if number < 1 << 8 * size
        ]
        return forms[0] if self._random is None else self._random.choice(forms)

    def _float(self, value: float) -> bytes:
        forms = [b"\xfb" + struct.pack(">d", value)]
        for lead, form in ((b"\xfa", ">f"), (b"\xf9", ">e")):
            try:
                packed = struct.pack(form, value)
            except OverflowError:
                continue
            if struct.unpack(form, packed) == (value,):
                forms.append(lead + packed)
        return forms[-1] if self._random is None else self._random.choice(forms)

    def _string(self, value: str) -> bytes:
        if self.chance(2):
            major, pieces = 3, self._pieces(value)
            chunks: list[bytes] = [piece.encode() for piece in pieces]
        else:
            major, chunks = 2, self._pieces(value.encode())
        if len(chunks) == 1:
            return self._head(major, len(chunks[0])) + chunks[0]
        inside = b"".join(self._head(major, len(chunk)) + chunk for chunk in chunks)
        return bytes((major << 5 | 31,)) + inside + b"\xff"

    def _pieces(self, value: Any) -> list[Any]:
        if not self.chance(4):
            return [value]
        assert self._random is not None
        at = self._random.randrange(len(value) + 1)
        return [value[:at], value[at:]]

    def _container(self, major: int, number: int, parts: list[bytes]) -> bytes:
        if self.chance(3):
            return bytes((major << 5 | 31,)) + b"".join(parts) + b"\xff"
        return self._head(major, number) + b"".join(parts)

    def _tags(self) -> bytes:
        tags = b""
        while self.chance(8):
            assert self._random is not None
            tags += self._random.choice((SELF_DESCRIBED, b"\xc0", b"\xd8\x25", b"\xd8\x1d"))
        return tags


def item(value: Any) -> bytes:
    """As Kubernetes writes it, but for the tag of a whole answer."""
    return Writer().item(value)


@st.composite
def written(draw: st.DrawFn) -> tuple[Any, bytes]:
    """A value, and one way of writing it."""
    value = draw(VALUES)
    return value, Writer(draw(RANDOMS)).item(value)


def cut(pieces: list[bytes], limit: int = 1 << 24) -> Frames:
    framer = CBORFramer(limit)
    found: list[bytes | FramingError] = []
    for piece in pieces:
        found += framer.feed(piece)
    return found + framer.end()


def item_end(data: bytes, at: int, *, inside: bool = False) -> int:
    """Where the item ends that begins at `at`; where `inside` says so, -1 for a break in its
    place. Raises `ValueError` for what is no item, and `IndexError` where the data ends.
    """
    lead = data[at]
    major, low = lead >> 5, lead & 31
    at += 1
    if lead == 0xFF and inside:
        return -1
    if low == 31:
        if major in (2, 3):
            while data[at] != 0xFF:
                if data[at] >> 5 != major or data[at] & 31 == 31:
                    raise ValueError
                at = item_end(data, at)
            return at + 1
        if major not in (4, 5):
            raise ValueError
        count = 0
        while (end := item_end(data, at, inside=major == 4 or not count % 2)) >= 0:
            at = end
            count += 1
        return at + 1
    if low > 27:
        raise ValueError
    if low >= 24:
        size = 1 << (low - 24)
        number = int.from_bytes(data[at : at + size], "big")
        if len(data) < at + size:
            raise IndexError
        if lead == 0xF8 and number < 32:
            raise ValueError
        at += size
    else:
        number = low
    if major in (2, 3):
        at += number
        if len(data) < at:
            raise IndexError
    for _ in range({4: number, 5: 2 * number, 6: 1}.get(major, 0)):
        at = item_end(data, at)
    return at


def sequence(body: bytes) -> list[Any]:
    """The values of a CBOR sequence as Kubernetes means them."""
    values = []
    at = 0
    while at < len(body):
        end = item_end(body, at)
        values.append(_meant(cbor2.loads(body[at:end].replace(SELF_DESCRIBED, b""))))
        at = end
    return values


def _meant(value: Any) -> Any:
    if isinstance(value, bytes):
        return value.decode()
    if isinstance(value, dict):
        return {_meant(key): _meant(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_meant(each) for each in value]
    return value
