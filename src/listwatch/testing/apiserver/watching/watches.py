"""WATCH: how a watch begins, and who is told of a write (K14, K19, K21 to K24)."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator

from ..messages import Reaction, ServerRequest
from ..reading.list_options import ListOptions, parse_rv
from ..reading.object_negotiation import view_of
from ..reading.selection import EventKind, Selection
from ..reading.tables import TableView
from ..reading.views import View
from ..statuses import failure
from ..storage.log import Compacted, StoredObject, Write
from ..storage.state import State, Target
from ..storage.waiting import FutureRead, too_large
from .bookmarks import BookmarkTimes
from .watch_cache import TooOld
from .watch_stream import Channel, EventFrames, Stream, frame

__all__ = ["WatchHub"]

_TOO_OLD = "The resourceVersion for the provided watch is too old."

First = Callable[[], list[bytes]]


class WatchHub:
    """The open watches. It listens to the log: a write reaches those who watch its storage."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._channels: dict[str, dict[Hashable, Channel]] = {}
        self._listen()

    def open(self, target: Target, request: ServerRequest) -> Reaction:
        """Begin a watch; the path alone may have asked for it, as `/watch/` paths do.

        Raises `Refused`. A `Later` for a WatchList at a revision that is not there yet.
        """
        state, of = self._state, target.type
        view = view_of(request, of, collection=True, watch=True, wall=state.wall)
        options = ListOptions.of(request, watch_list=state.settings.watch_list)
        selection = Selection.of(target, options)
        rv = parse_rv(options.resource_version)
        if isinstance(view, TableView):
            view.check()
        opening = _Opening(self, target, view, selection, options, rv)
        if options.timeout < 0:
            return Stream(self, target, None)
        if not options.initial_events or rv <= state.log.revision:
            return opening.begin()
        if not of.watch_cache:
            wait = int(1 + 3 * state.rng.random())  # s, as the real server does
            return opening.fail(too_large(rv, state.log.revision, retry_after=wait).body)
        return FutureRead(
            state,
            rv,
            reached=opening.begin,
            missed=lambda: opening.fail(too_large(rv, state.log.revision, retry_after=1).body),
        )

    def __iter__(self) -> Iterator[Stream]:
        """The watches that are open."""
        for channels in tuple(self._channels.values()):
            for channel in tuple(channels.values()):
                yield from tuple(channel.streams)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def end(self, which: Callable[[Target], bool] = lambda target: True) -> None:
        """End open watches cleanly, without an event: all, or those for which `which` is true."""
        for stream in self:
            if which(stream.target):
                stream.end()

    def restart(self) -> None:
        """As after a restart of the server: no watch is left, and the caches begin anew (K21)."""
        self.end()
        self._state.caches.restart()
        self._listen()

    # For the streams

    @property
    def now(self) -> float:
        return self._state.clock()

    @property
    def slow_watcher_events(self) -> int:
        return self._state.settings.slow_watcher_events

    def cache_rv(self, storage: str) -> int:
        """How far the watch cache is."""
        return self._state.caches.of(storage).rv

    def join(self, selection: Selection, view: View) -> Channel:
        channels = self._channels.setdefault(selection.type.storage, {})
        key = (selection, view.key)
        if key not in channels:
            channels[key] = Channel(selection, view)
        return channels[key]

    def left(self, channel: Channel) -> None:
        """A stream has left `channel`."""
        if not channel.streams:
            storage = channel.selection.type.storage
            channels = self._channels.get(storage, {})
            channels.pop((channel.selection, channel.view.key), None)
            if not channels:
                self._channels.pop(storage, None)

    def _listen(self) -> None:
        listeners = self._state.log.listeners
        if self._publish not in listeners:
            listeners.append(self._publish)

    def _publish(self, write: Write) -> None:
        channels = self._channels.get(write.storage)
        if channels:
            frames = EventFrames(write)
            for channel in tuple(channels.values()):
                channel.publish(write, frames)


class _Opening:
    """One watch that begins."""

    def __init__(
        self,
        hub: WatchHub,
        target: Target,
        view: View,
        selection: Selection,
        options: ListOptions,
        rv: int,
    ) -> None:
        self._hub = hub
        self._state = hub._state
        self._target = target
        self._view = view
        self._selection = selection
        self._options = options
        self._rv = rv
        state = self._state
        seconds = options.timeout or state.settings.min_request_timeout * (1 + state.rng.random())
        self._deadline = state.clock() + seconds

    def begin(self) -> Stream:
        options, rv = self._options, self._rv
        if options.initial_events or (options.initial_events is None and rv == 0):
            return self._with_state()
        if rv == 0:
            return self._open(self._newest(fresh=False), None)
        try:
            writes = self._writes_after(rv)
        except TooOld as error:
            return self.fail(failure(410, "Expired", str(error)).body)
        except Compacted:
            return self.fail(failure(410, "Expired", _TOO_OLD).body)
        since = max(rv, writes[-1].rv) if writes else rv
        events = [
            (kind, write)
            for write in writes
            if (kind := self._selection.event_of(write)) is not None
        ]
        if not events:
            return self._open(since, None)
        view = self._view
        return self._open(since, lambda: _history(view, events))

    def fail(self, status: bytes) -> Stream:
        """An accepted watch that has one ERROR and a clean end (K23)."""
        data = frame(b"ERROR", status.rstrip(b"\n"))
        return Stream(self._hub, self._target, None, first=lambda: [data])

    def _with_state(self) -> Stream:
        """The objects that are there first, then maybe the bookmark that ends them (K14)."""
        options, selection, view = self._options, self._selection, self._view
        fresh = bool(options.initial_events) and not options.resource_version
        since = self._newest(fresh=fresh)
        objects = selection.select(
            self._state.log.objects(selection.type.storage, namespace=selection.namespace)
        )
        end = bool(options.initial_events) and options.bookmarks
        if not objects and not end:
            return self._open(since, None)
        return self._open(since, lambda: _initial(view, objects, since if end else None))

    def _newest(self, *, fresh: bool) -> int:
        """The revision of the state that is there, brought up to date as far as need be."""
        state, of = self._state, self._target.type
        if not of.watch_cache:
            return state.log.revision
        return state.caches.refresh(of.storage, None if fresh else self._rv).rv

    def _writes_after(self, rv: int) -> list[Write]:
        state, of = self._state, self._target.type
        if of.watch_cache:
            return state.caches.of(of.storage).events_after(rv)
        return [write for write in state.log.writes_after(rv) if write.storage == of.storage]

    def _open(self, since: int, first: First | None) -> Stream:
        state, hub = self._state, self._hub
        if first is not None and self._view.list_not_one:
            return Stream(hub, self._target, None)  # K18: the first event cannot be shown
        times = None
        if self._options.bookmarks and self._target.type.watch_cache:
            times = BookmarkTimes(
                state.rng,
                now=state.clock(),
                deadline=self._deadline,
                interval=state.settings.bookmark_interval,
            )
        return Stream(
            hub,
            self._target,
            hub.join(self._selection, self._view),
            since=since,
            deadline=self._deadline,
            bookmarks=times,
            first=first,
            introduce=self._view.introduced if isinstance(self._view, TableView) else None,
        )


def _initial(view: View, objects: list[StoredObject], end: int | None) -> list[bytes]:
    """`end` is the RV of the bookmark behind the objects; None: there is none."""
    frames = [frame(b"ADDED", view.one(found)) for found in objects]
    if end is not None:
        frames.append(frame(b"BOOKMARK", view.bookmark(end, end=True)))
    return frames


def _history(view: View, events: list[tuple[EventKind, Write]]) -> list[bytes]:
    return [EventFrames(write).of(view, kind) for kind, write in events]
