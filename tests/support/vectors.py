"""The recorded answers in `tests/vectors`, by name: LISTs, WATCHes, and a few of one object."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from listwatch.testing.recording import Recording

VECTORS = Path(__file__).parent.parent / "vectors"


@cache
def vector(name: str) -> Recording:
    return Recording.load(VECTORS / name)


@cache
def vectors() -> tuple[Recording, ...]:
    """All of them, in the order of their names."""
    return tuple(vector(path.stem) for path in sorted(VECTORS.glob("*.http")))
