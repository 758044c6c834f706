"""How often the fast paths were taken, read from the library's own counters."""

from __future__ import annotations

import functools
from typing import Any

import listwatch.wire.list_decoder
import listwatch.wire.watch

__all__ = ["Counters"]


class Counters:
    """Remembers every decoder of a watch or list that is made from now on, and adds up what they
    say.
    """

    def __init__(self) -> None:
        self._watches: list[Any] = []
        self._lists: list[Any] = []
        _tell_when_made(listwatch.wire.watch.WatchDecoder, self._watches)
        _tell_when_made(listwatch.wire.list_decoder.ListDecoder, self._lists)

    def read(self) -> dict[str, int]:
        """`unusual`: events and items that did not look as usual, so that the general way was
        taken.
        """
        events = sum(made.unusual for made in self._watches)
        items = sum(made.unusual for made in self._lists)
        return {"unusual": events + items, "events": events, "items": items}


def _tell_when_made(made_by: type[Any], into: list[Any]) -> None:
    original = made_by.__init__

    @functools.wraps(original)
    def remembered(self: Any, *given: Any, **named: Any) -> None:
        original(self, *given, **named)
        into.append(self)

    made_by.__init__ = remembered
