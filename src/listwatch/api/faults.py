"""The base of all our exceptions, and those that need no server to be raised."""

from __future__ import annotations

__all__ = ["InvalidOptions", "ListWatchError", "MalformedObject", "SelectorError"]


class ListWatchError(Exception):
    """The base of every exception that this library raises on its own account."""


class MalformedObject(ListWatchError, ValueError):
    """Bytes or values that should be a Kubernetes object, or its key, and are not."""


class InvalidOptions(ListWatchError, ValueError):
    """A request has options that no server can take; the message names the option."""


class SelectorError(ListWatchError, ValueError):
    """A label or field selector that does not parse (A4).

    `text` is the selector, `position` the place in it, from 0, `problem` the sentence.
    """

    def __init__(self, problem: str, text: str, position: int) -> None:
        super().__init__(problem, text, position)
        self.problem = problem
        self.text = text
        self.position = position

    def __str__(self) -> str:
        return f"selector {self.text!r}, at position {self.position}: {self.problem}"
