"""Layers three and four of a watch: envelopes to events, whose objects the object decoder of their
kind reads.
"""

from __future__ import annotations

from typing import Generic, TypeVar, cast

from listwatch.api import Event, EventType, ListWatchError

from .codec import Codec, Envelope
from .decoders import ObjectDecoder, object_decode_error
from .errors import EnvelopeError, quote
from .framer import DEFAULT_LIMIT
from .json_codec import JSON_CODEC
from .stream import StreamDecoder

__all__ = ["WatchDecoder"]

T = TypeVar("T")

_TYPES = {kind.value: kind for kind in EventType}


class WatchDecoder(Generic[T]):
    """Turns the bytes of a watch into events.

    `decoder` reads the object of an ADDED, MODIFIED or DELETED event; what it raises goes into
    `Event.error`, with the object raw (D6). The object of an ERROR is a Status, that of a BOOKMARK
    a PartialObjectMetadata, whatever was asked for (D3, D4). `limit` is in bytes an event.

    >>> from listwatch.wire import WatchDecoder, decode_unstructured
    >>> stream = WatchDecoder(decode_unstructured)
    >>> stream.feed(b'{"type":"ADDED","object":{"kind":"Pod","apiVersion":"v1","metad')
    []
    >>> [event] = stream.feed(b'ata":{"name":"web","namespace":"default"}}}\\n')
    >>> event.type, event.object.key
    (<EventType.ADDED: 'ADDED'>, 'default/web')
    """

    __slots__ = ("_codec", "_decoder", "_faults", "_stream")

    def __init__(
        self, decoder: ObjectDecoder[T], *, codec: Codec = JSON_CODEC, limit: int = DEFAULT_LIMIT
    ) -> None:
        self._decoder = decoder
        self._codec = codec
        self._stream: StreamDecoder[Envelope] = StreamDecoder(
            codec.framer(), codec.decode_envelope, limit=limit
        )
        self._faults = 0

    @property
    def faults(self) -> int:
        """Faults of frame or envelope so far: while it stays the same, what `feed` gives is events
        only.
        """
        return self._faults + self._stream.faults

    def feed(self, data: bytes, /) -> list[Event[T] | ListWatchError]:
        """The events that `data` completes, with the faults between them in their place."""
        return [self._event(item) for item in self._stream.feed(data)]

    def end(self) -> list[Event[T] | ListWatchError]:
        """The event or fault that the end of the stream brings; nothing after a clean end."""
        return [self._event(item) for item in self._stream.end()]

    def _event(self, item: Envelope | ListWatchError) -> Event[T] | ListWatchError:
        if isinstance(item, ListWatchError):
            return item
        try:
            return self._decode(item)
        except EnvelopeError as fault:
            self._faults += 1
            return fault

    def _decode(self, envelope: Envelope) -> Event[T]:
        name, raw = envelope
        kind = _TYPES.get(name)
        if kind is None:
            expected = ", ".join(_TYPES)
            raise EnvelopeError(
                f"a watch event of unknown type {name!r} (expected {expected}): {quote(raw)}",
                unknown_type=True,
            )
        if not raw or raw == b"null":
            raise EnvelopeError(f"a watch event of type {name} without an object")
        if kind is EventType.ERROR:
            return Event(kind, cast(T, self._codec.decode_status(raw)), raw)
        if kind is EventType.BOOKMARK:
            return Event(kind, cast(T, self._codec.decode_bookmark(raw)), raw)
        try:
            return Event(kind, self._decoder(raw), raw)
        except (
            Exception
        ) as error:  # a decoder is anybody's code, and its bugs may not end the watch (D6)
            return Event(kind, cast(T, raw), raw, object_decode_error(raw, error))
