"""Who listens to an informer, before it is run: its sources and handlers, as plain values."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

__all__ = ["HandlerStep", "InformerSetup", "draw_handlers", "draw_informer"]


@dataclass(frozen=True, slots=True, kw_only=True)
class InformerSetup:
    """How the informer is made."""

    sources: str = "one"
    """Or `namespaces`: the two of them, each a source; or `selectors`: two that overlap."""
    optional: bool = False
    """Nobody waits for the second source."""
    recreate_as_two: bool = False
    resync: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class HandlerStep:
    """One handler: when it comes and goes, and how it behaves."""

    time: float = 0.0
    """When it is added; 0: before the start."""
    ask: int = 0
    """It is added when so many requests have been sent, instead; 0: it goes by the time."""
    after_the_end: bool = False
    """It is added to an informer that has ended, instead."""
    inline: bool = False
    filter: str = ""
    """`zone` or `raising`, as in `Heard`."""
    queue: str = "unbounded"
    size: int = 0
    slow: float = 0.0
    """Seconds that it takes for a notification, at most."""
    stalls: float = 0.0
    """How often it takes a minute, from 0 to 1."""
    raises: float = 0.0
    """How often it raises, from 0 to 1."""
    removed: float | None = None
    """When it is removed."""
    removed_how: str = "remove"
    """Or `removed`: somebody waits for its end; or `itself`: in its next notification."""

    def __str__(self) -> str:
        if self.after_the_end:
            parts = ["after the end"]
        elif self.ask:
            parts = [f"from request {self.ask - 1} on"]
        else:
            parts = [f"from {self.time:.3f} s on"]
        parts.append("inline" if self.inline else "async")
        if self.filter:
            parts.append(f"filter {self.filter}")
        if self.queue != "unbounded":
            parts.append(f"{self.queue} at {self.size}")
        if self.slow:
            parts.append(f"takes up to {self.slow:g} s")
        if self.stalls:
            parts.append(f"a minute in {self.stalls:.0%}")
        if self.raises:
            parts.append(f"raises in {self.raises:.0%}")
        if self.removed is not None:
            parts.append(f"{self.removed_how} at {self.removed:.3f} s")
        return ", ".join(parts)


def draw_informer(rng: Random) -> InformerSetup:
    """An informer over one or two sources."""
    sources = rng.choice(("one", "one", "namespaces", "selectors"))
    return InformerSetup(
        sources=sources,
        optional=sources != "one" and rng.random() < 0.4,
        recreate_as_two=rng.random() < 0.3,
        resync=rng.choice((None, None, 20.0, 90.0)),
    )


def draw_handlers(rng: Random, calm: float) -> list[HandlerStep]:
    """Its handlers. One of them is always there from the beginning."""
    found = [_handler(rng, calm, first=number == 0) for number in range(rng.randint(1, 6))]
    if rng.random() < 0.1:
        found.append(HandlerStep(after_the_end=True, inline=rng.random() < 0.5))
    return found


def _handler(rng: Random, calm: float, *, first: bool) -> HandlerStep:
    time, ask = 0.0, 0
    if not first:
        when = rng.choice(("start", "time", "ask"))
        time = rng.uniform(0.0, calm + 30.0) if when == "time" else 0.0
        ask = rng.choice((1, 2, 3, 4, 6, 9)) if when == "ask" else 0
    inline = rng.random() < 0.3
    queue, slow, stalls = "unbounded", 0.0, 0.0
    if not inline:
        queue = rng.choice(("unbounded", "unbounded", "block", "collapse", "collapse"))
        slow = rng.choice((0.0, 0.0, 1.0, 6.0, 25.0))
        stalls = rng.choice((0.0, 0.0, 0.0, 0.1))
    removed = None
    if not first and rng.random() < 0.3:
        removed = time + rng.uniform(0.0, calm)
    return HandlerStep(
        time=time,
        ask=ask,
        inline=inline,
        filter=rng.choice(("", "", "", "zone", "raising")),
        queue=queue,
        size=rng.choice((1, 2, 5)) if queue != "unbounded" else 0,
        slow=slow,
        stalls=stalls,
        raises=rng.choice((0.0, 0.0, 0.2, 1.0)),
        removed=removed,
        removed_how=rng.choice(("remove", "removed", "itself")),
    )
