"""Answers that are one object, in the form that the client asked for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ..messages import Answer
from ..storage.log import StoredObject
from .object_negotiation import not_acceptable
from .presentation import warning_header
from .views import View
from .warnings import recorded

__all__ = ["object_answer", "warning_headers"]


def object_answer(
    view: View,
    found: StoredObject | Mapping[str, Any],
    status: int = 200,
    warnings: Iterable[str] = (),
) -> Answer:
    """`found`, stored or as it would be. Raises `Refused`: 406, since what has been done is not
    undone by a form that cannot be had.
    """
    if view.list_not_one:
        raise not_acceptable(view.list_not_one)
    if not isinstance(found, StoredObject):
        metadata = found["metadata"]
        key = (metadata.get("namespace", ""), metadata["name"])
        found = StoredObject(key, found, 0)
    return Answer(status=status, body=view.one(found) + b"\n", headers=warning_headers(warnings))


def warning_headers(warnings: Iterable[str]) -> tuple[tuple[str, str], ...]:
    return tuple(map(warning_header, recorded(warnings)))
