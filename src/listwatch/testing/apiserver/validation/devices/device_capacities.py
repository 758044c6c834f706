"""How much of a device one claim may ask for, of devices that several share."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction

from ...types.quantities import quantity_value
from ..checks import Value
from ..problems import Problem, forbidden_field, invalid_field, required_field
from .device_names import unique

__all__ = ["capacity_problems"]

_MOST_VALUES = 10


def capacity_problems(several: bool, field: str, capacity: Value) -> Iterator[Problem]:
    """`several`: whether the device can be shared at all."""
    policy = capacity.get("requestPolicy")
    if policy is None:
        return
    path = f"{field}.requestPolicy"
    if not several:
        yield forbidden_field(path, "allowMultipleAllocations must be true")
        return
    values, range_ = policy.get("validValues") or [], policy.get("validRange")
    default = policy.get("default")
    if values and range_ is not None:
        text = (
            'exactly one policy can be specified, cannot specify "validValues" and "validRange" at '
            "the same time"
        )
        yield forbidden_field(path, text)
    elif values or range_ is not None:
        name = "validValues" if values else "validRange"
        if default is None:
            yield required_field(f"{path}.default", f"required when {name} is defined")
        elif values:
            most = capacity.get("value") or "0"
            yield from _valid_values(f"{path}.validValues", values, default, most)
        elif range_ is not None:
            yield from _valid_range(f"{path}.validRange", range_, default, capacity.get("value"))


def _valid_values(field: str, values: list[str], default: str, most: str) -> Iterator[Problem]:
    amounts = [quantity_value(value) for value in values]
    for at in range(1, len(values)):
        if amounts[at - 1] > amounts[at]:
            text = "values must be sorted in ascending order"
            yield invalid_field(f"{field}[{at}]", values[at], text)

    def option(path: str, value: str) -> Iterator[Problem]:
        if quantity_value(value) > quantity_value(most):
            text = f"option is larger than capacity value: {most}"
            yield invalid_field(path, value, text)

    yield from unique(
        field, values, _MOST_VALUES, option, lambda value: str(math.ceil(quantity_value(value)))
    )
    if len(values) > _MOST_VALUES or quantity_value(default) not in amounts:
        text = "default value is not valid according to the requestPolicy"
        yield invalid_field(field, default, text)


def _valid_range(
    field: str, range_: Value, default: str, capacity: str | None
) -> Iterator[Problem]:
    least, most, step = (range_.get(name) for name in ("min", "max", "step"))
    capacity = capacity or "0"
    if least is None:
        yield required_field(f"{field}.min", "required when validRange is defined")
        return
    low, whole, wanted = (quantity_value(text) for text in (least, capacity, default))
    if low > whole:
        text = f"min is larger than capacity value: {capacity}"
        yield invalid_field(f"{field}.min", least, text)
    if wanted < low:
        yield invalid_field(f"{field}.min", default, f"default is less than min: {least}")
    if most is not None:
        high = quantity_value(most)
        if low > high:
            yield invalid_field(f"{field}.max", least, f"min is larger than max: {most}")
        if high > whole:
            text = f"max is larger than capacity value: {capacity}"
            yield invalid_field(f"{field}.max", most, text)
        if wanted > high:
            yield invalid_field(f"{field}.max", default, f"default is more than max: {most}")
    if step is not None:
        yield from _steps(f"{field}.step", (default, most), least, step, whole, capacity)


def _steps(
    field: str,
    values: tuple[str, str | None],
    least: str,
    step: str,
    whole: Fraction,
    capacity: str,
) -> Iterator[Problem]:
    low, size = quantity_value(least), quantity_value(step)
    if low + size > whole:
        text = f"one step {_shown_sum(low + size)} is larger than capacity value: {capacity}"
        yield invalid_field(field, step, text)
    for value in values:
        if value is None or not math.ceil(size):
            continue
        if (math.ceil(quantity_value(value)) - math.ceil(low)) % math.ceil(size):
            text = f"value is not a multiple of a given step ({step}) from ({least})"
            yield invalid_field(field, value, text)


def _shown_sum(value: Fraction) -> str:
    return str(value.numerator) if value.denominator == 1 else str(float(value))
