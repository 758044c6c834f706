"""DefaultStorageClass and DefaultIngressClass: the class of what names none."""

from __future__ import annotations

from typing import Any

from ..storage.state import State, Target

__all__ = ["add_ingress_class", "add_storage_class"]

_STORAGE_CLASSES = "storage.k8s.io/storageclasses"
_INGRESS_CLASSES = "networking.k8s.io/ingressclasses"
_DEFAULT_STORAGE = (
    "storageclass.kubernetes.io/is-default-class",
    "storageclass.beta.kubernetes.io/is-default-class",
)
_DEFAULT_INGRESS = ("ingressclass.kubernetes.io/is-default-class",)


def add_storage_class(state: State, target: Target, claim: dict[str, Any], named: str) -> None:
    _add(state, claim, "storageClassName", "volume.beta.kubernetes.io/storage-class")


def add_ingress_class(state: State, target: Target, ingress: dict[str, Any], named: str) -> None:
    _add(state, ingress, "ingressClassName", "kubernetes.io/ingress.class")


def _add(state: State, value: dict[str, Any], member: str, annotation: str) -> None:
    """`annotation`: how the class was named before there was a member for it."""
    spec = value.get("spec") or {}
    annotations = value["metadata"].get("annotations") or {}
    if spec.get(member) is None and annotation not in annotations:
        name = _default(state, storage=member == "storageClassName")
        if name:
            value["spec"] = {**spec, member: name}


def _default(state: State, *, storage: bool) -> str:
    """The newest one that says it is the default; of several that are as new, the first by name."""
    marks = _DEFAULT_STORAGE if storage else _DEFAULT_INGRESS
    newest, name = "", ""
    for found in state.log.objects(_STORAGE_CLASSES if storage else _INGRESS_CLASSES):
        annotations = found.metadata.get("annotations") or {}
        created = found.metadata.get("creationTimestamp") or ""
        if created > newest and any(annotations.get(mark) == "true" for mark in marks):
            newest, name = created, found.key[1]
    return name
