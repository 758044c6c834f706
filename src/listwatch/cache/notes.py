"""What a mirror says of its life, for logs and for people: each is one line as text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from ._words import words
from .causes import Cause
from .decisions import Next, Phase

__all__ = ["Listed", "Note", "Setback", "Undecoded", "WatchListGivenUp"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """A whole set has come: the first, or one that replaced another."""

    cause: Cause | None
    """Why it was needed; None for the first."""
    via: str
    """`list` or `watch-list`."""
    count: int
    """Objects in it."""
    added: int
    changed: int
    vanished: int
    seconds: float
    resource_version: str
    new_epoch: bool = False
    """Whether the server's history had gone back (H18)."""

    @property
    def is_first(self) -> bool:
        return self.cause is None

    def __str__(self) -> str:
        if self.cause is None:
            return f"listed {self.count:,} in {self.seconds:.1f} s"
        parts = [
            f"{number:,} {word}"
            for number, word in (
                (self.added, "new"),
                (self.changed, "changed"),
                (self.vanished, "vanished"),
            )
            if number
        ]
        return f"{_relisted(self.cause)}: {', '.join(parts) or 'nothing changed'}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Setback:
    """Something ended: a watch, or a request that was refused. A clean end is one, too."""

    phase: Phase
    cause: Cause
    error: Exception | None
    next: Next
    wait: float | None
    """Seconds until the next request; None where it is made at once."""

    def __str__(self) -> str:
        told = f"{self.phase}: {self.cause}"
        if self.error is not None and words(self.error) != str(self.cause):
            told += f" ({words(self.error)})"
        when = "" if self.wait is None else f" in {self.wait:.1f} s"
        return _one_line(f"{told}; {self.next}{when}")


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchListGivenUp:
    """From now on the source is listed (H19)."""

    phase: Phase
    cause: Cause
    why: str
    """Both, and what the server said, in words."""

    def __str__(self) -> str:
        return _one_line(f"watch-list is given up for now, listing instead: {self.why}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Undecoded:
    """An object is kept raw: its decoder refused it, or it is of another kind (H10)."""

    key: str
    reason: str

    def __str__(self) -> str:
        return _one_line(f"{self.key} cannot be decoded: {self.reason}")


Note: TypeAlias = Listed | Setback | WatchListGivenUp | Undecoded


def _relisted(cause: Cause) -> str:
    match cause:
        case Cause.EXPIRED:
            return "watch expired, relisted"
        case Cause.WENT_BACK:
            return "the server's history went back, relisted"
        case Cause.OUT_OF_DATE:
            return "the mirror was found out of date, relisted"
        case _:
            return f"relisted after '{cause}'"


def _one_line(text: str) -> str:
    """Somebody else's words may have several."""
    return " ".join(text.split())
