"""The properties by name, and what it is to object."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple, TypeAlias

from simulation.history import History

__all__ = ["PROPERTIES", "Objection", "Property", "judge", "law"]

Check: TypeAlias = Callable[[History], Iterator[str]]


class Property(NamedTuple):
    """One thing that must hold whatever happens."""

    number: int
    name: str
    sentence: str
    check: Check


class Objection(NamedTuple):
    """A property that did not hold."""

    name: str
    sentence: str
    detail: str

    def __str__(self) -> str:
        return f"{self.name}: {self.sentence}\n    {self.detail}"


PROPERTIES: dict[str, Property] = {}


def law(number: int, sentence: str) -> Callable[[Check], Check]:
    """Register a function that gives a line for each time that the sentence does not hold."""

    def register(check: Check) -> Check:
        PROPERTIES[check.__name__] = Property(number, check.__name__, sentence, check)
        return check

    return register


def judge(history: History) -> list[Objection]:
    """What does not hold, by the number of the property; the first detail of each."""
    found = []
    for each in sorted(PROPERTIES.values()):
        detail = next(each.check(history), None)
        if detail is not None:
            found.append(Objection(each.name, each.sentence, detail))
    return found
