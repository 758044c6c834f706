"""What an exception says, with the notes that were added to it on its way."""

from __future__ import annotations

__all__ = ["named_words", "words"]


def words(error: BaseException) -> str:
    """Its text and its notes; its name where it has no text."""
    return "; ".join((str(error) or type(error).__name__, *_notes(error)))


def named_words(error: BaseException) -> str:
    """The same with its name in front."""
    name, text = type(error).__name__, str(error)
    return "; ".join((f"{name}: {text}" if text else name, *_notes(error)))


def _notes(error: BaseException) -> tuple[str, ...]:
    return tuple(getattr(error, "__notes__", ()))
