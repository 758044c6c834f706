"""The Reflector: LIST or WatchList, then WATCH, for ever, into a target (H)."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from random import Random
from typing import Any, Generic, TypeVar

from listwatch.api import (
    Event,
    EventType,
    ListOptions,
    MalformedObject,
    ResourceVersionMatch,
)
from listwatch.watch import EmptyWatch

from ._budget import pace
from ._course import Course
from ._history import History
from ._intake import End, Intake, bookmarked
from ._journal import Journal
from ._outcomes import ended, refused
from ._paced_source import PacedSource
from ._sets import Sets
from ._silence import Silence
from ._stream import Stream
from ._versions import is_version
from .causes import Cause, cause_of
from .decisions import Next, Outcome, Phase, Step
from .health import Health, State
from .identity import Identify, for_entries, identity_of
from .listwatch import supports_watch_list
from .notes import Note
from .protocols import AsyncListerWatcher
from .reflector_options import ReflectorOptions
from .target import ReflectorTarget

__all__ = ["ErrorHandler", "Reflector"]

T = TypeVar("T")

_MOMENT = 1.0
"""Seconds: after a longer wait a server may be another one, without a connection being lost."""

_log = logging.getLogger("listwatch.cache")

ErrorHandler = Callable[["Reflector[Any]", Exception], None]
"""Is told of each lost connection, failed list and object that cannot be decoded (H12)."""


class Reflector(Generic[T]):
    """Fills `target` with what `source` lists, and keeps it so by what it watches.

    It goes on whatever happens, until it is stopped; `options` says how. What it does after each
    end is the table in `listwatch.cache.decisions`, and how soon, the rules in
    `listwatch.cache.pacing`.

    - `kind` is what the objects must be, such as `Pod`; empty takes any (H10).
    - `on_error` is told of failures; without one they are logged, expired watches and clean ends at
      debug level. `on_note` gets each `Note`; `on_progress` the objects of a list so far and how
      many remain, None where nobody knows. One that raises is logged.
    - `ready` is awaited after each set and each read of a watch: the way to slow it down.
    - `should_resync` is asked at each resync period.
    - `rng` makes jitter and watch durations.

        store = Store()
        reflector = Reflector(source, store)
        await reflector.run()  # until reflector.stop(), or a cancellation

    `Mirror` does that in a task, and waits for the set to be there.
    """

    def __init__(
        self,
        source: AsyncListerWatcher[T],
        target: ReflectorTarget[T],
        *,
        name: str = "",
        kind: str = "",
        options: ReflectorOptions | None = None,
        identify: Identify = identity_of,
        on_error: ErrorHandler | None = None,
        on_note: Callable[[Note], None] | None = None,
        on_progress: Callable[[int, int | None], None] | None = None,
        ready: Callable[[], Awaitable[None]] | None = None,
        should_resync: Callable[[], bool] | None = None,
        rng: Random | None = None,
    ) -> None:
        self.name = name
        self.source = source
        self.target = target
        self.options = options or ReflectorOptions()
        self._identify = identify
        self._ready = ready
        self._should_resync = should_resync
        self._rng = rng or Random()
        self._journal = Journal(
            name or "reflector",
            on_error=None if on_error is None else lambda error: on_error(self, error),
            on_note=on_note,
            on_progress=on_progress,
        )
        intake: Intake[T] = Intake(target, kind, self._journal)
        self._intake = intake
        self._course = Course(self.options, self._rng, self._journal, self._now)
        self.paced_source: PacedSource[T] = PacedSource(source, self._course)
        """The source within the budget of this reflector, for who asks it something besides."""
        self._sets: Sets[T] = Sets(
            self.paced_source,
            target,
            self.options,
            identify,
            course=self._course,
            intake=intake,
            journal=self._journal,
            clock=self._now,
        )
        self._history: History[T] = History(
            self.paced_source,
            target,
            for_entries(identify),
            self.options.liveness.recheck,
            course=self._course,
            sets=self._sets,
            journal=self._journal,
            clock=self._now,
        )
        self._silence: Silence[T] = Silence(
            self._open_watch, self.options.liveness.initial, course=self._course, clock=self._now
        )
        self._loop: asyncio.AbstractEventLoop | None = None
        self._work: asyncio.Task[None] | None = None
        self._stopped = False
        self._stream: Stream[T] | None = None
        pace(source, self._course.permit)

    # Life

    async def run(self) -> None:
        """List and watch until stopped (H17). Raises only what no repetition can mend: the first
        refusal under `fail_fast`, a request that can never be sent, and bugs.
        """
        if self._loop is not None:
            raise RuntimeError("this reflector has run already: make another")
        self._loop = asyncio.get_running_loop()
        self._work = work = self._loop.create_task(self._live(), name=f"reflector {self.name}")
        if self._stopped:
            work.cancel()
        try:
            await asyncio.wait([work])
        finally:
            work.cancel()
            await asyncio.wait([work])
            self._journal.state = State.STOPPED
            self._journal.connected_since = None
            self._work = None  # its last exception holds on to whatever was in the works
        if not work.cancelled():
            if (error := work.exception()) is not None:
                self._journal.end(error)
            work.result()

    def stop(self) -> None:
        """End `run`, from any task or thread. Idempotent."""
        self._stopped = True
        work = self._work  # once: it may end meanwhile
        if self._loop is None or work is None:
            return
        try:
            if asyncio.get_running_loop() is self._loop:
                work.cancel()  # before it hears of connections that are closed next
                return
        except RuntimeError:
            pass  # no loop runs in this thread
        try:
            self._loop.call_soon_threadsafe(work.cancel)
        except RuntimeError:
            _log.debug("a reflector was stopped after its event loop had been closed")

    @property
    def synced(self) -> bool:
        """Whether a whole set has come."""
        return self._journal.synced

    @property
    def consistent_at(self) -> float:
        """When, on the loop's clock, the newest consistent read began that the target has taken in;
        minus infinity before the first (K11).
        """
        return self._sets.consistent_at

    @property
    def last_sync_resource_version(self) -> str:
        """The RV that the target shows (H13)."""
        return self.target.resource_version

    @property
    def health(self) -> Health:
        """How it is (K10)."""
        if self._loop is not None and self._stream is not None:
            self._heard(self._stream)
        return self._journal.health(self.target, 0.0 if self._loop is None else self._loop.time())

    @property
    def is_watching(self) -> bool:
        """Whether a watch is open, initial events over."""
        return self._stream is not None and self._stream.initial is None

    def relist(self, cause: Cause) -> None:
        """Read the set again, consistently, for this reason: now, or as soon as the server lets."""
        self._course.demand = cause
        if self._stream is not None and self._stream.initial is None:
            self._stream.stop(cause)

    async def _live(self) -> None:
        if self.options.resync_period is None:
            await self._go_on()
            return
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(self._resync(self.options.resync_period))
                await self._go_on()
        except BaseExceptionGroup as errors:
            raise errors.exceptions[0] from None  # the other was cancelled for it

    async def _resync(self, period: float) -> None:
        while True:
            await asyncio.sleep(period)
            try:
                if self._should_resync is None or self._should_resync():
                    self.target.resync()
            except Exception:
                # Somebody's wish to hear it all again is no reason to hear nothing any more.
                _log.exception("%s: a resync failed", self.name)

    async def _go_on(self) -> None:
        step = Step(Next.SET)
        self._course.start_round()
        while True:
            outcome = await self._carry_out(step)
            await self._room()
            step, at = self._course.conclude(outcome)
            if at is not None:
                if at > self._now():
                    self._journal.state = State.BACKING_OFF
                await asyncio.sleep(at - self._now())
                self._course.start_round()

    async def _carry_out(self, step: Step) -> Outcome:
        if step.next is Next.WATCH:
            return await self._watch()
        if step.next is Next.SET and self._uses_watch_list():
            return await self._watch_list()
        self._journal.state = State.LISTING
        outcome = await self._sets.list()
        if outcome is None:
            await self._room()
            outcome = await self._watch()
        return outcome

    async def _room(self) -> None:
        if self._ready is None:
            return
        assert self._loop is not None
        began = self._loop.time()
        await self._ready()
        if self._loop.time() - began >= _MOMENT:
            self._course.suspect = True  # nobody has looked at the server for so long (H18)

    def _uses_watch_list(self) -> bool:
        return (
            self.options.watch_list
            and supports_watch_list(self.source)
            and not self._course.watch_list_given_up
            and not self._sets.can_resume
        )

    def _now(self) -> float:
        assert self._loop is not None
        return self._loop.time()

    # A watch

    async def _watch_list(self) -> Outcome:
        self._journal.state = State.STREAMING
        stream = await self._open(
            Phase.OPENING_WATCH_LIST,
            ListOptions(
                resource_version=self._sets.known_rv,
                resource_version_match=ResourceVersionMatch.NOT_OLDER_THAN,
                send_initial_events=True,
            ),
            with_set=True,
        )
        return stream if isinstance(stream, Outcome) else await self._follow(stream)

    async def _watch(self) -> Outcome:
        self._journal.state = State.WATCHING
        stream = await self._open_watch()
        return stream if isinstance(stream, Outcome) else await self._follow(stream)

    async def _open_watch(self) -> Stream[T] | Outcome:
        options = ListOptions(resource_version=self.target.resource_version)
        return await self._open(Phase.OPENING_WATCH, options)

    async def _open(
        self, phase: Phase, options: ListOptions, *, with_set: bool = False
    ) -> Stream[T] | Outcome:
        asked = options.resource_version
        timeout = self._rng.randint(*self.options.timeout_seconds)
        initial = self._sets.begin() if with_set else None
        try:
            watch = await self.paced_source.awatch(
                options.replace(watch=True, allow_watch_bookmarks=True, timeout_seconds=timeout)
            )
        except Exception as error:
            return refused(phase, error, asked)
        if isinstance(watch, EmptyWatch):
            if watch.broken is not None:
                return refused(phase, watch.broken, asked)
            resumable = is_version(asked)
            return Outcome(phase=phase, cause=Cause.CLEAN, asked=asked, resumable=resumable)
        return Stream(
            watch,
            asked=asked,
            timeout_seconds=timeout,
            liveness=self.options.liveness,
            on_silence=self._silence.at,
            initial=initial,
        )

    async def _follow(self, stream: Stream[T]) -> Outcome:
        """Read a watch to its end, and then the one that took its place while it was silent."""
        while True:
            self._stream = stream
            self._journal.connected_since = stream.opened_at
            if stream.initial is None:
                self._watching(stream)
            try:
                end = await self._read(stream)
            except BaseException:
                if stream.successor is not None:
                    stream.successor.drop()
                raise
            finally:
                self._heard(stream)
                self._stream = None
                self._journal.connected_since = None
            if stream.refusal is not None:
                return stream.refusal
            if stream.successor is None:
                return ended(stream, *end)
            stream = stream.successor

    def _watching(self, stream: Stream[T]) -> None:
        self._journal.state = State.WATCHING
        if self._course.demand is not None:
            stream.stop(self._course.demand)
        elif self._course.suspect:
            stream.spawn(self._history.check(stream))

    async def _read(self, stream: Stream[T]) -> End:
        async with aclosing(stream.batches()) as batches:
            while True:
                try:
                    batch = await anext(batches)
                except StopAsyncIteration:
                    break
                except Exception as error:
                    # A watch of ours raises nothing: this is somebody else's.
                    return cause_of(error), error
                end = self._take(stream, batch)
                if end is not None:
                    return end
                await self._room()
        if stream.bug is not None:
            raise stream.bug
        cause, broken = stream.end
        if cause is Cause.CLEAN and not stream.ran_out:
            self._course.suspect = True  # a server that shuts down ends its watches cleanly, too
        return cause, broken

    def _heard(self, stream: Stream[T]) -> None:
        self._journal.last_byte_at = stream.last_byte_at
        if stream.last_event_at is not None:
            self._journal.last_event_at = stream.last_event_at

    def _take(self, stream: Stream[T], batch: list[Event[T]]) -> End | None:
        """Take in a batch; why the watch must end, if it must."""
        if stream.initial is None:
            return self._intake.changes(stream, batch)
        assembly = stream.initial
        for number, event in enumerate(batch):
            if event.type is EventType.BOOKMARK and event.is_initial_events_end:
                rv = bookmarked(event)
                if not self._sets.replace(assembly, rv, stream.asked, "watch-list"):
                    old = self._sets.too_old(Phase.WATCH_LIST, rv, stream.asked)
                    return old.cause, old.error
                self._journal.watch_list = ""
                if self.options.consistency_check:
                    stream.spawn(self._history.compare(assembly.shown(), rv))
                stream.begin_watching(rv)
                self._watching(stream)
                return self._intake.changes(stream, batch[number + 1 :])
            try:
                end = self._intake.initial(stream, assembly, event)
            except MalformedObject as error:
                end = Cause.UNREADABLE, error
            if end is not None:
                return end
        self._journal.progress(len(assembly), None)
        return None
