"""ReplicaSets: so many pods as they say, and a status that tells how many there are."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, ClassVar, cast

from ..reading.object_selectors import selector_matches
from ..storage.log import Key, StoredObject, Write
from .conditions import with_condition, without_condition
from .owners import Claims, controller_of, controller_uid, is_dying
from .pods import (
    PODS,
    deletion_order,
    is_active,
    is_finished,
    is_ready,
    new_pod,
    seconds_to_available,
)
from .workload import Workload

__all__ = ["ReplicaSets"]

_STORAGE = "apps/replicasets"
_DELAY = 0.01
_BURST = 500
"""Pods that are made or deleted at a time, at most."""


class ReplicaSets(Workload):
    """Makes and deletes pods until there are as many as wanted."""

    name: ClassVar[str] = "replicaset"
    watched: ClassVar[frozenset[str] | None] = frozenset({_STORAGE, PODS})
    storage: ClassVar[str] = _STORAGE

    def observe(self, write: Write) -> None:
        if write.storage == _STORAGE:
            self.plan(write.new.key, _DELAY)
            return
        for state in (write.new, write.old):
            if state is None:
                continue
            holder = controller_of(state.metadata)
            if holder is not None and holder["kind"] == "ReplicaSet":
                self.plan((state.key[0], holder["name"]), _DELAY)
        if controller_of(write.new.metadata) is None:
            self._plan_adopters(write.new)

    def sync(self, item: Hashable) -> None:
        key = cast("Key", item)
        stored = self.client.get(_STORAGE, key)
        if stored is None:
            return
        value = stored.value
        own = self._pods_of(value)
        failure = ""
        if not is_dying(stored.metadata):
            failure = self._keep_number(value, [pod for pod in own if is_active(pod.value)])
            own = self._pods_of(value)
        self._report(key, own, failure)
        if failure:
            self.retry(key)
        else:
            self.forget(key)

    def _pods_of(self, value: Mapping[str, Any]) -> list[StoredObject]:
        namespace = value["metadata"]["namespace"]
        pods = self.client.list(PODS, namespace)
        return Claims(self.client, PODS, value).of(pods, lambda pod: is_active(pod.value))

    def _keep_number(self, value: Mapping[str, Any], active: list[StoredObject]) -> str:
        """Make or delete pods. Gives what the server says against it."""
        wanted = value["spec"].get("replicas", 1)
        missing = min(wanted - len(active), _BURST)
        namespace = value["metadata"]["namespace"]
        for _ in range(missing):
            made = self.client.create(PODS, namespace, new_pod(value, value["spec"]["template"]))
            if made is None:
                why = self.client.refusal
                self._events.event(value, "FailedCreate", f"Error creating: {why}", warning=True)
                return why
            name = made["metadata"]["name"]
            self._events.event(value, "SuccessfulCreate", f"Created pod: {name}")
        for pod in sorted(active, key=deletion_order)[: min(len(active) - wanted, _BURST)]:
            if len(active) <= wanted:
                break
            self.client.delete(PODS, pod)
            self._events.event(value, "SuccessfulDelete", f"Deleted pod: {pod.key[1]}")
        return ""

    def _report(self, key: Key, own: Sequence[StoredObject], failure: str) -> None:
        stored = self.client.get(_STORAGE, key)
        if stored is None:
            return
        value, now = stored.value, self.client.now
        spec, before = value["spec"], value.get("status") or {}
        min_ready = spec.get("minReadySeconds") or 0
        labels = (spec["template"].get("metadata") or {}).get("labels") or {}
        active = [pod for pod in own if is_active(pod.value)]
        waits = [seconds_to_available(pod.value, min_ready, now) for pod in active]
        full = {"matchLabels": labels}
        counts = {
            "replicas": len(active),
            "fullyLabeledReplicas": sum(
                selector_matches(full, pod.metadata.get("labels")) for pod in active
            ),
            "readyReplicas": sum(is_ready(pod.value) for pod in active),
            "availableReplicas": sum(wait == 0 for wait in waits),
        }
        status: dict[str, Any] = {"replicas": counts.pop("replicas")}
        status |= {name: count for name, count in counts.items() if count}
        status["terminatingReplicas"] = sum(
            is_dying(pod.metadata) and not is_finished(pod.value) for pod in own
        )
        status["observedGeneration"] = stored.metadata["generation"]
        conditions = list(before.get("conditions") or ())
        if failure:
            conditions = with_condition(
                conditions,
                {
                    "type": "ReplicaFailure",
                    "status": "True",
                    "lastTransitionTime": self.client.stamp,
                    "reason": "FailedCreate",
                    "message": failure,
                },
            )
        else:
            conditions = without_condition(conditions, "ReplicaFailure")
        if conditions:
            status["conditions"] = conditions
        if status != before:
            self.client.update_status(_STORAGE, value, status)
        later = [wait for wait in waits if wait]
        if later:
            self.plan(key, min(later))

    def _plan_adopters(self, pod: StoredObject) -> None:
        if is_dying(pod.metadata) or controller_uid(pod.metadata):
            return
        labels = pod.metadata.get("labels")
        if labels:
            for found in self.client.list(_STORAGE, pod.key[0]):
                if selector_matches(found.value["spec"].get("selector"), labels):
                    self.plan(found.key, _DELAY)
