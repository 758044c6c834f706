"""How kubelets say that their nodes are alive: a Lease every ten seconds, a status now and then."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from ..storage.log import StoredObject
from .client import Client
from .nodes import Node, node_object

__all__ = ["INTERVAL", "KUBELET", "Heartbeats", "is_stopped"]

KUBELET, _STOPPED = "listwatch.testing/kubelet", "stopped"
"""The annotation by which somebody stops the kubelet of a node, and its value."""
INTERVAL = 10.0
"""Seconds between two renewals of a Lease."""
_SECONDS = 40
"""For which a Lease says that it holds."""
_STATUS_INTERVAL = 300.0
_NODES, _LEASES = "nodes", "coordination.k8s.io/leases"
_NAMESPACE = "kube-node-lease"


def is_stopped(node: Mapping[str, Any]) -> bool:
    """Whether its kubelet is to be taken for dead: it says nothing, and does nothing to pods."""
    return bool((node["metadata"].get("annotations") or {}).get(KUBELET) == _STOPPED)


class Heartbeats:
    """Of all nodes; each is told when it is time."""

    def __init__(self, client: Client) -> None:
        self._client = client

    def beat(self, node: StoredObject) -> bool:
        """Renew the Lease of a node, and its status if that is old. Whether the node was given up
        and is back.
        """
        self._renew(node)
        conditions = (node.value.get("status") or {}).get("conditions") or ()
        is_back = any(found.get("reason") == "NodeStatusUnknown" for found in conditions)
        if is_back or self._is_old(conditions):
            self._report(node)
        return is_back

    def _renew(self, node: StoredObject) -> None:
        name = node.key[1]
        now = self._client.now.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        lease = self._client.get(_LEASES, (_NAMESPACE, name))
        if lease is not None:
            spec = {**(lease.value.get("spec") or {}), "renewTime": now}
            self._client.update(_LEASES, {**lease.value, "spec": spec})
            return
        owner = {"apiVersion": "v1", "kind": "Node", "name": name, "uid": node.metadata["uid"]}
        self._client.create(
            _LEASES,
            _NAMESPACE,
            {
                "apiVersion": "coordination.k8s.io/v1",
                "kind": "Lease",
                "metadata": {"name": name, "namespace": _NAMESPACE, "ownerReferences": [owner]},
                "spec": {
                    "holderIdentity": name,
                    "leaseDurationSeconds": _SECONDS,
                    "renewTime": now,
                },
            },
        )

    def _report(self, node: StoredObject) -> None:
        """All conditions with the present time; those that nobody knew any more are well again."""
        now = self._client.stamp
        status = node.value.get("status") or {}
        healthy = {
            found["type"]: found
            for found in node_object(Node(node.key[1], 0), now)["status"]["conditions"]
        }
        conditions = []
        for found in status.get("conditions") or ():
            new = healthy.get(found["type"])
            if new is not None and found.get("reason") == "NodeStatusUnknown":
                conditions.append(new)
            elif new is not None and found.get("lastHeartbeatTime"):
                conditions.append({**found, "lastHeartbeatTime": now})
            else:
                conditions.append(found)
        self._client.update_status(_NODES, node.value, {**status, "conditions": conditions})

    def _is_old(self, conditions: Any) -> bool:
        ready = next((found for found in conditions if found["type"] == "Ready"), None)
        if ready is None or not ready.get("lastHeartbeatTime"):
            return False
        since = datetime.fromisoformat(ready["lastHeartbeatTime"])
        return (self._client.now - since).total_seconds() >= _STATUS_INTERVAL
