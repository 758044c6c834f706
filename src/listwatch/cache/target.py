"""What a reflector fills."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol, TypeVar

from listwatch.api import Event

from .store import Replaced, Report
from .undecodable import Undecodable

__all__ = ["ReflectorTarget"]

T = TypeVar("T")


class ReflectorTarget(Protocol[T]):
    """What a reflector fills; a Store is one. Each call is one step: a reader sees all of it or
    nothing.
    """

    @property
    def resource_version(self) -> str:
        """The state that it shows; empty before the first set."""
        ...

    @property
    def epoch(self) -> int:
        """How often the history began anew (H18)."""
        ...

    @property
    def late_writes(self) -> int:
        """How many events were dropped since their state was old (I3)."""
        ...

    @property
    def undecodable(self) -> Mapping[str, Undecodable]:
        """The objects that are kept raw, by key (H10)."""
        ...

    def __len__(self) -> int: ...

    def known(self, key: str, /) -> T | Undecodable | None:
        """What is there under this key."""
        ...

    def apply(
        self, events: Sequence[Event[T]], *, moves_rv: bool = True, report: Report | None = None
    ) -> object:
        """Take events in; the RV moves to the last one's if `moves_rv`.

        Raises `MalformedObject`, with nothing changed, where a key cannot be read.
        """
        ...

    def replace(
        self,
        items: Iterable[T | Undecodable],
        resource_version: str,
        *,
        new_epoch: bool = False,
        report: Report | None = None,
    ) -> Replaced[T]:
        """Take a whole set in place of what is there."""
        ...

    def bookmark(self, resource_version: str, /) -> None:
        """Nothing has changed up to this RV (H13)."""
        ...

    def resync(self) -> None:
        """Tell again of what is there (H11)."""
        ...
