"""The checks of Nodes."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..basics import POSITIVE, texts
from ..checks import Checks, Value
from ..configuration.quota_resources import quota_amount_problems
from ..internal_values import internal
from ..names import key_problems, value_problems
from ..network.addresses import legacy_range, range_of, warnings_of_range
from ..pod.tolerations import EFFECTS
from ..problems import (
    Problem,
    duplicate_field,
    forbidden_field,
    go_quoted,
    invalid_field,
    required_field,
    unsupported_field,
)

__all__ = ["CHECKS"]

_ONE_EACH = "may specify no more than one CIDR for each IP family"
_FEATURE_LENGTH = 253
_FEATURE_TEXT = (
    "must start with an UpperCamelCase segment, with subsequent segments separated by '/' (e.g., "
    "MyFeature or MyFeature/mySubFeature), and contain only alphanumeric characters and slashes"
)
_is_feature = re.compile("[A-Z][A-Za-z0-9]*(/[A-Za-z0-9]+)*").fullmatch


def _create(new: Value) -> Iterator[Problem]:
    spec, status = new.get("spec") or {}, new.get("status") or {}
    yield from _taints(spec)
    yield from _amounts(status)
    swap = (status.get("nodeInfo") or {}).get("swap") or {}
    capacity = swap.get("capacity")
    if capacity is not None and capacity <= 0:
        yield invalid_field("metadata.nodeSwapStatus.capacity", capacity, POSITIVE)
    yield from _features(status)
    yield from _networks(spec)


def _update(new: Value, old: Value) -> Iterator[Problem]:
    yield from _create(new)
    yield from _status(new, old)


def _status(new: Value, old: Value) -> Iterator[Problem]:
    """What is looked at in every change, that of the status too."""
    spec, status = new.get("spec") or {}, new.get("status") or {}
    before = old.get("spec") or {}
    yield from _amounts(status)
    yield from _features(status)
    seen = set()
    for at, address in enumerate(status.get("addresses") or ()):
        key = (address.get("type"), address.get("address"))
        if key in seen:
            shown = internal("core.v1.NodeAddress", address)
            yield duplicate_field(f"status.addresses[{at}]", shown)
        seen.add(key)
    yield from _kept_networks(spec.get("podCIDRs") or [], before.get("podCIDRs") or [])
    provider = before.get("providerID")
    if provider and provider != spec.get("providerID"):
        text = 'node updates may not change providerID except from "" to valid'
        yield forbidden_field("spec.providerID", text)
    yield from _taints(spec)
    if (spec.get("externalID") or "") != (before.get("externalID") or ""):
        yield forbidden_field("spec.externalID", "may not be updated")


def _warnings(new: Value) -> Iterator[str]:
    spec = new.get("spec") or {}
    if spec.get("externalID"):
        yield "spec.externalID: this field is deprecated, and is unused by Kubernetes"
    for at, text in enumerate(spec.get("podCIDRs") or ()):
        yield from warnings_of_range(f"spec.podCIDRs[{at}]", text)


def _taints(spec: Value) -> Iterator[Problem]:
    seen = set()
    for at, taint in enumerate(spec.get("taints") or ()):
        path = f"metadata.taints[{at}]"
        key, effect = taint.get("key") or "", taint.get("effect") or ""
        value = taint.get("value") or ""
        yield from texts(f"{path}.key", key, key_problems(key))
        found = value_problems(value)
        if found:
            yield invalid_field(f"{path}.value", value, ";".join(found))
        if not effect:
            yield required_field(f"{path}.effect")
        elif effect not in EFFECTS:
            yield unsupported_field(f"{path}.effect", effect, EFFECTS)
        if (key, effect) in seen:
            problem = duplicate_field(path, internal("core.v1.Taint", taint))
            text = "taints must be unique by key and effect pair"
            yield Problem(path, problem.reason, f"{problem.message}: {text}")
        seen.add((key, effect))


def _amounts(status: Value) -> Iterator[Problem]:
    for name in ("capacity", "allocatable"):
        for resource, amount in (status.get(name) or {}).items():
            yield from quota_amount_problems(f"status.{name}.{resource}", resource, amount)


def _features(status: Value) -> Iterator[Problem]:
    field = "status.declaredFeatures"
    before = None
    for at, name in enumerate(status.get("declaredFeatures") or ()):
        if before == name:
            yield duplicate_field(f"{field}[{at}]", name)
        elif before is not None and before > name:
            yield invalid_field(f"{field}[{at}]", name, "list must be sorted alphabetically")
        before = name
        why = ""
        if len(name) > _FEATURE_LENGTH:
            why = f"must be no more than {_FEATURE_LENGTH} characters"
        elif not _is_feature(name):
            why = _FEATURE_TEXT
        if why:
            text = f"invalid feature name {go_quoted(name)}: {why}"
            yield invalid_field(f"{field}[{at}]", name, text)


def _networks(spec: Value) -> Iterator[Problem]:
    networks = spec.get("podCIDRs") or []
    field = "spec.podCIDRs"
    for at, text in enumerate(networks):
        yield from legacy_range(f"{field}[{at}]", text)
    if len(networks) < 2:
        return
    ranges = [range_of(text) for text in networks]
    if None in ranges:
        at = ranges.index(None)
        why = (
            "invalid PodCIDRs. failed to check with dual stack with error:invalid CIDR"
            f"[{at}]: <nil> (invalid CIDR address: {networks[at]})"
        )
        yield Problem(field, "InternalError", f"Internal error: {why}")
    versions = {found.first.version for found in ranges if found is not None}
    if None in ranges or versions != {4, 6} or len(networks) > 2:
        yield invalid_field(field, networks, _ONE_EACH)


def _kept_networks(new: list[str], old: list[str]) -> Iterator[Problem]:
    """Once given, they stay."""
    if not old:
        return
    changes = (
        1
        if len(new) != len(old)
        else sum(mine != theirs for mine, theirs in zip(new, old, strict=True))
    )
    text = 'node updates may not change podCIDR except from "" to valid'
    for _ in range(changes):
        yield forbidden_field("spec.podCIDRs", text)


CHECKS = {
    "nodes": Checks(create=_create, update=_update, status=_status, metadata=2, warnings=_warnings)
}
