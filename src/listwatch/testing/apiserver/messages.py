"""What the server core is asked and what it answers: no sockets, no clock, no event loop.

The core decides everything at once and returns one of three things: an `Answer`; a `Later`, where
the real server would wait for a state that may come or not; a `WatchStream`, which goes on. Whoever
owns the time (the HTTP face, or the in-memory transport) looks at their `due` and calls their
`tick`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

__all__ = ["Answer", "Later", "Reaction", "ServerRequest", "WatchStream"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerRequest:
    """A request as it arrived."""

    method: str
    path: str
    """Still percent-encoded, without the query."""
    query: tuple[tuple[str, str], ...] = ()
    """Decoded, in the order in which it came. A bare name has an empty value."""
    headers: Mapping[str, str] = field(default_factory=dict)
    """By name in small letters."""
    body: bytes = b""

    def parameter(self, name: str) -> str | None:
        """The first value of a query parameter, as the real server takes it."""
        return next((value for key, value in self.query if key == name), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A whole answer. How it is cut into chunks is the face's business (K2)."""

    status: int
    body: bytes = b""
    content_type: str | None = "application/json"
    headers: tuple[tuple[str, str], ...] = ()
    """Without those every answer has (Audit-Id, Cache-Control, Content-Type, Date,
    Content-Length, and those of flow control but for 401, K1). One of them given here wins.
    """


class Later(Protocol):
    """An answer that waits for something: a future RV, the end of a time limit."""

    @property
    def due(self) -> float:
        """When `tick` must be called at the latest, on the core's clock, in seconds."""
        ...

    def tick(self) -> Answer | WatchStream | None:
        """The answer, once it is due or what it waited for has come. Called at `due` and after
        `wake`.
        """
        ...

    wake: Callable[[], None] | None
    """Set by the owner of the time; called when `tick` may have an answer before `due`."""

    def close(self) -> None:
        """The client is gone: nothing is to be done for it any more. Idempotent."""
        ...


class WatchStream(Protocol):
    """A watch that was accepted: status 200, a head at once, then frames as they come."""

    content_type: str
    headers: tuple[tuple[str, str], ...]

    wake: Callable[[], None] | None
    """Set by the reader; called, from within the write that caused it, when `take` has something
    new.
    """

    @property
    def due(self) -> float | None:
        """When `tick` must be called for the next bookmark or the end, on the core's clock."""
        ...

    def tick(self) -> None:
        """Do what is due: put a bookmark among the frames, or end the stream."""
        ...

    def take(self) -> list[bytes]:
        """The frames that came since the last call, each a whole event with its newline."""
        ...

    @property
    def ended(self) -> bool:
        """Whether nothing comes after what `take` has still to give: the stream ends cleanly."""
        ...

    def close(self) -> None:
        """The client is gone. Idempotent."""
        ...


Reaction = Answer | Later | WatchStream
