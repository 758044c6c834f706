"""Answers in plain text."""

from __future__ import annotations

from .messages import Answer

__all__ = ["NOSNIFF", "not_found_page", "plain_text"]

NOSNIFF = ("X-Content-Type-Options", "nosniff")
"""Goes with plain text and with the authorizer's 403 (K1)."""


def plain_text(status: int, text: str) -> Answer:
    return Answer(
        status=status,
        body=text.encode(),
        content_type="text/plain; charset=utf-8",
        headers=(NOSNIFF,),
    )


def not_found_page() -> Answer:
    """What Go answers for a path that nobody serves (K3)."""
    return plain_text(404, "404 page not found\n")
