"""Namespaces: who may write into them, and how they go (K28, K37)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ..storage.log import StoredObject, WriteLog
from ..storage.state import State
from ..types.served import ResourceType
from ..validation.problems import Problem, forbidden, not_found
from ..writing.managed_fields import Manager, after_update
from ..writing.metadata import timestamp

__all__ = [
    "IMMORTAL",
    "check_deletable",
    "check_open",
    "contents",
    "finish",
    "terminating",
]

IMMORTAL = frozenset({"default", "kube-system", "kube-public"})
_STORAGE = "namespaces"
_CONTROLLER = Manager("kube-controller-manager", "v1", "status", custom=False)
_CONDITIONS = (
    (
        "NamespaceDeletionDiscoveryFailure",
        "ResourcesDiscovered",
        "All resources successfully discovered",
    ),
    (
        "NamespaceDeletionGroupVersionParsingFailure",
        "ParsedGroupVersions",
        "All legacy kube types successfully parsed",
    ),
    (
        "NamespaceDeletionContentFailure",
        "ContentDeleted",
        "All content successfully deleted, may be waiting on finalization",
    ),
    ("NamespaceContentRemaining", "ContentRemoved", "All content successfully removed"),
    (
        "NamespaceFinalizersRemaining",
        "ContentHasNoFinalizers",
        "All content-preserving finalizers finished",
    ),
)


def check_open(state: State, of: ResourceType, namespace: str, name: str) -> None:
    """Refuse to create an object `name` of type `of` in a namespace that is not there (404) or is
    on its way out (403).
    """
    found = state.log.get(_STORAGE, ("", namespace))
    if found is None:
        namespaces = state.types.find("", "v1", _STORAGE)
        assert namespaces is not None
        raise not_found(namespaces, namespace)
    if found.metadata.get("deletionTimestamp") is None:
        return
    cause = Problem(
        "metadata.namespace",
        "NamespaceTerminating",
        f"namespace {namespace} is being terminated",
    )
    raise forbidden(
        of,
        name,
        f"unable to create new content in namespace {namespace} because it is being terminated",
        [cause],
    )


def check_deletable(of: ResourceType, name: str) -> None:
    """Refuse what would take the cluster's own namespaces away (403)."""
    if name in IMMORTAL:
        raise forbidden(of, name, "this namespace may not be deleted")


def terminating(value: Mapping[str, Any], now: str) -> dict[str, Any]:
    """A namespace that has begun to go."""
    metadata = {**value["metadata"], "deletionTimestamp": now}
    status = {**(value.get("status") or {}), "phase": "Terminating"}
    return {**value, "metadata": metadata, "status": status}


def contents(log: WriteLog, namespace: str) -> Iterator[tuple[str, StoredObject]]:
    """All objects in a namespace, by storage. Do not write while it runs."""
    for storage in log.storages():
        for found in log.objects(storage, namespace=namespace):
            yield storage, found


def finish(state: State, name: str) -> None:
    """Empty a namespace at once, whatever finalizers its objects have, and remove it: a DELETED for
    each object, then the namespace's conditions, then its DELETED (K37). Nothing happens where it
    is not there.
    """
    log, of = state.log, state.types.find("", "v1", _STORAGE)
    key = ("", name)
    found = log.get(_STORAGE, key)
    if found is None or of is None:
        return
    for storage, content in list(contents(log, name)):
        log.delete(storage, content.key)
    now = timestamp(state.wall())
    value = found.value
    if found.metadata.get("deletionTimestamp") is None:
        value = of.ordered(terminating(value, now))
        found = log.put(_STORAGE, key, value)
    if not _is_told(found):
        conditions = [
            {
                "type": kind,
                "status": "False",
                "lastTransitionTime": now,
                "reason": reason,
                "message": message,
            }
            for kind, reason, message in _CONDITIONS
        ]
        status = {**value["status"], "conditions": conditions}
        new = {**value, "metadata": dict(value["metadata"]), "status": status}
        entries = after_update(_CONTROLLER, value, new, now)
        if entries:
            new["metadata"]["managedFields"] = entries
        found = log.put(_STORAGE, key, of.ordered(new))
    if not found.metadata.get("finalizers"):
        log.delete(_STORAGE, key)


def _is_told(found: StoredObject) -> bool:
    return bool((found.value.get("status") or {}).get("conditions"))
