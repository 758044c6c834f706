"""How what cannot be given is refused."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn

from ..statuses import Refused, failure
from ..validation.problems import Problem, invalid

__all__ = ["fail", "refuse"]


def refuse(name: str, problems: Sequence[Problem]) -> None:
    if problems:
        raise invalid("Service", "", name, problems)


def fail(text: str) -> NoReturn:
    details = {"causes": [{"message": text}]}
    message = f"Internal error occurred: {text}"
    raise Refused(failure(500, "InternalError", message, details=details))
