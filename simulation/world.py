"""A server, faults, writes and mirrors on one virtual clock: runs a scenario, gives its history."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

from listwatch.api import GroupVersionResource
from listwatch.cache import ListWatch, Mirror, MirrorStopped, ReflectorOptions
from listwatch.rest import ClientConfig, RESTClient
from listwatch.rest.warnings import IgnoreWarnings
from listwatch.testing.apiserver.core import APIServer
from listwatch.testing.apiserver.faults import ActiveFault
from listwatch.testing.apiserver.memory import ServerTransport
from listwatch.testing.apiserver.state import Settings

from .answers import Canned, FaultyCore
from .complaints import complaints, told
from .faults import FaultStep, parsed
from .history import Call, Ending, History
from .hooks import CountingLoop, WatchedFaults
from .objects import ZONE, Counted, Objects, zones
from .recorder import Line, Recorder
from .scenario import CallStep, Scenario, WriteStep
from .streams import classify
from .watcher import Watcher
from .wire_log import WireLog
from .writer import NAMESPACE, SELECTOR, Chronicle, Writer

__all__ = ["Met", "Outcome", "run"]

_CONFIGMAPS = GroupVersionResource.parse("v1/configmaps")
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
    with complaints(found), asyncio.Runner(loop_factory=lambda: loop) as runner:
        loop.set_exception_handler(lambda _, context: found.append(told(context)))
        return runner.run(_World(scenario, loop, found, talk=talk).run())


class _World:
    def __init__(
        self, scenario: Scenario, loop: CountingLoop, complaints: list[str], *, talk: bool
    ) -> None:
        self._scenario = scenario
        self._loop = loop
        self._complaints = complaints
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
        self._chronicle = Chronicle(core, setup, recorder)
        self._core = core
        self._front = FaultyCore(core, self._chronicle.restarted, self._note_canned)
        self._faults = WatchedFaults(Random(f"faults {scenario.seed}"), self._note_fault)
        self._transport = ServerTransport(
            self._front, self._faults, rng=Random(f"wire {scenario.seed}")
        )
        self._timers: list[asyncio.TimerHandle] = []
        self._watchers: list[Watcher] = []
        self._mirrors: list[Mirror[Any]] = []
        self._history = History(calm=scenario.calm)

    async def run(self) -> Outcome:
        scenario, history = self._scenario, self._history
        for number in range(scenario.objects):
            self._writer.write(WriteStep(0.0, "put", number))
        # The faults of the beginning are there before the mirror asks for anything.
        self._transport.start()
        self._make_mirror("mirror", watch_list=self._setup.watch_list)
        if self._setup.twin:
            self._make_mirror("twin", watch_list=False)
        for step in scenario.faults:
            self._at(step.time, self._add, step)
        for write in scenario.writes:
            self._at(write.time, self._writer.write, write)
        for at in scenario.looks:
            self._at(at, self._look)
        self._at(scenario.calm, self._end_faults)
        calls = [asyncio.ensure_future(self._call(step)) for step in scenario.calls]
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
        for watcher in self._watchers:
            history.mirrors.append(watcher.seen)
            for ask in watcher.seen.asks:
                classify(ask, self._setup.max_frame)
        return Outcome(history, self._met, self._recorder.lines)

    # The mirror

    def _make_mirror(self, name: str, *, watch_list: bool) -> None:
        setup, seed = self._setup, self._scenario.seed
        objects = Objects(
            transformed=setup.transformed, refusing=setup.undecodable, counted=setup.counted
        )
        watcher = Watcher(name, self._recorder, objects, indexed=setup.indexed)
        wire = WireLog(self._transport, self._recorder, name, watcher.standing)
        client = RESTClient(
            ClientConfig(server="http://memory"),
            transport=wire,
            max_frame=setup.max_frame,
            warnings=IgnoreWarnings(),
        )
        source = ListWatch.from_client(
            client,
            _CONFIGMAPS,
            NAMESPACE if setup.namespaced else "",
            label_selector=SELECTOR if setup.selected else "",
            decoder=objects.decoder(),
        )
        mirror: Mirror[Any] = Mirror(
            source,
            name=name,
            kind="" if setup.counted else "ConfigMap",
            indexes={ZONE: zones} if setup.indexed else None,
            options=ReflectorOptions(page_size=setup.page_size, watch_list=watch_list),
            on_deltas=watcher.on_deltas,
            on_error=watcher.on_error,
            on_note=watcher.on_note,
            ready=self._slowly if setup.slow else None,
            rng=Random(f"{name} {seed}"),
        )
        watcher.attach(mirror)
        watcher.seen.asks = wire.asks
        watcher.seen.slow = setup.slow
        self._watchers.append(watcher)
        self._mirrors.append(mirror)

    async def _slowly(self) -> None:
        if self._loop.time() >= self._scenario.calm:
            return
        self._note_fault("slow consumer", "")
        await asyncio.sleep(self._rng.uniform(0, self._setup.slow))

    async def _live(self, history: History) -> None:
        """The mirrors from their start to their end."""
        watcher, mirror = self._watchers[0], self._mirrors[0]
        before = asyncio.all_tasks()
        twin = self._mirrors[1] if len(self._mirrors) > 1 else None
        if twin is not None:
            await twin.__aenter__()
        stop = self._scenario.stop
        asked = 0.0
        if stop is None:
            async with mirror:
                await self._course()
                asked = self._loop.time()
        else:
            asked = await self._cut_short(mirror, watcher)
        gone = self._loop.time()
        history.until = asked
        watcher.stopped = True
        self._recorder.say("mirror", f"is stopped: {mirror.health}")
        if twin is not None:
            await twin.__aexit__(None, None, None)
        await asyncio.sleep(_SHORTLY)
        tasks = asyncio.all_tasks() - before
        names = tuple(sorted(task.get_name() for task in tasks))
        left = self._transport.open_responses
        await asyncio.sleep(_AFTERLIFE)
        alive = held = 0
        if self._setup.counted and self._scenario.stop is None:
            alive, held = self._count()
        watcher.seen.ending = Ending(
            asked, gone, names, left, tuple(self._complaints), watcher.late, alive, held
        )

    async def _course(self) -> None:
        """The whole of an undisturbed life."""
        scenario = self._scenario
        await asyncio.sleep(scenario.calm + scenario.patience)
        self._look_at_last()
        for write in _LAST:
            self._writer.write(write)
        await asyncio.sleep(_NEWS)
        self._look_at_last()

    async def _cut_short(self, mirror: Mirror[Any], watcher: Watcher) -> float:
        """A life that is ended at some turn of the loop. Gives when that was."""
        stop = self._scenario.stop
        assert stop is not None
        asked = [0.0]

        async def live() -> None:
            async with mirror:
                if stop.how == "cancel synced":
                    await mirror.synced()
                await asyncio.sleep(self._scenario.calm)
                asked[0] = self._loop.time()

        life = asyncio.ensure_future(live())

        def act() -> None:
            asked[0] = self._loop.time()
            self._note_fault("stop", stop)
            if stop.how == "stop":
                mirror.stop()
                self._loop.call_later(_SOON, setattr, watcher, "stopped", True)
                # Whoever is inside leaves when the mirror has had its time.
                self._loop.call_later(_AFTERLIFE, life.cancel)
            else:
                life.cancel()

        def arm() -> None:
            self._loop.at_turn = (self._loop.turns + stop.step, act)

        if stop.ask:
            watcher.on_ask = stop.ask, arm
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
        held = sum(len(mirror.store) - len(mirror.store.undecodable) for mirror in self._mirrors)
        return Counted.alive, held

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

    def _note_canned(self, canned: Canned) -> None:
        self._note_fault(canned.kind, canned)

    def _note_fault(self, kind: str, fault: object) -> None:
        if len(self._watchers) > 1 and any(
            ask.answered is None for ask in self._watchers[1].seen.asks[-2:]
        ):
            return  # it met the other one
        state = self._state()
        self._met.append((kind, state))
        if kind != "slow consumer":
            self._recorder.say("fault", f"{fault} meets the mirror {state}")

    def _state(self) -> str:
        """What the mirror is at, as the table has it."""
        health = self._mirrors[0].health
        asks = self._watchers[0].seen.asks
        if health.state == "watching" and any(
            ask.kind == "probe" and ask.ended is None for ask in asks[-3:]
        ):
            return "checking"
        if health.state == "listing" and health.watch_list:
            return "fallen back"
        return str(health.state)

    # What is seen of it

    def _look(self) -> None:
        for watcher in self._watchers:
            watcher.seen.looks.append(watcher.look())

    def _look_at_last(self) -> None:
        for watcher in self._watchers:
            look = watcher.look()
            watcher.seen.looks.append(look)
            watcher.seen.finals.append(look)

    async def _call(self, step: CallStep) -> None:
        mirror, watcher = self._mirrors[0], self._watchers[0]
        await asyncio.sleep(step.time)
        if mirror.store.resource_version == "":
            return
        began = self._loop.time()
        rv = self._core.state.log.revision + step.ahead
        error = ""
        try:
            if step.what == "at_least":
                await mirror.store.at_least(str(rv), step.timeout)
            else:
                await mirror.fresh(step.within, step.timeout)
        except Exception as raised:
            error = type(raised).__name__
        call = Call(
            self._recorder.step(),
            step.what,
            began,
            self._loop.time(),
            not error,
            step.timeout,
            step.within,
            rv,
            watcher.number(),
            watcher.set(),
            error,
        )
        watcher.seen.calls.append(call)
        self._recorder.say("call", f"{step.what} {error or 'returned'}")
