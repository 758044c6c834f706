"""Checks that many types share: numbers, names, ports, addresses, selectors, quantities."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from ..types.quantities import is_whole
from .names import (
    byte_length,
    key_problems,
    label_name_problems,
    subdomain_problems,
    value_problems,
)
from .problems import (
    Problem,
    forbidden_field,
    go_quoted,
    invalid_field,
    required_field,
    too_long,
    unsupported_field,
)

__all__ = [
    "IMMUTABLE",
    "NOT_NEGATIVE",
    "NO_OPERATOR",
    "POSITIVE",
    "PROTOCOLS",
    "byte_warnings",
    "config_key_problems",
    "driver_name_problems",
    "expression_at",
    "immutable",
    "in_range",
    "label_map",
    "name_at",
    "non_negative",
    "one_of",
    "port_at",
    "port_name_problems",
    "port_number",
    "positive",
    "required",
    "selector_at",
    "subdomain_at",
    "texts",
]

IMMUTABLE = "field is immutable"
NO_OPERATOR = "not a valid selector operator"
NOT_NEGATIVE = "must be greater than or equal to 0"
POSITIVE = "must be greater than zero"
PROTOCOLS = ("SCTP", "TCP", "UDP")
_LONGEST_DRIVER = 63
_CONFIG_KEY = "[-._a-zA-Z0-9]+"
_CONFIG_KEY_TEXT = (
    "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name', "
    f" or 'KEY_NAME',  or 'key-name', regex used for validation is '{_CONFIG_KEY}')"
)
_is_config_key = re.compile(_CONFIG_KEY).fullmatch
_is_port_name = re.compile("[a-z0-9-]+").fullmatch
_has_letter = re.compile("[a-z]").search


def texts(field: str, value: Any, found: Iterable[str]) -> Iterator[Problem]:
    """A problem for each text that says what is wrong with a value."""
    for text in found:
        yield invalid_field(field, value, text)


def required(field: str, value: Any, text: str = "") -> Iterator[Problem]:
    """Unless there is something."""
    if not value:
        yield required_field(field, text)


def non_negative(field: str, value: int | None) -> Iterator[Problem]:
    if value is not None and value < 0:
        yield invalid_field(field, value, NOT_NEGATIVE)


def positive(field: str, value: int | None) -> Iterator[Problem]:
    if value is not None and value <= 0:
        yield invalid_field(field, value, POSITIVE)


def in_range(field: str, value: int | None, least: int, most: int) -> Iterator[Problem]:
    if value is not None and not least <= value <= most:
        yield invalid_field(field, value, f"must be between {least} and {most}, inclusive")


def immutable(field: str, new: Any, old: Any) -> Iterator[Problem]:
    """Where a member differs from the one that it takes the place of."""
    if new != old:
        yield invalid_field(field, new, IMMUTABLE)


def one_of(field: str, value: str | None, supported: Sequence[str]) -> Iterator[Problem]:
    """One of some words, which the real server names in alphabetical order; it must be there."""
    if not value:
        yield required_field(field)
    elif value not in supported:
        yield unsupported_field(field, value, sorted(supported))


def name_at(
    field: str, value: str | None, problems: Callable[[str], Iterable[str]] = label_name_problems
) -> Iterator[Problem]:
    """A name that must be there: a label unless `problems` has other rules."""
    if not value:
        yield required_field(field)
    else:
        yield from texts(field, value, problems(value))


def subdomain_at(field: str, value: str | None) -> Iterator[Problem]:
    yield from name_at(field, value, subdomain_problems)


def driver_name_problems(field: str, name: str | None) -> Iterator[Problem]:
    """What is wrong with the name of a driver, of volumes or of devices; big letters are not."""
    if not name:
        yield required_field(field)
        return
    if byte_length(name) > _LONGEST_DRIVER:
        yield too_long(field, _LONGEST_DRIVER)
    yield from texts(field, name, subdomain_problems(name.lower()))


def port_number(field: str, value: int | None) -> Iterator[Problem]:
    yield from in_range(field, value or 0, 1, 65535)


def port_name_problems(name: str) -> Iterator[str]:
    """What is wrong with the name of a port (RFC 6335)."""
    if byte_length(name) > 15:
        yield "must be no more than 15 characters"
    if not _is_port_name(name):
        yield "must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)"
    if not _has_letter(name):
        yield "must contain at least one letter (a-z)"
    if "--" in name:
        yield "must not contain consecutive hyphens"
    if name and (name[0] == "-" or name[-1] == "-"):
        yield "must not begin or end with a hyphen"


def port_at(field: str, value: int | str | None) -> Iterator[Problem]:
    """A port by its number or its name."""
    if isinstance(value, str):
        yield from texts(field, value, port_name_problems(value))
    else:
        yield from port_number(field, value)


def config_key_problems(key: str) -> Iterator[str]:
    """What is wrong with a key of a ConfigMap or a Secret."""
    if byte_length(key) > 253:
        yield "must be no more than 253 characters"
    if not _is_config_key(key):
        yield _CONFIG_KEY_TEXT
    elif key == ".":
        yield "must not be '.'"
    elif key == "..":
        yield "must not be '..'"
    elif key.startswith(".."):
        yield "must not start with '..'"


def byte_warnings(field: str, amount: str) -> Iterator[str]:
    """That an amount of bytes has a part of one."""
    if not is_whole(amount):
        yield f"{field}: fractional byte value {go_quoted(amount)} is invalid, must be an integer"


def label_map(field: str, labels: Mapping[str, str] | None) -> Iterator[Problem]:
    for key, value in sorted((labels or {}).items()):
        yield from texts(field, key, key_problems(key))
        yield from texts(field, value, value_problems(value))


def selector_at(
    field: str, selector: Mapping[str, Any] | None, *, allow_invalid_values: bool = False
) -> Iterator[Problem]:
    """A label selector (`matchLabels`, `matchExpressions`)."""
    if not selector:
        return
    yield from label_map(f"{field}.matchLabels", selector.get("matchLabels"))
    for at, each in enumerate(selector.get("matchExpressions") or ()):
        path = f"{field}.matchExpressions[{at}]"
        yield from expression_at(path, each, any_value=allow_invalid_values)


def expression_at(
    path: str, expression: Mapping[str, Any], *, any_value: bool = False, compares: bool = False
) -> Iterator[Problem]:
    """One of the `matchExpressions` of a selector. `any_value`: its values need not be those of
    labels; `compares`: it can also say `Gt` and `Lt`, as those of nodes can.
    """
    operator, values = expression.get("operator") or "", expression.get("values") or ()
    if operator in ("In", "NotIn"):
        if not values:
            text = "must be specified when `operator` is 'In' or 'NotIn'"
            yield required_field(f"{path}.values", text)
    elif operator in ("Exists", "DoesNotExist"):
        if values:
            text = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"
            yield forbidden_field(f"{path}.values", text)
    elif compares and operator in ("Gt", "Lt"):
        if len(values) != 1:
            text = "must be specified single value when `operator` is 'Lt' or 'Gt'"
            yield required_field(f"{path}.values", text)
    else:
        yield invalid_field(f"{path}.operator", operator, NO_OPERATOR, named=True)
    key = expression.get("key") or ""
    yield from texts(f"{path}.key", key, key_problems(key))
    if not any_value:
        for index, value in enumerate(values):
            yield from texts(f"{path}.values[{index}]", value, value_problems(value))
