"""A place in an object, as `kubectl wait --for jsonpath=` and `status.phase` have it: one value."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

__all__ = ["JSONPath", "text_of"]

_ENDS = ".[]{}="
_FILTER = re.compile(
    r"""\?\(\s*@(?P<path>[^=!<>~]+?)\s*(?P<op>==|!=)\s*
        (?:"(?P<double>[^"]*)"|'(?P<single>[^']*)'|(?P<bare>[^\s'")]+))\s*\)""",
    re.VERBOSE,
)


_SLICE = re.compile(r"(-?[0-9]+)?:(-?[0-9]+)?")
_ALL = slice(None)


@dataclass(frozen=True, slots=True)
class _Where:
    """The items of a list whose value at `path` is, or is not, that text."""

    path: JSONPath
    value: str
    equal: bool


_Step: TypeAlias = str | int | slice | _Where


@dataclass(frozen=True, slots=True)
class JSONPath:
    """Members by name, items of lists by number or by what they hold.

    >>> path, rest = JSONPath.parse('{.status.conditions[?(@.type=="Ready")].status}=True')
    >>> rest, path.values({"status": {"conditions": [{"type": "Ready", "status": "False"}]}})
    ('=True', ['False'])
    """

    text: str
    """As people would write it."""
    steps: tuple[_Step, ...]

    @classmethod
    def parse(cls, text: str, *, several: bool = False) -> tuple[JSONPath, str]:
        r"""The path at the beginning of `text`, with braces or without, and what follows it.

        A dot in a name is written `\.`, or the name as `['a.b']`. Raises `ValueError` for what is
        no path, for `..`, and, unless `several` values are welcome, for `[*]` and slices.
        """
        braced = text.startswith("{")
        reader = _Reader(text, 1 if braced else 0, several=several)
        reader.skip("$")
        steps = reader.steps()
        path = cls(text[1 if braced else 0 : reader.at].removeprefix("$").removeprefix("."), steps)
        if braced:
            reader.expect("}")
        if not steps:
            raise ValueError(f"{text!r} names no member")
        return path, text[reader.at :]

    def values(self, obj: Any) -> list[Any]:
        """What is there: nothing, one value, or several where a filter holds more than once. Null
        is nothing.
        """
        return [value for value in self.values_and_nulls(obj) if value is not None]

    def values_and_nulls(self, obj: Any) -> list[Any]:
        """What is there, with the nulls that are."""
        found = [obj]
        for step in self.steps:
            found = [value for each in found for value in _step(each, step)]
        return found

    def __str__(self) -> str:
        return self.text


class _Reader:
    def __init__(self, text: str, at: int, *, several: bool = False) -> None:
        self._text = text
        self._several = several
        self.at = at

    def skip(self, sign: str) -> bool:
        if not self._text.startswith(sign, self.at):
            return False
        self.at += len(sign)
        return True

    def expect(self, sign: str) -> None:
        if not self.skip(sign):
            raise ValueError(f"{self._text!r} at position {self.at}: {sign} was expected")

    def steps(self) -> tuple[_Step, ...]:
        found: list[_Step] = []
        while self.at < len(self._text):
            if self.skip("["):
                found.append(self._in_brackets())
            elif self._several and self.skip(".*"):
                found.append(_ALL)
            elif self.skip(".") or not found:
                found.append(self._name())
            else:
                break
        return tuple(found)

    def _name(self) -> str:
        name = ""
        while self.at < len(self._text) and self._text[self.at] not in _ENDS:
            self.skip("\\")
            name += self._text[self.at : self.at + 1]
            self.at += 1
        if not name or name == "*":
            raise ValueError(f"{self._text!r} at position {self.at}: a name was expected")
        return name

    def _in_brackets(self) -> _Step:
        rest = self._text[self.at :]
        if quoted := re.match(r"""'([^']*)'|"([^"]*)\"""", rest):
            step: _Step = quoted[1] or quoted[2] or ""
            self.at += quoted.end()
        elif self._several and (some := _SLICE.match(rest)):
            start, end = (int(part) if part else None for part in some.groups())
            step = slice(start, end)
            self.at += some.end()
        elif self._several and rest.startswith("*"):
            step = _ALL
            self.at += 1
        elif number := re.match(r"-?[0-9]+", rest):
            step = int(number[0])
            self.at += number.end()
        elif found := _FILTER.match(rest):
            inner = _Reader(found["path"], 0)
            path = JSONPath(found["path"].removeprefix("."), inner.steps())
            if inner.at < len(found["path"]):
                raise ValueError(f"{self._text!r}: {found['path']!r} is no path")
            value = next(found[part] for part in ("double", "single", "bare") if found[part])
            step = _Where(path, value, found["op"] == "==")
            self.at += found.end()
        else:
            raise ValueError(
                f"{self._text!r} at position {self.at}: expected a number, a name in quotes, or"
                ' a filter such as ?(@.type=="Ready")'
            )
        self.expect("]")
        return step


def _step(value: Any, step: _Step) -> Sequence[Any]:
    match step:
        case str():
            return [value[step]] if isinstance(value, Mapping) and step in value else []
        case int():
            is_there = isinstance(value, list | tuple) and -len(value) <= step < len(value)
            return [value[step]] if is_there else []
        case slice():
            if step == _ALL and isinstance(value, Mapping):
                return [value[name] for name in sorted(value)]
            return _items(value)[step]
        case _Where():
            return [item for item in _items(value) if _holds(item, step)]


def _items(value: Any) -> Sequence[Any]:
    return value if isinstance(value, list | tuple) else ()


def _holds(item: Any, where: _Where) -> bool:
    found = where.path.values(item)
    return len(found) == 1 and (text_of(found[0]) == where.value) == where.equal


def text_of(value: Any) -> str:
    """A value as people write it: `true`, `3`, `Running`."""
    return str(value).lower() if isinstance(value, bool) else str(value)
