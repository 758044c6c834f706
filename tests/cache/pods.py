"""Objects for the tests of the store."""

from __future__ import annotations

import json
from typing import Any

from listwatch import Event, EventType, Unstructured
from listwatch.cache import Undecodable


def pod(key: str, version: int | str, *, uid: str = "u1", **spec: Any) -> Unstructured:
    return Unstructured.from_bytes(json.dumps(pod_dict(key, version, uid=uid, **spec)).encode())


def pod_dict(key: str, version: int | str, *, uid: str = "u1", **spec: Any) -> dict[str, Any]:
    namespace, _, name = key.rpartition("/")
    metadata = {"name": name, "uid": uid, "resourceVersion": str(version)}
    if namespace:
        metadata["namespace"] = namespace
    return {"kind": "Pod", "apiVersion": "v1", "metadata": metadata, "spec": spec}


def unreadable(key: str, version: int | str, *, uid: str = "u1", **spec: Any) -> Undecodable:
    return Undecodable.of(pod(key, version, uid=uid, **spec).raw, "it is broken")


def added(obj: Any) -> Event[Any]:
    return Event(EventType.ADDED, obj)


def modified(obj: Any) -> Event[Any]:
    return Event(EventType.MODIFIED, obj)


def deleted(obj: Any) -> Event[Any]:
    return Event(EventType.DELETED, obj)


def node_of(obj: Any) -> list[str]:
    node = obj["spec"].get("node")
    return [] if node is None else [node]
