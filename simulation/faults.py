"""What goes wrong: each kind of fault that `properties.md` names, and how it is drawn.

Most are faults of the embedded server (`docs/faults.md`). What that has no words for is an answer
made up here (`answers.py`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from random import Random
from typing import TypeAlias

from listwatch.testing.apiserver.faults.language import parse_fault
from listwatch.testing.apiserver.faults.model import (
    Compact,
    Cut,
    Delay,
    DropEvents,
    End,
    ErrorEvent,
    FailWith,
    Fault,
    Garbage,
    Hang,
    Oversize,
    Refuse,
    Restart,
    Skip,
    Stall,
)

from .answers import Canned

__all__ = ["KINDS", "FaultStep", "draw_faults", "in_namespace", "kind_of", "parsed"]

Line: TypeAlias = str | Canned


@dataclass(frozen=True, slots=True)
class FaultStep:
    """Faults that are there for a while."""

    time: float
    until: float
    lines: tuple[Line, ...]
    retry_after: int = 0
    """The longest that they ask for, in seconds."""
    slows_checks: bool = False
    """Whether whatever asks beside a watch takes long."""

    def __str__(self) -> str:
        return "; ".join(str(line) for line in self.lines)


def kind_of(fault: Fault | Canned) -> str:
    """The row of the table that it belongs to."""
    if isinstance(fault, Canned):
        return fault.kind
    match fault.what:
        case Cut(reset=True):
            return "reset"
        case Cut():
            return "cut"
        case End():
            return "clean end"
        case Stall():
            return "stalled"
        case Hang():
            return "no answer"
        case Delay():
            return "delayed"
        case FailWith(code=code):
            return {410: "HTTP 410", 429: "HTTP 429"}.get(
                code, f"HTTP {code}" if code < 500 else "HTTP 5xx"
            )
        case ErrorEvent(code=code):
            return f"{code} event"
        case DropEvents():
            return "events dropped"
        case Garbage():
            return "garbage"
        case Oversize():
            return "oversized"
        case Skip(what=what):
            return f"no {what}"
        case Compact():
            return "compaction"
        case Restart(history=history):
            return f"restart, history {history}"
        case Refuse():
            return "refused"
    raise ValueError(f"no such kind: {fault}")


def _often(rng: Random) -> str:
    return rng.choice(
        (", once", ", once", ", 2 times", ", 3 times", "", ", chance 50%", ", request 2")
    )


def _verb(rng: Random) -> str:
    return rng.choice(("watch", "watch", "watch", "list", "read"))


def _where(rng: Random, *, events: bool = True) -> str:
    unit = rng.choice(("bytes", "bytes", "events", "time") if events else ("bytes", "time"))
    if unit == "bytes":
        return f"after {int(2 ** rng.uniform(0, 12.5))} bytes"
    if unit == "events":
        return f"after {rng.choice((0, 1, 2, 3, 5, 9, 20))} events"
    return f"after {rng.uniform(0, 90):.3f}s"


def _retry_after(rng: Random) -> tuple[str, int]:
    seconds = rng.choice((0, 0, 0, 1, 2, 7, 30, 90, 400))
    return (f" retry-after {seconds}", seconds) if seconds else ("", 0)


def _form(rng: Random) -> str:
    return rng.choice(("", "", " as text", " as html"))


def _cut(rng: Random, word: str) -> list[Line]:
    if rng.random() < 0.3:
        return [f"after {rng.uniform(0, 60):.3f}s {_verb(rng)}: {word}"]
    if rng.random() < 0.6:  # anywhere, in a head too
        return [
            f"{_verb(rng)}: {word} after {int(2 ** rng.uniform(0, 13))} wire bytes{_often(rng)}"
        ]
    verb = _verb(rng)
    return [f"{verb}: {word} {_where(rng, events=verb == 'watch')}{_often(rng)}"]


def _end(rng: Random) -> list[Line]:
    if rng.random() < 0.4:
        return [f"after {rng.uniform(0, 60):.3f}s watch: end"]
    return [f"watch: end {_where(rng)}{_often(rng)}"]


def _stall(rng: Random) -> list[Line]:
    lasting = rng.choice(("", "", f" for {rng.uniform(1, 200):.3f}s"))
    if rng.random() < 0.4:
        return [f"after {rng.uniform(0, 60):.3f}s {_verb(rng)}: stall{lasting}"]
    verb = _verb(rng)
    return [f"{verb}: stall {_where(rng, events=verb == 'watch')}{lasting}{_often(rng)}"]


def _event(rng: Random, what: str) -> list[Line]:
    return [f"watch: {what} {_where(rng)}{_often(rng)}"]


def _restart(rng: Random, history: str) -> list[Line]:
    if rng.random() < 0.15:
        return [f"restart {history}"]
    down = rng.choice(("", f" down {rng.uniform(0.1, 30):.3f}s"))
    return [f"after {rng.uniform(0, 60):.3f}s: restart {history}{down}"]


def _compaction(rng: Random) -> list[Line]:
    if rng.random() < 0.15:
        return ["compact"]
    at = rng.uniform(0, 40)
    lines: list[Line] = [f"after {at:.3f}s: compact"]
    if rng.random() < 0.7:  # by itself it expires nothing (K21)
        lines.append(f"after {at + rng.uniform(0, 20):.3f}s: restart kept")
    return lines


def _refused(rng: Random) -> list[Line]:
    if rng.random() < 0.15:
        return ["refuse"]
    lines: list[Line] = [f"after {rng.uniform(0, 30):.3f}s: refuse for {rng.uniform(0.5, 90):.3f}s"]
    if rng.random() < 0.7:  # or nobody would notice
        lines.append(f"after {rng.uniform(0, 30):.3f}s watch: cut")
    return lines


def _canned(rng: Random, kind: str, *asks: str) -> list[Line]:
    times = rng.choice((1, 1, 2, 5, 1000))
    return [Canned(kind, frozenset(asks), times, rng.randrange(4))]


def _expired_page(rng: Random) -> list[Line]:
    # Slow pages: the set changes between the first and the one that has expired.
    canned = _canned(rng, "expired page", "page")
    return [*canned, f"list: delay {rng.choice((2, 9, 25))}s"]


_SIMPLE: dict[str, Callable[[Random], Iterable[Line]]] = {
    "cut": lambda rng: _cut(rng, "cut"),
    "reset": lambda rng: _cut(rng, "reset"),
    "clean end": _end,
    "stalled": _stall,
    "no answer": lambda rng: [f"{_verb(rng)}: hang{_often(rng)}"],
    "delayed": lambda rng: [
        f"{_verb(rng)}: delay {rng.choice((0.01, 1, 12, 40, 80))}s{_often(rng)}"
    ],
    "HTTP 410": lambda rng: [f"{_verb(rng)}: answer 410{_form(rng)}{_often(rng)}"],
    "410 event": lambda rng: _event(rng, "error 410"),
    "410 by reason": lambda rng: _canned(rng, "410 by reason", "watch", "watch-list"),
    "429 event": lambda rng: _event(rng, "error 429"),
    "500 event": lambda rng: _event(rng, "error 500"),
    "events dropped": lambda rng: _event(rng, f"drop {rng.randint(1, 4)} events"),
    "garbage": lambda rng: _event(rng, "garbage"),
    "oversized": lambda rng: _event(rng, "oversize 9000 bytes"),
    "no marker": lambda rng: [f"watch: skip marker{_often(rng)}"],
    "no bookmarks": lambda rng: [f"watch: skip bookmarks{_often(rng)}"],
    "RV too large": lambda rng: _canned(rng, "RV too large", "list", "watch-list"),
    "no watch-list": lambda rng: _canned(rng, "no watch-list", "watch-list"),
    "proxy's page": lambda rng: _canned(rng, "proxy's page", "list", "watch", "watch-list", "page"),
    "expired page": _expired_page,
    "compaction": _compaction,
    "restart, history kept": lambda rng: _restart(rng, "kept"),
    "restart, history lost": lambda rng: _restart(rng, "lost"),
    "restart, history back": lambda rng: _restart(rng, "back"),
    "refused": _refused,
    "HTTP 401": lambda rng: [f"{_verb(rng)}: answer 401{_often(rng)}"],
    "HTTP 403": lambda rng: [f"{_verb(rng)}: answer 403{_often(rng)}"],
    "HTTP 404": lambda rng: [f"{_verb(rng)}: answer 404{_form(rng)}{_often(rng)}"],
}

_WITH_RETRY_AFTER = {"HTTP 429": (429,), "HTTP 5xx": (500, 502, 503, 504)}

KINDS = (*_SIMPLE, *_WITH_RETRY_AFTER)
"""Every kind that is drawn."""


def draw_faults(rng: Random, calm: float) -> list[FaultStep]:
    """The faults of one run, which are over at `calm`."""
    found = []
    for _ in range(rng.choice((1, 2, 3, 4, 6, 8))):
        kind = rng.choice(KINDS)
        # Many begin before the mirror does, so that its first requests meet them.
        at = 0.0 if rng.random() < 0.35 else rng.uniform(0, calm * 0.9)
        until = min(calm, at + rng.choice((5.0, 60.0, 200.0, 1000.0)))
        found.append(_step(rng, kind, at, until))
    if rng.random() < 0.15:
        found.append(_slow_checks(rng, calm))
    return sorted(found, key=lambda step: step.time)


def _slow_checks(rng: Random, calm: float) -> FaultStep:
    """The check after a lost connection takes so long that other faults meet the mirror at it."""
    at = rng.uniform(0, calm * 0.7)
    delay, cut = rng.choice((5, 20, 60)), rng.uniform(0, 10)
    lines = (f"after {cut:.3f}s watch: cut", f"list: delay {delay}s, chance 80%")
    return FaultStep(at, min(calm, at + 80.0), lines, slows_checks=True)


def _step(rng: Random, kind: str, at: float, until: float) -> FaultStep:
    if kind not in _WITH_RETRY_AFTER:
        return FaultStep(at, until, tuple(_SIMPLE[kind](rng)))
    asked, seconds = _retry_after(rng)
    code = rng.choice(_WITH_RETRY_AFTER[kind])
    line = f"{_verb(rng)}: answer {code}{_form(rng)}{asked}{_often(rng)}"
    return FaultStep(at, until, (line,), seconds)


def in_namespace(rng: Random, step: FaultStep) -> FaultStep:
    """The same, where it can be, for one of two namespaces only."""
    whom = f"\\1 in {rng.choice(('a', 'b'))}:"
    lines = (
        re.sub(r"\b(watch|list|read):", whom, line) if isinstance(line, str) else line
        for line in step.lines
    )
    return replace(step, lines=tuple(lines))


def parsed(line: Line) -> Fault | Canned:
    """A line as the value it stands for."""
    return line if isinstance(line, Canned) else parse_fault(line)
