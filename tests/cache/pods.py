"""Objects for the tests of the store."""

from __future__ import annotations

import json
from typing import Any

from listwatch import Event, EventType, Unstructured
from listwatch.cache import Undecodable
from listwatch.wire import decode_list
from listwatch.wire.protobuf_object import ProtobufObject, decode_protobuf
from listwatch.wire.table import TableRow
from listwatch.wire.table_rows import TableRows
from tests.wire.protobuf_bytes import envelope, message


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


def in_protobuf(key: str, version: int | str, *, uid: str = "u1", **spec: Any) -> ProtobufObject:
    namespace, _, name = key.rpartition("/")
    metadata = (1, name), (3, namespace), (5, uid), (6, str(version))
    content = message((1, metadata), (2, json.dumps(spec)))
    return decode_protobuf(envelope("v1", "Pod", content))


def in_a_table(key: str, version: int | str, *, uid: str = "u1", **spec: Any) -> TableRow:
    """Its spec shows in its cells alone."""
    cells = [str(value) for value in spec.values()]
    rows = [{"cells": cells, "object": pod_dict(key, version, uid=uid)}]
    columns = [{"name": name} for name in spec]
    head = {"kind": "Table", "apiVersion": "meta.k8s.io/v1", "columnDefinitions": columns}
    [row] = decode_list(json.dumps({**head, "rows": rows}).encode(), TableRows())
    return row


def added(obj: Any) -> Event[Any]:
    return Event(EventType.ADDED, obj)


def modified(obj: Any) -> Event[Any]:
    return Event(EventType.MODIFIED, obj)


def deleted(obj: Any) -> Event[Any]:
    return Event(EventType.DELETED, obj)


def node_of(obj: Any) -> list[str]:
    node = obj["spec"].get("node")
    return [] if node is None else [node]
