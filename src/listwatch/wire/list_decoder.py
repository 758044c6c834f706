"""The bytes of a LIST to its objects, while they arrive (C8, D7)."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Generic, ParamSpec, TypeVar

from listwatch.api import ListMeta, MalformedObject

from .answers import for_answer
from .codec import Codec, ListHead
from .decoders import ObjectDecoder, object_decode_error
from .errors import (
    FramingError,
    ListDecodeError,
    ObjectDecodeError,
    ObjectTooLarge,
    UnexpectedEOF,
    quote,
)
from .framer import DEFAULT_LIMIT
from .json_codec import JSON_CODEC
from .list import ObjectList
from .list_framer import Piece

__all__ = ["ListDecoder", "decode_list"]

T = TypeVar("T")
R = TypeVar("R")
P = ParamSpec("P")

_WHITESPACE = b" \t\r\n"

_AT_ONCE = 256 * 1024
"""Bytes that are cut before the items in them are decoded: more than one read of a socket gives."""

_QUOTED = 200
"""Bytes from the beginning of the body, for error messages."""


class ListDecoder(Generic[T]):
    """Reads the body of a LIST, of which it never holds more than an item that is not complete and
    one read.

    Items that lack kind and apiVersion, as typed ones do, get the list's, so that an object is the
    same from LIST and from WATCH. Where these come behind the items, they are those of `expected`,
    and the list must say the same in the end; without it, items are held as bytes until then.
    `limit` is in bytes an item, and for all together that is around the items.

    `feed` and `end` raise `ListDecodeError` where the body is no list, and `end` the `APIError` of
    a Status that came in its place. After that it is of no further use.

    >>> from listwatch.wire import ListDecoder, decode_unstructured
    >>> decoder = ListDecoder(decode_unstructured)
    >>> decoder.feed(b'{"kind":"PodList","apiVersion":"v1","items":[{"metadata":{"name":"a"}},')
    []
    >>> decoder.feed(b'{"metadata":{"name":"b"}}')
    [<Pod a rv=(none)>]
    >>> decoder.feed(b'],"metadata":{"resourceVersion":"7"}}') + decoder.end()
    [<Pod b rv=(none)>]
    >>> decoder.metadata.resource_version
    '7'
    """

    def __init__(
        self,
        decoder: ObjectDecoder[T],
        *,
        codec: Codec = JSON_CODEC,
        limit: int = DEFAULT_LIMIT,
        expected: ListHead | None = None,
    ) -> None:
        decoder, codec = for_answer(decoder, codec)
        self._decoder = decoder
        self._codec = codec
        self._framer = codec.list_framer()
        self._framer.limit = limit
        self._start = b""
        self._head: ListHead | None = None  # as it was when the first item came
        self._expected = expected
        self._decode: Callable[[Piece], T] = codec.item_decoder(decoder, ListHead())
        self._waiting: deque[bytes] = deque()  # items whose kind will come behind them
        self.metadata = ListMeta()
        """This and the other two are those of the list once `end` was called."""
        self.api_version = ""
        self.kind = ""
        self.undecodable: list[ObjectDecodeError] = []
        """The items that their decoder refused, raw (D6)."""

    @property
    def unusual(self) -> int:
        """Items so far that were not cut out by the fast way."""
        return self._framer.unusual

    def feed(self, data: bytes, /) -> list[T]:
        """The objects that `data` completes."""
        if len(self._start) < _QUOTED:
            self._start = (self._start + data[:_QUOTED]).lstrip(_WHITESPACE)
        items: list[T] = []
        if len(data) <= _AT_ONCE:
            self._take(self._framed(self._framer.feed, data), items)
        else:
            for at in range(0, len(data), _AT_ONCE):
                self._take(self._framed(self._framer.feed, data[at : at + _AT_ONCE]), items)
        return items

    def end(self) -> list[T]:
        """The objects that the end of the body brings."""
        if not self._start:
            raise ListDecodeError("the server sent an empty body where a list was expected")
        items: list[T] = []
        self._take(self._framed(self._framer.end), items)
        head = self._codec.decode_list(self._framer.outside)
        first = self._head
        if first is not None and first.is_typed and head.is_typed and first.type != head.type:
            raise ListDecodeError(
                f"the server sent a list of two kinds, {first.kind} and {head.kind}"
            )
        self.api_version, self.kind, self.metadata = self._head = head
        self._decode = self._codec.item_decoder(self._decoder, head)
        while self._waiting:
            self._take_one(self._waiting.popleft(), items)
        return items

    def whole(self, items: list[T]) -> ObjectList[T]:
        """The list, of which `items` are what `feed` and `end` gave."""
        return ObjectList(items, self.metadata, self.api_version, self.kind, self.undecodable)

    def _take(self, pieces: list[Piece], items: list[T]) -> None:
        if not pieces:
            return
        if self._head is None:
            self._head = self._first_head(pieces[0])
            self._decode = self._codec.item_decoder(self._decoder, self._head)
        decode, waits = self._decode, None if self._head.is_typed else self._waits
        failed: Exception | None = None
        for number, piece in enumerate(pieces):
            try:
                if waits is None or not waits(piece):
                    items.append(decode(piece))
            except Exception as error:  # anybody's code: one object it fails on costs no other (D6)
                failed = error
            if failed is not None:
                again = self._framed(self._framer.recut, number)
                if again is not None:
                    self._take(again, items)
                    return
                self._refuse(piece, failed)
                failed = None

    def _first_head(self, piece: Piece) -> ListHead:
        """What the list has said of itself when its first item is there."""
        head = self._codec.decode_list(self._framer.outside)
        if head.is_typed or self._expected is None:
            return head
        try:
            typed = self._codec.is_typed(piece)
        except MalformedObject:
            return head
        return head if typed else self._expected

    def _take_one(self, piece: Piece, items: list[T]) -> None:
        try:
            items.append(self._decode(piece))
        except Exception as error:  # as above
            self._refuse(piece, error)

    def _waits(self, piece: Piece) -> bool:
        """Hold an item that needs the kind of the list, which is not known yet, and all after it:
        the order stays.
        """
        if not self._waiting and self._codec.is_typed(piece):
            return False
        self._waiting.append(self._codec.item_decoder(bytes, ListHead())(piece))
        return True

    def _refuse(self, piece: Piece, error: Exception) -> None:
        head = self._head or ListHead()
        try:
            raw = self._codec.item_decoder(bytes, head)(piece)
        except MalformedObject:
            names_of = getattr(self._codec, "names_of", bytes)  # where the key can be read yet
            raw = names_of(piece)
        self.undecodable.append(object_decode_error(raw, _without_frames(error)))

    def _framed(self, cut: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """What the framer says, its faults in words."""
        try:
            return cut(*args, **kwargs)
        except UnexpectedEOF as error:
            raise ListDecodeError(
                f"the server's answer is no list: it ends too early, after {error.size} bytes:"
                f" {quote(self._start)}"
            ) from error
        except ObjectTooLarge as error:
            self._codec.decode_list(self._framer.outside)  # which may have more to say
            raise ListDecodeError(f"the server sent a list that cannot be read: {error}") from error
        except FramingError as error:
            raise ListDecodeError(f"the server's answer is no list: {error}") from error


def _without_frames(error: Exception) -> Exception:
    """The error without the calls that it went through: they hold the whole read, and this is kept
    for as long as the list is.
    """
    found: list[BaseException | None] = [error]
    for each in found:
        if each is not None:
            each.__traceback__ = None
            found += (each.__cause__, each.__context__)
    return error


def decode_list(
    body: bytes, decoder: ObjectDecoder[T], *, codec: Codec = JSON_CODEC
) -> ObjectList[T]:
    """Read a whole LIST body.

    Items that lack kind and apiVersion, as typed ones do, get the list's, so that an object is the
    same from LIST and from WATCH. Raises `ListDecodeError` where the body is no list, and the
    `APIError` of a Status that came in its place.
    """
    reader = ListDecoder(decoder, codec=codec, limit=len(body))
    return reader.whole(reader.feed(body) + reader.end())
