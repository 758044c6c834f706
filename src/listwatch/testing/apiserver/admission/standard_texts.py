"""How the Pod Security Standards speak of things."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["containers_text", "joined", "many"]


def many(word: str, count: int) -> str:
    return word if count == 1 else f"{word}s"


def joined(items: Sequence[str]) -> str:
    """In quotes, which are not those of Go: nothing in them is escaped."""
    return ", ".join(f'"{item}"' for item in items)


def containers_text(names: Sequence[str]) -> str:
    return f"{many('container', len(names))} {joined(names)}"
