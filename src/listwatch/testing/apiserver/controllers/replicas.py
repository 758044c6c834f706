"""What keeps a number of pods alike: ReplicaSets, and ReplicationControllers before them."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from heapq import nsmallest
from typing import Any, ClassVar, cast

from ..reading.object_selectors import selector_matches
from ..storage.log import Key, StoredObject, Write
from .client import Core
from .conditions import with_condition, without_condition
from .owned_pods import OwnedPod, OwnedPods
from .owners import Claims, controller_of, controller_uid, is_dying
from .pods import PODS, new_pod, seconds_to_available
from .queue import WorkQueue
from .workload import Workload

__all__ = ["Replicas"]

_DELAY = 0.01
_LEAST = 25
"""Pods that are looked for at a time, when some have to go."""
_BURST = 500
"""Pods after which the status tells of those that there are, though there are more to come."""


class Replicas(Workload):
    """Makes and deletes pods until there are as many as wanted, and tells how many there are."""

    kind: ClassVar[str]
    counts_ending: ClassVar[bool] = False
    """Whether the status has `terminatingReplicas`."""

    def __init__(self, core: Core, queue: WorkQueue) -> None:
        super().__init__(core, queue)
        self._pods = OwnedPods(self.client)

    def selector(self, value: Mapping[str, Any]) -> Mapping[str, Any] | None:
        """By which an object selects its pods."""
        selector: Mapping[str, Any] | None = value["spec"].get("selector")
        return selector

    def start(self) -> None:
        self._pods.start()
        super().start()

    def observe(self, write: Write) -> None:
        if write.storage == self.storage:
            self.plan(write.new.key, _DELAY)
            return
        self._pods.note(write)
        for state in (write.new, write.old):
            if state is None:
                continue
            holder = controller_of(state.metadata)
            if holder is not None and holder["kind"] == self.kind:
                self.plan((state.key[0], holder["name"]), _DELAY)
        if controller_of(write.new.metadata) is None:
            self._plan_adopters(write.new)

    def sync(self, item: Hashable) -> None:
        key = cast("Key", item)
        stored = self.client.get(self.storage, key)
        if stored is None:
            return
        own = self._pods_of(stored.value)
        failure, changed = "", 0
        if not is_dying(stored.metadata):
            active = [pod for pod in own if pod.active]
            missing = stored.value["spec"].get("replicas", 1) - len(active)
            failure, changed = self._keep_number(stored.value, active, missing)
            if changed != abs(missing) and not failure:
                self.plan(key)  # there is more to do
                if len(active) // _BURST == (len(active) + changed) // _BURST:
                    return
        self._report(key, self._pods_of(stored.value) if changed else own, failure)
        if failure:
            self.retry(key)
        else:
            self.forget(key)

    def _pods_of(self, value: Mapping[str, Any]) -> list[OwnedPod]:
        """Its own. Those that it selects no more are let go, and free ones adopted."""
        metadata, selector = value["metadata"], self.selector(value)
        own = self._pods.of(metadata["uid"])
        if is_dying(metadata):
            return own
        strange = [pod for pod in own if not pod.matches("owner", selector)]
        free = [
            pod
            for pod in self._pods.free(metadata["namespace"])
            if pod.active and pod.matches(metadata["uid"], selector)
        ]
        if strange or free:
            claims = Claims(self.client, PODS, value, selector)
            claims.of(pod.found for pod in (*strange, *free))
            own = self._pods.of(metadata["uid"])
        return own

    def _keep_number(
        self, value: Mapping[str, Any], active: Sequence[OwnedPod], missing: int
    ) -> tuple[str, int]:
        """Make or delete some of the pods that are missing, or too many. Gives what the server says
        against it, and how many they were.
        """
        is_over = self.piece()
        for done in range(missing):
            made = self.client.create(
                PODS, value["metadata"]["namespace"], new_pod(value, value["spec"]["template"])
            )
            if made is None:
                why = self.client.refusal
                self._events.event(value, "FailedCreate", f"Error creating: {why}", warning=True)
                return why, done
            text = f"Created pod: {made['metadata']['name']}"
            self._events.event(value, "SuccessfulCreate", text)
            if is_over():
                return "", done + 1
        if missing >= 0:
            return "", missing
        doomed = nsmallest(min(-missing, _LEAST), active, key=lambda pod: pod.order)
        for done, pod in enumerate(doomed):
            self.client.delete(PODS, pod.found)
            text = f"Deleted pod: {pod.found.key[1]}"
            self._events.event(value, "SuccessfulDelete", text)
            if is_over():
                return "", done + 1
        return "", len(doomed)

    def _report(self, key: Key, own: Sequence[OwnedPod], failure: str) -> None:
        stored = self.client.get(self.storage, key)
        if stored is None:
            return
        value, now = stored.value, self.client.now
        spec, before = value["spec"], value.get("status") or {}
        min_ready = spec.get("minReadySeconds") or 0
        labels = ((spec.get("template") or {}).get("metadata") or {}).get("labels") or {}
        active = [pod for pod in own if pod.active]
        ready = [pod for pod in active if pod.ready]
        waits: list[float | None] = [0.0] * len(ready)
        if min_ready:
            waits = [seconds_to_available(pod.found.value, min_ready, now) for pod in ready]
        full = {"matchLabels": labels}
        counts = {
            "fullyLabeledReplicas": sum(pod.matches("template", full) for pod in active),
            "readyReplicas": len(ready),
            "availableReplicas": sum(wait == 0 for wait in waits),
        }
        status: dict[str, Any] = {"replicas": len(active)}
        status |= {name: count for name, count in counts.items() if count}
        if self.counts_ending:
            status["terminatingReplicas"] = sum(pod.ending for pod in own)
        status["observedGeneration"] = stored.metadata["generation"]
        conditions = list(before.get("conditions") or ())
        if failure:
            conditions = with_condition(conditions, self._failure(failure))
        else:
            conditions = without_condition(conditions, "ReplicaFailure")
        if conditions:
            status["conditions"] = conditions
        if status != before:
            self.client.update_status(self.storage, value, status)
        later = [wait for wait in waits if wait]
        if later:
            self.plan(key, min(later))

    def _failure(self, message: str) -> dict[str, Any]:
        return {
            "type": "ReplicaFailure",
            "status": "True",
            "lastTransitionTime": self.client.stamp,
            "reason": "FailedCreate",
            "message": message,
        }

    def _plan_adopters(self, pod: StoredObject) -> None:
        if is_dying(pod.metadata) or controller_uid(pod.metadata):
            return
        labels = pod.metadata.get("labels")
        if labels:
            for found in self.client.list(self.storage, pod.key[0]):
                if selector_matches(self.selector(found.value), labels):
                    self.plan(found.key, _DELAY)
