"""Streams of JSON values in every layout, and an independent reading of them."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from typing import Any

from hypothesis import strategies as st

from listwatch.api import ListWatchError
from listwatch.wire import EnvelopeError, JSONFramer, StreamDecoder

_TEXT = st.text(alphabet=st.sampled_from('ab{}[]":,\\ \n\t\x00\u2028\u0085é€😀'), max_size=6)
_SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | _TEXT
)
VALUES = st.recursive(
    _SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_TEXT, inner, max_size=3),
    max_leaves=8,
)
OBJECTS = st.dictionaries(_TEXT, VALUES, max_size=4)


@st.composite
def layouts(draw: st.DrawFn) -> tuple[list[Any], bytes]:
    """Values, and a stream that holds them: compact lines mostly, but also pretty-printed, sharing
    a line, or between blank lines."""
    values, stream = [], b""
    for _ in range(draw(st.integers(0, 6))):
        value = draw(OBJECTS | OBJECTS | VALUES)
        indent = draw(st.sampled_from([None, None, 1]))
        text = json.dumps(value, indent=indent, ensure_ascii=draw(st.booleans()))
        separator = draw(st.sampled_from(["\n", "\n", "\n", "\r\n", "\n\n \n", " "]))
        values.append(value)
        stream += (text + separator).encode()
    if draw(st.booleans()) and not stream.endswith(b" "):
        stream = stream.rstrip(b"\r\n ")
    return values, stream


def cuts(data: bytes, places: list[int]) -> Iterator[bytes]:
    """`data` in pieces that begin at these places."""
    edges = [0, *sorted(place % (len(data) + 1) for place in places), len(data)]
    for start, end in itertools.pairwise(edges):
        yield data[start:end]


def decode_json(frame: bytes) -> Any:
    try:
        return json.loads(frame)
    except ValueError as error:
        raise EnvelopeError(str(error), malformed=True) from error


def read(pieces: Iterator[bytes] | list[bytes], limit: int = 1 << 24) -> list[Any]:
    """The values and faults of a stream of JSON values, through framer and stream decoder."""
    decoder = StreamDecoder(JSONFramer(), decode_json, limit=limit)
    found: list[Any] = []
    for piece in pieces:
        found += decoder.feed(piece)
    return found + decoder.end()


def one_by_one(data: bytes) -> list[bytes]:
    return [data[i : i + 1] for i in range(len(data))]


def described(found: list[Any]) -> list[Any]:
    """The same with its faults as what they say of the stream, to compare two readings."""
    return [
        (
            type(item).__name__,
            {k: v for k, v in vars(item).items() if k in ("offset", "size", "limit")},
        )
        if isinstance(item, ListWatchError)
        else item
        for item in found
    ]
