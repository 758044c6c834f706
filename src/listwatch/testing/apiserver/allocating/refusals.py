"""How what cannot be given is refused."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn

from ..validation.problems import Problem, invalid, unforeseen

__all__ = ["fail", "refuse"]


def refuse(name: str, problems: Sequence[Problem]) -> None:
    if problems:
        raise invalid("Service", "", name, problems)


def fail(text: str) -> NoReturn:
    raise unforeseen(text)
