"""A fault as one line of text: `watch pods: cut after 5000 bytes, 3 times`.

    fault  = [[when] [who] ":"] what {"," how}
    when   = ("after" | "every") time
    who    = [verb] [resource] ["in" namespace] ["named" name]
    how    = N "times" | "once" | "request" N | "from request" N | "every" N "requests"
           | "chance" P "%"

`docs/faults.md` has the whole of it, with what each word does.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal, cast

from listwatch.api import ListWatchError

from .model import (
    READ_VERBS,
    WRITE_VERBS,
    Action,
    Compact,
    Cut,
    Delay,
    DropEvents,
    End,
    ErrorEvent,
    ExpireToken,
    FailWith,
    Fault,
    Garbage,
    Hang,
    How,
    Oversize,
    Refuse,
    Restart,
    Rotate,
    Skip,
    Stall,
    When,
    Where,
    Who,
)

__all__ = ["FaultSyntaxError", "parse_fault"]

_TOKEN = re.compile(r"[:,](?=\s|$)|[^\s,:]+(?:[,:](?!\s|$)[^\s,:]*)*")
_NUMBER = re.compile(r"(\d+(?:\.\d+)?)([A-Za-z%]*)")
_ORDINAL = re.compile(r"(\d+)(?:st|nd|rd|th)?")
_TIMES = {"ms": 0.001, "s": 1.0, "second": 1.0, "seconds": 1.0, "m": 60.0, "min": 60.0}
_TIMES |= {"minute": 60.0, "minutes": 60.0, "h": 3600.0, "hour": 3600.0, "hours": 3600.0}
_SIZES = {"byte": 1, "bytes": 1, "b": 1, "kb": 1000, "kib": 1024, "mb": 1000**2, "mib": 1024**2}
_VERBS = READ_VERBS | WRITE_VERBS | {"any", "read", "write"}
_EVENTS_ONLY = (ErrorEvent, DropEvents, Garbage, Oversize, Skip)
_OF_THE_SERVER = (Compact, Restart, Refuse, Rotate, ExpireToken)
_OF_OPEN_ANSWERS = (Cut, End, Stall)


class FaultSyntaxError(ListWatchError, ValueError):
    """A line that is no fault.

    `text` is the line, `position` (from 0) the place in it, and the message says what was expected.
    """

    def __init__(self, text: str, position: int, problem: str) -> None:
        super().__init__(f"the fault {text!r} at position {position}: {problem}")
        self.text = text
        self.position = position
        self.problem = problem

    def __reduce__(self) -> tuple[type[FaultSyntaxError], tuple[str, int, str]]:
        return type(self), (self.text, self.position, self.problem)


def parse_fault(text: str) -> Fault:
    """The fault that the line `text` describes. Raises `FaultSyntaxError`.

    >>> parse_fault("watch pods: cut after 5000 bytes, 3 times").how.times
    3
    """
    words = _Words(text)
    fault = Fault(Hang(), when=When("now"))
    if words.has(":"):
        fault = replace(fault, when=_when(words), who=_who(words))
        words.expect(":")
    began = words.position
    what = _action(words)
    how = How()
    while words.take(","):
        how = _limit(words, how)
    if not words.at_end:
        raise words.error("a comma or the end was expected")
    fault = replace(fault, what=what, how=how)
    if fault.when.kind == "now" and not isinstance(what, _OF_THE_SERVER):
        fault = replace(fault, when=When())
    problem = _contradiction(fault)
    if problem:
        raise FaultSyntaxError(text, began, problem)
    return fault


def _contradiction(fault: Fault) -> str | None:
    """Why this makes no sense, or None."""
    timed = fault.when.kind in ("after", "every")
    if timed and not isinstance(fault.what, (*_OF_THE_SERVER, *_OF_OPEN_ANSWERS)):
        return (
            "at a time only the server (compact, restart, refuse, rotate, expire) or answers that"
            " are under way (cut, reset, end, stall) can be hit"
        )
    if timed and isinstance(fault.what, _OF_OPEN_ANSWERS) and fault.what.where != Where():
        return "the time is when it happens: leave the second 'after' out"
    if fault.when.kind in ("now", "after") and fault.how != How():
        return "this happens once: say 'every' for more"
    of_events = isinstance(fault.what, _EVENTS_ONLY) or (
        isinstance(fault.what, _OF_OPEN_ANSWERS) and fault.what.where.unit == "events"
    )
    if of_events and fault.who.verb != "watch":
        return "only a watch has events: begin with 'watch', such as 'watch pods:'"
    where = getattr(fault.what, "where", Where())
    if where.unit == "wire bytes" and not isinstance(fault.what, Cut):
        return "wire bytes are counted for cut and reset only: say 'bytes'"
    if fault.when.kind == "every" and replace(fault.how, times=None) != How():
        return "no request sets this off, so requests cannot be counted"
    return None


def _when(words: _Words) -> When:
    kind: Literal["after", "every"]
    for kind in ("after", "every"):
        if words.take(kind):
            return When(kind, words.time())
    return When()


def _who(words: _Words) -> Who:
    found: dict[str, str] = {}
    if words.peek() in _VERBS:
        found["verb"] = words.word()
    if words.peek() not in (":", "in", "named"):
        found["resource"] = words.word()
    if words.take("in"):
        found["namespace"] = words.name("a namespace")
    if words.take("named"):
        found["name"] = words.name("a name")
    return Who(**found)


def _limit(words: _Words, how: How) -> How:
    if words.take("once"):
        return replace(how, times=1)
    if words.take("request"):
        only = words.ordinal()
        return replace(how, first=only, last=only, every=1)
    if words.take("from"):
        words.expect("request")
        return replace(how, first=words.ordinal())
    if words.take("every"):
        every = words.ordinal()
        words.expect("request", "requests")
        return replace(how, every=every, first=max(how.first, every))
    if words.take("chance"):
        chance = words.percentage()
        return replace(how, chance=chance)
    times = words.ordinal("a limit was expected: such as '3 times', 'once' or 'every 2nd request'")
    words.expect("times", "time")
    return replace(how, times=times)


def _action(words: _Words) -> Action:
    began = words.position
    word = words.word("what is to happen was expected, such as 'cut' or 'answer 503'")
    try:
        rule = _ACTIONS[word]
    except KeyError:
        known = ", ".join(_ACTIONS)
        raise FaultSyntaxError(words.text, began, f"{word!r} is none of {known}") from None
    return rule(words)


def _stall(words: _Words) -> Stall:
    where = _where(words)
    return Stall(where, words.time() if words.take("for") else None)


def _hang(words: _Words) -> Hang | Stall:
    return Stall(_where(words)) if words.peek() == "after" else Hang()


def _answer(words: _Words) -> FailWith:
    code = words.code()
    form = words.one_of("status", "text", "html") if words.take("as") else "status"
    words.take("with")
    wait = words.ordinal("seconds were expected", zero=True) if words.take("retry-after") else None
    return FailWith(code, cast(Any, form), wait)


def _drop(words: _Words) -> DropEvents:
    count = 1
    if _ORDINAL.fullmatch(words.peek()):
        count = words.ordinal()
    words.expect("event", "events")
    return DropEvents(count, _where(words))


def _restart(words: _Words) -> Restart:
    history = words.one_of("kept", "lost", "back") if words.peek() not in ("", ",", "down") else ""
    down = words.time() if words.take("down") else 0.0
    return Restart(cast(Any, history or "kept"), down)


def _rotate(words: _Words) -> Rotate:
    if words.peek() in ("", ","):
        return Rotate()
    return Rotate(cast(Any, words.one_of("certificate", "authority")))


def _expire(words: _Words) -> ExpireToken:
    if words.one_of("token", "tokens") == "tokens":
        return ExpireToken()
    return ExpireToken(words.name("a token"))


def _compact(words: _Words) -> Compact:
    words.take("now")
    return Compact()


def _where(words: _Words) -> Where:
    if not words.take("after"):
        return Where()
    if words.take("the"):
        words.expect("head")
        return Where()
    return words.amount()


_ACTIONS: dict[str, Callable[[_Words], Action]] = {
    "cut": lambda words: Cut(_where(words)),
    "reset": lambda words: Cut(_where(words), reset=True),
    "end": lambda words: End(_where(words)),
    "stall": _stall,
    "hang": _hang,
    "delay": lambda words: Delay(words.time()),
    "answer": _answer,
    "error": lambda words: ErrorEvent(words.code(), _where(words)),
    "drop": _drop,
    "garbage": lambda words: Garbage(_where(words)),
    "oversize": lambda words: Oversize(words.size(), _where(words)),
    "skip": lambda words: Skip(cast(Any, words.one_of("marker", "bookmarks"))),
    "compact": _compact,
    "restart": _restart,
    "refuse": lambda words: Refuse(words.time() if words.take("for") else None),
    "rotate": _rotate,
    "expire": _expire,
}


@dataclass(slots=True)
class _Quantity:
    number: float
    unit: str
    position: int


class _Words:
    """The words of a line, with their places."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._words = [(match[0], match.start()) for match in _TOKEN.finditer(text)]
        self._next = 0

    @property
    def at_end(self) -> bool:
        return self._next == len(self._words)

    @property
    def position(self) -> int:
        return len(self.text) if self.at_end else self._words[self._next][1]

    def has(self, word: str) -> bool:
        return any(found == word for found, _ in self._words)

    def peek(self) -> str:
        return "" if self.at_end else self._words[self._next][0]

    def take(self, word: str) -> bool:
        """Pass over `word` if it comes next."""
        if self.peek() != word:
            return False
        self._next += 1
        return True

    def word(self, problem: str = "a word was expected") -> str:
        if self.at_end or self.peek() in (":", ","):
            raise self.error(problem)
        self._next += 1
        return self._words[self._next - 1][0]

    def name(self, what: str) -> str:
        return self.word(f"{what} was expected")

    def expect(self, *words: str) -> None:
        if not any(self.take(word) for word in words):
            raise self.error(f"{words[0]!r} was expected")

    def one_of(self, *words: str) -> str:
        if self.peek() not in words:
            raise self.error(f"one of {', '.join(words)} was expected")
        return self.word()

    def ordinal(self, problem: str = "a number was expected", *, zero: bool = False) -> int:
        found = _ORDINAL.fullmatch(self.peek())
        if found is None or (not int(found[1]) and not zero):
            raise self.error(problem)
        self._next += 1
        return int(found[1])

    def code(self) -> int:
        if not re.fullmatch(r"[2-5]\d\d", self.peek()):
            raise self.error("a status code was expected, such as 503")
        return int(self.word())

    def time(self) -> float:
        quantity = self._quantity("a time was expected, such as 5s, 200ms or 2m")
        if quantity.unit not in _TIMES:
            problem = f"{quantity.unit!r} is no unit of time: use ms, s, m or h"
            raise FaultSyntaxError(self.text, quantity.position, problem)
        return quantity.number * _TIMES[quantity.unit]

    def size(self) -> int:
        quantity = self._quantity("a size was expected, such as 5000 bytes or 17MiB")
        unit = quantity.unit.lower()
        if unit not in _SIZES:
            problem = f"{quantity.unit!r} is no unit of size: use bytes, KiB or MiB"
            raise FaultSyntaxError(self.text, quantity.position, problem)
        return int(quantity.number * _SIZES[unit])

    def percentage(self) -> float:
        quantity = self._quantity("a percentage was expected, such as 5%")
        if quantity.unit != "%" or not 0 < quantity.number <= 100:
            problem = "a percentage above 0 and up to 100 was expected, such as 5%"
            raise FaultSyntaxError(self.text, quantity.position, problem)
        return quantity.number / 100

    def amount(self) -> Where:
        quantity = self._quantity("how far was expected, such as '5000 bytes', '3 events' or 2s")
        unit = quantity.unit
        if unit in _TIMES:
            return Where(quantity.number * _TIMES[unit], "seconds")
        if unit in ("event", "events"):
            return Where(int(quantity.number), "events")
        if unit == "wire":
            self.expect("bytes", "byte")
            return Where(int(quantity.number), "wire bytes")
        if unit.lower() in _SIZES:
            return Where(int(quantity.number * _SIZES[unit.lower()]), "bytes")
        problem = f"{unit!r} is none of bytes, wire bytes, events or a unit of time"
        raise FaultSyntaxError(self.text, quantity.position, problem)

    def _quantity(self, problem: str) -> _Quantity:
        position = self.position
        found = _NUMBER.fullmatch(self.peek())
        if found is None:
            raise self.error(problem)
        self._next += 1
        unit = found[2] or ("" if self.at_end or self.peek() in (",", ":") else self.word())
        return _Quantity(float(found[1]), unit, position)

    def error(self, problem: str) -> FaultSyntaxError:
        found = self.peek()
        got = f", not {found!r}" if found else ", but the line ends"
        return FaultSyntaxError(self.text, self.position, problem + got)
