"""The Events that controllers leave for people."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from .client import Client

__all__ = ["Recorder"]

_Entry = TypeVar("_Entry")
_STORAGE = "events"
_SIMILAR, _SIMILAR_FOR = 10, 600.0
"""So many Events that differ only in what they say, each within so many seconds of the last, and
from then on they are one.
"""
_AT_ONCE, _ONE_IN = 25, 300.0
"""So many Events about one object at once, and later one more every so many seconds."""
_REMEMBERED = 4096


@dataclass(slots=True)
class _Similar:
    messages: set[str] = field(default_factory=set)
    last: float = 0.0


@dataclass(slots=True)
class _Allowance:
    """What one object may still have told about it."""

    left: float = _AT_ONCE
    since: float = 0.0


@dataclass(slots=True)
class _Told:
    """What was said before, and how often."""

    count: int = 0
    first: str = ""
    name: str = ""


class Recorder:
    """Writes Events in the name of one component, such as `replicaset-controller`. Those about a
    node or a namespace are in `default`.

    As client-go does it: what is said again counts up the Event that there is, many that are alike
    become one, and an object about which too much is said has the rest of it left out.
    """

    def __init__(self, client: Client, component: str) -> None:
        self._client = client
        self._component = component
        self._count = 0
        self._similar: dict[Hashable, _Similar] = {}
        self._allowances: dict[Hashable, _Allowance] = {}
        self._told: dict[Hashable, _Told] = {}

    def event(
        self, about: Mapping[str, Any], reason: str, message: str, *, warning: bool = False
    ) -> None:
        uid, now = about["metadata"]["uid"], self._client.now.timestamp()
        kind = "Warning" if warning else "Normal"
        of: tuple[str, ...] = (uid, kind, reason)
        key: Hashable = (*of, message)
        if self._is_one_of_many(of, message, now):
            key, message = of, f"(combined from similar events): {message}"
        told = _remembered(self._told, key, _Told())
        told.count += 1
        told.first = told.first or self._client.stamp
        if not self._may_tell(uid, now):
            return
        namespace = about["metadata"].get("namespace") or "default"
        if told.name:
            stamp = self._client.stamp
            change = {"count": told.count, "lastTimestamp": stamp, "message": message}
            if self._client.patch(_STORAGE, (namespace, told.name), change) is not None:
                return
        event = self._made(about, reason, message, kind, told)
        told.name = event["metadata"]["name"]
        self._client.create(_STORAGE, namespace, event)

    def _made(
        self, about: Mapping[str, Any], reason: str, message: str, kind: str, told: _Told
    ) -> dict[str, Any]:
        metadata = about["metadata"]
        namespace = metadata.get("namespace", "")
        self._count += 1
        moment = int(self._client.now.timestamp() * 1e6) * 1000 + self._count
        involved = {"kind": about["kind"], "namespace": namespace, "name": metadata["name"]}
        involved |= {"uid": metadata["uid"], "apiVersion": about["apiVersion"]}
        involved["resourceVersion"] = metadata.get("resourceVersion", "")
        return {
            "kind": "Event",
            "apiVersion": "v1",
            "metadata": {
                "name": f"{metadata['name']}.{moment:x}",
                "namespace": namespace or "default",
            },
            "involvedObject": {name: value for name, value in involved.items() if value},
            "reason": reason,
            "message": message,
            "source": {"component": self._component},
            "firstTimestamp": told.first,
            "lastTimestamp": self._client.stamp,
            "count": told.count,
            "type": kind,
            "eventTime": None,
            "reportingComponent": self._component,
            "reportingInstance": "",
        }

    def _is_one_of_many(self, of: Hashable, message: str, now: float) -> bool:
        similar = _remembered(self._similar, of, _Similar())
        if now - similar.last > _SIMILAR_FOR:
            similar.messages.clear()
        similar.last = now
        if message not in similar.messages and len(similar.messages) == _SIMILAR - 1:
            return True
        similar.messages.add(message)
        return False

    def _may_tell(self, uid: Hashable, now: float) -> bool:
        allowance = _remembered(self._allowances, uid, _Allowance(since=now))
        gained = (now - allowance.since) / _ONE_IN
        allowance.left, allowance.since = min(_AT_ONCE, allowance.left + gained), now
        if allowance.left < 1:
            return False
        allowance.left -= 1
        return True


def _remembered(known: dict[Hashable, _Entry], key: Hashable, new: _Entry) -> _Entry:
    """The entry of `key`, `new` if there is none: then the oldest goes, if they are too many."""
    if key not in known:
        if len(known) >= _REMEMBERED:
            del known[next(iter(known))]
        known[key] = new
    return known[key]
