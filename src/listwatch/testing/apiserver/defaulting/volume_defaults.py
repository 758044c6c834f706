"""The defaults of the volumes of a pod."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .container_defaults import tag_is_latest

__all__ = ["fill_source", "fill_volume"]

Value = dict[str, Any]

_FILES = ("secret", "configMap", "downwardAPI", "projected")
_FILE_MODE = 0o644
_HOUR = 3600
_NOT_SERVED = frozenset({"clusterTrustBundle", "podCertificate"})
"""Projections that are off unless somebody asks for them; they are left out."""
_SOURCES: dict[str, Value] = {
    "hostPath": {"type": ""},
    "iscsi": {"iscsiInterface": "default"},
    "rbd": {"pool": "rbd", "user": "admin", "keyring": "/etc/ceph/keyring"},
    "azureDisk": {
        "cachingMode": "ReadWrite",
        "fsType": "ext4",
        "readOnly": False,
        "kind": "Shared",
    },
    "scaleIO": {"storageMode": "ThinProvisioned", "fsType": "xfs"},
    **{name: {"defaultMode": _FILE_MODE} for name in _FILES},
}
_POINTERS = frozenset({"azureDisk"})
"""Sources in which an empty text is one that was given."""


def fill_volume(volume: Value) -> Value:
    """A volume with its defaults: one that comes from nowhere is an empty directory."""
    name = next(
        (name for name, found in volume.items() if name != "name" and found is not None), ""
    )
    if not name:
        return {**volume, "emptyDir": {}}
    filled = dict(volume)
    for name, source in volume.items():
        if not isinstance(source, dict):
            continue
        made = fill_source(name, source)
        special = _SPECIAL.get(name)
        filled[name] = special(made) if special else made
    return filled


def fill_source(name: str, source: Value) -> Value:
    """What volumes of pods and persistent ones may come from, with its defaults."""
    defaults = _SOURCES.get(name)
    if not defaults:
        return source
    empty = (None,) if name in _POINTERS else (None, "")
    missing = {key: value for key, value in defaults.items() if source.get(key) in empty}
    return {**source, **missing}


def _image(source: Value) -> Value:
    if source.get("pullPolicy"):
        return source
    latest = tag_is_latest(str(source.get("reference") or ""))
    return {**source, "pullPolicy": "Always" if latest else "IfNotPresent"}


def _ephemeral(source: Value) -> Value:
    template = source.get("volumeClaimTemplate")
    if not isinstance(template, dict):
        return source
    spec = template.get("spec")
    spec = spec if isinstance(spec, dict) else {}
    if spec.get("volumeMode") is None:
        spec = {**spec, "volumeMode": "Filesystem"}
    return {**source, "volumeClaimTemplate": {**template, "spec": spec}}


def _downward(source: Value) -> Value:
    items = source.get("items")
    if not isinstance(items, list):
        return source
    return {**source, "items": [_with_version(item) for item in items]}


def _with_version(item: Any) -> Any:
    field = item.get("fieldRef") if isinstance(item, dict) else None
    if not isinstance(field, dict) or field.get("apiVersion"):
        return item
    return {**item, "fieldRef": {**field, "apiVersion": "v1"}}


def _projected(source: Value) -> Value:
    sources = source.get("sources")
    if not isinstance(sources, list):
        return source
    return {**source, "sources": [_projection(each) for each in sources]}


def _projection(projection: Any) -> Any:
    if not isinstance(projection, dict):
        return projection
    projection = {name: found for name, found in projection.items() if name not in _NOT_SERVED}
    told, token = projection.get("downwardAPI"), projection.get("serviceAccountToken")
    if isinstance(told, dict):
        projection = {**projection, "downwardAPI": _downward(told)}
    if isinstance(token, dict) and token.get("expirationSeconds") is None:
        token = {**token, "expirationSeconds": _HOUR}
        projection = {**projection, "serviceAccountToken": token}
    return projection


_SPECIAL: dict[str, Callable[[Value], Value]] = {
    "image": _image,
    "ephemeral": _ephemeral,
    "downwardAPI": _downward,
    "projected": _projected,
}
