"""The checks of ResourceSlices: which devices there are, and what they can do."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

from ..basics import driver_name_problems, immutable, texts
from ..checks import Checks, Value
from ..internal_values import internal
from ..names import key_problems, subdomain_problems, value_problems
from ..node_selectors import node_selector_problems
from ..problems import (
    Problem,
    duplicate_field,
    invalid_field,
    required_field,
    too_long,
    too_many,
    unsupported_field,
)
from .device_capacities import capacity_problems
from .device_claims import TAINT_EFFECTS
from .device_names import (
    label_at,
    limited,
    pool_problems,
    qualified_problems,
    unique,
)

__all__ = ["CHECKS", "binding_problems"]

_MOST_DEVICES = 128
_MOST_ADVANCED_DEVICES = 64
_MOST_TAINTS = 16
_MOST_CONDITIONS = 4
_MOST_CONSUMED = 2
_MOST_COUNTER_SETS = 8
_MOST_COUNTERS = 32
_MOST_PROPERTIES = 32
_MOST_ATTRIBUTES = 48
_VALUE_LENGTH = 64
_KEY_LENGTH = 96
_VALUES = ("int", "bool", "string", "version")
_SHOWN = {
    **{f"{name.title()}Value": name for name in _VALUES},
    **{f"{name.title()}Values": f"{name}s" for name in _VALUES},
}
"""The names that the values have inside."""
_IDENTIFIER = r"(0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)"
_is_version = re.compile(
    r"(0|[1-9]\d*)(\.(0|[1-9]\d*)){2}"
    rf"(-{_IDENTIFIER}(\.{_IDENTIFIER})*)?(\+[0-9a-zA-Z-]+(\.[0-9a-zA-Z-]+)*)?",
    re.A,
).fullmatch
_PLACES = (
    "exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required"
)
_DEVICE_PLACES = (
    "exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required when "
    "`perDeviceNodeSelection` is set to true in the ResourceSlice spec"
)
_NO_DEVICE_PLACES = (
    "`nodeName`, `nodeSelector` and `allNodes` can only be set if `perDeviceNodeSelection` is set "
    "to true in the ResourceSlice spec"
)
_SET = "must be either unset or set to "


def _create(new: Value) -> Iterator[Problem]:
    yield from _spec(new.get("spec") or {}, None)


def _update(new: Value, old: Value) -> Iterator[Problem]:
    yield from _spec(new.get("spec") or {}, old.get("spec") or {})


def _spec(spec: Value, old: Value | None) -> Iterator[Problem]:
    yield from driver_name_problems("spec.driver", spec.get("driver"))
    pool = spec.get("pool") or {}
    yield from pool_problems("spec.pool.name", pool.get("name"))
    count, generation = pool.get("resourceSliceCount") or 0, pool.get("generation") or 0
    if count <= 0:
        yield invalid_field("spec.pool.resourceSliceCount", count, "must be greater than zero")
    if generation < 0:
        text = "must be greater than or equal to zero"
        yield invalid_field("spec.pool.generation", generation, text)
    if old is not None:
        before = (old.get("pool") or {}).get("name")
        yield from immutable("spec.pool.name", pool.get("name") or "", before or "")
        yield from immutable("spec.driver", spec.get("driver") or "", old.get("driver") or "")
        yield from immutable("spec.nodeName", spec.get("nodeName"), old.get("nodeName"))
    yield from _place(spec)
    devices = spec.get("devices")
    if spec.get("sharedCounters") is not None and devices is not None:
        text = "only one of `sharedCounters` or `devices` is allowed"
        yield invalid_field("spec", "", text)
    known = {found.get("name"): found for found in (old or {}).get("devices") or ()}
    advanced = any(found.get("taints") or found.get("consumesCounters") for found in devices or ())
    each = bool(spec.get("perDeviceNodeSelection"))
    yield from unique(
        "spec.devices",
        devices,
        _MOST_ADVANCED_DEVICES if advanced else _MOST_DEVICES,
        partial(_device, known, each),
        _name,
    )
    counters = spec.get("sharedCounters")
    yield from unique("spec.sharedCounters", counters, _MOST_COUNTER_SETS, _counter_set, _name)


def _name(of: Value) -> str:
    return of.get("name") or ""


def _place(spec: Value) -> Iterator[Problem]:
    """For which nodes the devices are."""
    found = []
    node, selector = spec.get("nodeName"), spec.get("nodeSelector")
    if node:
        found.append("`nodeName`")
        yield from texts("spec.nodeName", node, subdomain_problems(node))
    elif node is not None:
        yield invalid_field("spec.nodeName", node, f"{_SET}a non-empty string")
    if selector is not None:
        found.append("`nodeSelector`")
        field = "spec.nodeSelector"
        yield from node_selector_problems(selector, field)
        terms = selector.get("nodeSelectorTerms")
        if len(terms or ()) != 1:
            shown = terms and [internal("core.v1.NodeSelectorTerm", term) for term in terms]
            text = "must have exactly one node selector term"
            yield invalid_field(f"{field}.nodeSelectorTerms", shown, text)
    for name in ("allNodes", "perDeviceNodeSelection"):
        value = spec.get(name)
        if value:
            found.append(f"`{name}`")
        elif value is not None:
            yield invalid_field(f"spec.{name}", value, f"{_SET}true")
    if not found:
        yield required_field("spec", _PLACES)
    elif len(found) > 1:
        text = f"{_PLACES}, but multiple fields are set"
        yield invalid_field("spec", f"{{{', '.join(found)}}}", text)


def _device_place(field: str, device: Value) -> Iterator[Problem]:
    """Likewise, of one device."""
    found = []
    node, selector, everywhere = (
        device.get(name) for name in ("nodeName", "nodeSelector", "allNodes")
    )
    if node:
        found.append("`nodeName`")
        yield from texts(f"{field}.nodeName", node, subdomain_problems(node))
    elif node is not None:
        yield invalid_field(f"{field}.nodeName", node, "must not be empty")
    if selector is not None:
        found.append("`nodeSelector`")
        yield from node_selector_problems(selector, f"{field}.nodeSelector")
    if everywhere:
        found.append("`allNodes`")
    elif everywhere is not None:
        yield invalid_field(f"{field}.allNodes", everywhere, f"{_SET}true")
    if not found:
        yield required_field(field, _DEVICE_PLACES)
    elif len(found) > 1:
        yield invalid_field(field, f"{{{', '.join(found)}}}", _DEVICE_PLACES)


def _device(known: Mapping[Any, Value], each: bool, field: str, device: Value) -> Iterator[Problem]:
    yield from label_at(f"{field}.name", device.get("name"))
    attributes, capacity = device.get("attributes") or {}, device.get("capacity") or {}
    count = len(attributes) + len(capacity)
    if count > _MOST_PROPERTIES:
        text = f"the total number of attributes and capacities must not exceed {_MOST_PROPERTIES}"
        yield invalid_field(field, count, text)
    if len(attributes) > _MOST_ATTRIBUTES:
        text = f"the total number of attribute values must not exceed {_MOST_ATTRIBUTES}"
        yield invalid_field(field, len(attributes), text)
    yield from _keyed(f"{field}.attributes", attributes, qualified_problems, _attribute)
    several = bool(device.get("allowMultipleAllocations"))
    yield from _keyed(
        f"{field}.capacity", capacity, qualified_problems, partial(capacity_problems, several)
    )
    before = known.get(device.get("name"))
    if before is None or before.get("taints") != device.get("taints"):
        yield from limited(f"{field}.taints", device.get("taints"), _MOST_TAINTS, _taint)
    yield from unique(
        f"{field}.consumesCounters",
        device.get("consumesCounters"),
        _MOST_CONSUMED,
        partial(_counters, "counterSet"),
        lambda found: found.get("counterSet") or "",
    )
    if each:
        yield from _device_place(field, device)
    elif any(device.get(name) is not None for name in ("nodeName", "nodeSelector", "allNodes")):
        yield invalid_field(field, None, _NO_DEVICE_PLACES)
    yield from binding_problems(field, device)


def _keyed(
    field: str,
    values: Mapping[str, Any],
    key_check: Callable[[str, str], Iterator[Problem]],
    check: Callable[[str, Any], Iterator[Problem]],
) -> Iterator[Problem]:
    for key in sorted(values):
        yield from key_check(field, key)
        yield from check(f"{field}[{_shortened(key)}]", values[key] or {})


def _shortened(key: str) -> str:
    if len(key) <= _KEY_LENGTH:
        return key
    rest = _KEY_LENGTH - 3
    return f"{key[: (rest + 1) // 2]}...{key[len(key) - rest // 2 :]}"


def _attribute(field: str, attribute: Value) -> Iterator[Problem]:
    text, version = attribute.get("string"), attribute.get("version")
    if text is not None and len(text.encode()) > _VALUE_LENGTH:
        yield too_long(f"{field}.string", _VALUE_LENGTH)
    if version is not None:
        if not _is_version(version):
            text = "must be a string compatible with semver.org spec 2.0.0"
            yield invalid_field(f"{field}.version", version, text)
        if len(version.encode()) > _VALUE_LENGTH:
            yield too_long(f"{field}.version", _VALUE_LENGTH)
    count = sum(attribute.get(name) is not None for name in _VALUES)
    if count != 1:
        shown = {name: attribute.get(key) for name, key in _SHOWN.items()} if count else ""
        yield invalid_field(field, shown, "exactly one value must be specified")


def _taint(field: str, taint: Value) -> Iterator[Problem]:
    key, value = taint.get("key") or "", taint.get("value") or ""
    effect = taint.get("effect") or ""
    yield from texts(f"{field}.key", key, key_problems(key))
    if value:
        yield from texts(f"{field}.value", value, value_problems(value))
    if not effect:
        yield required_field(f"{field}.effect")
    elif effect not in TAINT_EFFECTS:
        yield unsupported_field(f"{field}.effect", effect, TAINT_EFFECTS)


def _counter_set(field: str, counters: Value) -> Iterator[Problem]:
    yield from _counters("name", field, counters)


def _counters(member: str, field: str, of: Value) -> Iterator[Problem]:
    """A set of counters, and the name that it has in `member`."""
    name, counters = of.get(member), of.get("counters") or {}
    if not name:
        yield required_field(f"{field}.{member}")
    else:
        yield from label_at(f"{field}.{member}", name)
    path = f"{field}.counters"
    if not counters:
        yield required_field(path)
    elif len(counters) > _MOST_COUNTERS:
        yield too_many(path, len(counters), _MOST_COUNTERS)
    else:
        for key in sorted(counters):
            yield from label_at(path, key)


def binding_problems(field: str, of: Value) -> Iterator[Problem]:
    """What must be so, and what must not be, before a device is used."""
    conditions, failures = of.get("bindingConditions"), of.get("bindingFailureConditions")
    paths = f"{field}.bindingConditions", f"{field}.bindingFailureConditions"

    def known(path: str, name: str) -> Iterator[Problem]:
        yield from texts(path, name, key_problems(name))

    for path, names in zip(paths, (conditions, failures), strict=True):
        yield from limited(path, names, _MOST_CONDITIONS, known)
    for at, name in enumerate(conditions or ()):
        if name in (conditions or ())[:at]:
            yield duplicate_field(f"{paths[0]}[{at}]", name)
    for at, name in enumerate(failures or ()):
        if name in (failures or ())[:at]:
            yield duplicate_field(f"{paths[1]}[{at}]", name)
        if name in (conditions or ()):
            text = "bindingFailureConditions must not overlap with bindingConditions"
            yield invalid_field(f"{paths[1]}[{at}]", name, text)
    if failures and not conditions:
        text = "bindingConditions are required to use bindingFailureConditions"
        yield invalid_field(paths[0], conditions, text)
    if conditions and not failures:
        text = "bindingFailureConditions are required to use bindingConditions"
        yield invalid_field(paths[1], failures, text)


CHECKS = {"resource.k8s.io/resourceslices": Checks(create=_create, update=_update)}
