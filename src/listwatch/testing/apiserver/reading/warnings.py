"""Which warnings a client gets of those that there are, and how much of them."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

__all__ = ["recorded"]

_MOST = 4 * 1024
"""Characters of all warnings, beyond which each is cut."""
_EACH = 256
"""Characters of one, where they are cut."""


def recorded(texts: Iterable[str]) -> list[str]:
    """Each once, none that is empty or has control characters: those would make other headers.

    >>> recorded(["a", "", "a", "b\\r\\nSet-Cookie: c"])
    ['a']
    """
    kept = [text for text in dict.fromkeys(texts) if text and not _has_control(text)]
    if sum(map(len, kept)) <= _MOST:
        return kept
    cut: list[str] = []
    written = 0
    for text in kept:
        if written >= _MOST:
            break
        cut.append(text[:_EACH])
        written += len(cut[-1])
    return cut


def _has_control(text: str) -> bool:
    return not text.isprintable() and any(unicodedata.category(char) == "Cc" for char in text)
