"""Claims and volumes that are in use: their finalizers go when they are dying and used no more."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any, ClassVar, cast

from ..storage.log import Key, StoredObject, Write
from .controller import Controller
from .owners import is_dying
from .pods import PODS

__all__ = ["AttributesClassProtection", "ClaimProtection", "VolumeProtection"]

_CLAIMS, _VOLUMES = "persistentvolumeclaims", "persistentvolumes"
_ATTRIBUTES_CLASSES = "storage.k8s.io/volumeattributesclasses"


class _Protection(Controller):
    """Lets a dying object of one type go once nothing uses it."""

    _storage: ClassVar[str]
    _finalizer: ClassVar[str]

    def start(self) -> None:
        for found in self.client.list(self._storage):
            self._look(found)

    def observe(self, write: Write) -> None:
        if write.storage == self._storage:
            self._look(write.new)

    def sync(self, item: Hashable) -> None:
        found = self.client.get(self._storage, cast("Key", item))
        if found is None or not is_dying(found.metadata) or self._is_used(found):
            return
        held = found.metadata.get("finalizers") or []
        if self._finalizer not in held:
            return
        kept = [name for name in held if name != self._finalizer]
        metadata = {**found.metadata, "finalizers": kept}
        if self.client.update(self._storage, {**found.value, "metadata": metadata}) is None:
            self.retry(item)

    def _look(self, found: StoredObject) -> None:
        if is_dying(found.metadata):
            self.plan(found.key)

    def _is_used(self, found: StoredObject) -> bool:
        raise NotImplementedError


class ClaimProtection(_Protection):
    """A claim is used by each pod that is on a node and names it, whether it still runs or not."""

    name: ClassVar[str] = "persistentvolumeclaim-protection"
    watched: ClassVar[frozenset[str] | None] = frozenset({_CLAIMS, PODS})
    _storage, _finalizer = _CLAIMS, "kubernetes.io/pvc-protection"

    def observe(self, write: Write) -> None:
        super().observe(write)
        if write.storage == PODS:
            for name in _claims_of(write.new):
                self.plan((write.new.key[0], name))

    def _is_used(self, found: StoredObject) -> bool:
        namespace, name = found.key
        return any(
            (pod.value.get("spec") or {}).get("nodeName") and name in _claims_of(pod)
            for pod in self.client.list(PODS, namespace)
        )


class VolumeProtection(_Protection):
    """A volume is used while a claim is bound to it."""

    name: ClassVar[str] = "persistentvolume-protection"
    watched: ClassVar[frozenset[str] | None] = frozenset({_VOLUMES})
    _storage, _finalizer = _VOLUMES, "kubernetes.io/pv-protection"

    def _is_used(self, found: StoredObject) -> bool:
        return (found.value.get("status") or {}).get("phase") == "Bound"


class AttributesClassProtection(_Protection):
    """A class is used by each claim and volume that has it, or is on the way to it."""

    name: ClassVar[str] = "volumeattributesclass-protection"
    watched: ClassVar[frozenset[str] | None] = frozenset({_ATTRIBUTES_CLASSES, _CLAIMS, _VOLUMES})
    _storage, _finalizer = _ATTRIBUTES_CLASSES, "kubernetes.io/vac-protection"

    def observe(self, write: Write) -> None:
        super().observe(write)
        if write.storage in (_CLAIMS, _VOLUMES):
            for found in (write.old, write.new):
                for name in () if found is None else _classes_of(found):
                    self.plan(("", name))

    def _is_used(self, found: StoredObject) -> bool:
        return any(
            found.key[1] in _classes_of(user)
            for storage in (_CLAIMS, _VOLUMES)
            for user in self.client.list(storage)
        )


def _classes_of(user: StoredObject) -> set[str]:
    """The names of the VolumeAttributesClasses of a claim or a volume."""
    status = user.value.get("status") or {}
    names = {
        (user.value.get("spec") or {}).get("volumeAttributesClassName"),
        status.get("currentVolumeAttributesClassName"),
        (status.get("modifyVolumeStatus") or {}).get("targetVolumeAttributesClassName"),
    }
    return {name for name in names if name}


def _claims_of(pod: StoredObject) -> set[str]:
    """The names of the claims that a pod uses, those that are made for it too."""
    names = set()
    for volume in (pod.value.get("spec") or {}).get("volumes") or ():
        claim: Mapping[str, Any] = volume.get("persistentVolumeClaim") or {}
        if claim.get("claimName"):
            names.add(str(claim["claimName"]))
        elif volume.get("ephemeral"):
            names.add(f"{pod.key[1]}-{volume.get('name', '')}")
    return names
