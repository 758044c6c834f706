"""Objects that are alike but for some texts in them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import msgspec

__all__ = ["Template"]

Values: TypeAlias = Mapping[str, str]
_Fill: TypeAlias = Callable[[Values], Any]


class Template:
    """An object's JSON with places to fill: whatever `places` matches.

    >>> Template('{"name": "?a-?b", "labels": {"x": "y"}}', re.compile(r"[?].")).fill(
    ...     {"?a": "web", "?b": "0"}
    ... )
    {'name': 'web-0', 'labels': {'x': 'y'}}
    """

    def __init__(self, text: str, places: re.Pattern[str]) -> None:
        self._places = places
        self._value: Any = msgspec.json.decode(text)
        self._fill = self._compiled(self._value)

    def fill(self, values: Values) -> dict[str, Any]:
        """The object with these values, by place. Parts without places are the same ones in all
        objects, and must not be changed.
        """
        filled: dict[str, Any] = self._value if self._fill is None else self._fill(values)
        return dict(filled)

    def _compiled(self, value: Any) -> _Fill | None:
        """What fills the places in `value`; None where there are none."""
        match value:
            case str():
                return self._text(value)
            case dict():
                return self._members(value)
            case list():
                items = [self._compiled(item) for item in value]
                if not any(items):
                    return None
                pairs = list(zip(value, items, strict=True))
                return lambda values: [fill(values) if fill else item for item, fill in pairs]
        return None

    def _members(self, value: dict[str, Any]) -> _Fill | None:
        fills = {name: self._compiled(member) for name, member in value.items()}
        names = {name: self._text(name) for name in value}
        if any(names.values()):
            entries = [(name, names[name], member, fills[name]) for name, member in value.items()]
            return lambda values: {
                (rename(values) if rename else name): (fill(values) if fill else member)
                for name, rename, member, fill in entries
            }
        changing = [(name, fill) for name, fill in fills.items() if fill]
        if not changing:
            return None

        def filled(values: Values) -> dict[str, Any]:
            members = value.copy()
            for name, fill in changing:
                members[name] = fill(values)
            return members

        return filled

    def _text(self, text: str) -> _Fill | None:
        places = self._places.findall(text)
        if not places:
            return None
        if places == [text]:
            return lambda values: values[text]
        form = self._places.sub("%s", text.replace("%", "%%"))
        return lambda values: form % tuple([values[place] for place in places])
