"""DaemonSets: one pod on each node that takes it."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping
from typing import Any, ClassVar, cast

from ..storage.log import Key, StoredObject, Write
from .owners import Claims, controller_of, is_dying
from .pods import PODS, is_active, is_available, is_finished, is_ready, new_pod
from .revisions import Revisions
from .scheduling import named_node, on_node, tolerates
from .workload import Workload

__all__ = ["DaemonSets"]

_STORAGE, _NODES = "apps/daemonsets", "nodes"
_REVISION = "controller-revision-hash"
_GENERATION = "deprecated.daemonset.template.generation"
_DELAY = 0.01
_PRESSURES = ("disk-pressure", "memory-pressure", "pid-pressure", "unschedulable")
_TOLERATIONS = [
    {"key": f"node.kubernetes.io/{name}", "operator": "Exists", "effect": "NoExecute"}
    for name in ("not-ready", "unreachable")
] + [
    {"key": f"node.kubernetes.io/{name}", "operator": "Exists", "effect": "NoSchedule"}
    for name in _PRESSURES
]
"""What the controller gives every one of its pods."""


class DaemonSets(Workload):
    """Sees to it that each node has its pod."""

    name: ClassVar[str] = "daemonset"
    watched: ClassVar[frozenset[str] | None] = frozenset({_STORAGE, _NODES, PODS})
    storage: ClassVar[str] = _STORAGE

    def observe(self, write: Write) -> None:
        if write.storage == _STORAGE:
            self.plan(write.new.key, _DELAY)
        elif write.storage == _NODES:
            for found in self.client.list(_STORAGE):
                self.plan(found.key, _DELAY)
        else:
            holder = controller_of(write.new.metadata)
            if holder is not None and holder["kind"] == "DaemonSet":
                self.plan((write.new.key[0], holder["name"]), _DELAY)

    def sync(self, item: Hashable) -> None:
        key = cast("Key", item)
        stored = self.client.get(_STORAGE, key)
        if stored is None or is_dying(stored.metadata):
            return
        value = stored.value
        revisions = Revisions(self.client, value, _REVISION)
        newest = revisions.current()
        if newest is None:
            self.retry(key)
            return
        digest = newest.metadata["labels"][_REVISION]
        spec = _with_tolerations(value["spec"]["template"]["spec"])
        wanted = [node for node in self.client.list(_NODES) if on_node(spec, node.value)]
        nodes = [node.key[1] for node in wanted if tolerates(spec, node.value)]
        # A taint that only keeps pods away does not send those away that are there.
        stay = {node.key[1] for node in wanted if tolerates(spec, node.value, ("NoExecute",))}
        self._place(value, nodes, stay, digest)
        self._roll(value, nodes, digest)
        self._report(key, nodes, digest)
        revisions.clean_up({newest.key[1]})

    def _pods(self, value: Mapping[str, Any]) -> dict[str, list[StoredObject]]:
        """By the node that they are for."""
        pods = self.client.list(PODS, value["metadata"]["namespace"])
        found: dict[str, list[StoredObject]] = {}
        for pod in Claims(self.client, PODS, value).of(pods, lambda pod: is_active(pod.value)):
            spec = pod.value["spec"]
            found.setdefault(spec.get("nodeName") or named_node(spec), []).append(pod)
        return found

    def _place(
        self, value: Mapping[str, Any], nodes: list[str], stay: Collection[str], digest: str
    ) -> None:
        """A pod where there is none, and none where there should be none."""
        pods, is_over = self._pods(value), self.piece()
        for name, there in pods.items():
            for pod in there:
                finished = is_finished(pod.value)
                if (name not in stay or finished) and not is_dying(pod.metadata):
                    self._delete(value, pod)
        for name in nodes:
            if any(not is_finished(pod.value) for pod in pods.get(name, ())):
                continue
            made = self.client.create(
                PODS, value["metadata"]["namespace"], _daemon_pod(value, name, digest)
            )
            if made is None:
                text = f"Error creating: {self.client.refusal}"
                self._events.event(value, "FailedCreate", text, warning=True)
                self.retry((value["metadata"]["namespace"], value["metadata"]["name"]))
                return
            text = f"Created pod: {made['metadata']['name']}"
            self._events.event(value, "SuccessfulCreate", text)
            if is_over():
                self.plan((value["metadata"]["namespace"], value["metadata"]["name"]))
                return

    def _roll(self, value: Mapping[str, Any], nodes: list[str], digest: str) -> None:
        """Delete pods of other templates, so many at a time as may be missing."""
        strategy = value["spec"].get("updateStrategy") or {}
        if strategy.get("type") == "OnDelete":
            return
        limit = (strategy.get("rollingUpdate") or {}).get("maxUnavailable", 1)
        if not isinstance(limit, int):
            limit = -(-len(nodes) * int(str(limit).rstrip("%")) // 100)
        now, min_ready = self.client.now, value["spec"].get("minReadySeconds") or 0
        pods = self._pods(value)
        there = [pod for name in nodes for pod in pods.get(name, ())]
        good = [
            pod
            for pod in there
            if not is_dying(pod.metadata) and is_available(pod.value, min_ready, now)
        ]
        room = max(limit, 1) - (len(nodes) - len(good))
        old = [pod for pod in there if not is_dying(pod.metadata) and _digest(pod) != digest]
        for pod in sorted(old, key=lambda pod: pod in good):
            if pod in good:
                if room <= 0:
                    return
                room -= 1
            self._delete(value, pod)

    def _delete(self, value: Mapping[str, Any], pod: StoredObject) -> None:
        self.client.delete(PODS, pod)
        self._events.event(value, "SuccessfulDelete", f"Deleted pod: {pod.key[1]}")

    def _report(self, key: Key, nodes: list[str], digest: str) -> None:
        stored = self.client.get(_STORAGE, key)
        if stored is None:
            return
        now, min_ready = self.client.now, stored.value["spec"].get("minReadySeconds") or 0
        pods = self._pods(stored.value)
        first = {
            name: found[0]
            for name, there in pods.items()
            if (found := [pod for pod in there if not is_dying(pod.metadata)])
        }
        there = [first[name] for name in nodes if name in first]
        available = sum(is_available(pod.value, min_ready, now) for pod in there)
        status: dict[str, Any] = {
            "currentNumberScheduled": len(there),
            "numberMisscheduled": sum(name not in nodes for name in first),
            "desiredNumberScheduled": len(nodes),
            "numberReady": sum(is_ready(pod.value) for pod in there),
            "observedGeneration": stored.metadata["generation"],
        }
        more = {
            "updatedNumberScheduled": sum(_digest(pod) == digest for pod in there),
            "numberAvailable": available,
            "numberUnavailable": len(nodes) - available,
        }
        status |= {name: count for name, count in more.items() if count}
        if status != stored.value.get("status"):
            self.client.update_status(_STORAGE, stored.value, status)


def _daemon_pod(value: Mapping[str, Any], node: str, digest: str) -> dict[str, Any]:
    pod = new_pod(value, value["spec"]["template"])
    annotations = value["metadata"].get("annotations") or {}
    pod["metadata"]["labels"] = {
        **(pod["metadata"].get("labels") or {}),
        _REVISION: digest,
        "pod-template-generation": annotations.get(_GENERATION, "1"),
    }
    spec = _with_tolerations(pod["spec"])
    field = {"key": "metadata.name", "operator": "In", "values": [node]}
    terms = {"nodeSelectorTerms": [{"matchFields": [field]}]}
    required = {"requiredDuringSchedulingIgnoredDuringExecution": terms}
    spec["affinity"] = {**(spec.get("affinity") or {}), "nodeAffinity": required}
    return {**pod, "spec": spec}


def _with_tolerations(spec: Mapping[str, Any]) -> dict[str, Any]:
    given = [one for one in spec.get("tolerations") or () if one not in _TOLERATIONS]
    return {**spec, "tolerations": [*given, *_TOLERATIONS]}


def _digest(pod: StoredObject) -> str:
    return str((pod.metadata.get("labels") or {}).get(_REVISION, ""))
