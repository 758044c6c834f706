"""StorageClasses, VolumeAttributesClasses and VolumeAttachments."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ..basics import IMMUTABLE, driver_name_problems, immutable, texts
from ..checks import Checks, Value
from ..internal_values import internal
from ..names import byte_length, key_problems, subdomain_problems
from ..node_selectors import DEPRECATED_LABELS
from ..problems import (
    Problem,
    duplicate_field,
    forbidden_field,
    invalid_field,
    required_field,
    too_long,
    unsupported_field,
)
from ..value_diffs import same
from .persistent_volumes import inline_volume_problems

__all__ = ["CHECKS"]

_MOST_PARAMETERS = 512
_MOST_BYTES = 256 * 1024
_MOST_MESSAGE = 1024
_RECLAIM_POLICIES = ("Delete", "Retain")
_BINDING_MODES = ("Immediate", "WaitForFirstConsumer")


def _provisioner(field: str, name: str) -> Iterator[Problem]:
    if not name:
        yield required_field(field)
    else:
        yield from texts(field, name.lower(), key_problems(name.lower()))


def _parameters(parameters: Mapping[str, str], *, needed: bool = False) -> Iterator[Problem]:
    if len(parameters) > _MOST_PARAMETERS:
        yield too_long("parameters", _MOST_PARAMETERS)
        return
    if "" in parameters:
        yield invalid_field("parameters", "", "field can not be empty.")
    size = sum(len(key.encode()) + len((value or "").encode()) for key, value in parameters.items())
    if size > _MOST_BYTES:
        yield too_long("parameters", _MOST_BYTES)
    if needed and not parameters:
        yield required_field("parameters", "must contain at least one key/value pair")


def _storage_class(new: Value) -> Iterator[Problem]:
    yield from _provisioner("provisioner", new.get("provisioner") or "")
    yield from _parameters(new.get("parameters") or {})
    policy = new.get("reclaimPolicy")
    if policy and policy not in _RECLAIM_POLICIES:
        yield unsupported_field("reclaimPolicy", policy, _RECLAIM_POLICIES)
    mode = new.get("volumeBindingMode")
    if mode is None:
        yield required_field("volumeBindingMode")
    elif mode not in _BINDING_MODES:
        yield unsupported_field("volumeBindingMode", mode, _BINDING_MODES)
    yield from _topologies(new.get("allowedTopologies") or ())


def _topologies(terms: Any) -> Iterator[Problem]:
    seen: list[dict[str, set[str]]] = [{} for _ in terms]
    for at, term in enumerate(terms):
        path = f"allowedTopologies[{at}].matchLabelExpressions"
        found: dict[str, set[str]] = {}
        for index, each in enumerate((term or {}).get("matchLabelExpressions") or ()):
            each = each or {}
            key, values = each.get("key") or "", each.get("values") or ()
            yield from _topology(key, values, f"{path}[{index}]")
            if key in found:
                yield duplicate_field(f"{path}[{index}].key", key)
            found[key] = set(values)
        for other in seen:
            if found == other:
                yield duplicate_field(path, "")
        seen.append(found)


def _topology(key: str, values: Any, path: str) -> Iterator[Problem]:
    if not values:
        yield required_field(f"{path}.values")
    seen = set()
    for at, value in enumerate(values):
        if value in seen:
            yield duplicate_field(f"{path}.values[{at}]", value)
        seen.add(value)
    yield from texts(f"{path}.key", key, key_problems(key))


def _changed_storage_class(new: Value, old: Value) -> Iterator[Problem]:
    yield from _storage_class(new)
    parameters = new.get("parameters")
    if not same(parameters or {}, old.get("parameters") or {}):
        yield invalid_field("parameters", parameters, IMMUTABLE)
    yield from immutable("provisioner", new.get("provisioner") or "", old.get("provisioner") or "")
    for name in ("reclaimPolicy", "volumeBindingMode"):
        yield from immutable(name, new.get(name), old.get(name))


def _class_warnings(new: Value) -> Iterator[str]:
    for at, term in enumerate(new.get("allowedTopologies") or ()):
        for index, each in enumerate((term or {}).get("matchLabelExpressions") or ()):
            text = DEPRECATED_LABELS.get((each or {}).get("key") or "")
            if text:
                yield f"allowedTopologies[{at}].matchLabelExpressions[{index}].key: {text}"


def _attributes_class(new: Value) -> Iterator[Problem]:
    yield from _provisioner("driverName", new.get("driverName") or "")
    yield from _parameters(new.get("parameters") or {}, needed=True)


def _changed_attributes_class(new: Value, old: Value) -> Iterator[Problem]:
    for name in ("driverName", "parameters"):
        if (new.get(name) or "") != (old.get(name) or ""):
            yield forbidden_field(name, f"updates to {name} are forbidden.")
    yield from _attributes_class(new)


def _attachment(new: Value) -> Iterator[Problem]:
    spec = new.get("spec") or {}
    source = spec.get("source") or {}
    inline, name = source.get("inlineVolumeSpec"), source.get("persistentVolumeName")
    yield from driver_name_problems("spec.attacher", spec.get("attacher") or "")
    text = "must specify exactly one of inlineVolumeSpec and persistentVolumeName"
    if inline is None and name is None:
        yield required_field("spec.source", text)
    elif inline is not None and name is not None:
        yield forbidden_field("spec.source", text)
    elif inline is not None:
        yield from inline_volume_problems(inline, "spec.source.inlineVolumeSpec")
    elif not name:
        text = "must specify non empty persistentVolumeName"
        yield required_field("spec.source.persistentVolumeName", text)
    on = spec.get("nodeName") or ""
    yield from texts("spec.nodeName", on, subdomain_problems(on))
    yield from _attachment_status(new.get("status") or {})
    if name is not None:
        yield from texts("spec.source.persistentVolumeName", name, subdomain_problems(name))


def _attachment_status(status: Value) -> Iterator[Problem]:
    metadata = status.get("attachmentMetadata") or {}
    if (
        sum(byte_length(key) + byte_length(value or "") for key, value in metadata.items())
        > _MOST_BYTES
    ):
        yield too_long("status.attachmentMetadata", _MOST_BYTES)
    for name in ("attachError", "detachError"):
        error = status.get(name) or {}
        if len((error.get("message") or "").encode()) > _MOST_MESSAGE:
            yield too_long(f"status.{name}.message", _MOST_BYTES)
        code = error.get("errorCode")
        if code is not None and code < 0:
            text = "must be between 0 and 2147483647, inclusive"
            yield invalid_field(f"status.{name}.errorCode", code, text)


def _changed_attachment(new: Value, old: Value) -> Iterator[Problem]:
    yield from _attachment(new)
    spec = new.get("spec") or {}
    if not same(spec, old.get("spec") or {}):
        shown = internal("storage.v1.VolumeAttachmentSpec", spec)
        yield invalid_field("spec", shown, IMMUTABLE)


CHECKS: dict[str, Checks] = {
    "storage.k8s.io/storageclasses": Checks(
        _storage_class, _changed_storage_class, warnings=_class_warnings, metadata=2
    ),
    "storage.k8s.io/volumeattributesclasses": Checks(
        _attributes_class, _changed_attributes_class, metadata=2
    ),
    "storage.k8s.io/volumeattachments": Checks(
        _attachment, _changed_attachment, _changed_attachment
    ),
}
