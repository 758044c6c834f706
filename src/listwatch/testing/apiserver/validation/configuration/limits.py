"""LimitRanges."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from typing import Any

from ...types.quantities import quantity_value
from ..basics import texts
from ..checks import Checks, Value
from ..names import key_problems
from ..pod.resource_names import (
    container_resource_problems,
    may_be_overcommitted,
    resource_name_problems,
)
from ..problems import (
    Problem,
    duplicate_field,
    forbidden_field,
    invalid_field,
    required_field,
)

__all__ = ["CHECKS"]

_TYPES = ("Pod", "Container", "PersistentVolumeClaim")
_MOST_MILLIS = ((1 << 63) - 1) // 1000
_ORDERS = (
    ("min", "max", "min", "min"),
    ("min", "defaultRequest", "defaultRequest", "defaultRequest"),
    ("defaultRequest", "max", "defaultRequest", "defaultRequest"),
    ("defaultRequest", "default", "defaultRequest", "defaultRequest"),
    ("min", "default", "default", "min"),
    ("default", "max", "default", "max"),
)
"""What may not be more than what; the field that is named, and which of the two it shows."""
_WORDS = {
    ("default", "max"): ("default", "max"),
    ("defaultRequest", "default"): ("default request", "default limit"),
}
_NAMED = {"min": "min", "max": "max", "default": "default", "defaultRequest": "default request"}
_Check = Callable[[str, str], Iterator[Problem]]


def _limit_range(new: Value) -> Iterator[Problem]:
    seen = set()
    for at, limit in enumerate((new.get("spec") or {}).get("limits") or ()):
        limit = limit or {}
        path = f"spec.limits[{at}]"
        type = limit.get("type") or ""
        yield from _type_problems(type, f"{path}.type")
        if type in seen:
            yield duplicate_field(f"{path}.type", type)
        seen.add(type)
        yield from _item(type, limit, path)


def _type_problems(type: str, field: str) -> Iterator[Problem]:
    found = key_problems(type)
    yield from texts(field, type, found)
    if not found and "/" not in type and type not in _TYPES:
        yield invalid_field(field, type, "must be a standard limit type or fully qualified")


def _item(type: str, limit: Value, path: str) -> Iterator[Problem]:
    check = container_resource_problems if type in _TYPES[:2] else resource_name_problems
    amounts: dict[str, Mapping[str, Any]] = {}
    for member in ("max", "min", "default", "defaultRequest"):
        found = limit.get(member) or {}
        if type == "Pod" and member.startswith("default"):
            if found:
                text = "may not be specified when `type` is 'Pod'"
                yield forbidden_field(f"{path}.{member}", text)
            found = {}
        amounts[member] = found
        yield from _names(found, check, f"{path}.{member}")
    if type == "PersistentVolumeClaim" and "storage" not in {**amounts["min"], **amounts["max"]}:
        text = "either minimum or maximum storage value is required, but neither was provided"
        yield required_field(f"{path}.limits", text)
    ratios = amounts["maxLimitRequestRatio"] = limit.get("maxLimitRequestRatio") or {}
    yield from _names(ratios, check, f"{path}.maxLimitRequestRatio")
    for name in sorted({name for found in amounts.values() for name in found}):
        given = {member: found[name] for member, found in amounts.items() if name in found}
        yield from _amounts(name, given, path)


def _names(amounts: Mapping[str, Any], check: _Check, path: str) -> Iterator[Problem]:
    for name in sorted(amounts):
        yield from check(f"{path}[{name}]", name)


def _amounts(name: str, given: Mapping[str, str], path: str) -> Iterator[Problem]:
    """What is wrong with the amounts of one resource beside each other."""
    values = {member: quantity_value(amount) for member, amount in given.items()}
    for less, more, named, shown in _ORDERS:
        if less in values and more in values and values[less] > values[more]:
            words = _WORDS.get((less, more), (_NAMED[less], _NAMED[more]))
            text = f"{words[0]} value {given[less]} is greater than {words[1]} value {given[more]}"
            yield invalid_field(f"{path}.{named}[{name}]", given[shown], text)
    ratio = values.get("maxLimitRequestRatio")
    if ratio is not None:
        field, shown = f"{path}.maxLimitRequestRatio[{name}]", given["maxLimitRequestRatio"]
        if ratio < 1:
            yield invalid_field(field, shown, f"ratio {shown} is less than 1")
        if "min" in values and "max" in values:
            yield from _ratio(field, shown, ratio, values["min"], values["max"])
    default, request = values.get("default"), values.get("defaultRequest")
    if None not in (default, request) and default != request and not may_be_overcommitted(name):
        text = (
            f"default value {given['default']} must equal to defaultRequest value "
            f"{given['defaultRequest']} in {name}"
        )
        yield invalid_field(f"{path}.defaultRequest[{name}]", given["defaultRequest"], text)


def _ratio(
    field: str, shown: str, ratio: Fraction, least: Fraction, most: Fraction
) -> Iterator[Problem]:
    """A ratio that can never be reached."""
    whole = [_whole(value) for value in (ratio, least, most)]
    if max(whole) < _MOST_MILLIS:
        ratio_now, low, high = (_whole(value * 1000) for value in (ratio, least, most))
        allowed = ratio_now / 1000
    else:
        allowed, low, high = float(whole[0]), whole[1], whole[2]
    if low:
        limit = high / low
        if allowed > limit:
            text = f"ratio {shown} is greater than max/min = {limit:f}"
            yield invalid_field(field, shown, text)


def _whole(value: Fraction) -> int:
    """Rounded up, away from zero."""
    size = -(-abs(value).numerator // value.denominator)
    return -size if value < 0 else size


CHECKS: dict[str, Checks] = {"limitranges": Checks(_limit_range)}
