"""StatefulSets: pods with names of their own, one after the other."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any, ClassVar, cast

from ..storage.log import Key, StoredObject, Write
from .owners import Claims, controller_of, is_dying
from .pods import PODS, is_available, is_finished, is_ready, seconds_to_available
from .revisions import Revisions
from .stateful_pods import REVISION, claims_of, ordinal_of, stateful_pod
from .workload import Workload

__all__ = ["StatefulSets"]

_STORAGE = "apps/statefulsets"
_DELAY = 0.01


class StatefulSets(Workload):
    """Makes, deletes and replaces pods by their ordinals, one step at a time."""

    name: ClassVar[str] = "statefulset"
    watched: ClassVar[frozenset[str] | None] = frozenset({_STORAGE, PODS})
    storage: ClassVar[str] = _STORAGE

    def observe(self, write: Write) -> None:
        if write.storage == _STORAGE:
            self.plan(write.new.key, _DELAY)
            return
        holder = controller_of(write.new.metadata)
        if holder is not None and holder["kind"] == "StatefulSet":
            self.plan((write.new.key[0], holder["name"]), _DELAY)

    def sync(self, item: Hashable) -> None:
        key = cast("Key", item)
        stored = self.client.get(_STORAGE, key)
        if stored is None or is_dying(stored.metadata):
            return
        value = stored.value
        revisions = Revisions(self.client, value, "controller.kubernetes.io/hash")
        newest = revisions.current()
        if newest is None:
            self.retry(key)
            return
        update = newest.key[1]
        current = (value.get("status") or {}).get("currentRevision") or update
        self._act(value, revisions, current, update)
        self._report(key, current, update)
        revisions.clean_up({current, update})

    def _pods(self, value: Mapping[str, Any]) -> dict[int, StoredObject]:
        """By ordinal."""
        name, namespace = value["metadata"]["name"], value["metadata"]["namespace"]
        claimed = Claims(self.client, PODS, value).of(
            self.client.list(PODS, namespace),
            lambda pod: ordinal_of(name, pod.key[1]) is not None,
        )
        found = {}
        for pod in claimed:
            ordinal = ordinal_of(name, pod.key[1])
            if ordinal is not None:
                found[ordinal] = pod
        return found

    def _act(
        self, value: Mapping[str, Any], revisions: Revisions, current: str, update: str
    ) -> None:
        """Take what steps can be taken now: the next one is taken when this one has its effect."""
        spec = value["spec"]
        in_turn = spec.get("podManagementPolicy", "OrderedReady") == "OrderedReady"
        start = (spec.get("ordinals") or {}).get("start", 0)
        wanted = range(start, start + spec.get("replicas", 1))
        pods, is_over = self._pods(value), self.piece()
        for ordinal in wanted:
            pod = pods.get(ordinal)
            if pod is not None and is_finished(pod.value) and not is_dying(pod.metadata):
                self.client.delete(PODS, pod, grace=0)
                pod = None
            if pod is None:
                old = self._keeps_revision(value, ordinal - start)
                self._create(value, revisions, ordinal, current if old else update)
                if in_turn:
                    return
                if is_over():
                    self.plan((value["metadata"]["namespace"], value["metadata"]["name"]))
                    return
            elif in_turn and not self._is_settled(value, pod):
                return
        pods = self._pods(value)
        surplus = sorted((ordinal for ordinal in pods if ordinal not in wanted), reverse=True)
        for ordinal in surplus:
            if not is_dying(pods[ordinal].metadata):
                self._delete(value, pods[ordinal])
            if in_turn:
                return
        strategy = spec.get("updateStrategy") or {}
        if strategy.get("type") == "OnDelete":
            return
        partition = (strategy.get("rollingUpdate") or {}).get("partition", 0)
        for ordinal in reversed(wanted):
            pod = pods.get(ordinal)
            if ordinal - start < partition or pod is None:
                continue
            if _revision(pod) != update and not is_dying(pod.metadata):
                self._delete(value, pod)
                return
            if not self._is_settled(value, pod):
                return

    def _keeps_revision(self, value: Mapping[str, Any], place: int) -> bool:
        """Whether a pod that is missing comes back as it was, for the update has not got so far."""
        strategy = value["spec"].get("updateStrategy") or {}
        partition = (strategy.get("rollingUpdate") or {}).get("partition", 0)
        return bool(place < partition)

    def _is_settled(self, value: Mapping[str, Any], pod: StoredObject) -> bool:
        min_ready = value["spec"].get("minReadySeconds") or 0
        if is_dying(pod.metadata):
            return False
        wait = seconds_to_available(pod.value, min_ready, self.client.now)
        if wait:
            self.plan((value["metadata"]["namespace"], value["metadata"]["name"]), wait)
        return wait == 0

    def _create(
        self, value: Mapping[str, Any], revisions: Revisions, ordinal: int, revision: str
    ) -> None:
        namespace, name = value["metadata"]["namespace"], value["metadata"]["name"]
        for claim in claims_of(value, ordinal):
            if self.client.get("persistentvolumeclaims", (namespace, claim["metadata"]["name"])):
                continue
            self.client.create("persistentvolumeclaims", namespace, claim)
        pod = stateful_pod(value, revisions.template(revision), ordinal, revision)
        made = self.client.create(PODS, namespace, pod)
        what = f"Pod {pod['metadata']['name']} in StatefulSet {name}"
        if made is None:
            text = f"create {what} failed error: {self.client.refusal}"
            self._events.event(value, "FailedCreate", text, warning=True)
            self.retry((namespace, name))
        else:
            self._events.event(value, "SuccessfulCreate", f"Create {what} successful")

    def _delete(self, value: Mapping[str, Any], pod: StoredObject) -> None:
        self.client.delete(PODS, pod)
        text = f"Delete Pod {pod.key[1]} in StatefulSet {value['metadata']['name']} successful"
        self._events.event(value, "SuccessfulDelete", text)

    def _report(self, key: Key, current: str, update: str) -> None:
        stored = self.client.get(_STORAGE, key)
        if stored is None:
            return
        value = stored.value
        spec = value["spec"]
        min_ready = spec.get("minReadySeconds") or 0
        pods = [pod for pod in self._pods(value).values() if not is_finished(pod.value)]
        alive = [pod for pod in pods if not is_dying(pod.metadata)]
        ready = [pod for pod in pods if is_ready(pod.value)]
        updated = sum(_revision(pod) == update for pod in alive)
        counts = {
            "replicas": len(pods),
            "readyReplicas": len(ready),
            "currentReplicas": sum(_revision(pod) == current for pod in alive),
            "updatedReplicas": updated,
        }
        wanted = spec.get("replicas", 1)
        if updated == len(pods) == len(ready) == wanted:
            current, counts["currentReplicas"] = update, updated
        status: dict[str, Any] = {"observedGeneration": stored.metadata["generation"]}
        status["replicas"] = counts.pop("replicas")
        status |= {name: count for name, count in counts.items() if count}
        status |= {"currentRevision": current, "updateRevision": update, "collisionCount": 0}
        status["availableReplicas"] = sum(
            is_available(pod.value, min_ready, self.client.now) for pod in ready
        )
        if status != value.get("status"):
            self.client.update_status(_STORAGE, value, status)


def _revision(pod: StoredObject) -> str:
    return str((pod.metadata.get("labels") or {}).get(REVISION, ""))
