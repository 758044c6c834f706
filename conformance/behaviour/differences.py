"""What two answers differ in: as few words as tell it, at places that can be listed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from conformance.behaviour.normal import Normal

_LONG, _BEFORE = 120, 30


@dataclass(frozen=True)
class Difference:
    """One place where two answers differ."""

    where: str
    """``status``, ``framing``, ``header Vary``, ``body``, ``body .items[].spec``, ``order .spec``.

    Within managedFields no more is told than that.
    """
    embedded: str
    real: str


def differences(embedded: Normal, real: Normal) -> list[Difference]:
    """All of them, in the order in which one reads an answer."""
    return [Difference(where, *_short(one, other)) for where, one, other in _all(embedded, real)]


_Found = Iterator[tuple[str, Any, Any]]


def _all(embedded: Normal, real: Normal) -> _Found:
    if embedded.status != real.status:
        yield "status", embedded.status, real.status
    yield from _headers(embedded, real)
    if embedded.status != real.status:
        yield "body", embedded.body, real.body
    elif embedded.body != real.body:
        yield from _bodies(embedded.body, real.body)
    if embedded.framing != real.framing:
        yield "framing", embedded.framing, real.framing


def _headers(embedded: Normal, real: Normal) -> _Found:
    names = [name for name, _ in (*real.headers, *embedded.headers)]
    found = False
    # How a body is framed tells its length; it is compared as `framing`.
    for name in dict.fromkeys(names):
        if name not in ("Content-Length", "Transfer-Encoding"):
            one, other = _values(embedded, name), _values(real, name)
            if one != other:
                found = True
                yield f"header {name}", one, other
    if not found:
        one, other = _order(embedded), _order(real)
        if one != other:
            yield "order of headers", one, other


def _values(answer: Normal, name: str) -> list[str]:
    return [value for key, value in answer.headers if key == name]


def _order(answer: Normal) -> list[str]:
    framing = ("Content-Length", "Transfer-Encoding")
    return [name for name, _ in answer.headers if name not in framing]


def _bodies(embedded: str, real: str) -> _Found:
    one, other = _documents(embedded), _documents(real)
    if one is None or other is None or len(one) != len(other):
        yield "body", embedded, real
        return
    seen: set[str] = set()
    for place, left, right in _values_differ("", one, other):
        if place not in seen:
            seen.add(place)
            yield f"body {place}".rstrip(), left, right
    if not seen:
        for place, left, right in _orders_differ("", one, other):
            if place not in seen:
                seen.add(place)
                yield f"order {place}", left, right
    if not seen and len(embedded) != len(real):
        yield "format", embedded, real


def _documents(text: str) -> list[Any] | None:
    try:
        return [json.loads(text, object_hook=_sorted_managers)]
    except ValueError:
        pass
    try:
        return [json.loads(line, object_hook=_sorted_managers) for line in text.splitlines()]
    except ValueError:
        return None


def _sorted_managers(value: dict[str, Any]) -> dict[str, Any]:
    """managedFields are sorted by their times first, which are those of the run."""
    entries = value.get("managedFields")
    if isinstance(entries, list):
        value["managedFields"] = sorted(entries, key=json.dumps)
    return value


def _values_differ(place: str, one: Any, other: Any) -> _Found:
    if isinstance(one, dict) and isinstance(other, dict):
        if one.get("kind") != other.get("kind"):
            yield place, one, other
            return
        for key in dict.fromkeys((*other, *one)):
            left, right = one.get(key, _ABSENT), other.get(key, _ABSENT)
            if key != "managedFields":
                yield from _values_differ(f"{place}.{key}", left, right)
            elif left != right:
                yield f"{place}.{key}", left, right
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        inner = place if place == "" else f"{place}[]"
        for left, right in zip(one, other, strict=True):
            yield from _values_differ(inner, left, right)
    elif one != other or type(one) is not type(other):
        yield place, one, other


def _orders_differ(place: str, one: Any, other: Any) -> _Found:
    if isinstance(one, dict):
        if list(one) != list(other):
            yield place or ".", list(one), list(other)
        for key, value in one.items():
            yield from _orders_differ(f"{place}.{key}", value, other[key])
    elif isinstance(one, list):
        for left, right in zip(one, other, strict=True):
            yield from _orders_differ(place if place == "" else f"{place}[]", left, right)


_ABSENT = "absent"


def _short(one: Any, other: Any) -> tuple[str, str]:
    """Both values as text; of long ones what is around their first difference."""
    left, right = _text(one), _text(other)
    same = next((i for i, (a, b) in enumerate(zip(left, right, strict=False)) if a != b), 0)
    start = max(0, same - _BEFORE) if max(len(left), len(right)) > _LONG else 0
    return _cut(left, start), _cut(right, start)


def _cut(text: str, start: int) -> str:
    before, after = "…" if start else "", "…" if len(text) > start + _LONG else ""
    return before + text[start : start + _LONG] + after


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    return json.dumps(value, default=repr, ensure_ascii=False)
