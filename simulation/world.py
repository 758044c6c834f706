"""A server, faults, writes and mirrors on one virtual clock: runs a scenario, gives its history."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from random import Random
from typing import Any

from listwatch.cache import MirrorStopped
from listwatch.testing.apiserver.core import APIServer
from listwatch.testing.apiserver.faults.current import ActiveFault
from listwatch.testing.apiserver.memory import ServerTransport
from listwatch.testing.apiserver.storage.state import Settings

from .answers import Canned, FaultyCore
from .audience import Crowd
from .complaints import Failure, complaints, told
from .coverage import HAPPENINGS
from .crowd import HandlerStep
from .faults import FaultStep, parsed
from .history import Ending, History
from .hooks import CountingLoop, WatchedFaults
from .objects import Counted
from .readers import Readers
from .recorder import Line, Recorder
from .scenario import Scenario, WriteStep
from .streams import classify
from .subjects import Subject, Workshop, selections
from .watcher import Watcher
from .writer import Chronicle, Writer

__all__ = ["Met", "Outcome", "run"]

_START = datetime(2026, 1, 1, tzinfo=UTC)
_NEWS = 130.0
"""Seconds in which the last writes must have arrived: the idle deadline that bookmarks set, and
what a healthy mirror needs to open the next watch."""
_AFTERLIFE = 5.0
"""Seconds that a stopped mirror is watched for what it may still do."""
_SHORTLY = 0.1
"""Seconds after which nothing is left of a mirror that has been stopped."""
_SOON = 1.0
"""Seconds that a stop may take."""
_STOPPING = 400.0
"""Virtual seconds after which a stop that does not end is given up."""

_LAST = tuple(
    WriteStep(0.0, what, number)
    for what, number in (("put", 0), ("put", 2), ("delete", 4), ("recreate", 6), ("put", 1))
)
"""What is written when all is well again."""

Met = tuple[str, str]
"""A kind of fault, and the state of the reflector when it took effect."""


@dataclass(slots=True)
class Outcome:
    """What a run has given."""

    history: History
    met: list[Met]
    lines: list[Line] | None


def run(scenario: Scenario, *, talk: bool = False) -> Outcome:
    """Run it. `talk` keeps a log of what happens, which costs time."""
    loop = CountingLoop()
    found: list[str] = []
    failures: list[Failure] = []
    with complaints(found, failures), asyncio.Runner(loop_factory=lambda: loop) as runner:
        loop.set_exception_handler(lambda _, context: found.append(told(context)))
        return runner.run(_World(scenario, loop, found, failures, talk=talk).run())


class _World:
    def __init__(
        self,
        scenario: Scenario,
        loop: CountingLoop,
        complaints: list[str],
        failures: list[Failure],
        *,
        talk: bool,
    ) -> None:
        self._scenario = scenario
        self._loop = loop
        self._complaints = complaints
        self._failures = failures
        setup = self._setup = scenario.setup
        self._rng = Random(f"run {scenario.seed}")
        recorder = self._recorder = Recorder(loop.time)
        recorder.lines = [] if talk else None
        self._met: list[Met] = []
        core = APIServer(
            clock=loop.time,
            wall=lambda: _START + timedelta(seconds=loop.time()),
            rng=Random(f"server {scenario.seed}"),
            settings=Settings(
                watch_list=setup.server_watch_list,
                slow_watcher_events=setup.slow_watcher_events,
                compaction_interval=setup.compaction_interval,
            ),
        )
        self._writer = Writer(core, setup, recorder)
        self._writer.found()
        sources = list(selections(setup).values())
        self._chronicle = Chronicle(
            core, lambda value: any(source(value) for source in sources), recorder
        )
        # Where sources differ, each has a truth of its own.
        self._chronicles = [
            Chronicle(core, source, Recorder(loop.time, recorder))
            for source in (sources if len(sources) > 1 else ())
        ]
        self._core = core
        self._front = FaultyCore(core, self._restarted, self._note_canned)
        self._faults = WatchedFaults(Random(f"faults {scenario.seed}"), self._note_fault)
        self._transport = ServerTransport(
            self._front, self._faults, rng=Random(f"wire {scenario.seed}")
        )
        self._timers: list[asyncio.TimerHandle] = []
        self._twin: Subject | None = None
        self._history = History(calm=scenario.calm)

    async def run(self) -> Outcome:
        scenario, history = self._scenario, self._history
        for number in range(scenario.objects):
            self._writer.write(WriteStep(0.0, "put", number))
        # The faults of the beginning are there before the mirror asks for anything.
        self._transport.start()
        self._subject = self._make(self._slowly if self._setup.slow else None)
        self._readers = Readers(self._subject, self._twin, self._core, self._recorder)
        crowd = self._subject.crowd
        if crowd is not None:
            self._set_up_handlers(crowd)
        for step in scenario.faults:
            self._at(step.time, self._add, step)
        for write in scenario.writes:
            self._at(write.time, self._writer.write, write)
        for at in scenario.looks:
            self._at(at, self._readers.look)
        self._at(scenario.calm, self._end_faults)
        calls = [asyncio.ensure_future(self._readers.call(step)) for step in scenario.calls]
        life = asyncio.ensure_future(self._live(history))
        try:
            await life
        finally:
            for timer in self._timers:
                timer.cancel()
            for call in calls:
                call.cancel()
            await asyncio.gather(*calls, return_exceptions=True)
        await self._transport.close()
        history.truth = self._chronicle.truth
        if crowd is not None:
            history.audience = crowd.audience
            crowd.count(self._failures)
        for watcher, chronicle in zip(self._watchers, self._chronicles, strict=False):
            watcher.seen.truth = chronicle.truth
        for watcher in self._watchers:
            history.mirrors.append(watcher.seen)
            for ask in watcher.seen.asks:
                classify(ask, self._setup.max_frame)
        return Outcome(history, self._met, self._recorder.lines)

    # The mirror

    def _make(self, ready: Callable[[], Awaitable[None]] | None) -> Subject:
        workshop = Workshop(self._scenario, self._transport, self._recorder, self._note_fault)
        setup = self._setup
        if setup.informer is not None:
            return workshop.informer()
        if setup.changes:
            return workshop.changes()
        if setup.twin:
            self._twin = workshop.mirror("twin", watch_list=False, ready=ready)
        return workshop.mirror("mirror", watch_list=setup.watch_list, ready=ready)

    def _set_up_handlers(self, crowd: Crowd) -> None:
        """Those of the beginning are there at once, the others come by and by."""
        if self._setup.changes:
            return
        for number, step in enumerate(self._scenario.handlers):
            if step.after_the_end:
                continue
            if step.ask:
                join = partial(self._soon, crowd, step, number)
                self._subject.watchers[0].on_ask.append((step.ask, join))
            else:
                self._at(step.time, self._join, crowd, step, number)

    def _soon(self, crowd: Crowd, step: HandlerStep, number: int) -> None:
        """A little after a request has been sent."""
        delay = self._rng.choice((0.0, 0.001, 1.0))
        self._timers.append(self._loop.call_later(delay, self._join, crowd, step, number))

    def _join(self, crowd: Crowd, step: HandlerStep, number: int) -> None:
        if not crowd.over:
            crowd.add(step, number)

    async def _slowly(self) -> None:
        if self._loop.time() >= self._scenario.calm:
            return
        self._note_fault("slow consumer", "")
        await asyncio.sleep(self._rng.uniform(0, self._setup.slow))

    async def _live(self, history: History) -> None:
        """The mirrors from their start to their end."""
        subject, twin = self._subject, self._twin
        before = asyncio.all_tasks()
        if twin is not None:
            await twin.runs.__aenter__()
        stop = self._scenario.stop
        asked = 0.0
        if stop is None:
            async with subject.runs:
                subject.begun(self._scenario.handlers)
                await self._course()
                asked = self._loop.time()
        else:
            asked = await self._cut_short()
        gone = self._loop.time()
        history.until = asked
        for watcher in subject.watchers:
            watcher.stopped = True
        if subject.crowd is not None:
            subject.crowd.end()
        for mirror in subject.mirrors:
            self._recorder.say("mirror", f"is stopped: {mirror.health}")
        if twin is not None:
            await twin.runs.__aexit__(None, None, None)
        await asyncio.sleep(_SHORTLY)
        tasks = asyncio.all_tasks() - before
        names = tuple(sorted(task.get_name() for task in tasks))
        left = self._transport.open_responses
        since = self._recorder.step()
        late_comers = self._add_late_comers()
        await asyncio.sleep(_AFTERLIFE)
        if subject.crowd is not None:
            subject.crowd.look(last=True, since=since)
        alive = held = 0
        if self._setup.counted and self._scenario.stop is None and not late_comers:
            alive, held = self._count()
        late = sum(watcher.late for watcher in subject.watchers)
        if subject.crowd is not None:
            late += subject.crowd.late
        subject.watchers[0].seen.ending = Ending(
            asked, gone, names, left, tuple(self._complaints), late, alive, held
        )

    def _add_late_comers(self) -> bool:
        """Handlers that come when it is over."""
        late = [
            (step, number)
            for number, step in enumerate(self._scenario.handlers)
            if step.after_the_end
        ]
        for step, number in late:
            assert self._subject.crowd is not None
            self._subject.crowd.add(step, number)
        return bool(late)

    async def _course(self) -> None:
        """The whole of an undisturbed life."""
        scenario = self._scenario
        await asyncio.sleep(scenario.calm + scenario.patience)
        self._readers.look_at_last()
        for write in _LAST:
            self._writer.write(write)
        await asyncio.sleep(_NEWS)
        self._readers.look_at_last()

    async def _cut_short(self) -> float:
        """A life that is ended at some turn of the loop. Gives when that was."""
        subject, stop = self._subject, self._scenario.stop
        assert stop is not None
        asked = [0.0]

        async def live() -> None:
            async with subject.runs:
                subject.begun(self._scenario.handlers)
                if stop.how == "cancel synced":
                    await subject.synced()
                await asyncio.sleep(self._scenario.calm)
                asked[0] = self._loop.time()

        life = asyncio.ensure_future(live())

        def act() -> None:
            asked[0] = self._loop.time()
            self._note_fault("stop", stop)
            if stop.how == "stop":
                subject.runs.stop()
                for watcher in subject.watchers:
                    self._loop.call_later(_SOON, setattr, watcher, "stopped", True)
                # Whoever is inside leaves when the mirror has had its time.
                self._loop.call_later(_AFTERLIFE, life.cancel)
            else:
                life.cancel()

        def arm() -> None:
            self._loop.at_turn = (self._loop.turns + stop.step, act)

        if stop.ask:
            subject.watchers[0].on_ask.append((stop.ask, arm))
        else:
            arm()
        done, _ = await asyncio.wait([life], timeout=_STOPPING + self._scenario.calm)
        self._loop.at_turn = None
        if not done:
            self._complaints.append("the mirror did not stop")
            life.cancel()
            await asyncio.wait([life], timeout=1.0)
        elif not life.cancelled() and not isinstance(
            error := life.exception(), MirrorStopped | None
        ):
            self._complaints.append(f"leaving the mirror raised {error!r}")
        return asked[0] + (_AFTERLIFE if stop.how == "stop" else 0.0)

    def _count(self) -> tuple[int, int]:
        """Decoded objects that are alive, and those in the stores."""
        gc.collect()
        subjects = [self._subject, *([self._twin] if self._twin is not None else [])]
        return Counted.alive, sum(subject.held() for subject in subjects)

    @property
    def _watchers(self) -> list[Watcher]:
        return self._readers.watchers

    # What happens to it

    def _at(self, time: float, act: Callable[..., None], *args: Any) -> None:
        if time <= 0:
            act(*args)
        else:
            self._timers.append(self._loop.call_at(time, act, *args))

    def _add(self, step: FaultStep) -> None:
        for line in step.lines:
            fault = parsed(line)
            self._recorder.say("fault", f"may come: {line}")
            if isinstance(fault, Canned):
                self._front.add(fault)
                self._at(max(step.until, 0.001), self._front.remove, fault)
            else:
                active = self._faults.add(fault)
                self._at(max(step.until, 0.001), self._remove, active)

    def _remove(self, active: ActiveFault) -> None:
        if active in self._faults:
            self._faults.remove(active)

    def _end_faults(self) -> None:
        self._recorder.say("fault", "they are over")
        self._faults.clear()
        self._front.clear()

    def _restarted(self, restored: bool) -> None:
        for chronicle in (self._chronicle, *self._chronicles):
            chronicle.restarted(restored)

    def _note_canned(self, canned: Canned) -> None:
        self._note_fault(canned.kind, canned)

    def _note_fault(self, kind: str, fault: object) -> None:
        if kind in HAPPENINGS:
            self._met.append((kind, self._state()))
            return
        if any(
            ask.answered is None for watcher in self._watchers[1:] for ask in watcher.seen.asks[-2:]
        ):
            return  # it met another one
        state = self._state()
        if len(self._subject.mirrors) > 1 and kind != "stop":
            self._recorder.say("fault", f"{fault} meets one of the mirrors")
            return  # nobody knows which
        self._met.append((kind, state))
        if kind != "slow consumer":
            self._recorder.say("fault", f"{fault} meets the mirror {state}")

    def _state(self) -> str:
        """What the mirror is at, as the table has it."""
        health = self._subject.mirrors[0].health
        asks = self._subject.watchers[0].seen.asks
        if health.state == "watching" and any(
            ask.kind == "probe" and ask.ended is None for ask in asks[-3:]
        ):
            return "checking"
        if health.state == "listing" and health.watch_list:
            return "fallen back"
        return str(health.state)
