"""What can go wrong: the base of all our exceptions, one class per reason of a server (A5)."""

from __future__ import annotations

from typing import ClassVar

from .faults import InvalidOptions, ListWatchError, MalformedObject, SelectorError
from .status import Status, StatusCause, StatusDetails

__all__ = [
    "APIError",
    "AlreadyExists",
    "BadRequest",
    "Conflict",
    "Expired",
    "Forbidden",
    "Gone",
    "InternalError",
    "Invalid",
    "InvalidOptions",
    "ListWatchError",
    "MalformedObject",
    "MethodNotAllowed",
    "NotAcceptable",
    "NotFound",
    "RequestEntityTooLarge",
    "ResourceVersionTooLarge",
    "SelectorError",
    "ServerTimeout",
    "ServiceUnavailable",
    "StorageReadFailed",
    "Timeout",
    "TooManyRequests",
    "Unauthorized",
    "UnsupportedMediaType",
    "error_for_status",
]


class APIError(ListWatchError):
    """A server refused or failed a request, and said so.

    Its subclasses are named after the reasons of Kubernetes. `status` is what the server said, or,
    where the body was no Status, what could be made of it; it is never None. `str()` is one line,
    with the causes that the message does not mention. Pickles.

    >>> error = error_for_status(Status(code=404, reason="NotFound", message='no pod "a"'))
    >>> error
    NotFound('404 NotFound: no pod "a"')
    >>> error.code, error.reason, error.is_expired
    (404, 'NotFound', False)
    """

    reason_word: ClassVar[str] = ""
    """The `reason` that stands for this class on the wire."""

    def __init__(self, status: Status, *, retry_after: float | None = None) -> None:
        super().__init__(status)
        self.status = status
        self._retry_after = retry_after

    @property
    def code(self) -> int:
        """The HTTP status code, as the Status gives it; 0 where it does not."""
        return self.status.code

    @property
    def reason(self) -> str:
        """The server's reason, such as `NotFound`; empty where only the code tells."""
        return self.status.reason

    @property
    def message(self) -> str:
        """The server's own sentence."""
        return self.status.message

    @property
    def details(self) -> StatusDetails:
        """What it is about: name, group, kind, uid, causes. Empty where the server said nothing."""
        return self.status.details

    @property
    def causes(self) -> tuple[StatusCause, ...]:
        """The causes one by one, such as each invalid field."""
        return self.status.details.causes

    @property
    def retry_after(self) -> float | None:
        """Seconds the server asks to wait, by its header or its details; None where it does not."""
        if self._retry_after is not None:
            return self._retry_after
        seconds = self.details.retry_after_seconds
        return float(seconds) if seconds > 0 else None

    @property
    def is_expired(self) -> bool:
        """Whether the RV or `continue` is too old for the server, in whatever form it said so."""
        return _is_expired(self.status)

    def __str__(self) -> str:
        code = str(self.code) if self.code else ""
        reason = self.reason or self.reason_word
        # "Unauthorized" and "Timeout: ..." are messages too: the word need not come twice.
        told = self.message == reason or self.message.startswith(f"{reason}:")
        head = code if told else f"{code} {reason}".strip()
        sign = " " if told else ": "
        line = sign.join(part for part in (head, self.message) if part)
        # A Status of reason Invalid repeats its causes in its message; others (409 of apply, 429 of
        # an eviction) may not.
        more = [_cause_text(cause) for cause in self.causes if not _is_told(cause, line)]
        if more:
            line = f"{line} ({'; '.join(more)})"
        return " ".join(line.split()) or "an error without any description"

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self)!r})"


class BadRequest(APIError):
    """400: the request makes no sense to the server, such as a selector it does not know."""

    reason_word = "BadRequest"


class Unauthorized(APIError):
    """401: no credentials, or ones the server does not accept."""

    reason_word = "Unauthorized"


class Forbidden(APIError):
    """403: the server knows who asks, and does not allow it."""

    reason_word = "Forbidden"


class NotFound(APIError):
    """404: no such object, or no such resource."""

    reason_word = "NotFound"


class MethodNotAllowed(APIError):
    """405: the resource has no such verb."""

    reason_word = "MethodNotAllowed"


class NotAcceptable(APIError):
    """406: the server cannot answer in the media type asked for."""

    reason_word = "NotAcceptable"


class Conflict(APIError):
    """409: somebody else changed the object, or owns the field: read it again, then repeat."""

    reason_word = "Conflict"


class AlreadyExists(APIError):
    """409: an object of that name exists."""

    reason_word = "AlreadyExists"


class Expired(APIError):
    """410: the RV or `continue` is older than what the server remembers; list again."""

    reason_word = "Expired"


class Gone(Expired):
    """410 in its older form; treated as Expired."""

    reason_word = "Gone"


class RequestEntityTooLarge(APIError):
    """413: the object is larger than the server takes: 3 MiB in a request, 1.5 in etcd."""

    reason_word = "RequestEntityTooLarge"


class UnsupportedMediaType(APIError):
    """415: the server cannot read the body in the media type it was sent in."""

    reason_word = "UnsupportedMediaType"


class Invalid(APIError):
    """422: the object or the options fail validation; `causes` names each field."""

    reason_word = "Invalid"


class TooManyRequests(APIError):
    """429: wait (`retry_after`), then ask again."""

    reason_word = "TooManyRequests"


class InternalError(APIError):
    """500: something broke inside the server."""

    reason_word = "InternalError"


class StorageReadFailed(APIError):
    """500: the server cannot read or decode what is in its storage."""

    reason_word = "StorageReadError"


class ServerTimeout(APIError):
    """500: the server could not do it in time, and says that a repetition may work."""

    reason_word = "ServerTimeout"


class ServiceUnavailable(APIError):
    """503: the server, or an aggregated one behind it, cannot answer now."""

    reason_word = "ServiceUnavailable"


class Timeout(APIError):
    """504: the request took too long, says the server; it is no built-in TimeoutError."""

    reason_word = "Timeout"


class ResourceVersionTooLarge(Timeout):
    """504: the RV asked for is newer than what the server has.

    Waiting may not help: its caller then reads consistently, with RV `""`.
    """


_BY_CODE: dict[int, type[APIError]] = {
    400: BadRequest,
    401: Unauthorized,
    403: Forbidden,
    404: NotFound,
    405: MethodNotAllowed,
    406: NotAcceptable,
    409: Conflict,
    410: Expired,
    413: RequestEntityTooLarge,
    415: UnsupportedMediaType,
    422: Invalid,
    429: TooManyRequests,
    503: ServiceUnavailable,
    504: Timeout,
}

_OTHERS: tuple[type[APIError], ...] = (
    AlreadyExists,
    Gone,
    InternalError,
    ServerTimeout,
    StorageReadFailed,
)

_BY_REASON: dict[str, type[APIError]] = {
    known.reason_word: known for known in (*_BY_CODE.values(), *_OTHERS)
}


def error_for_status(status: Status, *, retry_after: float | None = None) -> APIError:
    """The exception for a Status (A5): by its cause, then its reason, then its code.

    `retry_after` is the response's `Retry-After` header in seconds; it goes before what the Status
    says. A reason that is not known here, with a code that is not either, gives a plain `APIError`.
    """
    return class_for_status(status)(status, retry_after=retry_after)


def class_for_status(status: Status) -> type[APIError]:
    if _is_too_large(status):
        return ResourceVersionTooLarge
    if status.reason in _BY_REASON:
        chosen = _BY_REASON[status.reason]
        # "Expired" is code 410 in whatever form, even under a reason that says something else.
        return chosen if status.code != 410 or issubclass(chosen, Expired) else Expired
    if status.code == 410:
        return Expired
    if status.reason not in ("", "Unknown"):
        # A reason from a newer server: its code still tells a 404 or 409, as in client-go.
        return _BY_CODE.get(status.code, APIError)
    return class_for_code(status.code)


def class_for_code(code: int) -> type[APIError]:
    """The class of an HTTP status code that comes without a reason.

    A 5xx that has no class of its own is InternalError, as in client-go.
    """
    if code >= 500:
        return _BY_CODE.get(code, InternalError)
    return _BY_CODE.get(code, APIError)


def _is_expired(status: Status) -> bool:
    return status.code == 410 or status.reason in (Expired.reason_word, Gone.reason_word)


def _is_too_large(status: Status) -> bool:
    causes = status.details.causes
    if any(cause.reason == "ResourceVersionTooLarge" for cause in causes):
        return True
    # Servers before 1.18.6 said it in words only: first in the message, then in that of a cause.
    said = (status.message, *(cause.message for cause in causes))
    return status.reason == Timeout.reason_word and any(
        "Too large resource version" in words for words in said
    )


def _is_told(cause: StatusCause, line: str) -> bool:
    return (not cause.message or cause.message in line) and (not cause.field or cause.field in line)


def _cause_text(cause: StatusCause) -> str:
    return ": ".join(part for part in (cause.field, cause.message or cause.reason) if part)
