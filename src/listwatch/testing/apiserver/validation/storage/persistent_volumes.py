"""PersistentVolumes."""

from __future__ import annotations

import math
import posixpath
from collections.abc import Iterator
from typing import Any

from ...types.quantities import quantity_value
from ..basics import POSITIVE, immutable, texts
from ..checks import Checks, Value
from ..internal_values import internal
from ..names import subdomain_problems
from ..node_selectors import node_selector_problems, node_selector_warnings
from ..problems import (
    Problem,
    forbidden_field,
    invalid_field,
    required_field,
    unsupported_field,
)
from ..value_diffs import same, value_diff
from .persistent_sources import SOURCES, WITH_MOUNT_OPTIONS, source_problems

__all__ = [
    "CHECKS",
    "access_mode_problems",
    "class_name_problems",
    "inline_volume_problems",
    "volume_mode_problems",
]

_ACCESS_MODES = ("ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod")
_VOLUME_MODES = ("Block", "Filesystem")
_RECLAIM_POLICIES = ("Delete", "Recycle", "Retain")
_INLINE = "in the context of inline volumes"
_MOUNT_OPTIONS = "volume.beta.kubernetes.io/mount-options"
_ATTRIBUTES_CLASS = "volumeAttributesClassName"
_DEPRECATED = {
    "volume.beta.kubernetes.io/storage-class": 'deprecated since v1.8; use "storageClassName" '
    "attribute instead",
    _MOUNT_OPTIONS: 'deprecated since v1.31; use "mountOptions" attribute instead',
}
_GONE = {
    "cephfs": ("cephfs", "v1.28", "v1.31"),
    "photonPersistentDisk": ("photonPersistentDisk", "v1.11", "v1.16"),
    "scaleIO": ("scaleIO", "v1.16", "v1.22"),
    "storageos": ("storageOS", "v1.22", "v1.25"),
    "glusterfs": ("glusterfs", "v1.25", "v1.26"),
    "rbd": ("rbd", "v1.28", "v1.31"),
}
"""Kinds of volumes that work no longer: how they are named, since when nobody should use them, and
since when nobody can.
"""
_RENAMED = {
    "beta.kubernetes.io/arch": "kubernetes.io/arch",
    "beta.kubernetes.io/os": "kubernetes.io/os",
    "failure-domain.beta.kubernetes.io/region": "topology.kubernetes.io/region",
    "failure-domain.beta.kubernetes.io/zone": "topology.kubernetes.io/zone",
    "beta.kubernetes.io/instance-type": "node.kubernetes.io/instance-type",
}


def access_mode_problems(spec: Value, path: str) -> Iterator[Problem]:
    """What is wrong with the modes of a volume or a claim, if there are any."""
    modes = spec.get("accessModes") or ()
    for mode in modes:
        if mode not in _ACCESS_MODES:
            yield unsupported_field(f"{path}.accessModes", mode, _ACCESS_MODES)
    known = {mode for mode in modes if mode in _ACCESS_MODES}
    if "ReadWriteOncePod" in known and len(known) > 1:
        text = "may not use ReadWriteOncePod with other access modes"
        yield forbidden_field(f"{path}.accessModes", text)


def volume_mode_problems(spec: Value, path: str) -> Iterator[Problem]:
    mode = spec.get("volumeMode")
    if mode is not None and mode not in _VOLUME_MODES:
        yield unsupported_field(f"{path}.volumeMode", mode, _VOLUME_MODES)


def class_name_problems(field: str, name: str | None) -> Iterator[Problem]:
    """What is wrong with the name of a class, if there is one."""
    if name:
        yield from texts(field, name, subdomain_problems(name))


def _volume(new: Value) -> Iterator[Problem]:
    spec = new.get("spec") or {}
    yield from _spec(new)
    annotations = (new.get("metadata") or {}).get("annotations") or {}
    if _MOUNT_OPTIONS in annotations and not any(
        spec.get(name) is not None for name in WITH_MOUNT_OPTIONS
    ):
        text = "may not specify mount options for this volume type"
        yield forbidden_field(f"metadata.annotations.{_MOUNT_OPTIONS}", text)


def _changed_volume(new: Value, old: Value) -> Iterator[Problem]:
    yield from _volume(new)
    yield from _spec(new)  # the real server looks twice
    now, before = new.get("spec") or {}, old.get("spec") or {}
    kept, compared = _source_of(before), _source_of(now)
    secret = "ControllerExpandSecretRef"
    if kept["CSI"] and compared["CSI"] and not kept["CSI"][secret]:
        compared["CSI"] = {**compared["CSI"], secret: None}
    if not same(kept, compared):
        text = (
            f"spec.persistentvolumesource is immutable after creation\n{value_diff(kept, compared)}"
        )
        yield forbidden_field("spec.persistentvolumesource", text)
    yield from immutable("volumeMode", now.get("volumeMode"), before.get("volumeMode"))
    if before.get("nodeAffinity") is not None:
        yield from _affinity_kept(now.get("nodeAffinity"), before["nodeAffinity"])
    if before.get(_ATTRIBUTES_CLASS) is not None and now.get(_ATTRIBUTES_CLASS) is None:
        text = "update from non-nil value to nil is forbidden"
        yield forbidden_field(f"spec.{_ATTRIBUTES_CLASS}", text)


def _source_of(spec: Value) -> dict[str, Any]:
    shown = internal("core.v1.PersistentVolumeSpec", spec)
    return {name: shown[name] for name in SOURCES.values()}


def _affinity_kept(now: Value | None, before: Value) -> Iterator[Problem]:
    """It stays, but for labels that have another name now."""
    if not same(now, before) and not same(now, _renamed(before, now)):
        shown = None if now is None else internal("core.v1.VolumeNodeAffinity", now)
        text = "field is immutable, except for updating from beta label to GA"
        yield invalid_field("nodeAffinity", shown, text)


def _renamed(before: Any, now: Any) -> Any:
    """`before` with the new names of labels where `now` has them."""
    if isinstance(before, dict) and isinstance(now, dict):
        made = {name: _renamed(member, now.get(name)) for name, member in before.items()}
        key = before.get("key")
        # A label that has no other name may be taken away, as the real server looks.
        if isinstance(key, str) and _RENAMED.get(key, "") == (now.get("key") or ""):
            made["key"] = now.get("key")
        return made
    if isinstance(before, list) and isinstance(now, list) and len(before) == len(now):
        return [_renamed(*each) for each in zip(before, now, strict=True)]
    return before


def _spec(new: Value) -> Iterator[Problem]:
    spec = new.get("spec") or {}
    if not spec.get("accessModes"):
        yield required_field("spec.accessModes")
    yield from access_mode_problems(spec, "spec")
    yield from _capacity(spec)
    policy = spec.get("persistentVolumeReclaimPolicy")
    if policy and policy not in _RECLAIM_POLICIES:
        yield unsupported_field("spec.persistentVolumeReclaimPolicy", policy, _RECLAIM_POLICIES)
    affinity = spec.get("nodeAffinity")
    if affinity is not None:
        if affinity.get("required") is None:
            text = "must specify required node constraints"
            yield required_field("spec.nodeAffinity.required", text)
        else:
            yield from node_selector_problems(affinity["required"], "spec.nodeAffinity.required")
    yield from source_problems(spec, "spec", (new.get("metadata") or {}).get("name") or "")
    host = (spec.get("hostPath") or {}).get("path")
    if host is not None and policy == "Recycle" and posixpath.normpath(host) in ("/", "//"):
        text = "may not be 'recycle' for a hostPath mount of '/'"
        yield forbidden_field("spec.persistentVolumeReclaimPolicy", text)
    yield from class_name_problems("spec.storageClassName", spec.get("storageClassName"))
    yield from volume_mode_problems(spec, "spec")
    yield from _attributes_class(spec, "spec")


def _capacity(spec: Value) -> Iterator[Problem]:
    capacity = spec.get("capacity") or {}
    if not capacity:
        yield required_field("spec.capacity")
    if list(capacity) != ["storage"]:
        yield unsupported_field("spec.capacity", spec.get("capacity"), ("storage",))
    for name, amount in sorted(capacity.items()):
        field, value = f"spec.capacity[{name}]", quantity_value(amount)
        if value < 0:
            yield invalid_field(field, math.floor(value), "must be a valid resource quantity")
        if value <= 0:
            yield invalid_field(field, amount, POSITIVE)


def _attributes_class(spec: Value, path: str) -> Iterator[Problem]:
    name = spec.get(_ATTRIBUTES_CLASS)
    if name is not None:
        if not name:
            yield required_field(f"{path}.{_ATTRIBUTES_CLASS}", "an empty string is disallowed")
        yield from class_name_problems(f"{path}.{_ATTRIBUTES_CLASS}", name)
        if spec.get("csi") is None:
            text = f"has to be specified when using {_ATTRIBUTES_CLASS}"
            yield required_field(f"{path}.csi", text)


def inline_volume_problems(spec: Value, path: str) -> Iterator[Problem]:
    """What is wrong with a volume inside of a VolumeAttachment."""
    for name in ("claimRef", "capacity"):
        if spec.get(name):
            yield forbidden_field(f"{path}.{name}", f"may not be specified {_INLINE}")
    if spec.get("csi") is None:
        yield required_field(f"{path}.csi", f"has to be specified {_INLINE}")
    if not spec.get("accessModes"):
        yield required_field(f"{path}.accessModes")
    yield from access_mode_problems(spec, path)
    policy = spec.get("persistentVolumeReclaimPolicy")
    if policy and policy != "Retain":
        field = f"{path}.persistentVolumeReclaimPolicy"
        yield forbidden_field(field, f"may only be Retain {_INLINE}")
    if spec.get("nodeAffinity") is not None:
        yield forbidden_field(f"{path}.nodeAffinity", f"may not be specified {_INLINE}")
    yield from source_problems(spec, path, "")
    if spec.get("storageClassName"):
        yield forbidden_field(f"{path}.storageClassName", f"may not be specified {_INLINE}")
    if spec.get("volumeMode") not in (None, "Filesystem"):
        text = f"may not specify volumeMode other than Filesystem {_INLINE}"
        yield forbidden_field(f"{path}.volumeMode", text)
    yield from _attributes_class(spec, path)


def _volume_warnings(new: Value) -> Iterator[str]:
    """What is there no longer, or will not be."""
    spec = new.get("spec") or {}
    annotations = (new.get("metadata") or {}).get("annotations") or {}
    for name, text in _DEPRECATED.items():
        if name in annotations:
            yield f"metadata.annotations[{name}]: {text}"
    if spec.get("persistentVolumeReclaimPolicy") == "Recycle":
        yield (
            "spec.persistentVolumeReclaimPolicy: The Recycle reclaim policy is deprecated. "
            "Instead, the recommended approach is to use dynamic provisioning."
        )
    required = (spec.get("nodeAffinity") or {}).get("required")
    yield from node_selector_warnings(required or {}, "spec.nodeAffinity.required")
    for name, (shown, deprecated, gone) in _GONE.items():
        if spec.get(name) is not None:
            yield f"spec.{shown}: deprecated in {deprecated}, non-functional in {gone}+"


CHECKS: dict[str, Checks] = {
    "persistentvolumes": Checks(_volume, _changed_volume, warnings=_volume_warnings, metadata=2)
}
