"""What went wrong, as one line for people and an exit code for programs."""

from __future__ import annotations

from listwatch.api import APIError, InvalidOptions, ListWatchError, SelectorError
from listwatch.rest import ConfigError, InvalidRequest, TransportError, UnknownResource
from listwatch.rest.forbidden import NamespaceHint

__all__ = [
    "FAILED",
    "MISUSED",
    "OK",
    "CommandError",
    "UsageError",
    "describe",
    "one_line",
]

OK = 0
FAILED = 1
MISUSED = 2
_LONGEST = 600
"""Characters of a message: a proxy's page would fill the screen."""


class CommandError(Exception):
    """The command cannot do what was asked; the text says why."""


class UsageError(Exception):
    """The command was called in a way that makes no sense."""


def describe(error: Exception, server: str = "") -> tuple[str, int]:
    """One line, and the exit code. `server` is who was asked, as far as that is known."""
    code = FAILED
    match error:
        case SelectorError() | InvalidOptions() | InvalidRequest() | UsageError():
            text = str(error)
            code = MISUSED
        case APIError():
            text = f"the server answered {error}"
        case TransportError() | ConfigError() | UnknownResource() | CommandError():
            text = str(error)
        case ListWatchError():  # the answer is not what it should be: so who gave it?
            text = f"{server}: {error}" if server else str(error)
        case OSError():
            name = f"{error.filename}: " if error.filename else ""
            text = f"{name}{error.strerror or error}"
        case _:
            text = f"a fault in listwatch itself: {type(error).__name__}: {error} (-v shows where)"
    for note in getattr(error, "__notes__", ()):
        text += f"; {note.for_command if isinstance(note, NamespaceHint) else note}"
    return one_line(text), code


def one_line(text: str) -> str:
    """`text` on one line of moderate length, without what a terminal would obey."""
    lines = (line.strip() for line in text.splitlines())
    joined = " ".join(f"{line[2:]};" if line.startswith("- ") else line for line in lines)
    words = "".join(char if char.isprintable() else " " for char in joined).split()
    shown = " ".join(words)
    return shown if len(shown) <= _LONGEST else f"{shown[:_LONGEST].rstrip()}..."
