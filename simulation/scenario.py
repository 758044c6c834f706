"""One run before it is run: everything that is drawn, as plain values.

Only `draw` uses randomness. It takes a `Random`, so a seed makes a scenario, and so does
Hypothesis, which can then make a failing one smaller.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from random import Random

from .crowd import HandlerStep, InformerSetup, draw_handlers, draw_informer
from .faults import FaultStep, draw_faults, in_namespace

__all__ = ["CallStep", "Scenario", "Setup", "Stop", "WriteStep", "draw"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """What kind of mirror, and of server."""

    namespaced: bool = False
    """The mirror has one of the two namespaces that are written to."""
    selected: bool = False
    """It has a label selector, which objects come to match and cease to."""
    indexed: bool = False
    transformed: bool = False
    undecodable: bool = False
    """Some objects are such that the decoder refuses them."""
    counted: bool = False
    """Decoded objects are counted as they come alive and die."""
    page_size: int | None = None
    watch_list: bool = True
    twin: bool = False
    """A second mirror, which lists, beside it."""
    informer: InformerSetup | None = None
    """An informer, instead of the mirror."""
    changes: bool = False
    """`Changes`, instead of the mirror."""
    slow: float = 0.0
    """Seconds that the consumer takes for each batch, at most; 0: it is quick."""
    max_frame: int = 16 * 1024 * 1024
    """Smaller where objects are to be too large."""
    server_watch_list: bool = True
    slow_watcher_events: int = 1000
    compaction_interval: float | None = 300.0


@dataclass(frozen=True, slots=True)
class WriteStep:
    """A write at some time, to whatever object has that number then."""

    time: float
    what: str
    """`put`, `move` (in or out of the selection), `spoil`, `delete` or `recreate`."""
    number: int


@dataclass(frozen=True, slots=True)
class CallStep:
    """Somebody waits for something."""

    time: float
    what: str
    """`at_least` or `fresh`."""
    timeout: float
    within: float = 0.0
    ahead: int = 0
    """Of `at_least`: by how many RVs the one asked for is past the server's."""


@dataclass(frozen=True, slots=True)
class Stop:
    """The mirror is stopped early."""

    step: int
    """At which turn of the loop, counted from the start or from that request."""
    ask: int
    """The number of a request; 0: the start counts."""
    how: str
    """`stop`, `cancel`, or `cancel synced`: while somebody waits for the first set."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    seed: int
    setup: Setup
    objects: int
    """That are there in the beginning."""
    writes: tuple[WriteStep, ...]
    faults: tuple[FaultStep, ...]
    calls: tuple[CallStep, ...]
    looks: tuple[float, ...]
    handlers: tuple[HandlerStep, ...]
    """Of an informer; of `Changes`, its one consumer."""
    calm: float
    """When faults and writes end."""
    patience: float
    """Seconds after that in which everything must be well again."""
    stop: Stop | None


_SMALL_FRAME = 4000
_PATIENCE = 330.0
"""Seconds: a watch that has fallen silent is noticed after 150, the wait before the next round may
be 61, the requests of that round may have been held back by 60 by the budget, and an initial stream
whose end does not come takes 30."""


def draw(rng: Random, seed: int = 0) -> Scenario:
    """A scenario."""
    setup = _setup(rng)
    calm = rng.choice((20.0, 60.0, 120.0, 200.0, 400.0))
    faults = draw_faults(rng, calm)
    handlers: list[HandlerStep] = []
    if setup.informer is not None:
        handlers = draw_handlers(rng, calm)
        if setup.informer.sources == "namespaces" and rng.random() < 0.5:
            faults = [in_namespace(rng, fault) for fault in faults]
    elif setup.changes:
        slow = rng.choice((0.0, 1.0, 6.0, 25.0))
        handlers = [HandlerStep(queue="block", slow=slow)]
    if any("oversize" in str(fault) for fault in faults):
        setup = replace(setup, max_frame=_SMALL_FRAME)
    calls = [_call(rng, calm) for _ in range(rng.choice((0, 0, 1, 2, 4)))]
    if any(fault.slows_checks for fault in faults):
        calls += [replace(_call(rng, calm), what="fresh", within=0.0) for _ in range(6)]
    stop = None
    if rng.random() < 0.15:
        how = rng.choice(("stop", "cancel", "cancel synced"))
        if rng.random() < 0.4:
            stop = Stop(int(2 ** rng.uniform(0, 11)), 0, how)
        else:
            stop = Stop(rng.randint(0, 8), int(2 ** rng.uniform(0, 4)), how)
    slowest = max((fault.retry_after for fault in faults), default=0)
    return Scenario(
        seed=seed,
        setup=setup,
        objects=rng.choice((0, 1, 3, 8, 12, 30)),
        writes=tuple(_writes(rng, calm)),
        faults=tuple(faults),
        calls=tuple(calls),
        looks=tuple(sorted(rng.uniform(0, calm + 100) for _ in range(12))),
        handlers=tuple(handlers),
        calm=calm,
        patience=_PATIENCE + min(slowest, 300),
        stop=stop,
    )


def _setup(rng: Random) -> Setup:
    def chance(part: float) -> bool:
        return rng.random() < part

    setup = Setup(
        namespaced=chance(0.3),
        selected=chance(0.4),
        indexed=chance(0.3),
        transformed=chance(0.25),
        undecodable=chance(0.25),
        counted=chance(0.1),
        page_size=rng.choice((None, None, 2, 3, 5)),
        watch_list=chance(0.65),
        twin=chance(0.12),
        slow=rng.choice((0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 2.0, 40.0)),
        server_watch_list=chance(0.92),
        slow_watcher_events=rng.choice((1000, 1000, 3)),
        compaction_interval=rng.choice((300.0, 45.0, None)),
    )
    who = rng.random()
    if who < 0.33:
        informer = draw_informer(rng)
        namespaced = setup.namespaced and informer.sources != "namespaces"
        selected = setup.selected and informer.sources != "selectors"
        return replace(
            setup, informer=informer, namespaced=namespaced, selected=selected, twin=False, slow=0.0
        )
    return replace(setup, changes=True, twin=False, slow=0.0) if who < 0.4 else setup


_WRITES = ("put",) * 6 + ("move",) * 2 + ("delete",) * 3 + ("recreate",) * 2 + ("spoil",)


def _writes(rng: Random, calm: float) -> list[WriteStep]:
    found: list[WriteStep] = []
    now = 0.0
    while now < calm and len(found) < 90:
        # Busy, slow or quiet for a while; or all at once.
        mood = rng.choice(("busy", "slow", "slow", "quiet", "burst"))
        count = {"busy": 12, "slow": 5, "quiet": 1, "burst": 15}[mood]
        gap = {"busy": 1.0, "slow": 12.0, "quiet": 120.0, "burst": 0.0}[mood]
        if mood == "burst":
            now += rng.uniform(0, 20)
        for _ in range(rng.randint(1, count)):
            now += rng.uniform(0, gap)
            if now >= calm:
                break
            found.append(WriteStep(now, rng.choice(_WRITES), rng.randrange(14)))
    return found


def _call(rng: Random, calm: float) -> CallStep:
    at = rng.uniform(0, calm + 60)
    if rng.random() < 0.5:
        return CallStep(at, "at_least", rng.choice((0.5, 5.0, 40.0)), ahead=rng.choice((0, 0, 1)))
    return CallStep(
        at, "fresh", rng.choice((1.0, 10.0, 45.0)), within=rng.choice((0.0, 1.0, 15.0, 90.0))
    )
