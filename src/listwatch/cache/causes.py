"""Why a request failed, or a stream ended."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from listwatch.api import (
    APIError,
    Event,
    Expired,
    Forbidden,
    InternalError,
    InvalidOptions,
    ListWatchError,
    NotFound,
    ResourceVersionTooLarge,
    Status,
    TooManyRequests,
    Unauthorized,
    error_for_status,
)
from listwatch.rest import InvalidRequest, UnexpectedContent, UnknownResource
from listwatch.rest.errors import (
    ConfigError,
    ConnectFailed,
    ConnectionRefused,
    CredentialsFailed,
    TLSFailed,
)
from listwatch.wire import EncodingUnavailable

__all__ = [
    "ANOTHER_HISTORY",
    "HOPELESS",
    "NEVER_SENT",
    "UNREACHED",
    "Cause",
    "HistoryIsBehind",
    "NoEndMarker",
    "ServedElsewhere",
    "cause_of",
    "cause_of_end",
]


class Cause(StrEnum):
    """Why something ended. The value is for people."""

    CLEAN = "ended by the server"
    IDLE = "silent"
    LOST = "connection lost"
    TIMED_OUT = "timed out"
    REFUSED = "connection refused"
    UNREACHABLE = "server unreachable"
    TLS = "TLS failed"
    CREDENTIALS = "no credentials"
    """None could be had, so that nothing was sent: a plugin or an identity provider failed."""
    EXPIRED = "expired"
    TOO_LARGE = "resourceVersion too large"
    TOO_MANY = "too many requests"
    UNAUTHORIZED = "unauthorized"
    FORBIDDEN = "forbidden"
    NOT_FOUND = "not found"
    UNKNOWN = "unknown resource"
    """Discovery has no such type: the server was not asked for its objects."""
    BAD_REQUEST = "bad request"
    UNSUPPORTED = "not supported"
    """405, 406, 415 and 422."""
    INTERNAL = "internal error"
    SERVER = "server error"
    """Any other answer that is an error."""
    UNREADABLE = "unreadable"
    """A frame, an envelope, a list or a key that cannot be read, or too large a frame (H10)."""
    SOURCE = "source failed"
    """A source that is not ours raised something else."""
    NO_MARKER = "no end of the initial events"
    WENT_BACK = "history went back"
    MOVED = "served elsewhere"
    """The type is served at another version: each object reads otherwise, in the same state."""
    OUT_OF_DATE = "out of date"
    """A consistent read shows another set than the store (K11)."""


class HistoryIsBehind(ListWatchError):
    """The server is at an older RV than we have been, as after a restore from a backup (H18)."""

    def __init__(self, ours: str, theirs: str) -> None:
        super().__init__(f"the server is at resourceVersion {theirs}, and was at {ours} before")


class ServedElsewhere(ListWatchError):
    """The type has another address than the one from which all was read so far."""

    def __init__(self, address: str) -> None:
        super().__init__(f"it is served as {address} now")


class NoEndMarker(ListWatchError):
    """The server began to send the initial events, and did not say when they were over (H5)."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"no bookmark has ended the initial events within {seconds:g} s")


HOPELESS = frozenset(
    {
        Cause.UNAUTHORIZED,
        Cause.FORBIDDEN,
        Cause.NOT_FOUND,
        Cause.UNKNOWN,
        Cause.BAD_REQUEST,
        Cause.TLS,
        Cause.CREDENTIALS,
    }
)
"""What waiting does not mend."""

ANOTHER_HISTORY = frozenset({Cause.WENT_BACK, Cause.MOVED})
"""After these a resourceVersion that is known says nothing of what an object looks like."""

UNREACHED = frozenset(
    {
        Cause.REFUSED,
        Cause.UNREACHABLE,
        Cause.TLS,
        Cause.CREDENTIALS,
        Cause.LOST,
        Cause.TIMED_OUT,
    }
)
"""There was no connection to ask by, or it failed: nobody answered."""

NEVER_SENT = (InvalidRequest, InvalidOptions, EncodingUnavailable)
"""Errors of requests that can never be sent: no repetition mends them."""

_BY_CODE: Mapping[int, Cause] = {
    400: Cause.BAD_REQUEST,
    405: Cause.UNSUPPORTED,
    406: Cause.UNSUPPORTED,
    415: Cause.UNSUPPORTED,
    422: Cause.UNSUPPORTED,
}

_CLASSES: tuple[tuple[type[Exception], Cause], ...] = (
    # The first that fits counts: what is more special stands above.
    (ResourceVersionTooLarge, Cause.TOO_LARGE),
    (Expired, Cause.EXPIRED),
    (TooManyRequests, Cause.TOO_MANY),
    (Unauthorized, Cause.UNAUTHORIZED),
    (Forbidden, Cause.FORBIDDEN),
    (NotFound, Cause.NOT_FOUND),
    (UnknownResource, Cause.UNKNOWN),
    (CredentialsFailed, Cause.CREDENTIALS),
    (ConfigError, Cause.TLS),  # certificates or authorities that cannot be used
    (InternalError, Cause.INTERNAL),
    (ConnectionRefused, Cause.REFUSED),
    (ConnectFailed, Cause.UNREACHABLE),
    (TLSFailed, Cause.TLS),
    (ConnectionRefusedError, Cause.REFUSED),
    (ConnectionError, Cause.LOST),
    (TimeoutError, Cause.TIMED_OUT),
    (EOFError, Cause.LOST),
    (OSError, Cause.UNREACHABLE),
    (UnexpectedContent, Cause.UNREADABLE),
    (HistoryIsBehind, Cause.WENT_BACK),
    (ServedElsewhere, Cause.MOVED),
    (NoEndMarker, Cause.NO_MARKER),
)


def cause_of(error: Exception) -> Cause:
    """What an exception of a LIST, or of opening a WATCH, stands for."""
    if isinstance(error, APIError):
        # An answer of 410 counts as expired whatever its reason says.
        if error.is_expired:
            return Cause.EXPIRED
        if error.code in _BY_CODE:
            return _BY_CODE[error.code]
    for kind, cause in _CLASSES:
        if isinstance(error, kind):
            return cause
    if isinstance(error, APIError):
        return Cause.SERVER
    # Of our own errors those are left that say that an answer makes no sense.
    return Cause.UNREADABLE if isinstance(error, ListWatchError) else Cause.SOURCE


def cause_of_end(event: Event[Any]) -> tuple[Cause, APIError]:
    """What an ERROR event stands for."""
    status = event.status or Status(status="Failure", code=500, reason="InternalError")
    error = error_for_status(status)
    if any(cause.reason == "ClientWatchDecoding" for cause in error.causes):
        return Cause.UNREADABLE, error  # the watcher's own word, not the server's (E2)
    return cause_of(error), error
