"""Deployments: a ReplicaSet for each template, and the way from one to the next."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any, ClassVar, cast

from ..reading.object_selectors import selector_matches
from ..storage.log import Key, StoredObject, Write
from .conditions import with_condition
from .deployment_sets import ReplicaSetsOf
from .deployment_status import (
    counted,
    is_complete,
    progress_condition,
    seconds_to_deadline,
    with_progress,
)
from .owners import controller_of, is_dying
from .pods import PODS, condition_of, is_finished
from .rollout import (
    DESIRED,
    annotated,
    desired,
    is_saturated,
    new_size,
    proportional_sizes,
    shrunk,
    size,
)
from .workload import Workload

__all__ = ["Deployments"]

_STORAGE, _SETS = "apps/deployments", "apps/replicasets"
_DELAY = 0.01


class Deployments(Workload):
    """Brings the ReplicaSets of each Deployment to where its template and its number want them."""

    name: ClassVar[str] = "deployment"
    watched: ClassVar[frozenset[str] | None] = frozenset({_STORAGE, _SETS, PODS})
    storage: ClassVar[str] = _STORAGE

    def observe(self, write: Write) -> None:
        if write.storage == _STORAGE:
            self.plan(write.new.key, _DELAY)
        elif write.storage == PODS:
            self._observe_pod(write)
        else:
            for state in (write.new, write.old):
                holder = None if state is None else controller_of(state.metadata)
                if holder is not None and holder["kind"] == "Deployment":
                    self.plan((write.new.key[0], holder["name"]), _DELAY)
            if controller_of(write.new.metadata) is None:
                self._plan_adopters(write.new)

    def sync(self, item: Hashable) -> None:
        key = cast("Key", item)
        stored = self.client.get(_STORAGE, key)
        if stored is None:
            return
        sets = ReplicaSetsOf(self.client, self._events, stored.value)
        spec = stored.value["spec"]
        if is_dying(stored.metadata):
            self._report(key, sets, progress=False)
        elif self._pause(stored.value):
            pass  # this write leads to another look
        elif spec.get("paused") or self._is_scaled(stored.value, sets):
            sets.find_new(create=False)
            self._scale(sets)
            self._report(key, sets, progress=False)
        elif (spec.get("strategy") or {}).get("type") == "Recreate":
            self._recreate(key, sets)
        else:
            self._roll(key, sets)

    # Rolling out

    def _roll(self, key: Key, sets: ReplicaSetsOf) -> None:
        sets.find_new(create=True)
        scaled = self._grow(sets)
        if not scaled:
            for group, wanted in shrunk(sets.deployment, sets.old, sets.new):
                scaled = sets.scale(group, wanted) or scaled
        self._report(key, sets, clean=not scaled)

    def _recreate(self, key: Key, sets: ReplicaSetsOf) -> None:
        sets.find_new(create=False)
        scaled = False
        for group in sets.old:
            if size(group):
                scaled = sets.scale(group, 0) or scaled
        if not scaled and not self._old_pods_run(sets):
            if sets.new is None:
                sets.find_new(create=True)
            scaled = self._grow(sets)
        self._report(key, sets, clean=not scaled)

    def _grow(self, sets: ReplicaSetsOf) -> bool:
        new, wanted = sets.new, desired(sets.deployment)
        if new is None or size(new) == wanted:
            return False
        if size(new) > wanted:
            return sets.scale(new, wanted)
        return sets.scale(new, new_size(sets.deployment, sets.all, new))

    def _old_pods_run(self, sets: ReplicaSetsOf) -> bool:
        uids = {group.metadata["uid"] for group in sets.old}
        for pod in self.client.list(PODS, sets.namespace):
            holder = controller_of(pod.metadata)
            if holder is not None and holder["uid"] in uids and not is_finished(pod.value):
                return True
        return False

    # Scaling

    def _is_scaled(self, deployment: Mapping[str, Any], sets: ReplicaSetsOf) -> bool:
        """Whether the number has changed since the ReplicaSets were last given theirs."""
        sets.find_new(create=False)
        wanted = desired(deployment)
        return any(
            annotated(group.metadata, DESIRED) not in (None, wanted)
            for group in sets.all
            if size(group)
        )

    def _scale(self, sets: ReplicaSetsOf) -> None:
        deployment, wanted = sets.deployment, desired(sets.deployment)
        active = [group for group in sets.all if size(group)]
        only: StoredObject | None = None
        if len(active) == 1:
            only = active[0]
        elif not active:
            only = sets.new or (sets.old[-1] if sets.old else None)
        if only is not None:
            if size(only) != wanted:
                sets.scale(only, wanted)
        elif is_saturated(deployment, sets.new):
            for group in sets.old:
                if size(group):
                    sets.scale(group, 0)
        elif (deployment["spec"].get("strategy") or {}).get("type") != "Recreate":
            for group, number in proportional_sizes(deployment, active).items():
                sets.scale(group, number)

    def _pause(self, deployment: Mapping[str, Any]) -> bool:
        """Say that a rollout pauses, or goes on. Whether that had to be said."""
        current = condition_of(deployment, "Progressing")
        if deployment["spec"].get("progressDeadlineSeconds") is None:
            return False
        reason = None if current is None else current.get("reason")
        if reason == "ProgressDeadlineExceeded":
            return False
        now = self.client.stamp
        paused = bool(deployment["spec"].get("paused"))
        if paused and reason != "DeploymentPaused":
            text = "Deployment is paused"
            condition = progress_condition("Unknown", "DeploymentPaused", text, now)
        elif not paused and reason == "DeploymentPaused":
            text = "Deployment is resumed"
            condition = progress_condition("Unknown", "DeploymentResumed", text, now)
        else:
            return False
        status = dict(deployment.get("status") or {})
        status["conditions"] = with_condition(status.get("conditions") or (), condition)
        return self.client.update_status(_STORAGE, deployment, status) is not None

    # Telling

    def _report(
        self, key: Key, sets: ReplicaSetsOf, *, progress: bool = True, clean: bool = False
    ) -> None:
        stored = self.client.get(_STORAGE, key)
        if stored is None:
            return
        value = stored.value
        status = counted(value, sets.all, sets.new, self.client.stamp)
        if clean and is_complete(value, status):
            sets.clean_up()
            status = counted(value, sets.all, sets.new, self.client.stamp)
        if progress:
            now, stamp = self.client.now, self.client.stamp
            status = with_progress(value, status, sets.old, sets.new, now, stamp)
        if status != value.get("status"):
            self.client.update_status(_STORAGE, value, status)
        elif progress:
            after = seconds_to_deadline(value, status, self.client.now)
            if after is not None:
                self.plan(key, after)

    def _observe_pod(self, write: Write) -> None:
        """Only who recreates waits for pods to be gone."""
        holder = controller_of(write.new.metadata)
        if holder is None or holder["kind"] != "ReplicaSet":
            return
        if not (is_dying(write.new.metadata) or is_finished(write.new.value)):
            return
        group = self.client.get(_SETS, (write.new.key[0], holder["name"]))
        owner = None if group is None else controller_of(group.metadata)
        if owner is not None:
            self.plan((write.new.key[0], owner["name"]), _DELAY)

    def _plan_adopters(self, group: StoredObject) -> None:
        labels = group.metadata.get("labels")
        if labels and not is_dying(group.metadata):
            for found in self.client.list(_STORAGE, group.key[0]):
                if selector_matches(found.value["spec"].get("selector"), labels):
                    self.plan(found.key, _DELAY)
