"""Layers three and four of a watch: envelopes to events, whose objects the object decoder of their
kind reads.
"""

from __future__ import annotations

from typing import Generic, TypeVar, cast

from listwatch.api import Event, EventType, ListWatchError

from .answers import for_answer
from .codec import Codec, Envelope
from .decoders import ObjectDecoder, from_front, object_decode_error, reads_all
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

    `trust_lines` is a promise that the server writes each event as a line of its own and with
    nothing in it but type and object, as kube-apiserver does. An object that is laid out as typed
    ones are, and behind which another event has begun in the same read, is then told by its front;
    what lies behind is decoded by whoever reads it, who finds the damage if there is any
    (`MalformedObject`). Where the promise does not hold, two events in one line are taken for one.
    Without it every byte is looked at, and frames end where values end.

    >>> from listwatch.wire import WatchDecoder, decode_unstructured
    >>> stream = WatchDecoder(decode_unstructured)
    >>> stream.feed(b'{"type":"ADDED","object":{"kind":"Pod","apiVersion":"v1","metad')
    []
    >>> [event] = stream.feed(b'ata":{"name":"web","namespace":"default"}}}\\n')
    >>> event.type, event.object.key
    (<EventType.ADDED: 'ADDED'>, 'default/web')
    """

    __slots__ = ("_codec", "_decoder", "_from_front", "_stream", "_usual", "_usual_end", "unusual")

    def __init__(
        self,
        decoder: ObjectDecoder[T],
        *,
        codec: Codec = JSON_CODEC,
        limit: int = DEFAULT_LIMIT,
        trust_lines: bool = False,
    ) -> None:
        decoder, codec = for_answer(decoder, codec)
        self._decoder = decoder
        self._codec = codec
        # What is cut out by a guess must be checked by whoever decodes it.
        beginnings = codec.usual_beginnings if reads_all(decoder) else ()
        self._usual = [(start, len(start) - 1, kind) for start, kind in beginnings]
        self._usual_end = codec.usual_end
        self._stream: StreamDecoder[Event[T]] = StreamDecoder(
            codec.framer(), self._event, limit=limit
        )
        self._from_front = from_front(decoder) if trust_lines else None
        self.unusual = 0
        """Frames so far that were not laid out as most are, or not for this decoder: their envelope
        was decoded first. Bookmarks and errors are among them.
        """

    @property
    def faults(self) -> int:
        """Faults of frame or envelope so far: while it stays the same, what `feed` gives is events
        only.
        """
        return self._stream.faults

    def feed(self, data: bytes, /) -> list[Event[T] | ListWatchError]:
        """The events that `data` completes, with the faults between them in their place."""
        return self._stream.feed(data)

    def end(self) -> list[Event[T] | ListWatchError]:
        """The event or fault that the end of the stream brings; nothing after a clean end."""
        return self._stream.end()

    def _event(self, frame: bytes) -> Event[T]:
        """The event in a frame. Raises `EnvelopeError`.

        The usual frame is its beginning, the object, and a brace: if the decoder, which reads all
        that it is given, takes what lies between for one object, it is the object.
        """
        failed: tuple[bytes, Exception] | None = None
        for beginning, start, kind in self._usual:
            if frame.startswith(beginning) and frame.endswith(self._usual_end):
                raw = frame[start:-1]
                try:
                    event = Event(kind, self._decoder(raw), raw)
                except Exception as error:  # told below, if it is about the object
                    failed = raw, error
                    break
                if self._from_front is not None:
                    self._stream.short = self._short
                return event
        self.unusual += 1
        envelope = self._codec.decode_envelope(frame)
        if failed is not None and failed[0] != envelope.object:
            self._from_front = self._stream.short = None  # envelopes here have more in them
        return self._decoded(envelope, failed)

    def _short(self, frame: bytes) -> Event[T] | None:
        """The event in a usual frame, if its object can be told by its front."""
        if self._from_front is None:
            return None
        for beginning, start, kind in self._usual:
            if frame.startswith(beginning) and frame.endswith(self._usual_end):
                raw = frame[start:-1]
                obj = self._from_front(raw)
                return None if obj is None else Event(kind, obj, raw)
        return None

    def _decoded(self, envelope: Envelope, failed: tuple[bytes, Exception] | None) -> Event[T]:
        """`failed` is the object that was guessed, and what its decoder raised."""
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
            if failed is not None and failed[0] == raw:
                raise failed[1]
            return Event(kind, self._decoder(raw), raw)
        except (
            Exception
        ) as error:  # a decoder is anybody's code, and its bugs may not end the watch (D6)
            return Event(kind, cast(T, raw), raw, object_decode_error(raw, error))
