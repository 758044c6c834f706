"""What is wrong with a value, in the words of the validator inside a real API server."""

from __future__ import annotations

from typing import Any

from ..validation.problems import Problem, go_quoted
from .structural_values import shown

__all__ = [
    "Result",
    "invalid_at",
    "named",
    "of_the_whole",
    "problem_at",
    "too_many",
    "wrong_type",
]


class Result:
    """What is wrong, each once, and how many checks were passed."""

    __slots__ = ("count", "problems")

    def __init__(self, *problems: Problem) -> None:
        self.problems: dict[Problem, None] = dict.fromkeys(problems)
        self.count = 0

    def add(self, problem: Problem | None) -> None:
        if problem is not None:
            self.problems[problem] = None

    def merge(self, other: Result) -> None:
        self.problems.update(other.problems)
        self.count += other.count


def named(path: str) -> str:
    """How a cause names a path."""
    return path.removeprefix(".") if path not in ("", ".") else "<nil>"


def problem_at(path: str, reason: str, value: Any, text: str) -> Problem:
    return Problem(named(path), reason, f"Invalid value: {shown(value)}: {text}")


def invalid_at(path: str, value: Any, text: str) -> Problem:
    """A value that is of the right type, and yet not what it must be."""
    return problem_at(path, "FieldValueInvalid", value, f"{path} in body {text}")


def of_the_whole(text: str) -> Problem:
    """Of the whole object, as these come without a path."""
    return Problem("<nil>", "FieldValueInvalid", f'Invalid value: "": {text}')


def wrong_type(path: str, wanted: str, found: str) -> Problem:
    """A value of another type or format."""
    text = f"{path} in body must be of type {wanted}: {go_quoted(found)}"
    return problem_at(path, "FieldValueTypeInvalid", found, text)


def too_many(path: str, count: int, most: int) -> Problem:
    """A list or a map that has more than it may."""
    text = f"must have at most {most} item{'' if most == 1 else 's'}"
    return Problem(named(path), "FieldValueTooMany", f"Too many: {count}: {text}")
