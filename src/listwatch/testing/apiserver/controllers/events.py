"""The Events that controllers leave for people."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .client import Client

__all__ = ["Recorder"]


class Recorder:
    """Writes Events in the name of one component, such as `replicaset-controller`. Those about a
    node or a namespace are in `default`.
    """

    def __init__(self, client: Client, component: str) -> None:
        self._client = client
        self._component = component
        self._count = 0

    def event(
        self, about: Mapping[str, Any], reason: str, message: str, *, warning: bool = False
    ) -> None:
        metadata = about["metadata"]
        namespace = metadata.get("namespace", "")
        self._count += 1
        moment = int(self._client.now.timestamp() * 1e6) * 1000 + self._count
        now = self._client.stamp
        involved = {"kind": about["kind"], "namespace": namespace, "name": metadata["name"]}
        involved |= {"uid": metadata["uid"], "apiVersion": about["apiVersion"]}
        involved["resourceVersion"] = metadata.get("resourceVersion", "")
        event = {
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
            "firstTimestamp": now,
            "lastTimestamp": now,
            "count": 1,
            "type": "Warning" if warning else "Normal",
            "eventTime": None,
            "reportingComponent": self._component,
            "reportingInstance": "",
        }
        self._client.create("events", namespace or "default", event)
