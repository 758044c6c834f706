"""One bug that is put in on purpose."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["Mutation"]


class Mutation(NamedTuple):
    """One bug."""

    name: str
    file: str
    """Below `src/listwatch`."""
    old: str
    new: str
    objects: tuple[str, ...]
    """The properties of which one at least should object."""
