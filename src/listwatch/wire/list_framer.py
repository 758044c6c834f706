"""The bytes of a LIST, however they were cut, to its items and what is around them (C8)."""

from __future__ import annotations

from typing import Protocol, TypeAlias

__all__ = ["ListFramer", "Piece"]

Piece: TypeAlias = bytes | memoryview
"""The bytes of one item; a memoryview is of a larger buffer, which it keeps alive."""


class ListFramer(Protocol):
    """Cuts the items out of a list. It holds no more than one item that is not complete, one read,
    and what is outside the items.

    Its methods raise `FrameSyntaxError`, `UnexpectedEOF`, and `ObjectTooLarge` for an item, or what
    is outside the items together, of more than `limit` bytes. After that it is of no further use.
    """

    limit: int

    @property
    def unusual(self) -> int:
        """Items so far whose ends had to be looked for; the last of a body is always one."""
        ...

    @property
    def outside(self) -> bytes:
        """The list without its items, as far as it has come, in the form of a whole list."""
        ...

    def feed(self, data: bytes, /) -> list[Piece]:
        """The items that `data` completes. They may be guessed: who decodes one that is not exactly
        one whole value calls `recut`.
        """
        ...

    def end(self) -> list[Piece]:
        """The items that the end of the body completes. These are certain."""
        ...

    def recut(self, index: int, /) -> list[Piece] | None:
        """Cut again from item `index` of the last answer of `feed`, whose items before that one
        were whole. None where that item was not guessed. The new answer is certain.
        """
        ...
