"""Text that terminals show and do not obey."""

from __future__ import annotations

import unicodedata

__all__ = ["printable"]


def printable(line: str) -> str:
    """One line in which nothing is an order to the terminal: the escape character as kubectl writes
    it, others as Python does.

    >>> printable("web\\x1b[31m\\t")
    'web^[[31m\\\\t'
    """
    return line if line.isprintable() else "".join(map(_shown, line))


def _shown(char: str) -> str:
    if char.isprintable() or unicodedata.category(char) == "Zs":
        return char
    return "^[" if char == "\x1b" else repr(char)[1:-1]
