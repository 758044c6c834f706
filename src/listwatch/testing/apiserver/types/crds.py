"""Custom resources: from the creation of their definition to the end of their last watch (K43).

A definition is accepted and established by the time the next request comes, in two writes to its
status. Its storage starts cold: the first LIST or WATCH is refused with 429. A change of the spec
starts the storage again, and ends the watches that were open a second later. A deletion takes the
objects first, each with its event; the watches end a second after.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..messages import Answer, ServerRequest
from ..statuses import Refused, failure
from ..storage.log import StoredObject, Write, WriteKind
from ..storage.state import State
from ..storage.timers import Timers
from ..validation.problems import forbidden
from ..watching.watches import WatchHub
from ..writing.managed_fields import Manager, after_update
from ..writing.metadata import timestamp
from ..writing.request_bodies import read_body
from .crd_names import Accepted, accepted_names
from .crd_types import storage_of, types_of
from .served import ResourceType

__all__ = ["CRD_STORAGE", "CustomResources"]

CRD_STORAGE = "apiextensions.k8s.io/customresourcedefinitions"

_MANAGER = Manager("kube-apiserver", "apiextensions.k8s.io/v1", "status", custom=False)
_FINALIZER = "customresourcecleanup.apiextensions.k8s.io"
_WATCHES_END_AFTER = 1.0
"""Seconds between the change of a definition and the end of its watches (K43)."""


class CustomResources:
    """Follows the writes to the definitions, and serves what they define."""

    def __init__(self, state: State, watches: WatchHub) -> None:
        self._state = state
        self._watches = watches
        self._timers = Timers()
        self._served: dict[str, list[ResourceType]] = {}
        """By the name of the definition."""
        self._cold: set[str] = set()
        """Storages that nobody has asked for since they started."""
        self._terminating: dict[str, str] = {}
        """Storages that are being emptied, with the name of their definition."""
        state.log.listeners.append(self._on_write)

    @property
    def next_due(self) -> float | None:
        return self._timers.next_due

    def run_due(self) -> None:
        self._timers.run_due(self._state.clock())

    def settle(self) -> None:
        """Have everything established and warm at once, as in a server that runs for some time."""
        # A step may put the next one off to a time that a real clock has only now reached.
        while (due := self._timers.next_due) is not None and due <= self._state.clock():
            self.run_due()
        self._cold.clear()

    def check_initialized(self, asked: ResourceType, verb: str, request: ServerRequest) -> None:
        """Refuse what the storage of a type cannot do yet or any more. Raises `Refused`."""
        if asked.storage in self._cold:
            self._cold.discard(asked.storage)
            self._state.caches.initialize(asked.storage)
            if verb in ("list", "watch", "deletecollection"):
                # The others do not wait for the watch cache.
                raise Refused(_initializing())
        if verb == "create" and asked.storage in self._terminating:
            text = "create not allowed while custom resource definition is terminating"
            raise forbidden(asked, _name_in(request), text)

    def terminate(self, found: StoredObject) -> Answer:
        """Begin to delete a definition, and answer it."""
        metadata = dict(found.metadata)
        metadata["deletionTimestamp"] = self._now()
        metadata["finalizers"] = [*metadata.get("finalizers", ()), _FINALIZER]
        stored = self._write(
            found,
            metadata=metadata,
            owned=False,
            status=self._with_terminating(
                found,
                "InstanceDeletionPending",
                "CustomResourceDefinition marked for deletion; "
                "CustomResource deletion will begin soon",
            ),
        )
        self._soon(found.key[1], self._clean_up)
        return Answer(status=200, body=stored.raw + b"\n")

    def reload(self) -> None:
        """Serve what the log defines, and nothing else: it was exchanged, or the server restarted.

        The storages are cold again.
        """
        self._timers.clear()
        self._terminating.clear()
        for name in list(self._served):
            self._unserve(name)
        for found in list(self._state.log.objects(CRD_STORAGE)):
            if found.metadata.get("deletionTimestamp"):
                self._serve(found)
                self._soon(found.key[1], self._clean_up)
            elif _is_established(found):
                self._serve(found)
            else:
                self._soon(found.key[1], self._accept)

    def _on_write(self, write: Write) -> None:
        if write.storage != CRD_STORAGE:
            if write.kind is WriteKind.DELETED and write.storage in self._terminating:
                self._soon(self._terminating[write.storage], self._finish)
            return
        name = write.new.key[1]
        if write.kind is WriteKind.CREATED:
            if _is_established(write.new):
                self._serve(write.new)  # loaded with its status
            else:
                self._soon(name, self._accept)
        elif write.kind is WriteKind.DELETED:
            self._empty(write.new.value["spec"])
            self._end_watches_of(self._unserve(name))
            self._look_again(write.new.value["spec"]["group"])
        elif write.old is not None and write.old.value["spec"] != write.new.value["spec"]:
            if name in self._served:
                self._end_watches_of(self._unserve(name))
                self._serve(write.new)
            if write.old.value["spec"]["names"] != write.new.value["spec"]["names"]:
                self._soon(name, self._accept)

    def _look_again(self, group: str) -> None:
        """Names of a group are free again: others may have waited for them."""
        for other in self._state.log.objects(CRD_STORAGE):
            if other.value["spec"]["group"] == group and not _is_established(other):
                self._soon(other.key[1], self._accept)

    # The life of a definition

    def _accept(self, found: StoredObject) -> None:
        """If its names are free, this is the first of the two writes that establish it."""
        now = self._now()
        status = dict(found.value.get("status") or {})
        accepted = self._accepted(found)
        if accepted.reason:
            self._refuse(found, accepted)
            return
        if not _is_established(found):
            status["conditions"] = [
                _condition("NamesAccepted", "True", now, "NoConflicts", "no conflicts found"),
                _condition(
                    "Established",
                    "False",
                    now,
                    "Installing",
                    "the initial names have been accepted",
                ),
            ]
            self._soon(found.key[1], self._establish)
        status["acceptedNames"] = found.value["spec"]["names"]
        status["storedVersions"] = status.get("storedVersions") or [
            version["name"] for version in found.value["spec"]["versions"] if version.get("storage")
        ]
        self._write(found, status=status)

    def _accepted(self, found: StoredObject) -> Accepted:
        group = found.value["spec"]["group"]
        others = [
            (other.value.get("status") or {}).get("acceptedNames") or {}
            for other in self._state.log.objects(CRD_STORAGE)
            if other.key != found.key and other.value["spec"]["group"] == group
        ]
        return accepted_names(found.value["spec"]["names"], others)

    def _refuse(self, found: StoredObject, accepted: Accepted) -> None:
        """It is not served, or goes on as it was, until its names or those of another change."""
        condition = _condition(
            "NamesAccepted", "False", self._now(), accepted.reason, accepted.message
        )
        if _is_established(found):
            status = _with_condition(found, condition)
        else:
            text = "not all names are accepted"
            other = _condition("Established", "False", self._now(), "NotAccepted", text)
            status = dict(found.value.get("status") or {})
            status["conditions"] = [condition, other]
        status["acceptedNames"] = accepted.names
        self._write(found, status=status)

    def _establish(self, found: StoredObject) -> None:
        condition = _condition(
            "Established",
            "True",
            self._now(),
            "InitialNamesAccepted",
            "the initial names have been accepted",
        )
        self._serve(self._write(found, status=_with_condition(found, condition)))

    def _clean_up(self, found: StoredObject) -> None:
        """Delete its objects; those with finalizers hold it up."""
        stored = self._write(
            found,
            status=self._with_terminating(
                found, "InstanceDeletionInProgress", "CustomResource deletion is in progress"
            ),
        )
        self._terminating[storage_of(found.value["spec"])] = found.key[1]
        self._empty(stored.value["spec"])
        self._finish(stored)

    def _finish(self, found: StoredObject) -> None:
        storage = storage_of(found.value["spec"])
        if storage in self._terminating and not self._state.log.count(storage):
            del self._terminating[storage]
            self._state.log.delete(CRD_STORAGE, found.key)

    def _empty(self, spec: Mapping[str, Any]) -> None:
        log, storage = self._state.log, storage_of(spec)
        for found in list(log.objects(storage)):
            if not found.metadata.get("finalizers"):
                log.delete(storage, found.key)
            elif not found.metadata.get("deletionTimestamp"):
                dying = {"deletionTimestamp": self._now(), "deletionGracePeriodSeconds": 0}
                metadata = dict(sorted({**found.metadata, **dying}.items()))
                log.put(storage, found.key, {**found.value, "metadata": metadata})

    # What is served

    def _serve(self, found: StoredObject) -> None:
        served = list(types_of(found.value, since=self._state.log.revision))
        self._served[found.key[1]] = served
        for added in served:
            self._state.types.add(added)
        self._cold.add(storage_of(found.value["spec"]))

    def _unserve(self, name: str) -> list[ResourceType]:
        removed = self._served.pop(name, [])
        for found in removed:
            self._state.types.remove(found)
            self._cold.discard(found.storage)
            self._terminating.pop(found.storage, None)
            self._state.caches.forget(found.storage)
        return removed

    def _end_watches_of(self, types: list[ResourceType]) -> None:
        if types:
            due = self._state.clock() + _WATCHES_END_AFTER
            self._timers.at(due, lambda: self._watches.end(lambda target: target.type in types))

    # Tools

    def _soon(self, name: str, action: Any) -> None:
        """Do it before the next request, unless the definition is gone by then."""

        def run() -> None:
            found = self._state.log.get(CRD_STORAGE, ("", name))
            if found is not None:
                action(found)

        self._timers.at(self._state.clock(), run)

    def _write(
        self,
        found: StoredObject,
        *,
        status: Mapping[str, Any],
        metadata: Mapping[str, Any] | None = None,
        owned: bool = True,
    ) -> StoredObject:
        """Store a new status. `owned`: managedFields tell that the server wrote it (K9)."""
        metadata = dict(metadata or found.metadata)
        value = {**found.value, "metadata": metadata, "status": status}
        if owned:
            metadata["managedFields"] = after_update(_MANAGER, found.value, value, self._now())
        definition = self._state.types.find(
            "apiextensions.k8s.io", "v1", "customresourcedefinitions"
        )
        assert definition is not None
        return self._state.log.put(CRD_STORAGE, found.key, definition.ordered(value))

    def _with_terminating(
        self, found: StoredObject, reason: str, message: str
    ) -> Mapping[str, Any]:
        condition = _condition("Terminating", "True", self._now(), reason, message)
        return _with_condition(found, condition)

    def _now(self) -> str:
        return timestamp(self._state.wall())


def _condition(kind: str, status: str, now: str, reason: str, message: str) -> dict[str, str]:
    return {
        "type": kind,
        "status": status,
        "lastTransitionTime": now,
        "reason": reason,
        "message": message,
    }


def _with_condition(found: StoredObject, condition: dict[str, str]) -> dict[str, Any]:
    status = dict(found.value.get("status") or {})
    conditions = {entry["type"]: entry for entry in status.get("conditions") or ()}
    before = conditions.get(condition["type"])
    if before is not None and before["status"] == condition["status"]:
        condition = {**condition, "lastTransitionTime": before["lastTransitionTime"]}
    status["conditions"] = list({**conditions, condition["type"]: condition}.values())
    return status


def _is_established(found: StoredObject) -> bool:
    conditions = (found.value.get("status") or {}).get("conditions") or ()
    return any(c["type"] == "Established" and c["status"] == "True" for c in conditions)


def _name_in(request: ServerRequest) -> str:
    """The name of the object in a body, which may be anything."""
    try:
        metadata = read_body(request).get("metadata")
    except Refused:
        return ""
    name = metadata.get("name") if isinstance(metadata, dict) else ""
    return name if isinstance(name, str) else ""


def _initializing() -> Answer:
    return failure(
        429,
        "TooManyRequests",
        "storage is (re)initializing",
        details={"retryAfterSeconds": 1},
        headers=(("Retry-After", "1"),),
    )
