"""Custom resources: the columns that their definition gives them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any

from msgspec import Raw

from listwatch.api.cells.json_path import JSONPath
from listwatch.api.cells.numbers import go_float
from listwatch.api.cells.reading import UNKNOWN, Obj, span, time_at

from ..encoding import go_json
from .printer import NAME, Column, Printer, name_of

__all__ = ["custom_printer"]

_AGE = {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"}
_NO_TIMES = ("", "null", "0001-01-01T00:00:00Z")
_SMALLEST, _LARGEST = -(2**63), 2**63 - 1


def custom_printer(definitions: Sequence[Mapping[str, Any]]) -> Printer:
    """For the `additionalPrinterColumns` of a version; without any there is its age.

    Columns behind one whose path cannot be read are left out, and it itself.
    """
    columns: list[Column] = [NAME]
    paths: list[JSONPath | None] = []
    for each in definitions or [_AGE]:
        where = str(each.get("jsonPath", ""))
        try:
            paths.append(_path(where))
        except ValueError:
            break
        columns.append(
            Column(
                str(each.get("name", "")),
                str(each.get("description") or f"What a custom resource has at {where}"),
                str(each.get("type", "")),
                str(each.get("format") or ""),
                int(each.get("priority") or 0),
            )
        )
    kinds = [column.type for column in columns[1:]]

    def cells(obj: Obj, now: datetime) -> list[Any]:
        return [
            name_of(obj),
            *(_cell(kind, path, obj, now) for kind, path in zip(kinds, paths, strict=True)),
        ]

    return Printer(tuple(columns), cells)


def _path(text: str) -> JSONPath | None:
    """None: of the whole object, which is never shown."""
    if text == ".":
        return None
    path, rest = JSONPath.parse(text, several=True)
    if rest:
        raise ValueError(f"{text!r} goes on behind the path")
    return path


def _cell(kind: str, path: JSONPath | None, obj: Obj, now: datetime) -> Any:
    """What is at the path, if it is of that type; of several values the first."""
    found = path.values_and_nulls(obj)[:1] if path is not None else []
    if not found:
        return None
    value = found[0]
    match kind:
        case "string":
            return _text(value)
        case "boolean":
            return value if isinstance(value, bool) else None
        case "integer":
            return _integer(value)
        case "number":
            return _number(value)
        case "date":
            return _age(value, now) if isinstance(value, str) else None
    return None


def _text(value: Any) -> str:
    match value:
        case None:
            return "<no value>"
        case bool():
            return "true" if value else "false"
        case float():
            whole = _as_stored(value)
            return str(whole) if isinstance(whole, int) else go_float(value)
        case Mapping():
            return go_json(_sorted(value)).decode()
        case list() | tuple():
            return go_json(_sorted(value)).decode()
    return str(value)


def _sorted(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _sorted(value[name]) for name in sorted(value)}
    if isinstance(value, list | tuple):
        return [_sorted(each) for each in value]
    return value


def _integer(value: Any) -> int | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    whole = int(value)
    return whole if _SMALLEST <= whole <= _LARGEST else _SMALLEST


def _number(value: Any) -> int | float | Raw | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    shown = _as_stored(float(value))
    if isinstance(shown, int) or 1e-4 <= abs(shown) < 1e16:
        return shown
    # As Go writes it: with an exponent later than others, which has a sign.
    if abs(shown) >= 1e21 or abs(shown) < 1e-6:
        return Raw(re.sub("e-0", "e-", go_float(shown)).encode())
    return Raw(f"{Decimal(repr(shown)):f}".encode())


def _as_stored(value: float) -> int | float:
    """JSON has no `.0` in the real server's hands."""
    return int(value) if value.is_integer() and abs(value) < 1e21 else value


def _age(text: str, now: datetime) -> str:
    if text in _NO_TIMES:
        return UNKNOWN
    time = time_at({"time": text}, "time") if "T" in text else None
    return "<invalid>" if time is None else span(time, now)
