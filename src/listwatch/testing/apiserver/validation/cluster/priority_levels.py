"""The checks of PriorityLevelConfigurations: how many requests of a level are answered at once."""

from __future__ import annotations

import math
from collections.abc import Iterator

from ..checks import Value
from ..internal_values import internal
from ..problems import (
    Problem,
    forbidden_field,
    invalid_field,
    required_field,
    unsupported_field,
)

__all__ = ["priority_level_problems"]

_EXEMPT, _LIMITED = "Exempt", "Limited"
_MAX_QUEUES = 10_000_000
_MAX_HASH_BITS = 60
_CATCH_ALL: Value = {
    "type": _LIMITED,
    "limited": {
        "nominalConcurrencyShares": 5,
        "limitResponse": {"type": "Reject"},
        "lendablePercent": 0,
    },
}


def priority_level_problems(new: Value) -> Iterator[Problem]:
    spec, name = new.get("spec") or {}, new["metadata"].get("name") or ""
    kind = spec.get("type") or ""
    if (name == "exempt") != (kind == _EXEMPT):
        text = "must be 'Exempt' if and only if `name` is 'exempt'"
        yield invalid_field("spec.type", kind, text)
    exempt, limited = spec.get("exempt"), spec.get("limited")
    if kind == _EXEMPT:
        if limited is not None:
            yield forbidden_field("spec.limited", "must be nil if the type is not Limited")
        if exempt is not None:
            yield from _shares("spec.exempt", exempt)
            yield from _lendable("spec.exempt", exempt)
    elif kind == _LIMITED:
        if exempt is not None:
            yield forbidden_field("spec.exempt", "must be nil if the type is Limited")
        if limited is None:
            yield required_field("spec.limited", "must not be empty when type is Limited")
        else:
            yield from _limited_level(limited)
    elif not kind:
        yield required_field("spec.type")
    else:
        yield unsupported_field("spec.type", kind, (_EXEMPT, _LIMITED))
    yield from _fixed_level(name, spec)


def _fixed_level(name: str, spec: Value) -> Iterator[Problem]:
    text = ""
    if name == "exempt":
        if {key: item for key, item in spec.items() if key != "exempt"} != {"type": _EXEMPT}:
            text = "spec of 'exempt' except the 'spec.exempt' field must equal the fixed value"
    elif name == "catch-all" and spec != _CATCH_ALL:
        text = "spec of 'catch-all' must equal the fixed value"
    if text:
        shown = internal("flowcontrol.v1.PriorityLevelConfigurationSpec", spec)
        yield invalid_field("spec", shown, text)


def _shares(field: str, level: Value) -> Iterator[Problem]:
    shares = level.get("nominalConcurrencyShares")
    if shares is not None and shares < 0:
        path = f"{field}.nominalConcurrencyShares"
        yield invalid_field(path, shares, "must be a non-negative integer")


def _lendable(field: str, level: Value) -> Iterator[Problem]:
    percent = level.get("lendablePercent")
    if percent is not None and not 0 <= percent <= 100:
        path = f"{field}.lendablePercent"
        yield invalid_field(path, percent, "must be between 0 and 100, inclusive")


def _limited_level(level: Value) -> Iterator[Problem]:
    field = "spec.limited"
    yield from _shares(field, level)
    yield from _response(f"{field}.limitResponse", level.get("limitResponse") or {})
    yield from _lendable(field, level)
    percent = level.get("borrowingLimitPercent")
    if percent is not None and percent < 0:
        text = "if specified, must be a non-negative integer"
        yield invalid_field(f"{field}.borrowingLimitPercent", percent, text)


def _response(field: str, response: Value) -> Iterator[Problem]:
    kind, queuing = response.get("type") or "", response.get("queuing")
    if kind == "Reject":
        if queuing is not None:
            text = "must be nil if limited.limitResponse.type is not Limited"
            yield forbidden_field(f"{field}.queuing", text)
    elif kind == "Queue":
        if queuing is None:
            text = "must not be empty if limited.limitResponse.type is Limited"
            yield required_field(f"{field}.queuing", text)
        else:
            yield from _queuing(f"{field}.queuing", queuing)
    elif not kind:
        yield required_field(f"{field}.type")
    else:
        yield unsupported_field(f"{field}.type", kind, ("Queue", "Reject"))


def _queuing(field: str, queuing: Value) -> Iterator[Problem]:
    length, queues, hand = (
        queuing.get(name) or 0 for name in ("queueLengthLimit", "queues", "handSize")
    )
    if length <= 0:
        yield invalid_field(f"{field}.queueLengthLimit", length, "must be positive")
    if queues <= 0:
        yield invalid_field(f"{field}.queues", queues, "must be positive")
    elif queues > _MAX_QUEUES:
        yield invalid_field(f"{field}.queues", queues, f"must not be greater than {_MAX_QUEUES}")
    text = ""
    if hand <= 0:
        text = "must be positive"
    elif hand > queues:
        text = f"should not be greater than queues ({queues})"
    elif math.ceil(math.log2(queues) * hand) > _MAX_HASH_BITS:
        text = (
            f"required entropy bits of deckSize {queues} and handSize {hand} should not be "
            f"greater than {_MAX_HASH_BITS}"
        )
    if text:
        yield invalid_field(f"{field}.handSize", hand, text)
