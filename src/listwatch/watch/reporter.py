"""The Status that a watch ends with when its stream cannot be read."""

from __future__ import annotations

from listwatch.api import Status, StatusCause, StatusDetails
from listwatch.wire import EnvelopeError

__all__ = ["UNKNOWN_EVENT_TYPE", "ClientReporter"]

UNKNOWN_EVENT_TYPE = "UnknownEventType"
"""The cause of ours for an event of a type that nobody knows: to read it again will not help."""


class ClientReporter:
    """Reports as client-go does: code 500, reason InternalError, cause ClientWatchDecoding (E2)."""

    def report(self, error: Exception) -> Status:
        message = f"unable to decode an event from the watch stream: {error}"
        reasons = ["UnexpectedServerResponse", "ClientWatchDecoding"]
        if isinstance(error, EnvelopeError) and error.unknown_type:
            reasons.append(UNKNOWN_EVENT_TYPE)
        return Status(
            status="Failure",
            code=500,
            reason="InternalError",
            message=message,
            details=StatusDetails(
                causes=tuple(StatusCause(reason=reason, message=message) for reason in reasons)
            ),
        )
