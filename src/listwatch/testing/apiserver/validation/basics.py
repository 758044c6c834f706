"""Checks that many types share: numbers, names, ports, addresses, selectors, quantities."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from .names import key_problems, label_name_problems, subdomain_problems, value_problems
from .problems import (
    Problem,
    forbidden_field,
    invalid_field,
    required_field,
    unsupported_field,
)

__all__ = [
    "IMMUTABLE",
    "NOT_NEGATIVE",
    "POSITIVE",
    "config_key_problems",
    "immutable",
    "in_range",
    "ip_problems",
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
NOT_NEGATIVE = "must be greater than or equal to 0"
POSITIVE = "must be greater than zero"
_CONFIG_KEY = "[-._a-zA-Z0-9]+"
_CONFIG_KEY_TEXT = (
    "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name', "
    f" or 'KEY_NAME',  or 'key-name', regex used for validation is '{_CONFIG_KEY}')"
)
_is_config_key = re.compile(_CONFIG_KEY).fullmatch
_is_port_name = re.compile("[a-z0-9-]+").fullmatch
_has_letter = re.compile("[a-z]").search
_leading_zeros = re.compile(r"(^|[.:])0+(?=\d+(?:\.|$))").sub


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


def port_number(field: str, value: int | None) -> Iterator[Problem]:
    yield from in_range(field, value or 0, 1, 65535)


def port_name_problems(name: str) -> Iterator[str]:
    """What is wrong with the name of a port (RFC 6335)."""
    if len(name) > 15:
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


def ip_problems(text: str) -> Iterator[str]:
    """What is wrong with an IP address."""
    plain = _leading_zeros(r"\1", text) if "." in text else text
    try:
        found = ipaddress.ip_address(plain)
    except ValueError:
        found = None
    if found is None or "%" in text:
        yield "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"
    elif plain != text:
        yield "must not have leading 0s"
    elif found.version == 6 and found.ipv4_mapped is not None:
        yield "must not be an IPv4-mapped IPv6 address"


def config_key_problems(key: str) -> Iterator[str]:
    """What is wrong with a key of a ConfigMap or a Secret."""
    if len(key) > 253:
        yield "must be no more than 253 characters"
    if not _is_config_key(key):
        yield _CONFIG_KEY_TEXT
    elif key == ".":
        yield "must not be '.'"
    elif key == "..":
        yield "must not be '..'"
    elif key.startswith(".."):
        yield "must not start with '..'"


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
        operator, values = each.get("operator"), each.get("values") or ()
        if operator in ("In", "NotIn"):
            if not values:
                text = "must be specified when `operator` is 'In' or 'NotIn'"
                yield required_field(f"{path}.values", text)
        elif operator in ("Exists", "DoesNotExist"):
            if values:
                text = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"
                yield forbidden_field(f"{path}.values", text)
        else:
            yield invalid_field(f"{path}.operator", operator or "", "not a valid selector operator")
        key = each.get("key") or ""
        yield from texts(f"{path}.key", key, key_problems(key))
        if not allow_invalid_values:
            for index, value in enumerate(values):
                yield from texts(f"{path}.values[{index}]", value, value_problems(value))
