"""APIServices: what a server says of the versions of groups that it serves itself.

Those of built-in types are there from the start, and stay away once they are deleted; those of
custom types follow their definitions. APIServices of other servers are stored, and nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any

from ..storage.state import State
from ..writing.metadata import new_uid, timestamp
from .served import ResourceType

__all__ = ["LocalAPIServices"]

_STORAGE = "apiregistration.k8s.io/apiservices"
_API_VERSION = "apiregistration.k8s.io/v1"
_MANAGED = "kube-aggregator.kubernetes.io/automanaged"
_PRIORITIES = {
    "": (18000, 1),
    "apps": (17800, 15),
    "events.k8s.io": (17750, 15),
    "authentication.k8s.io": (17700, 15),
    "authorization.k8s.io": (17600, 15),
    "autoscaling": (17500, 15),
    "batch": (17400, 15),
    "certificates.k8s.io": (17300, 15),
    "networking.k8s.io": (17200, 15),
    "policy": (17100, 15),
    "rbac.authorization.k8s.io": (17000, 15),
    "storage.k8s.io": (16800, 15),
    "apiextensions.k8s.io": (16700, 15),
    "admissionregistration.k8s.io": (16700, 15),
    "scheduling.k8s.io": (16600, 15),
    "coordination.k8s.io": (16500, 15),
    "node.k8s.io": (16300, 15),
    "discovery.k8s.io": (16200, 15),
    "resource.k8s.io": (16200, 21),
    "flowcontrol.apiserver.k8s.io": (16100, 21),
}
"""How early clients shall look in a group, and in a version of it."""
_SECOND_VERSION = 30
_CUSTOM = (1000, 100)


class LocalAPIServices:
    """Keeps the APIServices of what is served."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._seen = -1

    def found(self) -> None:
        """Write those of built-in types into an empty store. Theirs do not have one."""
        versions = {(of.group, of.version): of for of in self._state.types if not of.custom}
        for group, version in versions:
            if group != "apiregistration.k8s.io":
                first, second = _PRIORITIES.get(group, _CUSTOM)
                if version == "v2":
                    second = _SECOND_VERSION
                self._write(group, version, "onstart", (first, second))

    def settle(self) -> None:
        """Follow what was defined or is gone since the last time."""
        types = self._state.types
        if self._seen == types.generation:
            return
        self._seen = types.generation
        custom = [of for of in types if of.custom]
        wanted = {_name(of): of for of in custom}
        for name in self._kept() - wanted.keys():
            self._state.log.delete(_STORAGE, ("", name))
        for name in sorted(wanted):
            if self._state.log.get(_STORAGE, ("", name)) is None:
                self._write(wanted[name].group, wanted[name].version, "true", _CUSTOM)

    def _kept(self) -> set[str]:
        """The names of those that follow definitions."""
        return {
            found.key[1]
            for found in self._state.log.objects(_STORAGE)
            if (found.metadata.get("labels") or {}).get(_MANAGED) == "true"
        }

    def _write(self, group: str, version: str, label: str, priorities: tuple[int, int]) -> None:
        name, now = f"{version}.{group}", timestamp(self._state.wall())
        spec: dict[str, Any] = {"group": group} if group else {}
        spec |= {"version": version}
        spec |= dict(zip(("groupPriorityMinimum", "versionPriority"), priorities, strict=True))
        available = {
            "type": "Available",
            "status": "True",
            "lastTransitionTime": now,
            "reason": "Local",
            "message": "Local APIServices are always available",
        }
        value = {
            "kind": "APIService",
            "apiVersion": _API_VERSION,
            "metadata": {
                "name": name,
                # The same in every server, so that its other uids do not depend on these.
                "uid": new_uid(Random(name)),
                "resourceVersion": "",  # its place
                "creationTimestamp": now,
                "labels": {_MANAGED: label},
                "managedFields": list(_entries(spec, now)),
            },
            "spec": spec,
            "status": {"conditions": [available]},
        }
        self._state.log.put(_STORAGE, ("", name), value)


def _name(of: ResourceType) -> str:
    return f"{of.version}.{of.group}"


def _entries(spec: dict[str, Any], now: str) -> Iterator[dict[str, Any]]:
    yield {
        "manager": "kube-apiserver",
        "operation": "Update",
        "apiVersion": _API_VERSION,
        "time": now,
        "fieldsType": "FieldsV1",
        "fieldsV1": {
            "f:metadata": {"f:labels": {".": {}, f"f:{_MANAGED}": {}}},
            "f:spec": {f"f:{name}": {} for name in sorted(spec)},
        },
    }
