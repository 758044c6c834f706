"""What becomes of nodes that nobody hears of, and how the taints of nodes follow from their state.

Unlike the real one it does not wait between the nodes that it taints. As there, nothing is driven
away from its node when no node at all is ready: then it is not the nodes that fail.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any, ClassVar, cast

from ..storage.log import Key, StoredObject, Write, WriteKind
from .client import Core
from .pods import PODS, condition_of
from .queue import WorkQueue
from .workload import Workload

__all__ = ["NodeLifecycle"]

_NODES, _LEASES = "nodes", "coordination.k8s.io/leases"
_NAMESPACE = "kube-node-lease"
_GRACE, _FIRST_GRACE = 50.0, 60.0
"""Seconds after which a node that is not heard of is given up; those that a new one has."""
_DELAY = 0.01
_PREFIX = "node.kubernetes.io/"
_TAINTS = {
    ("Ready", "False"): "not-ready",
    ("Ready", "Unknown"): "unreachable",
    ("MemoryPressure", "True"): "memory-pressure",
    ("DiskPressure", "True"): "disk-pressure",
    ("NetworkUnavailable", "True"): "network-unavailable",
    ("PIDPressure", "True"): "pid-pressure",
}
_KEYS = frozenset(f"{_PREFIX}{name}" for name in (*_TAINTS.values(), "unschedulable"))
_DRIVING = frozenset({f"{_PREFIX}not-ready", f"{_PREFIX}unreachable"})
_REPORTED = ("Ready", "MemoryPressure", "DiskPressure", "PIDPressure")
"""Conditions that kubelets report."""


class NodeLifecycle(Workload):
    """Listens for Leases and status reports."""

    name: ClassVar[str] = "node-lifecycle"
    component: ClassVar[str] = "node-controller"
    watched: ClassVar[frozenset[str] | None] = frozenset({_NODES, _LEASES})
    storage: ClassVar[str] = _NODES

    def __init__(self, core: Core, queue: WorkQueue) -> None:
        super().__init__(core, queue)
        self._heard: dict[str, float] = {}
        """When, on the core's clock, each node was last heard of."""
        self._known: dict[str, StoredObject] = {}

    def start(self) -> None:
        self._heard.clear()
        super().start()

    def observe(self, write: Write) -> None:
        namespace, name = write.new.key
        if write.storage == _NODES:
            if write.old is None or _heartbeat(write.old) != _heartbeat(write.new):
                self._heard[name] = self.client.state.clock()
            self.plan(write.new.key, _DELAY)
        elif namespace == _NAMESPACE and write.kind is not WriteKind.DELETED:
            before = None if write.old is None else _renewal(write.old)
            if before != _renewal(write.new):
                self._heard[name] = self.client.state.clock()

    def sync(self, item: Hashable) -> None:
        key = cast("Key", item)
        node = self.client.get(_NODES, key)
        known = self._known.pop(key[1], None)
        if node is None:
            self._heard.pop(key[1], None)
            if known is not None:
                self._tell(known, "RemovingNode", f"event: Removing Node {key[1]} from Controller")
            return
        self._known[key[1]] = node
        if known is None:
            self._tell(node, "RegisteredNode", f"event: Registered Node {key[1]} in Controller")
        if self._is_lost(node):
            self._give_up(node)
            node = self.client.get(_NODES, key) or node
        self._taint(node)
        if known is None or _ready(known) != _ready(node):
            for other in self.client.list(_NODES):
                self.plan(other.key, _DELAY)  # whether any is ready matters to all

    # Losing it

    def _is_lost(self, node: StoredObject) -> bool:
        clock = self.client.state.clock()
        heard = self._heard.setdefault(node.key[1], clock)
        grace = _GRACE if condition_of(node.value, "Ready") is not None else _FIRST_GRACE
        left = heard + grace - clock
        if left > 0:
            self.plan(node.key, left)
            return False
        self.plan(node.key, grace)  # it may be heard of without another write to it
        return True

    def _give_up(self, node: StoredObject) -> None:
        before = condition_of(node.value, "Ready")
        if before is not None and before.get("status") == "Unknown":
            return
        status = dict(node.value.get("status") or {})
        conditions = [self._unknown(found) for found in status.get("conditions") or ()]
        there = {found["type"] for found in conditions}
        conditions += (self._never(kind, node) for kind in _REPORTED if kind not in there)
        self.client.update_status(_NODES, node.value, {**status, "conditions": conditions})
        if before is None or before.get("status") != "True":
            return
        self._tell(node, "NodeNotReady", "status is now: NodeNotReady")
        for pod in self.client.list(PODS):
            if pod.value["spec"].get("nodeName") == node.key[1]:
                self._make_unready(pod)

    def _unknown(self, condition: Mapping[str, Any]) -> Mapping[str, Any]:
        if condition["type"] not in _REPORTED or condition.get("status") == "Unknown":
            return condition
        return {
            **condition,
            "status": "Unknown",
            "reason": "NodeStatusUnknown",
            "message": "Kubelet stopped posting node status.",
            "lastTransitionTime": self.client.stamp,
        }

    def _never(self, kind: str, node: StoredObject) -> Mapping[str, Any]:
        return {
            "type": kind,
            "status": "Unknown",
            "lastHeartbeatTime": node.metadata["creationTimestamp"],
            "lastTransitionTime": self.client.stamp,
            "reason": "NodeStatusNeverUpdated",
            "message": "Kubelet never posted node status.",
        }

    def _make_unready(self, pod: StoredObject) -> None:
        ready = condition_of(pod.value, "Ready")
        if ready is None or ready.get("status") == "False":
            return
        status = dict(pod.value["status"])
        now = {"status": "False", "lastTransitionTime": self.client.stamp}
        status["conditions"] = [
            {**found, **now} if found["type"] == "Ready" else found
            for found in status["conditions"]
        ]
        if self.client.update_status(PODS, pod.value, status) is not None:
            self._events.event(pod.value, "NodeNotReady", "Node is not ready", warning=True)

    # Taints

    def _taint(self, node: StoredObject) -> None:
        spec = node.value.get("spec") or {}
        conditions = (node.value.get("status") or {}).get("conditions") or ()
        states = [(found["type"], found.get("status")) for found in conditions]
        names = [_TAINTS[state] for state in states if state in _TAINTS]
        wanted = [(f"{_PREFIX}{name}", "NoSchedule") for name in names]
        if spec.get("unschedulable"):
            wanted.append((f"{_PREFIX}unschedulable", "NoSchedule"))
        if any(_ready(other) for other in self.client.list(_NODES)):
            driving = (f"{_PREFIX}{name}" for name in names)
            wanted += [(key, "NoExecute") for key in driving if key in _DRIVING]
        taints = list(spec.get("taints") or ())
        kept = [found for found in taints if not _is_ours(found) or _sort(found) in wanted]
        there = [_sort(found) for found in kept]
        now = self.client.stamp
        kept += [
            {"key": key, "effect": effect, "timeAdded": now}
            for key, effect in wanted
            if (key, effect) not in there
        ]
        if kept != taints:
            self.client.patch(_NODES, node.key, {"spec": {"taints": kept or None}})

    def _tell(self, node: StoredObject, reason: str, text: str) -> None:
        name = node.key[1]
        metadata = {"name": name, "uid": node.metadata["uid"]}
        about = {"kind": "Node", "apiVersion": "v1", "metadata": metadata}
        self._events.event(about, reason, f"Node {name} {text}")


def _ready(node: StoredObject) -> bool:
    found = condition_of(node.value, "Ready")
    return found is not None and found.get("status") == "True"


def _heartbeat(node: StoredObject) -> Any:
    found = condition_of(node.value, "Ready")
    return None if found is None else (found.get("lastHeartbeatTime") or "")


def _renewal(lease: StoredObject) -> Any:
    return (lease.value.get("spec") or {}).get("renewTime")


def _sort(taint: Mapping[str, Any]) -> tuple[str, str]:
    return str(taint.get("key")), str(taint.get("effect"))


def _is_ours(taint: Mapping[str, Any]) -> bool:
    key, effect = _sort(taint)
    return (effect == "NoSchedule" and key in _KEYS) or (effect == "NoExecute" and key in _DRIVING)
