"""PersistentVolumeClaims."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

from ...types.quantities import quantity_value
from ..basics import IMMUTABLE, POSITIVE, byte_warnings, immutable, selector_at, texts
from ..checks import Checks, Value
from ..configuration.quota_resources import quota_amount_problems
from ..internal_values import internal
from ..names import key_problems, label_name_problems, subdomain_problems
from ..pod.resource_names import is_native
from ..problems import (
    Problem,
    forbidden_field,
    invalid_field,
    required_field,
    unsupported_field,
)
from ..value_diffs import same, value_diff
from .persistent_volumes import (
    access_mode_problems,
    class_name_problems,
    volume_mode_problems,
)

__all__ = ["CHECKS", "claim_spec_problems", "claim_spec_warnings"]

_BETA_CLASS = "volume.beta.kubernetes.io/storage-class"
_RESIZE_STATUSES = (
    "ControllerResizeInProgress",
    "ControllerResizeInfeasible",
    "NodeResizeInProgress",
    "NodeResizeInfeasible",
    "NodeResizePending",
)


def claim_spec_problems(
    spec: Value, path: str, *, any_selector: bool = False, any_source: bool = False
) -> Iterator[Problem]:
    """What is wrong with the spec of a claim, or of a template of one. The last two: invalid
    values in the selector, and groups in the source, are taken, as they are there already.
    """
    if not spec.get("accessModes"):
        yield required_field(f"{path}.accessModes", "at least 1 access mode is required")
    yield from selector_at(
        f"{path}.selector", spec.get("selector"), allow_invalid_values=any_selector
    )
    yield from access_mode_problems(spec, path)
    yield from _request_problems(spec, f"{path}.resources[storage]")
    yield from class_name_problems(f"{path}.storageClassName", spec.get("storageClassName"))
    yield from volume_mode_problems(spec, path)
    yield from _sources(spec, path, any_source)
    attributes = "volumeAttributesClassName"
    yield from class_name_problems(f"{path}.{attributes}", spec.get(attributes))


def claim_spec_warnings(spec: Value, path: str) -> Iterator[str]:
    """That there are no parts of bytes."""
    resources = spec.get("resources") or {}
    for what in ("requests", "limits"):
        amount = (resources.get(what) or {}).get("storage")
        if amount:
            yield from byte_warnings(f"{path}.resources.{what}[storage]", amount)


def _request_problems(spec: Value, field: str) -> Iterator[Problem]:
    amount = _requested(spec).get("storage")
    if amount is None:
        yield required_field(field)
    elif quantity_value(amount) <= 0:
        yield invalid_field(field, amount, POSITIVE)
    else:
        yield from quota_amount_problems(field, "storage", amount)


def _sources(spec: Value, path: str, any_group: bool) -> Iterator[Problem]:
    """Of what the volume is made."""
    source, ref = spec.get("dataSource"), spec.get("dataSourceRef")
    for name, found in (("dataSource", source), ("dataSourceRef", ref)):
        if found is not None:
            yield from _source(found, f"{path}.{name}", any_group)
    namespace = (ref or {}).get("namespace")
    if namespace:
        yield from texts(
            f"{path}.dataSourceRef.namespace", namespace, label_name_problems(namespace)
        )
    if source is not None and ref is not None:
        text = ""
        if namespace:
            text = "may not be specified when dataSourceRef.namespace is specified"
        elif any(source.get(name) != ref.get(name) for name in ("apiGroup", "kind", "name")):
            text = "must match dataSourceRef"
        if text:
            yield invalid_field(path, {}, text)  # it shows a path, of which nothing is seen


def _source(source: Value, path: str, any_group: bool) -> Iterator[Problem]:
    for name in ("name", "kind"):
        if not source.get(name):
            yield required_field(f"{path}.{name}")
    group, kind = source.get("apiGroup") or "", source.get("kind") or ""
    if not group and kind != "PersistentVolumeClaim":
        text = "must be 'PersistentVolumeClaim' when referencing the default apiGroup"
        yield invalid_field(path, kind, text)
    if group and not any_group:
        yield from texts(f"{path}.apiGroup", group, subdomain_problems(group))


def _claim(new: Value) -> Iterator[Problem]:
    yield from claim_spec_problems(new.get("spec") or {}, "spec")


def _changed_claim(new: Value, old: Value) -> Iterator[Problem]:
    now, before = new.get("spec") or {}, old.get("spec") or {}
    any_selector = next(selector_at("", before.get("selector")), None) is not None
    any_source = any(
        (before.get(name) or {}).get("apiGroup") is not None
        for name in ("dataSource", "dataSourceRef")
    )
    yield from claim_spec_problems(now, "spec", any_selector=any_selector, any_source=any_source)
    yield from _class_annotation_problems(new, old)
    compared = dict(now)
    kept = dict(before)
    if not before.get("volumeName"):
        kept["volumeName"] = now.get("volumeName")
    if before.get("storageClassName") is None and now.get("storageClassName") is not None:
        annotated = _annotations(old).get(_BETA_CLASS)
        if annotated is None or annotated == now["storageClassName"]:
            compared["storageClassName"] = None
    if (new.get("status") or {}).get("phase") == "Bound":
        compared["volumeAttributesClassName"] = before.get("volumeAttributesClassName")
        if _requested(now):
            was = _requested(before).get("storage") or "0"
            resources = now.get("resources") or {}
            requests = {**_requested(now), "storage": was}
            compared["resources"] = {**resources, "requests": requests}
    if not same(compared, kept):
        name = "core.v1.PersistentVolumeClaimSpec"
        shown = value_diff(internal(name, kept), internal(name, compared))
        yield forbidden_field(
            "spec",
            "spec is immutable after creation except resources.requests and "
            f"volumeAttributesClassName for bound claims\n{shown}",
        )
    yield from _shrinking(old, before, now)
    yield from immutable("volumeMode", now.get("volumeMode"), before.get("volumeMode"))
    yield from _attributes_class_problems(old, before, now)


def _class_annotation_problems(new: Value, old: Value) -> Iterator[Problem]:
    """The old way to name a class stays, unless it becomes the new one."""
    was, now = _annotations(old).get(_BETA_CLASS), _annotations(new).get(_BETA_CLASS)
    moved = (
        was is not None
        and (old.get("spec") or {}).get("storageClassName") is None
        and (new.get("spec") or {}).get("storageClassName") == was
        and now in (None, was)
    )
    if not moved and (was or "") != (now or ""):
        yield invalid_field(f"metadata.annotations.{_BETA_CLASS}", now or "", IMMUTABLE)


def _shrinking(old: Value, before: Value, now: Value) -> Iterator[Problem]:
    size, capacity = _amount(_requested(now)), (old.get("status") or {}).get("capacity") or {}
    if size < _amount(_requested(before)) and size <= _amount(capacity):
        text = "field can not be less than status.capacity"
        yield forbidden_field("spec.resources.requests.storage", text)


def _attributes_class_problems(old: Value, before: Value, now: Value) -> Iterator[Problem]:
    name = "volumeAttributesClassName"
    current = (old.get("status") or {}).get("currentVolumeAttributesClassName")
    if before.get(name) != now.get(name) and current is not None and not now.get(name):
        what = "nil" if now.get(name) is None else "empty string"
        yield forbidden_field(
            f"spec.{name}",
            f"update to {what} is forbidden when status.currentVolumeAttributesClassName is not "
            "nil",
        )


def _claim_status(new: Value, old: Value) -> Iterator[Problem]:
    status = new.get("status") or {}
    for name, amount in sorted((status.get("capacity") or {}).items()):
        yield from _basic(f"status.capacity[{name}]", amount)
    path = "status.allocatedResourceStatuses"
    for name, found in sorted((status.get("allocatedResourceStatuses") or {}).items()):
        yield from _allocated_name(name, path)
        if found not in _RESIZE_STATUSES:
            yield unsupported_field(path, name, sorted(_RESIZE_STATUSES))
    path = "status.allocatedResources"
    for name, amount in sorted((status.get("allocatedResources") or {}).items()):
        problems = [*_allocated_name(name, path)]
        if not problems:
            field = f"{path}[{name}]"
            problems = [*_basic(field, amount)]
            problems = problems or [*quota_amount_problems(field, "storage", amount)]
        yield from problems


def _basic(field: str, amount: str) -> Iterator[Problem]:
    value = quantity_value(amount)
    if value < 0:
        yield invalid_field(field, math.floor(value), "must be a valid resource quantity")


def _allocated_name(name: str, field: str) -> Iterator[Problem]:
    found = key_problems(name)
    yield from texts(field, name, found)
    if not found and is_native(name) and name != "storage":
        yield unsupported_field(field, name, ("storage",), plain=True)


def _claim_warnings(new: Value) -> Iterator[str]:
    if _BETA_CLASS in _annotations(new):
        yield (
            f"metadata.annotations[{_BETA_CLASS}]: deprecated since v1.8; use "
            '"storageClassName" attribute instead'
        )
    yield from claim_spec_warnings(new.get("spec") or {}, "spec")


def _annotations(claim: Value) -> Mapping[str, str]:
    return (claim.get("metadata") or {}).get("annotations") or {}


def _requested(spec: Value) -> Mapping[str, Any]:
    return (spec.get("resources") or {}).get("requests") or {}


def _amount(amounts: Mapping[str, Any]) -> Fraction:
    found = amounts.get("storage")
    return quantity_value(found) if found else Fraction(0)


CHECKS: dict[str, Checks] = {
    "persistentvolumeclaims": Checks(
        _claim, _changed_claim, _claim_status, warnings=_claim_warnings, metadata=2
    ),
}
