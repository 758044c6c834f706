"""Warnings that a client gets whether or not its write is done."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from ..reading.object_answers import warning_headers
from ..statuses import Refused

__all__ = ["told"]


@contextmanager
def told(warnings: Sequence[str]) -> Iterator[None]:
    """A refusal inside carries what `warnings` holds by then."""
    try:
        yield
    except Refused as refused:
        if not warnings:
            raise
        headers = (*refused.answer.headers, *warning_headers(warnings))
        raise Refused(replace(refused.answer, headers=headers)) from None
