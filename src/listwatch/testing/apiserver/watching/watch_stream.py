"""One open watch: the frames that its reader has not taken yet, its bookmarks and its end."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ..reading.selection import EventKind, Selection
from ..reading.views import View
from ..storage.log import StoredObject, Write
from ..storage.state import Target

if TYPE_CHECKING:
    from .bookmarks import BookmarkTimes
    from .watches import WatchHub

__all__ = ["Channel", "EventFrames", "Stream", "frame"]

_TYPES = {
    EventKind.ADDED: b"ADDED",
    EventKind.MODIFIED: b"MODIFIED",
    EventKind.DELETED: b"DELETED",
    EventKind.LEFT: b"DELETED",
}


def frame(event_type: bytes, obj: bytes) -> bytes:
    """An event as it is sent."""
    return b'{"type":"%b","object":%b}\n' % (event_type, obj)


class EventFrames:
    """What a write looks like to those who watch: each form is made once, for all of them."""

    __slots__ = ("_made", "_write")

    def __init__(self, write: Write) -> None:
        self._write = write
        self._made: dict[object, bytes] = {}

    def of(self, view: View, kind: EventKind) -> bytes:
        key = (view.key, kind)
        found = self._made.get(key)
        if found is None:
            found = self._made[key] = frame(_TYPES[kind], view.one(self._object(kind)))
        return found

    def _object(self, kind: EventKind) -> StoredObject:
        write = self._write
        if kind is not EventKind.LEFT or write.old is None:
            return write.new
        old = write.old
        metadata = {**old.metadata, "resourceVersion": str(write.rv)}
        return StoredObject(old.key, {**old.value, "metadata": metadata}, write.rv)


class Channel:
    """The watches that are told the same: one selection, in one form."""

    __slots__ = ("selection", "streams", "view")

    def __init__(self, selection: Selection, view: View) -> None:
        self.selection = selection
        self.view = view
        self.streams: dict[Stream, None] = {}

    def publish(self, write: Write, frames: EventFrames) -> None:
        kind = self.selection.event_of(write)
        if kind is None:
            return
        if self.view.list_not_one:
            for stream in tuple(self.streams):
                stream.end()  # K18: it cannot be shown
            return
        data = frames.of(self.view, kind)
        for stream in tuple(self.streams):
            stream.push(data, write.rv)


class Stream:
    """A `WatchStream`. `since` is the revision up to which it was told everything when it began:
    nothing older is sent later, and a bookmark only when the cache has got further (K15, K24).
    """

    content_type = "application/json"

    def __init__(
        self,
        hub: WatchHub,
        target: Target,
        channel: Channel | None,
        *,
        since: int = 0,
        deadline: float = 0.0,
        bookmarks: BookmarkTimes | None = None,
        first: Callable[[], list[bytes]] | None = None,
        introduce: Callable[[bytes], bytes] | None = None,
    ) -> None:
        """`introduce` makes the first frame what only the first is."""
        self.target = target
        self.headers: tuple[tuple[str, str], ...] = ()
        self.wake: Callable[[], None] | None = None
        self._hub = hub
        self._channel = channel
        self._since = since
        self._deadline = deadline
        self._bookmarks = bookmarks
        self._first = first
        self._introduce = introduce
        self._frames: list[bytes] = []
        self._ended = channel is None
        if channel is not None:
            channel.streams[self] = None

    @property
    def due(self) -> float | None:
        if self._ended:
            return None
        if self._bookmarks is not None and self._bookmarks.next is not None:
            return min(self._bookmarks.next, self._deadline)
        return self._deadline

    def tick(self) -> None:
        if self._ended:
            return
        now = self._hub.now
        times = self._bookmarks
        if times is not None and times.next is not None and times.next <= now:
            times.passed(now)
            self._bookmark()
        if now >= self._deadline:
            self.end()

    def take(self) -> list[bytes]:
        frames, self._frames = self._frames, []
        if self._first is not None:
            first, self._first = self._first, None
            frames = first() + frames
        if frames and self._introduce is not None:
            frames[0] = self._introduce(frames[0])
            self._introduce = None
        return frames

    @property
    def ended(self) -> bool:
        return self._ended

    def close(self) -> None:
        self._first = None
        self._frames = []
        self._leave()

    def end(self) -> None:
        """End cleanly, behind what is there already."""
        if not self._ended:
            self._leave()
            self._call()

    def push(self, data: bytes, rv: int) -> None:
        """A frame of the write `rv`. A reader that is too slow is cut off before it, cleanly."""
        if self._ended or rv <= self._since:
            return
        if len(self._frames) >= self._hub.slow_watcher_events:
            self.end()
            return
        self._frames.append(data)
        if self.wake is not None:
            self.wake()

    def _bookmark(self) -> None:
        channel = self._channel
        rv = self._hub.cache_rv(self.target.type.storage)
        if channel is None or rv <= self._since:
            return
        if channel.view.list_not_one:
            self.end()
            return
        self._frames.append(frame(b"BOOKMARK", channel.view.bookmark(rv, end=False)))
        self._call()

    def _leave(self) -> None:
        self._ended = True
        if self._channel is not None:
            self._channel.streams.pop(self, None)
            self._hub.left(self._channel)
            self._channel = None

    def _call(self) -> None:
        if self.wake is not None:
            self.wake()
