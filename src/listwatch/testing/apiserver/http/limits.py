"""What a client may take: of bytes and of time. The numbers are kube-apiserver's."""

from __future__ import annotations

from dataclasses import dataclass

from ..messages import Answer

__all__ = ["MAX_BODY", "TOO_SLOW", "Limits"]

MAX_BODY = 3 * 1024 * 1024
"""Bytes of a request's body; more is refused (413)."""

TOO_SLOW = Answer(
    status=504,
    content_type="text/plain; charset=utf-8",
    body=(
        b'{"metadata":{},"status":"Failure","message":"Timeout: request did not complete within the'
        b' allotted timeout","reason":"Timeout","details":{},"code":504}'
    ),
)
"""What the real server says after its 60 s, with neither kind nor version."""


@dataclass(slots=True)
class Limits:
    """How long a client may take, in seconds."""

    handshake: float = 32.0
    head: float = 32.0
    """From the first byte of a request to the end of its head."""
    body: float = 60.0
    """From there to the end of its body."""
    idle: float = 90.0
    """Between two requests."""
    linger: float = 0.5
    """For a client to read a refusal before its connection goes."""
