"""The status of disruption budgets: how many of their pods may go now (K36)."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, ClassVar, cast

from ..reading.object_selectors import selector_matches
from ..storage.log import Key, StoredObject, Write
from .controller import Controller
from .owners import controller_of, is_dying
from .pods import PODS, condition_of, is_finished, is_ready

__all__ = ["Disruptions"]

_BUDGETS = "policy/poddisruptionbudgets"
_SCALED = {
    "ReplicaSet": "apps/replicasets",
    "StatefulSet": "apps/statefulsets",
    "Deployment": "apps/deployments",
    "ReplicationController": "replicationcontrollers",
}
_DELAY = 0.01


class Disruptions(Controller):
    """Counts the pods of each budget, and how many of them may go."""

    name: ClassVar[str] = "disruption"
    watched: ClassVar[frozenset[str] | None] = frozenset({_BUDGETS, PODS})
    storage: ClassVar[str] = _BUDGETS

    def observe(self, write: Write) -> None:
        if write.storage == _BUDGETS:
            self.plan(write.new.key, _DELAY)
            return
        labels = write.new.metadata.get("labels")
        for budget in self.client.list(_BUDGETS, write.new.key[0]):
            if selector_matches((budget.value.get("spec") or {}).get("selector"), labels):
                self.plan(budget.key, _DELAY)

    def sync(self, item: Hashable) -> None:
        key = cast("Key", item)
        budget = self.client.get(_BUDGETS, key)
        if budget is None:
            return
        spec = budget.value.get("spec") or {}
        pods = [
            pod
            for pod in self.client.list(PODS, key[0])
            if selector_matches(spec.get("selector"), pod.metadata.get("labels"))
            and not is_finished(pod.value)
        ]
        healthy = sum(is_ready(pod.value) and not is_dying(pod.metadata) for pod in pods)
        expected, desired = self._wanted(spec, pods)
        allowed = max(0, healthy - desired) if expected else 0
        status = self._status(budget, allowed, healthy, desired, expected)
        if status != budget.value.get("status"):
            self.client.update_status(_BUDGETS, budget.value, status)

    def _wanted(self, spec: Mapping[str, Any], pods: Sequence[StoredObject]) -> tuple[int, int]:
        """How many pods there are to be, and how many of them have to be healthy."""
        if "maxUnavailable" in spec:
            expected = self._expected(pods)
            return expected, max(0, expected - _part(spec["maxUnavailable"], expected))
        least = spec.get("minAvailable", 1)
        if isinstance(least, int):
            return len(pods), least
        expected = self._expected(pods)
        return expected, _part(least, expected)

    def _expected(self, pods: Sequence[StoredObject]) -> int:
        """The sum of what those who make the pods want of them."""
        sizes: dict[str, int] = {}
        for pod in pods:
            holder = controller_of(pod.metadata)
            if holder is None or holder["kind"] not in _SCALED:
                continue
            found = self.client.get(_SCALED[holder["kind"]], (pod.key[0], holder["name"]))
            if found is None:
                continue
            above = controller_of(found.metadata)
            if above is not None and above["kind"] in _SCALED:
                upper = self.client.get(_SCALED[above["kind"]], (pod.key[0], above["name"]))
                found = upper or found
            sizes[found.metadata["uid"]] = found.value["spec"].get("replicas", 1)
        return sum(sizes.values())

    def _status(
        self, budget: StoredObject, allowed: int, healthy: int, desired: int, expected: int
    ) -> dict[str, Any]:
        generation = budget.metadata["generation"]
        before = condition_of(budget.value, "DisruptionAllowed")
        text = "True" if allowed else "False"
        since = self.client.stamp
        if before is not None and before["status"] == text:
            since = before["lastTransitionTime"]
        return {
            "observedGeneration": generation,
            "disruptionsAllowed": allowed,
            "currentHealthy": healthy,
            "desiredHealthy": desired,
            "expectedPods": expected,
            "conditions": [
                {
                    "type": "DisruptionAllowed",
                    "status": text,
                    "observedGeneration": generation,
                    "lastTransitionTime": since,
                    "reason": "SufficientPods" if allowed else "InsufficientPods",
                    "message": "",
                }
            ],
        }


def _part(value: Any, of: int) -> int:
    """A number, or a percentage rounded up."""
    if isinstance(value, int):
        return value
    return -(-of * int(str(value).rstrip("%")) // 100)
