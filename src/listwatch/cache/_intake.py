"""From what a server sends to what a target takes: kinds checked, the unreadable kept raw (H10)."""

from __future__ import annotations

from enum import Enum
from typing import Any, Generic, TypeVar, cast

from listwatch.api import Event, EventType, MalformedObject, ObjectView, is_newer
from listwatch.wire import ListDecodeError, ObjectList

from ._assembly import Assembly
from ._journal import Journal
from ._stream import Stream
from .causes import Cause, cause_of_end
from .identity import read_identity
from .pager import Page
from .target import ReflectorTarget
from .undecodable import Undecodable

__all__ = ["End", "Intake"]

T = TypeVar("T")

_CHANGES = (EventType.MODIFIED, EventType.ADDED, EventType.DELETED)

End = tuple[Cause, Exception | None]
"""Why a watch must end."""


class Intake(Generic[T]):
    """Takes pages and events in. `kind` is what the objects must be; empty takes any."""

    def __init__(self, target: ReflectorTarget[T], kind: str, journal: Journal) -> None:
        self._target = target
        self._kind = kind
        self._journal = journal

    def page(self, assembly: Assembly[T], page: Page[T]) -> None:
        """Add a page of a list. Raises `ListDecodeError` for a list of something else, and
        `MalformedObject` where a key cannot be read.
        """
        if page.restarted:
            assembly.clear()
        self._check(page.list)
        for obj in page.list.items:
            assembly.put(self._of_kind(obj))
        for problem in page.list.undecodable:
            assembly.put(self._kept_raw(problem.raw, problem))

    def _check(self, found: ObjectList[T]) -> None:
        # One odd object is contained; a list of something else is not ours at all.
        kind = found.kind.removesuffix("List")
        if self._kind and kind and kind != self._kind:
            raise ListDecodeError(
                f"the server sent a {found.kind} where a {self._kind}List was asked for"
            )

    def initial(self, stream: Stream[T], assembly: Assembly[T], event: Event[T]) -> End | None:
        """Take in one of the initial events of a WatchList, but for the last (H4)."""
        match event.type:
            case EventType.ERROR:
                return cause_of_end(event)
            case EventType.BOOKMARK:
                stream.strange()
            case EventType.DELETED:
                assembly.remove(self._readable(event).object)
                stream.strange()
            case _:
                new = assembly.put(self._readable(event).object)
                if not new or event.type is not EventType.ADDED:
                    stream.strange()
        return None

    def changes(self, stream: Stream[T], batch: list[Event[T]]) -> End | None:
        """Take in what a watch brought; why it must end, if it must."""
        changes: list[Event[T]] = []
        end: End | None = None
        wanted = self._kind
        try:
            for event in batch:
                obj: Any = event.object
                if (
                    event.type in _CHANGES
                    and event.error is None
                    and isinstance(obj, ObjectView)
                    and (not wanted or obj.kind == wanted)
                ):
                    changes.append(event)  # all that most events need
                elif event.type is EventType.BOOKMARK:
                    self._apply(stream, changes)
                    changes = []
                    self._bookmark(stream, event)
                elif event.type is EventType.ERROR:
                    end = cause_of_end(event)
                    break
                else:
                    changes.append(self._readable(event))
        except MalformedObject as error:
            end = Cause.UNREADABLE, error
        try:
            self._apply(stream, changes)
        except MalformedObject as error:
            end = Cause.UNREADABLE, error
        return end

    def _apply(self, stream: Stream[T], changes: list[Event[T]]) -> None:
        if not changes:
            return
        stream.events = True
        synthetic = 0
        if not stream.replayed:
            # H6: the RVs of these come in no order.
            while synthetic < len(changes) and changes[synthetic].type is EventType.ADDED:
                synthetic += 1
            self._target.apply(changes[:synthetic], moves_rv=False, report=self._journal.fail)
            stream.replayed = synthetic < len(changes)
        if stream.replayed:
            live = changes[synthetic:] if synthetic else changes
            self._target.apply(live, report=self._journal.fail)
            self._progressed(stream)

    def _bookmark(self, stream: Stream[T], event: Event[T]) -> None:
        stream.replayed = True
        if not event.is_initial_events_end:
            stream.bookmark()
        rv = bookmarked(event)
        if rv and not is_newer(self._target.resource_version, rv):
            self._target.bookmark(rv)
            self._progressed(stream)

    def _progressed(self, stream: Stream[T]) -> None:
        if stream.progress:
            return
        rv = self._target.resource_version
        if rv != stream.base and not is_newer(stream.base, rv):
            stream.progress = True

    def _readable(self, event: Event[T]) -> Event[T]:
        """The event, with its object raw if that is all there is of it."""
        if event.error is not None:
            return self._raw_event(event, self._kept_raw(event.raw, event.error))
        obj = self._of_kind(event.object, event.raw)
        return event if obj is event.object else self._raw_event(event, obj)

    def _raw_event(self, event: Event[T], obj: T | Undecodable) -> Event[T]:
        error = obj.error if isinstance(obj, Undecodable) else None
        return Event(event.type, cast(T, obj), event.raw, error)

    def _of_kind(self, obj: T, raw: bytes = b"") -> T | Undecodable:
        kind = obj.kind if isinstance(obj, ObjectView) else getattr(obj, "kind", None)
        if isinstance(kind, Enum):
            kind = kind.value
        # In a model it may be another thing that is called so.
        if not self._kind or not kind or kind == self._kind or not isinstance(kind, str):
            return obj
        reason = f"it is a {kind}, where a {self._kind} was expected"
        own: Any = raw or getattr(obj, "raw", b"")
        if own:
            return self._kept_raw(own, reason)
        # The item of a list, made into a model: its bytes are gone.
        found = Undecodable(*read_identity(obj), b"", reason)
        self._journal.undecoded(found)
        return found

    def _kept_raw(self, raw: bytes, reason: str | Exception) -> Undecodable:
        found = Undecodable.of(raw, reason)
        self._journal.undecoded(found)
        return found


def bookmarked(event: Event[Any]) -> str:
    """The RV of a bookmark. Raises `MalformedObject` where it is none."""
    rv = getattr(event.object, "resource_version", None)
    if not isinstance(rv, str):
        kind = type(event.object).__name__
        raise MalformedObject(f"a BOOKMARK whose object is a {kind} without a resource_version")
    return rv
