"""The watch without events."""

from __future__ import annotations

from collections.abc import AsyncIterator
from types import TracebackType
from typing import Any, Generic, Self, TypeVar

from listwatch.api import Event

__all__ = ["EmptyWatch"]

T = TypeVar("T")


class EmptyWatch(Generic[T]):
    """Ends at once. It stands for a watch that could not be opened for a reason that opening it
    again will mend (B5).
    """

    def __init__(self, broken: Exception | None = None) -> None:
        self.broken = broken
        """That reason, where there is one."""

    async def batches(self) -> AsyncIterator[list[Event[T]]]:
        for batch in _NOTHING:
            yield batch

    async def __aiter__(self) -> AsyncIterator[Event[T]]:
        for event in _NOTHING:
            yield event

    def __repr__(self) -> str:
        return f"EmptyWatch({self.broken!r})"

    def stop(self) -> None:
        """It has ended already."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.stop()


_NOTHING: tuple[Any, ...] = ()
