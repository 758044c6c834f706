"""RetryWatcher: a watch that goes on where it was, whatever ends the one below it (L1, L2)."""

from __future__ import annotations

from random import Random
from types import TracebackType
from typing import TypeVar

from listwatch.watch import StreamWatcher

from ._chain import Chain
from .liveness import Liveness
from .pacing import Pacing
from .protocols import AsyncWatcher

__all__ = ["RetryWatcher"]

T = TypeVar("T")


class RetryWatcher(StreamWatcher[T]):
    """Every event after `resource_version`, in order, each once.

        async with RetryWatcher(source, pods.resource_version) as watch:
            async for event in watch:
                print(event.type, event.object.key)

    - When a watch of `source` ends, is refused, breaks off or falls silent, the next one is opened
      at the last RV that was seen. Bookmarks move that, and are not delivered.
    - Opens are spaced as the rounds of a reflector are: at least 1 s from one to the next, up to
      30 s while nothing comes of them; `Retry-After` is obeyed, up to 300 s. Give it a source that
      repeats nothing by itself, as those of `ListWatch.from_client` are.
    - It ends with an ERROR event, whose `status` says why: the RV has expired (list again, or use
      `Changes`, which does), the server forbids it or does not know who asks, an object has no RV,
      an event is of a type that nobody knows, or the request can never be sent. Nothing else ends
      it but a stop.

    It does not notice that a server's history went back (H18): then it waits, as the server does,
    until the old RV is reached. It is a Watch, for one consumer, of the event loop in which it was
    made. `rng` makes jitter and the time that watches are asked to last. Raises `ValueError` for
    the RVs `""` and `"0"`, which mean no point in history.
    """

    def __init__(
        self,
        source: AsyncWatcher[T],
        resource_version: str,
        *,
        pacing: Pacing | None = None,
        liveness: Liveness | None = None,
        rng: Random | None = None,
    ) -> None:
        if resource_version in ("", "0"):
            raise ValueError(
                f"a RetryWatcher cannot begin at resourceVersion {resource_version!r}, which is no"
                " point in history: list first, and begin at the RV of the list"
            )
        self._chain: Chain[T] = Chain(
            source, resource_version, pacing or Pacing(), liveness or Liveness(), rng or Random()
        )
        super().__init__(self._chain)

    @property
    def resource_version(self) -> str:
        """Where the next watch begins: the RV of the last event of the newest batch, or of a
        bookmark behind it.
        """
        return self._chain.resource_version

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await super().__aexit__(kind, error, traceback)
        await self._chain.left()
