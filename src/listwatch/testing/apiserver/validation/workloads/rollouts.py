"""How workloads replace their pods, and how many at a time: a number or a part of them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from ..basics import non_negative
from ..checks import Value
from ..internal_values import internal
from ..problems import (
    Problem,
    forbidden_field,
    invalid_field,
    required_field,
    unsupported_field,
)

__all__ = [
    "amount_of",
    "amount_problems",
    "daemon_set_strategy_problems",
    "deployment_strategy_problems",
    "stateful_set_strategy_problems",
    "too_large_problems",
]

_PERCENT = "[0-9]+%"
_PERCENT_TEXT = (
    "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or "
    f"'93%', regex used for validation is '{_PERCENT}')"
)
_MOST = 2**63 - 1
_MOST_DIGITS = 18
_is_integer = re.compile("[+-]?[0-9]+").fullmatch
_is_percent = re.compile(_PERCENT).fullmatch


def amount_problems(field: str, value: int | str | None) -> Iterator[Problem]:
    """A number of pods that is not negative, or a percentage."""
    if not isinstance(value, str):
        yield from non_negative(field, value)
    elif not _is_percent(value):
        yield invalid_field(field, value, _PERCENT_TEXT, named=True)


def too_large_problems(field: str, value: int | str | None) -> Iterator[Problem]:
    """More than all of them, where it is a percentage."""
    if isinstance(value, str) and _is_percent(value) and amount_of(value) > 100:
        yield invalid_field(field, value, "must not be greater than 100%")


def amount_of(value: int | str | None) -> int:
    """Its number, of a percentage too; 0 for a text without one."""
    if not isinstance(value, str):
        return value or 0
    digits = value.removesuffix("%") if _is_percent(value) else value
    if not _is_integer(digits):
        return 0
    if len(digits.lstrip("+-0")) > _MOST_DIGITS:
        return -_MOST if digits.startswith("-") else _MOST
    return int(digits)


def _shown(kind: str, strategy: Value) -> dict[str, Any]:
    """As the real server shows it. Amounts are no pointers there: none is 0."""
    shown: dict[str, Any] = internal(f"apps.v1.{kind}", strategy)
    rolling = shown["RollingUpdate"]
    if rolling is not None:
        rolling = {name: found or 0 for name, found in rolling.items()}
    return {**shown, "RollingUpdate": rolling}


def deployment_strategy_problems(strategy: Value, path: str) -> Iterator[Problem]:
    rolling = strategy.get("rollingUpdate")
    match strategy.get("type"):
        case "Recreate":
            if rolling is not None:
                text = "may not be specified when strategy `type` is 'Recreate'"
                yield forbidden_field(f"{path}.rollingUpdate", text)
        case "RollingUpdate":
            yield from _deployment_update(rolling or {}, f"{path}.rollingUpdate")
        case _:
            shown = _shown("DeploymentStrategy", strategy)
            yield unsupported_field(path, shown, ["Recreate", "RollingUpdate"])


def _deployment_update(rolling: Value, path: str) -> Iterator[Problem]:
    unavailable, surge = rolling.get("maxUnavailable"), rolling.get("maxSurge")
    yield from amount_problems(f"{path}.maxUnavailable", unavailable)
    yield from amount_problems(f"{path}.maxSurge", surge)
    if not amount_of(unavailable) and not amount_of(surge):
        text = "may not be 0 when `maxSurge` is 0"
        yield invalid_field(f"{path}.maxUnavailable", unavailable, text, named=True)
    yield from too_large_problems(f"{path}.maxUnavailable", unavailable)


def daemon_set_strategy_problems(strategy: Value, path: str) -> Iterator[Problem]:
    match strategy.get("type"):
        case "OnDelete":
            pass
        case "RollingUpdate":
            yield from _daemon_set_update(
                strategy.get("rollingUpdate") or {}, f"{path}.rollingUpdate"
            )
        case _:
            shown = _shown("DaemonSetUpdateStrategy", strategy)
            yield unsupported_field(path, shown, ["RollingUpdate", "OnDelete"])


def _daemon_set_update(rolling: Value, path: str) -> Iterator[Problem]:
    unavailable, surge = rolling.get("maxUnavailable"), rolling.get("maxSurge")
    for check in (amount_problems, too_large_problems):
        yield from check(f"{path}.maxUnavailable", unavailable)
        yield from check(f"{path}.maxSurge", surge)
    if amount_of(unavailable) and amount_of(surge):
        text = "may not be set when maxUnavailable is non-zero"
        yield invalid_field(f"{path}.maxSurge", surge, text)
    elif not amount_of(unavailable) and not amount_of(surge):
        yield required_field(f"{path}.maxUnavailable", "cannot be 0 when maxSurge is 0")


def stateful_set_strategy_problems(strategy: Value, path: str) -> Iterator[Problem]:
    rolling = strategy.get("rollingUpdate")
    match strategy.get("type"):
        case "RollingUpdate":
            if rolling is not None:
                field = f"{path}.rollingUpdate.partition"
                yield from non_negative(field, rolling.get("partition"))
        case "OnDelete":
            if rolling is not None:
                text = "only allowed for updateStrategy 'RollingUpdate'"
                yield invalid_field(f"{path}.rollingUpdate", _stateful_set_shown(rolling), text)
        case _:
            shown = {"Type": strategy.get("type") or "", "RollingUpdate": None}
            if rolling is not None:
                shown["RollingUpdate"] = _stateful_set_shown(rolling)
            yield invalid_field(path, shown, "must be 'RollingUpdate' or 'OnDelete'")


def _stateful_set_shown(rolling: Value) -> dict[str, Any]:
    return {"Partition": rolling.get("partition") or 0, "MaxUnavailable": None}
