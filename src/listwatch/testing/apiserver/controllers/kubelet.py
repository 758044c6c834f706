"""Kubelets, and the scheduler that gives them their pods: what makes pods Running.

There is one node unless somebody has made others. A container runs until its pod is told to end,
unless its command says more (`programs.py`); those of Jobs end well after a moment. A node whose
annotation says so has no kubelet that does anything (`heartbeats.py`).
"""

from __future__ import annotations

from collections.abc import Hashable
from random import Random
from typing import ClassVar, cast

from ..storage.log import Key, StoredObject, Write, WriteKind
from .client import Client, Core
from .controller import Controller
from .events import Recorder
from .heartbeats import INTERVAL, Heartbeats, is_stopped
from .node_loads import NodeLoads
from .nodes import Node, node_object
from .pod_reports import in_condition_order, pod_condition
from .pod_state import REPORT, PodState, Step
from .pods import PODS, condition_of
from .queue import WorkQueue
from .scheduling import best_node

__all__ = ["Kubelets"]

_NODES = "nodes"
_BIND = 0.02
_TOLERANCE = 1e-6
_NODE = "node-1"
_LEASE = "lease/"


class Kubelets(Controller):
    """The kubelets of all nodes, and the scheduler."""

    name: ClassVar[str] = "kubelet"
    program: ClassVar[str] = "kubelet"
    watched: ClassVar[frozenset[str] | None] = frozenset({PODS, _NODES})

    def __init__(self, core: Core, queue: WorkQueue) -> None:
        super().__init__(core, queue)
        self._scheduler = Client(core, "kube-scheduler")
        self._scheduled = Recorder(self._scheduler, "default-scheduler")
        self._events = Recorder(self.client, "kubelet")
        self._nodes = Client(core)  # what looks after nodes is a controller
        self._rng = Random(core.state.rng.getrandbits(64))
        self._heartbeats = Heartbeats(self.client)
        self._beating: set[str] = set()
        self._loads = NodeLoads()
        self._due: dict[Key, dict[Step, float]] = {}
        self._addresses = 1

    def start(self) -> None:
        self._due.clear()
        self._beating.clear()
        self.plan(("", ""))
        pods = self.client.list(PODS)
        self._loads.start(pods)
        for pod in pods:
            self.plan(pod.key)

    def observe(self, write: Write) -> None:
        key = write.new.key
        if write.storage == _NODES:
            self.plan(("", key[1]))
            return
        self._loads.note(write)
        if write.kind is WriteKind.DELETED:
            self._due.pop(key, None)
        else:
            self._look(write.new)

    def sync(self, item: Hashable) -> None:
        key = cast("Key", item)
        if not key[0]:
            if key[1].startswith(_LEASE):
                self._beat(key[1].removeprefix(_LEASE))
            else:
                self._sync_nodes()
            return
        pod = self.client.get(PODS, key)
        if pod is None:
            self._due.pop(key, None)
            return
        if not pod.value["spec"].get("nodeName"):
            self._schedule(pod)
            return
        node = self._node(pod)
        if node is None or is_stopped(node.value):
            self._due.pop(key, None)  # nobody runs it
            return
        self._look(pod)
        clock = self.client.state.clock()
        due = self._due.get(key, {})
        step = min(due, key=lambda step: due[step], default=None)
        if step is not None and due[step] <= clock + _TOLERANCE:
            self._take(pod, step)

    # Nodes

    def _sync_nodes(self) -> None:
        """See to it that there is one, and that those that say they are ready take pods."""
        nodes = self.client.list(_NODES)
        if not nodes:
            self.client.create(_NODES, "", node_object(Node(_NODE, 0), self.client.stamp))
            return
        for node in nodes:
            if is_stopped(node.value):
                continue
            if node.key[1] not in self._beating:
                self._beating.add(node.key[1])
                self.plan(("", f"{_LEASE}{node.key[1]}"))
            taints = (node.value.get("spec") or {}).get("taints") or ()
            kept = [one for one in taints if one.get("key") != "node.kubernetes.io/not-ready"]
            ready = condition_of(node.value, "Ready")
            if len(kept) < len(taints) and ready is not None and ready.get("status") == "True":
                self._nodes.patch(_NODES, node.key, {"spec": {"taints": kept or None}})
        for pod in self.client.list(PODS):
            if not pod.value["spec"].get("nodeName"):
                self.plan(pod.key, _BIND)
            elif pod.key not in self._due:
                self.plan(pod.key)  # its node may have come just now

    def _beat(self, name: str) -> None:
        node = self.client.get(_NODES, ("", name))
        if node is None or is_stopped(node.value):
            self._beating.discard(name)
            return
        self.plan(("", f"{_LEASE}{name}"), INTERVAL)
        if self._heartbeats.beat(node):
            for pod in self.client.list(PODS):
                if pod.value["spec"].get("nodeName") == name:
                    self._report_again(pod)

    def _report_again(self, pod: StoredObject) -> None:
        """Somebody has given it up with its node: it is as it was."""
        status = self._state(pod).take(REPORT)
        if pod.value.get("status", {}).get("startTime") and status != pod.value["status"]:
            self.client.update_status(PODS, pod.value, status)

    # Pods

    def _schedule(self, pod: StoredObject) -> None:
        spec = pod.value["spec"]
        if (
            "deletionTimestamp" in pod.metadata
            or spec.get("schedulingGates")
            or spec.get("schedulerName", "default-scheduler") != "default-scheduler"
        ):
            return
        nodes = self.client.list(_NODES)
        name, why = best_node(pod.value, nodes, self._loads.pods)
        if not name:
            self._tell_unschedulable(pod, why)
            return
        namespace, pod_name = pod.key
        binding = {
            "metadata": {"name": pod_name, "namespace": namespace, "uid": pod.metadata["uid"]},
            "target": {"kind": "Node", "name": name},
        }
        if self._scheduler.post(PODS, pod.key, "binding", binding) is not None:
            text = f"Successfully assigned {namespace}/{pod_name} to {name}"
            self._scheduled.event(pod.value, "Scheduled", text)

    def _tell_unschedulable(self, pod: StoredObject, why: str) -> None:
        before = condition_of(pod.value, "PodScheduled")
        if before is not None and before.get("message") == why:
            return
        stamp = self.client.stamp
        made = pod_condition(before, "PodScheduled", False, stamp, "Unschedulable", why)
        others = (pod.value.get("status") or {}).get("conditions") or ()
        conditions = [dict(found) for found in others if found["type"] != "PodScheduled"]
        status = dict(pod.value.get("status") or {})
        status["conditions"] = in_condition_order([*conditions, made])
        self._scheduler.update_status(PODS, pod.value, status)
        self._scheduled.event(pod.value, "FailedScheduling", why, warning=True)

    def _look(self, pod: StoredObject) -> None:
        """Plan what is due next: what was planned before and still is keeps its time."""
        if not pod.value["spec"].get("nodeName"):
            self.plan(pod.key, _BIND)
            return
        clock = self.client.state.clock()
        before = self._due.get(pod.key, {})
        steps = self._state(pod).steps()
        due = {step: before.get(step, clock + after) for step, after in steps.items()}
        if due:
            self._due[pod.key] = due
            self.plan(pod.key, max(0.0, min(due.values()) - clock))
        else:
            self._due.pop(pod.key, None)

    def _take(self, pod: StoredObject, step: Step) -> None:
        state = self._state(pod)
        node = self._node(pod)
        if step[0] == "start" and node is not None:
            state.place(_address_of(node), self._next_address())
        status = state.take(step)
        self._due.pop(pod.key, None)
        self.client.update_status(PODS, pod.value, status)
        self._tell(pod, step)
        if step[0] == "stop":
            left = self.client.get(PODS, pod.key)
            if left is not None and left.metadata["uid"] == pod.metadata["uid"]:
                self.client.delete(PODS, left, grace=0)

    def _tell(self, pod: StoredObject, step: Step) -> None:
        names = [container["name"] for container in pod.value["spec"].get("containers") or ()]
        if step[0] in ("start", "restart", "debug"):
            for name in names if step[0] == "start" else [step[1]]:
                self._events.event(pod.value, "Started", f"Container {name} started")
        elif step[0] == "stop":
            for name in names:
                self._events.event(pod.value, "Killing", f"Stopping container {name}")
        elif step[0] == "back off":
            text = f"Back-off restarting failed container {step[1]} in pod {pod.key[1]}"
            self._events.event(pod.value, "BackOff", text, warning=True)

    def _node(self, pod: StoredObject) -> StoredObject | None:
        return self.client.get(_NODES, ("", pod.value["spec"]["nodeName"]))

    def _state(self, pod: StoredObject) -> PodState:
        return PodState(pod.value, self.client.now, self.client.stamp, self._rng)

    def _next_address(self) -> str:
        self._addresses += 1
        return f"10.244.{self._addresses // 250 % 250}.{self._addresses % 250 + 2}"


def _address_of(node: StoredObject) -> str:
    addresses = (node.value.get("status") or {}).get("addresses") or ()
    found = (one["address"] for one in addresses if one.get("type") == "InternalIP")
    return next(found, "10.0.0.4")
