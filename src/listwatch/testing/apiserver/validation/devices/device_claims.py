"""What is asked for in ResourceClaims, their templates and DeviceClasses: requests for devices,
selectors, constraints, configuration.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from ...reading.encoding import go_json
from ..admission.expressions import expression_problems
from ..basics import driver_name_problems, texts
from ..checks import Value
from ..names import key_problems, subdomain_problems, value_problems
from ..problems import (
    Problem,
    invalid_field,
    required_field,
    too_long,
    unsupported_field,
)
from .device_names import attribute_problems, label_at, limited, unique

__all__ = [
    "TAINT_EFFECTS",
    "Requests",
    "claim_problems",
    "configuration_problems",
    "raw_problems",
    "reference_problems",
    "requests_of",
    "selectors_problems",
]

Requests = Mapping[str, frozenset[str]]
"""The names of the requests of a claim, with those of their alternatives."""

TAINT_EFFECTS = ("NoExecute", "NoSchedule", "None")
_MOST = 32
_MOST_ALTERNATIVES = 8
_MAX_EXPRESSION = 10 * 1024
_MAX_PARAMETERS = 10 * 1024
_OPERATORS = ("Equal", "Exists")
_ALL, _EXACT_COUNT = "All", "ExactCount"
_ONE_KIND = "exactly one of `exactly` or `firstAvailable` is required"
_REFERENCE = (
    "must be the name of a request in the claim or the name of a request and a subrequest "
    "separated by '/'"
)


def requests_of(devices: Value) -> Requests:
    return {
        request.get("name") or "": frozenset(
            found.get("name") or "" for found in request.get("firstAvailable") or ()
        )
        for request in devices.get("requests") or ()
    }


def claim_problems(field: str, spec: Value) -> Iterator[Problem]:
    """What is wrong with the spec of a claim."""
    devices = spec.get("devices") or {}
    names = requests_of(devices)
    yield from unique(
        f"{field}.devices.requests",
        devices.get("requests"),
        _MOST,
        _request,
        lambda request: request.get("name") or "",
    )
    yield from limited(
        f"{field}.devices.constraints",
        devices.get("constraints"),
        _MOST,
        partial(_constraint, names),
    )
    yield from limited(
        f"{field}.devices.config", devices.get("config"), _MOST, partial(_configured, names)
    )


def _request(field: str, request: Value) -> Iterator[Problem]:
    yield from label_at(f"{field}.name", request.get("name"))
    exactly, first = request.get("exactly"), request.get("firstAvailable")
    if exactly is None and not first:
        yield required_field(field, _ONE_KIND)
    elif exactly is not None and first:
        yield invalid_field(field, None, f"{_ONE_KIND}, but multiple fields are set")
    elif exactly is not None:
        yield from _exact(f"{field}.exactly", exactly)
    else:
        yield from unique(
            f"{field}.firstAvailable",
            first,
            _MOST_ALTERNATIVES,
            _alternative,
            lambda found: found.get("name") or "",
        )


def _alternative(field: str, request: Value) -> Iterator[Problem]:
    yield from label_at(f"{field}.name", request.get("name"))
    yield from _exact(field, request)


def _exact(field: str, request: Value) -> Iterator[Problem]:
    name = request.get("deviceClassName") or ""
    if not name:
        yield required_field(f"{field}.deviceClassName")
    else:
        yield from texts(f"{field}.deviceClassName", name, subdomain_problems(name))
    yield from selectors_problems(f"{field}.selectors", request)
    mode, count = request.get("allocationMode") or "", request.get("count") or 0
    if mode == _ALL:
        if count:
            text = f"must not be specified when allocationMode is '{mode}'"
            yield invalid_field(f"{field}.count", count, text)
    elif mode != _EXACT_COUNT:
        yield unsupported_field(f"{field}.allocationMode", mode, (_ALL, _EXACT_COUNT))
    elif count <= 0:
        yield invalid_field(f"{field}.count", count, "must be greater than zero")
    for at, toleration in enumerate(request.get("tolerations") or ()):
        yield from _toleration(f"{field}.tolerations[{at}]", toleration)


def _toleration(field: str, toleration: Value) -> Iterator[Problem]:
    key, value = toleration.get("key") or "", toleration.get("value") or ""
    operator, effect = toleration.get("operator") or "", toleration.get("effect") or ""
    if key:
        yield from texts(f"{field}.key", key, key_problems(key))
    if operator == "Exists":
        if value:
            text = "must be empty for operator `Exists`"
            yield invalid_field(f"{field}.value", value, text)
    elif operator == "Equal":
        yield from texts(f"{field}.value", value, value_problems(value))
    elif not operator:
        yield required_field(f"{field}.operator")
    else:
        yield unsupported_field(f"{field}.operator", operator, _OPERATORS)
    if effect and effect not in TAINT_EFFECTS:
        yield unsupported_field(f"{field}.effect", effect, TAINT_EFFECTS)


def selectors_problems(field: str, of: Value) -> Iterator[Problem]:
    yield from limited(field, of.get("selectors"), _MOST, _selector)


def _selector(field: str, selector: Value) -> Iterator[Problem]:
    cel = selector.get("cel")
    if cel is None:
        yield required_field(f"{field}.cel")
        return
    expression = cel.get("expression") or ""
    if len(expression.encode()) > _MAX_EXPRESSION:
        yield too_long(f"{field}.cel.expression", _MAX_EXPRESSION)
    else:
        yield from expression_problems(f"{field}.cel.expression", expression)


def reference_problems(names: Requests, field: str, name: str) -> Iterator[Problem]:
    """What is wrong with the name of a request, or of one of its alternatives."""
    parts = name.split("/")
    if len(parts) > 2:
        yield invalid_field(field, name, _REFERENCE)
        return
    for part in parts:
        yield from label_at(field, part)
    found = names.get(parts[0])
    if found is None or (len(parts) == 2 and parts[1] not in found):
        yield invalid_field(field, name, _REFERENCE)


def _references(names: Requests, field: str, of: Value) -> Iterator[Problem]:
    yield from unique(
        f"{field}.requests", of.get("requests"), _MOST, partial(reference_problems, names)
    )


def _constraint(names: Requests, field: str, constraint: Value) -> Iterator[Problem]:
    yield from _references(names, field, constraint)
    for name in ("matchAttribute", "distinctAttribute"):
        attribute = constraint.get(name)
        if attribute is not None:
            yield from attribute_problems(f"{field}.{name}", attribute)
            return
    text = (
        'exactly one of "matchAttribute" or "distinctAttribute" is required, but multiple fields '
        "are set"
    )
    yield required_field(field, text)


def _configured(names: Requests, field: str, config: Value) -> Iterator[Problem]:
    yield from _references(names, field, config)
    yield from configuration_problems(field, config)


def configuration_problems(field: str, config: Value) -> Iterator[Problem]:
    """What is wrong with what is passed on to a driver."""
    opaque = config.get("opaque")
    if opaque is None:
        yield required_field(f"{field}.opaque")
        return
    yield from driver_name_problems(f"{field}.opaque.driver", opaque.get("driver"))
    yield from raw_problems(f"{field}.opaque.parameters", opaque.get("parameters"), _MAX_PARAMETERS)


def raw_problems(field: str, value: Any, most: int) -> Iterator[Problem]:
    """What is wrong with an object that only its reader knows."""
    if value is None:
        yield required_field(field)
    elif len(go_json(value)) > most:
        yield too_long(field, most)
    elif not isinstance(value, dict):
        yield invalid_field(field, "<value omitted>", "must be a valid JSON object")
