"""Unpacking the body of an answer a bounded piece at a time (B10).

A packed body is up to a thousand times smaller than what is in it, so whoever unpacks all that has
arrived has no say in how much memory that takes. Here the reader asks for one piece after another.
"""

from __future__ import annotations

import zlib

__all__ = ["PIECE", "InflateError", "Inflater", "inflater_for"]

PIECE = 64 * 1024
"""Bytes that one `read` gives at most."""

_INPUT = 16 * 1024
"""Packed bytes that zlib gets at once: it copies what it has not consumed at each call."""

_GZIP = 16 + zlib.MAX_WBITS
_GZIP_MAGIC = b"\x1f"
_RAW = -zlib.MAX_WBITS


class InflateError(ValueError):
    """A packed body cannot be unpacked. The message says in words why.

    `cut` says that it is sound as far as it goes, and ends too early.
    """

    def __init__(self, message: str, *, cut: bool = False) -> None:
        super().__init__(message)
        self.cut = cut


def inflater_for(content_encoding: str | None) -> Inflater | None:
    """What unpacks a body of this Content-Encoding; None where nothing needs to be done.

    Raises `InflateError` for an encoding that is not known here.

    >>> inflater_for("identity") is None
    True
    """
    encoding = (content_encoding or "").strip().lower()
    if encoding in ("", "identity"):
        return None
    if encoding not in ("gzip", "x-gzip", "deflate"):
        raise InflateError(
            f"the answer has Content-Encoding {encoding!r}, which nobody here asked for:"
            " is there a proxy in between?"
        )
    return Inflater(encoding.removeprefix("x-"))


class Inflater:
    """Unpacks one body: `feed` it what arrives, and `read` until that gives nothing more.

    >>> import gzip
    >>> inflater = Inflater("gzip")
    >>> inflater.feed(gzip.compress(b"pods"))
    >>> inflater.read(), inflater.read()
    (b'pods', b'')
    >>> inflater.end()

    All raise `InflateError`. Its cost is linear in what it gets and gives, however that is cut.
    """

    def __init__(self, encoding: str) -> None:
        self._encoding = encoding
        self._packed = b""
        self._position = 0
        self._stream: zlib._Decompress | None = None
        self._begun = False
        self._may_hold_more = False

    def feed(self, data: bytes) -> None:
        """Take what has arrived. What was fed before should have been read: it is held until it
        is.
        """
        self._packed = self._packed[self._position :] + data if self._left else data
        self._position = 0

    def read(self) -> bytes:
        """The next bytes, 64 KiB at most; nothing where it takes more input to go on."""
        while self._left or self._may_hold_more:
            piece = self._unpack()
            if piece:
                return piece
        return b""

    def end(self) -> None:
        """Say that the body has ended. Raises where it ends inside what was packed."""
        if self._begun and self._stream is not None:
            raise InflateError(f"the {self._encoding} body of the answer ends too early", cut=True)

    @property
    def _left(self) -> bool:
        return self._position < len(self._packed)

    def _unpack(self) -> bytes:
        if self._stream is None:
            self._begin()
        stream = self._stream
        assert stream is not None
        given = self._packed[self._position : self._position + _INPUT]
        try:
            piece = stream.decompress(given, PIECE)
        except zlib.error as error:
            raise InflateError(
                f"the {self._encoding} body of the answer is damaged: {error}"
            ) from error
        rest = stream.unused_data if stream.eof else stream.unconsumed_tail
        self._position += len(given) - len(rest)
        self._may_hold_more = len(piece) == PIECE
        if stream.eof:
            self._stream = None
            self._may_hold_more = False
        return piece

    def _begin(self) -> None:
        """A body begins, or goes on with another member, as gzip's may."""
        first = self._packed[self._position : self._position + 1]
        if self._begun and (self._encoding != "gzip" or first != _GZIP_MAGIC):
            raise InflateError(f"something else follows the {self._encoding} body of the answer")
        self._begun = True
        # `deflate` means zlib's format, but some send the bare one, whose first byte never looks
        # like zlib's.
        zlib_header = bool(first) and first[0] & 0x0F == 8
        bits = zlib.MAX_WBITS if zlib_header else _RAW
        self._stream = zlib.decompressobj(wbits=_GZIP if self._encoding == "gzip" else bits)
