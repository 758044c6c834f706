"""Conditions of the common kind, with type, status, reason and the time of the last change."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from .basics import texts
from .checks import Value
from .names import key_problems
from .problems import (
    Problem,
    duplicate_field,
    invalid_field,
    required_field,
    too_long,
    unsupported_field,
)

__all__ = ["conditions_problems"]

_STATES = ("False", "True", "Unknown")
_REASON = "[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?"
_REASON_TEXT = (
    "a condition reason must start with alphabetic character, optionally followed by a string of "
    "alphanumeric characters or '_,:', and must end with an alphanumeric character or '_' (e.g. "
    "'my_name',  or 'MY_NAME',  or 'MyName',  or 'ReasonA,ReasonB',  or 'ReasonA:ReasonB', regex "
    f"used for validation is '{_REASON}')"
)
_is_reason = re.compile(_REASON).fullmatch
_REASON_LENGTH = 1024
_MESSAGE_LENGTH = 32 * 1024


def conditions_problems(field: str, conditions: Sequence[Value] | None) -> Iterator[Problem]:
    """What is wrong with a list of them."""
    seen: set[str] = set()
    for at, condition in enumerate(conditions or ()):
        path = f"{field}[{at}]"
        kind = condition.get("type") or ""
        if kind in seen:
            yield duplicate_field(f"{path}.type", kind)
        seen.add(kind)
        yield from _condition(path, kind, condition)


def _condition(path: str, kind: str, condition: Value) -> Iterator[Problem]:
    yield from texts(f"{path}.type", kind, key_problems(kind))
    status = condition.get("status") or ""
    if status not in _STATES:
        yield unsupported_field(f"{path}.status", status, _STATES)
    generation = condition.get("observedGeneration") or 0
    if generation < 0:
        text = "must be greater than or equal to zero"
        yield invalid_field(f"{path}.observedGeneration", generation, text)
    if not condition.get("lastTransitionTime"):
        yield required_field(f"{path}.lastTransitionTime")
    reason = condition.get("reason") or ""
    if not reason:
        yield required_field(f"{path}.reason")
    elif not _is_reason(reason):
        yield invalid_field(f"{path}.reason", reason, _REASON_TEXT)
    if len(reason) > _REASON_LENGTH:
        yield too_long(f"{path}.reason", _REASON_LENGTH)
    if len((condition.get("message") or "").encode()) > _MESSAGE_LENGTH:
        yield too_long(f"{path}.message", _MESSAGE_LENGTH)
