"""The garbage collector: what becomes of the dependents of an object that goes (K34).

A dependent goes when none of its owners is left. One that has others loses the references to those
that are gone. `Foreground` lets the owner wait for those dependents that say `blockOwnerDeletion`;
`Orphan` takes the references away, and lets the dependents live.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from enum import Enum
from typing import Any, ClassVar, cast

from ..storage.log import StoredObject, Write, WriteKind
from .controller import Controller
from .dependents import Dependents, Place
from .owners import is_dying

__all__ = ["GarbageCollector"]

_FOREGROUND, _ORPHAN = "foregroundDeletion", "orphan"
_DELAY = 0.02
"""Seconds between a write and what it leads to."""


class _Owner(Enum):
    SOLID = "there, and to stay"
    WAITING = "deleted in the foreground"
    GONE = "not there"
    UNKNOWN = "of a type that is not served"


class GarbageCollector(Controller):
    """Follows who belongs to whom, and acts when somebody goes."""

    name: ClassVar[str] = "garbage-collector"

    _dependents: Dependents

    def start(self) -> None:
        self._dependents = Dependents()
        log = self.client.state.log
        for storage in log.storages():
            for found in log.objects(storage):
                owners = found.metadata.get("ownerReferences") or ()
                if owners:
                    self._dependents.add((storage, found.key), (one["uid"] for one in owners))
                if owners or is_dying(found.metadata):
                    self.plan((storage, found.key), _DELAY)

    def observe(self, write: Write) -> None:
        place = (write.storage, write.new.key)
        before = write.old
        self._dependents.note(write)
        metadata = write.new.metadata
        if write.kind is WriteKind.DELETED:
            for dependent in self._dependents.of(metadata["uid"]):
                self.plan(dependent, _DELAY)
            self._plan_owners(metadata)
            return
        if write.kind is WriteKind.CREATED:
            if metadata.get("ownerReferences"):
                self.plan(place, _DELAY)
            return
        assert before is not None
        if before.metadata.get("ownerReferences") != metadata.get("ownerReferences"):
            self.plan(place, _DELAY)
            self._plan_owners(before.metadata)
        if is_dying(metadata) and _holds(metadata) != _holds(before.metadata):
            self.plan(place, _DELAY)

    def sync(self, item: Hashable) -> None:
        place = cast("Place", item)
        found = self.client.get(*place)
        if found is None:
            return
        holds = _holds(found.metadata)
        if is_dying(found.metadata):
            if _ORPHAN in holds:
                self._orphan(place, found)
            elif _FOREGROUND in holds:
                self._wait_for_dependents(place, found)
            return
        self._collect(place, found)

    # A dependent

    def _collect(self, place: Place, found: StoredObject) -> None:
        """Delete it, or what it says of owners that are gone, if any of them is."""
        references = found.metadata.get("ownerReferences") or ()
        if not references:
            return
        owners = [(reference, self._owner(found, reference)) for reference in references]
        if any(owner is _Owner.UNKNOWN for _, owner in owners):
            return  # nobody knows whether it is there
        kept = [reference for reference, owner in owners if owner is _Owner.SOLID]
        if len(kept) == len(owners):
            return
        if kept:
            self._keep_references(place, found, kept)
            return
        waiting = any(owner is _Owner.WAITING for _, owner in owners)
        policy = "Background"
        if waiting and self._dependents.of(found.metadata["uid"]):
            policy = "Foreground"
        else:
            holds = _holds(found.metadata)
            if _ORPHAN in holds:
                policy = "Orphan"
            elif _FOREGROUND in holds:
                policy = "Foreground"
        if self.client.delete(place[0], found, policy=policy):
            self.forget(place)
        else:
            self.retry(place)

    def _owner(self, found: StoredObject, reference: Mapping[str, Any]) -> _Owner:
        of = self.client.state.types.find_kind(reference["apiVersion"], reference["kind"])
        if of is None or not of.is_stored:
            return _Owner.UNKNOWN
        namespace = found.key[0]
        if of.namespaced and not namespace:
            return _Owner.UNKNOWN  # nothing of the whole cluster can belong to a namespace's
        key = (namespace if of.namespaced else "", reference["name"])
        owner = self.client.get(of.storage, key)
        if owner is None or owner.metadata["uid"] != reference["uid"]:
            return _Owner.GONE
        if is_dying(owner.metadata) and _FOREGROUND in _holds(owner.metadata):
            return _Owner.WAITING
        return _Owner.SOLID

    def _keep_references(
        self, place: Place, found: StoredObject, kept: list[Mapping[str, Any]]
    ) -> None:
        metadata = {"uid": found.metadata["uid"], "ownerReferences": kept or None}
        self.client.patch(place[0], found.key, {"metadata": metadata})

    # An owner

    def _orphan(self, place: Place, found: StoredObject) -> None:
        uid = found.metadata["uid"]
        for dependent in self._dependents.of(uid):
            child = self.client.get(*dependent)
            if child is not None:
                references = child.metadata.get("ownerReferences") or ()
                kept = [one for one in references if one["uid"] != uid]
                self._keep_references(dependent, child, kept)
        self._release(place, found, _ORPHAN)

    def _wait_for_dependents(self, place: Place, found: StoredObject) -> None:
        uid = found.metadata["uid"]
        waits = False
        for dependent in self._dependents.of(uid):
            child = self.client.get(*dependent)
            if child is None:
                continue
            blocks = any(
                one["uid"] == uid and one.get("blockOwnerDeletion")
                for one in child.metadata.get("ownerReferences") or ()
            )
            waits = waits or blocks
            if not is_dying(child.metadata):
                self.plan(dependent)
        if not waits:
            self._release(place, found, _FOREGROUND)

    def _release(self, place: Place, found: StoredObject, finalizer: str) -> None:
        kept = [name for name in _holds(found.metadata) if name != finalizer]
        metadata = {"uid": found.metadata["uid"], "finalizers": kept or None}
        self.client.patch(place[0], found.key, {"metadata": metadata})

    def _plan_owners(self, metadata: Mapping[str, Any]) -> None:
        """An owner may have waited for this one."""
        for reference in metadata.get("ownerReferences") or ():
            of = self.client.state.types.find_kind(reference["apiVersion"], reference["kind"])
            if of is not None and of.is_stored:
                namespace = metadata.get("namespace", "") if of.namespaced else ""
                self.plan((of.storage, (namespace, reference["name"])), _DELAY)


def _holds(metadata: Mapping[str, Any]) -> list[str]:
    return list(metadata.get("finalizers") or ())
