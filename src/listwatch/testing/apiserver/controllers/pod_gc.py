"""Pods that nobody will ever end: of nodes that are gone, and dying ones that have no node."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, ClassVar, cast

from ..storage.log import Key, StoredObject, Write, WriteKind
from .client import Core
from .conditions import with_condition
from .controller import Controller
from .owners import is_dying
from .pods import PODS, disruption_target, is_finished, node_of
from .queue import WorkQueue

__all__ = ["PodCollector"]

_NODES = "nodes"
_PATIENCE = 40.0
"""Seconds that a node may be missing."""
_INTERVAL = 20.0
"""Seconds between two looks of the real one, which a dying pod without a node may have to wait."""


class PodCollector(Controller):
    """Fails them, and deletes them without a grace."""

    name: ClassVar[str] = "pod-garbage-collector"
    watched: ClassVar[frozenset[str] | None] = frozenset({_NODES, PODS})
    storage: ClassVar[str] = PODS

    def __init__(self, core: Core, queue: WorkQueue) -> None:
        super().__init__(core, queue)
        self._missing: dict[str, float] = {}
        """Since when, on the core's clock, nodes that pods are on are not there."""

    def start(self) -> None:
        self._missing.clear()
        super().start()

    def observe(self, write: Write) -> None:
        name = write.new.key[1]
        if write.storage == _NODES:
            self._missing.pop(name, None)
            if write.kind is WriteKind.DELETED:
                for pod in self.client.list(PODS):
                    if node_of(pod) == name:
                        self.plan(pod.key)
        elif write.kind is not WriteKind.DELETED:
            placed = write.old is None or node_of(write.old) != node_of(write.new)
            if placed and node_of(write.new):
                self.plan(write.new.key)
            elif is_dying(write.new.metadata) and not node_of(write.new):
                self.plan(write.new.key, _INTERVAL)

    def sync(self, item: Hashable) -> None:
        key = cast("Key", item)
        pod = self.client.get(PODS, key)
        if pod is None:
            return
        node = node_of(pod)
        if not node:
            if is_dying(pod.metadata):
                self._end(pod, status=None)
            return
        if self.client.get(_NODES, ("", node)) is not None:
            return
        clock = self.client.state.clock()
        left = self._missing.setdefault(node, clock) + _PATIENCE - clock
        if left > 0:
            self.plan(key, left)
            return
        text = "PodGC: node no longer exists"
        condition = disruption_target(pod, "DeletionByPodGC", text, self.client.stamp)
        conditions = (pod.value.get("status") or {}).get("conditions") or ()
        self._end(pod, status={"conditions": with_condition(conditions, condition)})

    def _end(self, pod: StoredObject, *, status: dict[str, Any] | None) -> None:
        if not is_finished(pod.value):
            generation = pod.metadata.get("generation")
            before = pod.value.get("status") or {}
            failed = {**before, "phase": "Failed", "observedGeneration": generation}
            self.client.update_status(PODS, pod.value, {**failed, **(status or {})})
        found = self.client.get(PODS, pod.key)
        if found is not None:
            self.client.delete(PODS, found, grace=0)
