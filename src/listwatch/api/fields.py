r"""Field selectors: which objects are meant, by a few of their fields (A4).

Terms `field=value`, `field==value` or `field!=value`, joined by commas; all must hold. In a value
`\,`, `\=` and `\\` stand for a comma, an equals sign and a backslash. Unlike label selectors they
know no sets and no existence, and each type has only a few fields that its server can select by;
which ones, only the server knows.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import Any

from .faults import SelectorError

__all__ = ["FieldOperator", "FieldRequirement", "FieldSelector"]

_OPERATOR = re.compile(r"!=|==?")
_TERM = re.compile(r"(?:[^\\,]|\\.|\\\Z)*", re.DOTALL)
_SPECIAL = re.compile(r"[\\,=]")
_SPACE = re.compile(r"\s")
_UPPER = re.compile(r"(?<=[a-z0-9])([A-Z]+)")


class FieldOperator(StrEnum):
    """How a requirement compares."""

    EQUALS = "="
    NOT_EQUALS = "!="


@dataclass(frozen=True, slots=True)
class FieldRequirement:
    """One requirement: the field at a path such as `spec.nodeName` equals a text, or does not."""

    field: str
    operator: FieldOperator
    value: str

    def matches(self, obj: Any) -> bool:
        """Whether an object meets it; see `FieldSelector.matches`."""
        return (field_value(obj, self.field) == self.value) is (
            self.operator is FieldOperator.EQUALS
        )

    def __str__(self) -> str:
        value = _SPECIAL.sub(lambda match: "\\" + match[0], self.value)
        return f"{self.field}{self.operator.value}{value}"


@dataclass(frozen=True, slots=True)
class FieldSelector:
    r"""A field selector: immutable and hashable. An empty one matches everything, and is false.

    >>> selector = FieldSelector.parse("status.phase!=Failed,spec.nodeName=node-1")
    >>> str(selector)
    'spec.nodeName=node-1,status.phase!=Failed'
    >>> selector.matches({"spec": {"nodeName": "node-1"}, "status": {"phase": "Running"}})
    True
    """

    requirements: tuple[FieldRequirement, ...] = ()
    """Sorted by field."""

    def __post_init__(self) -> None:
        ordered = sorted(set(self.requirements), key=lambda r: (r.field, r.operator, r.value))
        object.__setattr__(self, "requirements", tuple(ordered))

    @classmethod
    def parse(cls, text: str | FieldSelector) -> FieldSelector:
        """Read a selector; one that is parsed already is returned. Raises `SelectorError`."""
        return text if isinstance(text, FieldSelector) else cls(_requirements(text))

    @classmethod
    def from_fields(cls, fields: Mapping[str, str]) -> FieldSelector:
        r"""The selector of objects whose fields have all these values, escaped as need be.

        >>> print(FieldSelector.from_fields({"metadata.name": "a,b"}))
        metadata.name=a\,b
        """
        requirements = []
        for path, value in fields.items():
            requirement = FieldRequirement(path, FieldOperator.EQUALS, value)
            _check_field(path, str(requirement), 0)
            requirements.append(requirement)
        return cls(tuple(requirements))

    def matches(self, obj: Any) -> bool:
        """Whether an object is selected.

        `obj` is an `Unstructured`, a dict in the form of its JSON, a flat mapping from paths to
        texts, or anything with attributes. A field that is absent or null counts as the empty text,
        numbers and booleans as JSON writes them. A server fills some absent fields with a default
        before it compares (`spec.unschedulable` with `false`); that is not imitated here.
        """
        return all(requirement.matches(obj) for requirement in self.requirements)

    def __bool__(self) -> bool:
        return bool(self.requirements)

    def __str__(self) -> str:
        """The canonical text: terms sorted by field, `=` for `==`, values escaped."""
        return ",".join(map(str, self.requirements))


def field_value(obj: Any, path: str) -> str:
    """The field at `path` as a selector sees it: as text, and empty when it is absent."""
    if isinstance(obj, Mapping) and path in obj:
        value = obj[path]
    else:
        value = obj
        for part in path.split("."):
            if value is None:
                break
            value = _child(value, part)
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, (str, int, float)) else ""


def _child(value: Any, part: str) -> Any:
    getter = getattr(value, "get", None)
    if callable(getter):
        return getter(part)
    return getattr(value, _UPPER.sub(lambda match: "_" + match[1].lower(), part), None)


@lru_cache(maxsize=256)
def _requirements(text: str) -> tuple[FieldRequirement, ...]:
    requirements = []
    start = 0
    while start <= len(text):
        match = _TERM.match(text, start)
        end = match.end() if match else len(text)
        if end > start:  # as the servers do, an empty term is passed over
            requirements.append(_requirement(text, start, end))
        start = end + 1
    return tuple(requirements)


def _requirement(text: str, start: int, end: int) -> FieldRequirement:
    operator = _OPERATOR.search(text, start, end)
    if operator is None:
        term = text[start:end]
        hint = " (field selectors know no sets)" if re.search(r"\s(in|notin)\s*\(", term) else ""
        raise SelectorError(f"expected '=', '==' or '!=' in {term!r}{hint}", text, start)
    field = text[start : operator.start()]
    _check_field(field, text, start)
    kind = FieldOperator.NOT_EQUALS if operator[0] == "!=" else FieldOperator.EQUALS
    return FieldRequirement(field, kind, _unescaped(text, operator.end(), end))


def _check_field(field: str, text: str, position: int) -> None:
    if not field:
        raise SelectorError("expected a field path such as 'metadata.name'", text, position)
    if space := _SPACE.search(field):
        raise SelectorError("a field path has no spaces", text, position + space.start())


def _unescaped(text: str, position: int, end: int) -> str:
    value = []
    while position < end:
        char = text[position]
        if char == "=":
            raise SelectorError(r"an '=' inside a value must be written '\='", text, position)
        if char == "\\":
            char = text[position + 1 : position + 2]
            if char not in ("\\", ",", "="):
                raise SelectorError(
                    r"after '\' there must be ',', '=' or another '\'", text, position
                )
            position += 1
        value.append(char)
        position += 1
    return "".join(value)
