"""Event: one change, as a watch tells it."""

from __future__ import annotations

from enum import StrEnum
from typing import Generic, TypeVar

from msgspec import Struct

from .meta import PartialObjectMetadata
from .status import Status

__all__ = ["INITIAL_EVENTS_END", "Event", "EventType"]

T = TypeVar("T")

INITIAL_EVENTS_END = "k8s.io/initial-events-end"
"""The annotation, then `"true"`, of the bookmark that ends a WatchList's initial events (H4)."""


class EventType(StrEnum):
    """What happened. Each member equals its word on the wire."""

    ADDED = "ADDED"
    MODIFIED = "MODIFIED"
    DELETED = "DELETED"
    """Gone, or no longer selected: the object's last state, with the RV of the deletion (D5)."""
    BOOKMARK = "BOOKMARK"
    """Nothing happened up to this RV (D4)."""
    ERROR = "ERROR"
    """The server ends the watch, and says why (D3)."""


class Event(Struct, Generic[T], frozen=True):
    """One event of a watch.

    `object` is what the watch's decoder made of the object. There are three exceptions, which a
    program that cares tells by `type` and `error`: on ERROR it is a `Status`, on BOOKMARK a
    `PartialObjectMetadata`, and where the decoder failed on this one object, its raw bytes.
    """

    type: EventType
    object: T
    raw: bytes = b""
    """The object's own JSON as it came; empty where an event was made without one."""
    error: Exception | None = None
    """Set when the decoder failed on this object: `object` is then the raw bytes (D6)."""

    def __repr__(self) -> str:
        # Without the bytes: they would fill the screen.
        told = f", error={self.error!r}" if self.error is not None else ""
        return f"{type(self).__name__}({self.type}, {self.object!r}{told})"

    @property
    def status(self) -> Status | None:
        """The Status of an ERROR event; None for every other type."""
        return (
            self.object
            if isinstance(self.object, Status) and self.type is EventType.ERROR
            else None
        )

    @property
    def is_initial_events_end(self) -> bool:
        """Whether this is the bookmark after which a WatchList has sent all that existed (H4)."""
        if self.type is not EventType.BOOKMARK or not isinstance(
            self.object, PartialObjectMetadata
        ):
            return False
        return self.object.metadata.annotations.get(INITIAL_EVENTS_END) == "true"
