"""Pods that leave a node because it says `NoExecute`, at once or when they have borne it for long
enough.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, ClassVar, cast

from ..storage.log import Key, StoredObject, Write, WriteKind
from .client import Core
from .conditions import with_condition
from .owners import is_dying
from .pods import PODS, disruption_target, node_of
from .queue import WorkQueue
from .scheduling import covers
from .workload import Workload

__all__ = ["TaintEviction"]

_NODES = "nodes"


class TaintEviction(Workload):
    """Counts the time from when it first saw pod and taint together."""

    name: ClassVar[str] = "taint-eviction"
    watched: ClassVar[frozenset[str] | None] = frozenset({_NODES, PODS})
    storage: ClassVar[str] = PODS

    def __init__(self, core: Core, queue: WorkQueue) -> None:
        super().__init__(core, queue)
        self._since: dict[Key, float] = {}
        """When, on the core's clock, a pod that will have to go began to wait."""

    def start(self) -> None:
        self._since.clear()
        super().start()

    def observe(self, write: Write) -> None:
        if write.storage == PODS:
            if write.kind is WriteKind.DELETED:
                self._since.pop(write.new.key, None)
            elif write.old is None or _place(write.old) != _place(write.new):
                self.plan(write.new.key)
        elif (None if write.old is None else _taints(write.old)) != _taints(write.new):
            for pod in self.client.list(PODS):
                if node_of(pod) == write.new.key[1]:
                    self.plan(pod.key)

    def sync(self, item: Hashable) -> None:
        key = cast("Key", item)
        pod = self.client.get(PODS, key)
        name = "" if pod is None else node_of(pod)
        node = self.client.get(_NODES, ("", name)) if name else None
        if pod is None or node is None or is_dying(pod.metadata):
            self._since.pop(key, None)
            return
        patience = _patience(_taints(node), pod.value["spec"].get("tolerations") or ())
        if patience is None:
            if self._since.pop(key, None) is not None:
                self._tell(pod, f"Cancelling deletion of Pod {key[0]}/{key[1]}")
            return
        clock = self.client.state.clock()
        left = self._since.setdefault(key, clock) + patience - clock
        if left > 0:
            self.plan(key, left)
        else:
            self._evict(pod)

    def _evict(self, pod: StoredObject) -> None:
        namespace, name = pod.key
        self._since.pop(pod.key, None)
        self._tell(pod, f"Marking for deletion Pod {namespace}/{name}")
        text = "Taint manager: deleting due to NoExecute taint"
        condition = disruption_target(pod, "DeletionByTaintManager", text, self.client.stamp)
        status = dict(pod.value.get("status") or {})
        status["conditions"] = with_condition(status.get("conditions") or (), condition)
        self.client.update_status(PODS, pod.value, status)
        found = self.client.get(PODS, pod.key)
        if found is not None:
            self.client.delete(PODS, found)

    def _tell(self, pod: StoredObject, text: str) -> None:
        self._events.event(pod.value, "TaintManagerEviction", text)


def _patience(
    taints: Sequence[Mapping[str, Any]], tolerations: Sequence[Mapping[str, Any]]
) -> float | None:
    """How many seconds a pod bears the taints; None: for ever."""
    used = []
    for taint in taints:
        toleration = next((one for one in tolerations if covers(one, taint)), None)
        if toleration is None:
            return 0.0
        used.append(toleration.get("tolerationSeconds"))
    return min((max(0.0, float(one)) for one in used if one is not None), default=None)


def _taints(node: StoredObject) -> list[Mapping[str, Any]]:
    taints = (node.value.get("spec") or {}).get("taints") or ()
    return [taint for taint in taints if taint.get("effect") == "NoExecute"]


def _place(pod: StoredObject) -> tuple[Any, Any]:
    spec = pod.value["spec"]
    return spec.get("nodeName"), spec.get("tolerations")
