"""The Status that a watch ends with when its stream cannot be read."""

from __future__ import annotations

from listwatch.api import Status, StatusCause, StatusDetails

__all__ = ["ClientReporter"]


class ClientReporter:
    """Reports as client-go does: code 500, reason InternalError, cause ClientWatchDecoding (E2)."""

    def report(self, error: Exception) -> Status:
        message = f"unable to decode an event from the watch stream: {error}"
        return Status(
            status="Failure",
            code=500,
            reason="InternalError",
            message=message,
            details=StatusDetails(
                causes=(
                    StatusCause(reason="UnexpectedServerResponse", message=message),
                    StatusCause(reason="ClientWatchDecoding", message=message),
                )
            ),
        )
