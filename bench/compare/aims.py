"""What was aimed at, and what was reached."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from .figures import Line, lines_of
from .play import Outcome

__all__ = ["Figures", "aims"]

_Number = float | None


class Figures:
    """Finds a figure by scene and part; None where that was not played."""

    def __init__(self, outcomes: list[Outcome], imports: tuple[float, float] | None) -> None:
        self.imports = imports
        self._lines: dict[str, dict[str, Line]] = {
            outcome.scene.name: {line.name: line for line in lines_of(outcome)}
            for outcome in outcomes
        }

    def line(self, scene: str, name: str) -> Line | None:
        return self._lines.get(scene, {}).get(name)

    def go(self, scene: str, case: str) -> _Number:
        line = self.line(scene, f"listwatch/{case}")
        return None if line is None else line.go

    def rust(self, scene: str, case: str) -> _Number:
        line = self.line(scene, f"listwatch/{case}")
        return None if line is None else line.rust

    def kept(self, case: str, *, of: str = "") -> _Number:
        """Kept an object by us: in bytes, or as a part of what client-go keeps in the case `of`."""
        ours = self.line("list", f"listwatch/{case}")
        if ours is None or not of:
            return None if ours is None else ours.kept
        theirs = self.line("list", f"client-go/{of}")
        return None if theirs is None else ours.kept / theirs.kept

    def peak(self, scene: str, case: str) -> _Number:
        line = self.line(scene, f"listwatch/{case}")
        return None if line is None else line.peak


@dataclass(frozen=True, slots=True)
class Aim:
    """One line: what was aimed at, and where to find what was reached."""

    what: str
    least: float
    aim: float
    find: Callable[[Figures], _Number]
    unit: str = "x"
    small: bool = False
    """Whether less is better."""

    def row(self, figures: Figures) -> tuple[str, ...]:
        found = self.find(figures)
        if found is None:
            return (self.what, self._text(self.least), self._text(self.aim), "", "not measured")
        better = (lambda a, b: a <= b) if self.small else (lambda a, b: a >= b)
        verdict = (
            "aim"
            if better(found, self.aim)
            else "at least"
            if better(found, self.least)
            else "missed"
        )
        return (self.what, self._text(self.least), self._text(self.aim), self._text(found), verdict)

    def _text(self, value: float) -> str:
        if self.unit == "B":
            return f"{value:,.0f} B"
        return f"{value:.2f}x" if self.small else f"{value:.1f}x"


_AIMS = (
    Aim(
        "informer, default store, one index, a handler that reads name and RV, vs client-go",
        10,
        20,
        lambda f: f.go("pods", "informer"),
    ),
    Aim("the same vs kube-rs's reflector", 3, 5, lambda f: f.rust("pods", "informer")),
    Aim(
        "the same, handler reads `status.phase`, vs client-go",
        8,
        12,
        lambda f: f.go("pods", "informer-phase"),
    ),
    Aim(
        "the same, handler decodes each whole into a Struct, vs client-go",
        6,
        9,
        lambda f: f.go("pods", "informer-decode"),
    ),
    Aim(
        "`async for` over `client.watch`, vs client-go's typed watch",
        12,
        20,
        lambda f: f.go("pods", "watch"),
    ),
    Aim(
        "typed store, vs client-go's typed informer",
        6,
        10,
        lambda f: f.go("pods", "informer-typed"),
    ),
    Aim(
        "metadata-only informer, vs client-go's",
        10,
        15,
        lambda f: f.go("pods", "informer-metadata"),
    ),
    Aim(
        "`listwatch.sync`, blocking iterator, vs client-go's typed watch",
        6,
        10,
        lambda f: f.go("pods", "sync"),
    ),
    Aim("LIST into the cache, vs client-go", 5, 8, lambda f: f.go("list", "list")),
    Aim("LIST into the cache, vs kube-rs", 3, 4, lambda f: f.rust("list", "list")),
    Aim(
        "kept a pod, default store, vs client-go",
        0.55,
        0.5,
        lambda f: f.kept("list", of="list"),
        small=True,
    ),
    Aim(
        "kept a pod, compact, vs client-go",
        0.25,
        0.12,
        lambda f: f.kept("list-compact", of="list"),
        small=True,
    ),
    Aim(
        "kept a pod, metadata only",
        2200,
        1000,
        lambda f: f.kept("list-metadata"),
        unit="B",
        small=True,
    ),
    Aim(
        "the same, compact",
        2200,
        1000,
        lambda f: f.kept("list-metadata-compact"),
        unit="B",
        small=True,
    ),
    Aim(
        "peak during LIST, vs what is kept", 1.3, 1.2, lambda f: f.peak("list", "list"), small=True
    ),
    Aim(
        "peak during a relist with few changes, vs what is kept",
        1.3,
        1.2,
        lambda f: f.peak("relist", "relist"),
        small=True,
    ),
    Aim(
        "`import listwatch`, vs `import asyncio, msgspec`",
        1.6,
        1.3,
        lambda f: f.imports and f.imports[0],
        small=True,
    ),
    Aim(
        "`from listwatch import Client`, vs the same (not asked: `import listwatch` is lazy)",
        1.6,
        1.3,
        lambda f: f.imports and f.imports[1],
        small=True,
    ),
)


def aims(figures: Figures) -> list[tuple[str, ...]]:
    """The table, with its head."""
    head = ("", "at least", "aim", "reached", "")
    return [head, *(aim.row(figures) for aim in _AIMS)]
