"""Patterns matched in linear time, as Go's engine does it.

Python's engine tries one way after another: of a pattern such as `^(a+)+$` there are more ways
through a text of fifty letters than anybody can wait for. Here all ways are gone at the same time:
what may come next is a set of states, and each set that was met is kept with where each character
leads from it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

__all__ = ["LinearPattern", "may_explode"]

_parser: Any = import_module("re._parser")
_UNBOUNDED = _parser.MAXREPEAT
_CHARACTERS = frozenset({"LITERAL", "NOT_LITERAL", "ANY", "IN"})
_MOST_TRIES = 8
"""The sum of all ends, below which repetitions that have one do no harm."""
_MOST_STATES = 20_000
"""Of one pattern; of more it cannot be made (`OverflowError`)."""
_MOST_SETS = 2_000
"""Sets that are remembered at a time."""
_WORD = frozenset("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz")
_SPACE = frozenset(" \t\n\r\f\v")
_DIGITS = frozenset("0123456789")

Test = Callable[[str], bool]


def may_explode(pattern: str, flags: int) -> bool:
    """Whether Python's engine may need more than linear time: some repetition has no end, and it is
    not of one character, is not the only one, or a match may begin anywhere.
    """
    tree = _parser.parse(pattern, flags)
    repeats = list(_repetitions(tree))
    if all(high < _UNBOUNDED for high, _ in repeats):
        several = sum(1 for high, _ in repeats if high > 1) > 1
        return several and sum(high for high, _ in repeats) > _MOST_TRIES
    anchored = bool(tree) and str(tree[0][1]) in ("AT_BEGINNING", "AT_BEGINNING_STRING")
    several = sum(1 for high, _ in repeats if high > 1) > 1
    return several or not anchored or not all(simple for _, simple in repeats)


def _repetitions(tree: Any) -> Iterator[tuple[int, bool]]:
    """Of each: how often at most, and whether it is of one character."""
    for op, found in tree:
        name = str(op)
        if name.endswith("_REPEAT"):
            _, high, below = found
            simple = len(below) == 1 and str(below[0][0]) in _CHARACTERS
            yield int(high), simple or high == 1
            yield from _repetitions(below)
        elif name == "SUBPATTERN":
            yield from _repetitions(found[3])
        elif name == "BRANCH":
            for below in found[1]:
                yield from _repetitions(below)


class LinearPattern:
    """`pattern`, in Python's words. Raises `OverflowError` for one of too many states, and
    `NotImplementedError` for what is no regular expression.
    """

    def __init__(self, pattern: str, flags: int) -> None:
        self._tests: list[Test | None] = []
        self._next: list[list[int]] = []
        self._looks: dict[int, str] = {}
        tree = _parser.parse(pattern, flags)
        self._start = self._state()
        end = self._sequence(tree, self._start, tree.state.flags)
        self._end = end
        self._known: dict[tuple[frozenset[int], str], dict[str, frozenset[int] | None]] = {}

    def search(self, text: str) -> bool:
        """Whether it matches anywhere in `text`."""
        states: frozenset[int] = frozenset()
        before = ""
        for char in (*text, ""):
            here = (states, _kind(before))
            known = self._known.get(here)
            if known is None:
                if len(self._known) >= _MOST_SETS:
                    self._known.clear()
                known = self._known[here] = {}
            if char in known:
                found = known[char]
            else:
                found = known[char] = self._step(states | {self._start}, before, char)
            if found is None:
                return True
            states, before = found, char
        return False

    def _step(self, states: frozenset[int], before: str, char: str) -> frozenset[int] | None:
        """Where `char` leads (empty: the end of the text); None: it matches already."""
        reached: set[int] = set()
        waiting = list(states)
        while waiting:
            state = waiting.pop()
            if state in reached:
                continue
            look = self._looks.get(state)
            if look is not None and not _holds(look, before, char):
                continue
            reached.add(state)
            if self._tests[state] is None:
                waiting += self._next[state]
        if self._end in reached:
            return None
        if not char:
            return frozenset()
        return frozenset(
            after
            for state in reached
            if (test := self._tests[state]) is not None and test(char)
            for after in self._next[state]
        )

    # Making it

    def _state(self, test: Test | None = None) -> int:
        if len(self._tests) >= _MOST_STATES:
            raise OverflowError("too many states")
        self._tests.append(test)
        self._next.append([])
        return len(self._tests) - 1

    def _sequence(self, tree: Any, start: int, flags: int) -> int:
        """Append what a sequence needs behind `start`, and give the state behind it."""
        for op, found in tree:
            start = self._node(str(op), found, start, flags)
        return start

    def _node(self, op: str, found: Any, start: int, flags: int) -> int:
        match op:
            case "SUBPATTERN":
                _, more, less, below = found
                return self._sequence(below, start, (flags | more) & ~less)
            case "BRANCH":
                ends = []
                for below in found[1]:
                    first = self._after(start)
                    ends.append(self._sequence(below, first, flags))
                return self._join(ends)
            case "MAX_REPEAT" | "MIN_REPEAT":
                return self._repeat(found, start, flags)
            case "AT":
                state = self._after(start)
                self._looks[state] = _look(str(found), flags)
                return self._after(state)
        state = self._state(_test(op, found, flags))
        self._next[start].append(state)
        end = self._state()
        self._next[state].append(end)
        return end

    def _repeat(self, found: Any, start: int, flags: int) -> int:
        low, high, below = found
        for _ in range(low):
            start = self._sequence(below, self._after(start), flags)
        if high == _UNBOUNDED:
            loop = self._after(start)
            again = self._sequence(below, self._after(loop), flags)
            self._next[again].append(loop)
            return self._after(loop)
        ends = [start]
        for _ in range(high - low):
            start = self._sequence(below, self._after(start), flags)
            ends.append(start)
        return self._join(ends)

    def _after(self, state: int) -> int:
        after = self._state()
        self._next[state].append(after)
        return after

    def _join(self, ends: list[int]) -> int:
        joined = self._state()
        for end in ends:
            self._next[end].append(joined)
        return joined


def _kind(before: str) -> str:
    """All that looks back can tell of a character."""
    if before in ("", "\n"):
        return before
    return "w" if before in _WORD else " "


def _look(name: str, flags: int) -> str:
    if flags & re.MULTILINE and name in ("AT_BEGINNING", "AT_END"):
        return f"{name}_LINE"
    return name


def _holds(look: str, before: str, after: str) -> bool:
    match look:
        case "AT_BEGINNING" | "AT_BEGINNING_STRING":
            return not before
        case "AT_END" | "AT_END_STRING":
            return not after
        case "AT_BEGINNING_LINE":
            return before in ("", "\n")
        case "AT_END_LINE":
            return after in ("", "\n")
    edge = (before in _WORD) != (after in _WORD)
    return edge if look == "AT_BOUNDARY" else not edge


def _test(op: str, found: Any, flags: int) -> Test:
    """What a character must be."""
    match op:
        case "LITERAL":
            test: Test = chr(found).__eq__
        case "NOT_LITERAL":
            test = chr(found).__ne__
        case "ANY":
            return (lambda char: True) if flags & re.DOTALL else "\n".__ne__
        case "IN":
            test = _set(found)
        case _:
            raise NotImplementedError(op)
    if flags & re.IGNORECASE:
        plain = test
        return lambda char: plain(char) or plain(char.lower()) or plain(char.upper())
    return test


def _set(items: Any) -> Test:
    negated = False
    tests: list[Test] = []
    for op, found in items:
        match str(op):
            case "NEGATE":
                negated = True
            case "LITERAL":
                tests.append(chr(found).__eq__)
            case "RANGE":
                tests.append(_range(chr(found[0]), chr(found[1])))
            case "CATEGORY":
                tests.append(_category(str(found)))
            case other:
                raise NotImplementedError(other)
    return lambda char: any(test(char) for test in tests) != negated


def _range(low: str, high: str) -> Test:
    return lambda char: low <= char <= high


def _category(name: str) -> Test:
    _, _, what = name.partition("CATEGORY_")
    chars = {"DIGIT": _DIGITS, "SPACE": _SPACE, "WORD": _WORD}[what.removeprefix("NOT_")]
    return (lambda char: char not in chars) if what.startswith("NOT_") else chars.__contains__
