"""Volumes, claims and their drivers."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from listwatch.api.cells import storage
from listwatch.api.cells.reading import NONE, UNSET, Obj, age, at, items, mapping, text

from .printer import (
    AGE,
    NAME,
    Column,
    Printer,
    Printers,
    name_of,
    whole,
    wide,
    yes_or_no,
)

__all__ = ["PRINTERS"]

_BETA_CLASS = "volume.beta.kubernetes.io/storage-class"
_DEFAULT_CLASS = (
    "storageclass.kubernetes.io/is-default-class",
    "storageclass.beta.kubernetes.io/is-default-class",
)


def _volume(obj: Obj, now: datetime) -> list[Any]:
    claim = at(obj, "spec", "claimRef")
    shown = f"{text(claim, 'namespace')}/{text(claim, 'name')}" if claim is not None else ""
    return [
        name_of(obj),
        text(obj, "spec", "capacity", "storage", default="0"),
        storage.volume_access_modes(obj, now),
        text(obj, "spec", "persistentVolumeReclaimPolicy"),
        storage.volume_status(obj, now),
        shown,
        _class(obj),
        _given(obj, "spec", "volumeAttributesClassName"),
        text(obj, "status", "reason"),
        age(obj, now),
        _given(obj, "spec", "volumeMode"),
    ]


def _claim(obj: Obj, now: datetime) -> list[Any]:
    capacity = storage.claim_capacity(obj, now)
    return [
        name_of(obj),
        storage.claim_status(obj, now),
        text(obj, "spec", "volumeName"),
        capacity or ("0" if text(obj, "spec", "volumeName") else ""),
        storage.claim_access_modes(obj, now),
        _class(obj),
        _given(obj, "spec", "volumeAttributesClassName"),
        age(obj, now),
        _given(obj, "spec", "volumeMode"),
    ]


def _storage_class(obj: Obj, now: datetime) -> list[Any]:
    annotations = mapping(obj, "metadata", "annotations")
    is_default = any(annotations.get(name) == "true" for name in _DEFAULT_CLASS)
    return [
        name_of(obj) + " (default)" * is_default,
        text(obj, "provisioner"),
        text(obj, "reclaimPolicy", default="Delete"),
        text(obj, "volumeBindingMode", default="Immediate"),
        at(obj, "allowVolumeExpansion") is True,
        age(obj, now),
    ]


def _attachment(obj: Obj, now: datetime) -> list[Any]:
    return [
        name_of(obj),
        text(obj, "spec", "attacher"),
        text(obj, "spec", "source", "persistentVolumeName"),
        text(obj, "spec", "nodeName"),
        at(obj, "status", "attached") is True,
        age(obj, now),
    ]


def _attributes_class(obj: Obj, now: datetime) -> list[Any]:
    return [name_of(obj), text(obj, "driverName"), age(obj, now)]


def _driver(obj: Obj, now: datetime) -> list[Any]:
    def holds(name: str) -> bool:
        return at(obj, "spec", name) is True

    tokens = UNSET
    if at(obj, "spec", "tokenRequests") is not None:
        tokens = ",".join(text(each, "audience") for each in items(obj, "spec", "tokenRequests"))
    return [
        name_of(obj),
        at(obj, "spec", "attachRequired") is not False,
        holds("podInfoOnMount"),
        holds("storageCapacity"),
        tokens,
        holds("requiresRepublish"),
        ",".join(map(str, items(obj, "spec", "volumeLifecycleModes"))) or NONE,
        age(obj, now),
    ]


def _csi_node(obj: Obj, now: datetime) -> list[Any]:
    return [name_of(obj), len(items(obj, "spec", "drivers")), age(obj, now)]


def _class(obj: Obj) -> str:
    annotated = mapping(obj, "metadata", "annotations").get(_BETA_CLASS)
    return text(obj, "spec", "storageClassName") if annotated is None else str(annotated)


def _given(obj: Obj, *path: str) -> str:
    value = at(obj, *path)
    return UNSET if value is None else str(value)


_MODE = wide(Column("VolumeMode", "Whether the volume has a filesystem, or is a raw device."))
_MODES = Column("Access Modes", "From how many nodes, and how, the volume may be mounted.")
_ATTRIBUTES = Column("VolumeAttributesClass", "The class that its attributes come from.")

PRINTERS: Printers = {
    ("", "PersistentVolume"): Printer(
        (
            NAME,
            Column("Capacity", "How large the volume is."),
            _MODES,
            Column("Reclaim Policy", "What becomes of the volume when its claim is deleted."),
            Column("Status", "Whether the volume is free, or claimed, or being deleted."),
            Column("Claim", "The claim that has the volume."),
            Column("StorageClass", "The class that the volume belongs to."),
            _ATTRIBUTES,
            Column("Reason", "Why the volume is in this state, in a word."),
            AGE,
            _MODE,
        ),
        _volume,
    ),
    ("", "PersistentVolumeClaim"): Printer(
        (
            NAME,
            Column("Status", "Whether the claim has got a volume."),
            Column("Volume", "The volume that it has got."),
            Column("Capacity", "How large that volume is."),
            _MODES,
            Column("StorageClass", "The class that the claim wants a volume of."),
            _ATTRIBUTES,
            AGE,
            _MODE,
        ),
        _claim,
    ),
    ("storage.k8s.io", "StorageClass"): Printer(
        (
            NAME,
            Column("Provisioner", "Who makes the volumes of this class."),
            Column("ReclaimPolicy", "What becomes of a volume when its claim is deleted."),
            Column("VolumeBindingMode", "When a claim gets its volume."),
            Column("AllowVolumeExpansion", "Whether volumes can be made larger."),
            AGE,
        ),
        _storage_class,
    ),
    ("storage.k8s.io", "VolumeAttachment"): Printer(
        (
            NAME,
            Column("Attacher", "The driver that attaches the volume.", format="name"),
            Column("PV", "The volume."),
            Column("Node", "The node that it is attached to."),
            yes_or_no("Attached", "Whether it is attached by now."),
            AGE,
        ),
        _attachment,
    ),
    ("storage.k8s.io", "VolumeAttributesClass"): Printer(
        (NAME, Column("DriverName", "The driver that the attributes are for."), AGE),
        _attributes_class,
    ),
    ("storage.k8s.io", "CSIDriver"): Printer(
        (
            NAME,
            yes_or_no("AttachRequired", "Whether volumes are attached before they are mounted."),
            yes_or_no("PodInfoOnMount", "Whether the driver is told of the pod it mounts for."),
            yes_or_no("StorageCapacity", "Whether pods are scheduled by the capacity left."),
            Column("TokenRequests", "The audiences of the tokens that the driver is given."),
            yes_or_no("RequiresRepublish", "Whether mounts are made again from time to time."),
            Column("Modes", "Whether volumes are persistent, or live as long as a pod."),
            AGE,
        ),
        _driver,
    ),
    ("storage.k8s.io", "CSINode"): Printer(
        (NAME, whole("Drivers", "How many drivers run on the node."), AGE), _csi_node
    ),
}
