"""Refusals, in the words of the real server."""

from __future__ import annotations

from typing import Any

from .messages import Answer
from .reading.encoding import go_json

__all__ = ["Refused", "done", "failure", "success"]

_SUCCESS = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success"}


class Refused(Exception):
    """Ends the handling of a request with this answer. Raised anywhere in the core, caught in
    `handle`.
    """

    def __init__(self, answer: Answer) -> None:
        super().__init__(answer.body.decode("utf-8", "replace"))
        self.answer = answer


def failure(
    code: int,
    reason: str,
    message: str,
    *,
    details: dict[str, Any] | None = None,
    headers: tuple[tuple[str, str], ...] = (),
    metadata: dict[str, Any] | None = None,
) -> Answer:
    """A Status of failure. An empty reason is left out, as the real server does for plain errors
    (500). `metadata` is empty but for an expired list, which has a `continue` in it.
    """
    status: dict[str, Any] = {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": metadata or {},
        "status": "Failure",
        "message": message,
    }
    if reason:
        status["reason"] = reason
    if details is not None:
        status["details"] = details
    status["code"] = code
    return Answer(status=code, body=go_json(status) + b"\n", headers=headers)


def success(details: dict[str, Any]) -> Answer:
    """The Status that a DELETE answers (K33)."""
    return Answer(status=200, body=go_json({**_SUCCESS, "details": details}) + b"\n")


def done() -> Answer:
    """The Status that those POSTs answer that make no object, such as an eviction (K36)."""
    return Answer(status=201, body=go_json({**_SUCCESS, "code": 201}) + b"\n")
