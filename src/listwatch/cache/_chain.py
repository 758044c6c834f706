"""One watch after the other, read as one stream: the Decoder of a RetryWatcher (L1, L2)."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator
from contextlib import suppress
from random import Random
from typing import Any, Generic, TypeVar, cast

from listwatch.api import (
    APIError,
    Event,
    EventType,
    ListOptions,
    MalformedObject,
    ObjectView,
    PartialObjectMetadata,
    Status,
    Unstructured,
)
from listwatch.watch import EmptyWatch
from listwatch.watch.reporter import UNKNOWN_EVENT_TYPE

from ._budget import pace, permitted
from ._stream import Stream
from ._versions import is_late, moved
from .causes import NEVER_SENT, UNREACHED, Cause, cause_of, cause_of_end
from .identity import identity_of
from .liveness import Liveness
from .pacing import Pacer, Pacing, RoundEnd
from .protocols import AsyncWatcher

__all__ = ["Chain"]

T = TypeVar("T")

_log = logging.getLogger("listwatch.cache")

_TIMEOUT_SECONDS = (300, 600)
"""client-go's numbers for how long a watch is asked to last: a reflector's too (H3)."""

_FINAL = frozenset({Cause.EXPIRED, Cause.FORBIDDEN, Cause.UNAUTHORIZED})
"""What no repetition mends: what is gone from the history, and what one may not see (L2)."""

_CHANGES = (EventType.ADDED, EventType.MODIFIED, EventType.DELETED)


class Chain(Generic[T]):
    """What a RetryWatcher reads."""

    def __init__(
        self,
        source: AsyncWatcher[T],
        resource_version: str,
        pacing: Pacing,
        liveness: Liveness,
        rng: Random,
    ) -> None:
        self.resource_version = resource_version
        self.last_read: float | None = None
        self._source = source
        self._liveness = liveness
        self._rng = rng
        self._pacer = Pacer(pacing, rng)
        self._loop = asyncio.get_running_loop()
        self._at = self._loop.time()  # when the next watch may be opened
        self._over = False
        self._reading = False
        self._link: tuple[Stream[T], AsyncGenerator[list[Event[T]], None]] | None = None
        pace(source, self._permit)

    # A Decoder

    async def decode(self) -> list[Event[T]]:
        while not self._over:
            events = await (self._open() if self._link is None else self._read(*self._link))
            if events:
                return events
        return []

    def close(self) -> None:
        self._over = True
        if self._link is not None:
            self._link[0].watch.stop()

    async def left(self) -> None:
        """End the stream that nobody reads any more; one that is being read ends with its reader,
        whom the stop has woken.
        """
        if self._link is not None and not self._reading:
            _, batches = self._link
            self._link = None
            await batches.aclose()

    # One watch

    async def _open(self) -> list[Event[T]]:
        await asyncio.sleep(max(self._at - self._loop.time(), 0))
        self._pacer.start_round(self._loop.time())
        timeout = self._rng.randint(*_TIMEOUT_SECONDS)
        options = ListOptions(
            watch=True,
            allow_watch_bookmarks=True,
            resource_version=self.resource_version,
            timeout_seconds=timeout,
        )
        sent = await self._permit()
        try:
            watch = await self._source.awatch(options)
        except Exception as error:
            return self._refused(error)
        finally:
            self._pacer.answered(sent, self._loop.time())
        if isinstance(watch, EmptyWatch) and watch.broken is not None:
            return self._refused(watch.broken)
        stream = Stream(
            watch,
            asked=self.resource_version,
            timeout_seconds=timeout,
            liveness=self._liveness,
            on_silence=_drop,
        )
        self._link = stream, stream.batches()
        return []

    async def _permit(self) -> float:
        return await permitted(self._pacer, self._loop.time)

    def _refused(self, error: Exception) -> list[Event[T]]:
        cause = cause_of(error)
        if cause in _FINAL and isinstance(error, APIError):
            return self._last_word(error.status)
        if isinstance(error, NEVER_SENT):
            return self._last_word(_failure(400, "BadRequest", str(error)))
        self._pace(RoundEnd(unreachable=cause in UNREACHED, retry_after=_patience(error)))
        self._tell(f"opening the watch: {cause}", error)
        return []

    async def _read(
        self, stream: Stream[T], batches: AsyncGenerator[list[Event[T]], None]
    ) -> list[Event[T]]:
        self._reading = True
        try:
            batch = await anext(batches)
        except StopAsyncIteration:
            return self._ended(stream, *stream.end)
        except Exception as error:
            # A watch of ours raises nothing: this is somebody else's.
            return self._ended(stream, cause_of(error), error)
        finally:
            self._reading = False
            self.last_read = stream.last_byte_at
        events: list[Event[T]] = []
        for event in batch:
            if event.type in _CHANGES or event.type is EventType.BOOKMARK:
                version = _version_of(event)
                if version:
                    if self._is_news(stream, event, version):
                        events.append(event)
                    continue
                message = f"an object without a resourceVersion came as {event.type}"
                last = self._last_word(_failure(500, "InternalError", message))
            elif event.type is EventType.ERROR:
                cause, refusal = cause_of_end(event)
                known = all(each.reason != UNKNOWN_EVENT_TYPE for each in refusal.causes)
                if cause not in _FINAL and known:
                    last = self._ended(stream, cause, refusal)
                else:
                    self._over = True
                    last = [event]
            else:
                message = f"an event of unknown type {event.type!r}"
                last = self._last_word(_failure(500, "InternalError", message))
            self._link = None
            await batches.aclose()
            return events + last
        return events

    def _is_news(self, stream: Stream[T], event: Event[T], version: str) -> bool:
        """Take note of a change or bookmark; whether it is to be delivered."""
        is_bookmark = event.type is EventType.BOOKMARK
        if is_bookmark:
            stream.bookmark()
        if is_late(version, self.resource_version):
            if not is_bookmark:
                _log.debug(
                    "a watch from resourceVersion %s brought one at %s: passed over",
                    self.resource_version,
                    version,
                )
            return False
        self.resource_version = moved(self.resource_version, version)
        stream.progress = True
        return not is_bookmark

    def _ended(self, stream: Stream[T], cause: Cause, error: Exception | None) -> list[Event[T]]:
        """A watch is over, and the next may follow."""
        self._link = None
        clean = cause in (Cause.CLEAN, Cause.IDLE)
        end = RoundEnd(
            progress=stream.progress,
            watched=stream.watched,
            resumed=True,
            clean=clean,
            retry_after=_patience(error),
        )
        self._pace(end)
        self._tell(f"watch: {cause}", error, quietly=clean or cause is Cause.LOST)
        return []

    def _last_word(self, status: Status) -> list[Event[T]]:
        self._over = True
        return [Event(EventType.ERROR, cast(T, status))]

    def _pace(self, end: RoundEnd) -> None:
        self._at = self._pacer.end_round(end, self._loop.time())

    def _tell(self, what: str, error: Exception | None, *, quietly: bool = False) -> None:
        _log.log(
            logging.DEBUG if quietly else logging.WARNING,
            "%s%s; watch again at resourceVersion %s in %.1f s",
            what,
            f" ({error})" if error is not None else "",
            self.resource_version,
            max(self._at - self._loop.time(), 0),
        )


def _drop(stream: Stream[Any]) -> None:
    """It is silent: the next one costs one request, and loses nothing (E4)."""
    stream.stop(Cause.IDLE)


def _patience(error: Exception | None) -> float | None:
    """Seconds that the server asks us to wait. Those of an RV that is too large count, too: here
    the same is asked for again.
    """
    return error.retry_after if isinstance(error, APIError) else None


def _version_of(event: Event[Any]) -> str:
    """The RV of the object of an event; empty where there is none."""
    if event.error is None:
        obj = event.object
        if isinstance(obj, ObjectView | PartialObjectMetadata):  # a bookmark has no name
            return obj.resource_version
        with suppress(MalformedObject):
            found = identity_of(obj).resource_version
            if found:
                return found
    if not event.raw:
        return ""
    with suppress(MalformedObject):  # then it has none
        return Unstructured.from_bytes(event.raw).resource_version
    return ""


def _failure(code: int, reason: str, message: str) -> Status:
    return Status(status="Failure", code=code, reason=reason, message=message)
