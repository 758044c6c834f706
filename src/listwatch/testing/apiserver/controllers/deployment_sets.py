"""The ReplicaSets of one Deployment, and what it does to them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..storage.log import StoredObject
from .client import Client
from .conditions import with_condition
from .deployment_status import progress_condition
from .events import Recorder
from .hashes import template_hash
from .owners import Claims, controller_uid, is_dying, owned_by
from .pods import condition_of
from .rollout import (
    DESIRED,
    MAXIMUM,
    REVISION,
    annotated,
    desired,
    max_surge,
    new_size,
    revision,
    size,
)

__all__ = ["ReplicaSetsOf"]

_STORAGE, _SETS = "apps/deployments", "apps/replicasets"
_HASH = "pod-template-hash"
_HISTORY = "deployment.kubernetes.io/revision-history"
_NOT_COPIED = frozenset(
    {
        "kubectl.kubernetes.io/last-applied-configuration",
        "deprecated.deployment.rollback.to",
        REVISION,
        _HISTORY,
        DESIRED,
        MAXIMUM,
    }
)


class ReplicaSetsOf:
    """As they are at the time; `find_new` looks for the one of the present template."""

    def __init__(self, client: Client, events: Recorder, deployment: Mapping[str, Any]) -> None:
        self._client = client
        self._events = events
        self.deployment = deployment
        self.namespace: str = deployment["metadata"]["namespace"]
        self._key = (self.namespace, deployment["metadata"]["name"])
        found = Claims(client, _SETS, deployment).of(client.list(_SETS, self.namespace))
        self._groups = sorted(found, key=_age)
        self._new_name = ""

    @property
    def all(self) -> list[StoredObject]:
        """The oldest first, as they are now."""
        self._groups = [
            now
            for group in self._groups
            if (now := self._client.get(_SETS, group.key)) is not None
            and now.metadata["uid"] == group.metadata["uid"]
        ]
        return list(self._groups)

    @property
    def new(self) -> StoredObject | None:
        return next((group for group in self.all if group.key[1] == self._new_name), None)

    @property
    def old(self) -> list[StoredObject]:
        return [group for group in self.all if group.key[1] != self._new_name]

    def find_new(self, *, create: bool) -> None:
        """Find the ReplicaSet of the present template, or `create` it; see to it that it and the
        Deployment say which revision it is.
        """
        template = _without_hash(self.deployment["spec"]["template"])
        same = [
            group
            for group in self.all
            if _without_hash(group.value["spec"]["template"]) == template
        ]
        if same:
            self._new_name = same[0].key[1]
            self._number(same[0])
        elif create:
            self._create(template)

    def scale(self, group: StoredObject, wanted: int) -> bool:
        """Give it its number. Whether that is another one than it had."""
        found = self._client.get(_SETS, group.key)
        if found is None:
            return False
        annotations = dict(found.metadata.get("annotations") or {})
        annotations |= self._sizes()
        before = size(found)
        if before == wanted and annotations == (found.metadata.get("annotations") or {}):
            return False
        value = {
            **found.value,
            "metadata": {**found.metadata, "annotations": annotations},
            "spec": {**found.value["spec"], "replicas": wanted},
        }
        if self._client.update(_SETS, value) is None or before == wanted:
            return False
        way = "up" if wanted > before else "down"
        self._tell_scaled(way, found.key[1], before, wanted)
        return True

    def clean_up(self) -> None:
        """Delete the oldest ones without pods that `revisionHistoryLimit` does not want kept."""
        limit = self.deployment["spec"].get("revisionHistoryLimit")
        if limit is None:
            return
        old = [group for group in self.old if not is_dying(group.metadata)]
        old.sort(key=lambda group: revision(group.metadata))
        for group in old[: max(0, len(old) - limit)]:
            status = group.value.get("status") or {}
            if not status.get("replicas") and not size(group):
                self._client.delete(_SETS, group, policy="Background")

    # The new one

    def _create(self, template: Mapping[str, Any]) -> None:
        deployment = self.deployment
        collisions = (deployment.get("status") or {}).get("collisionCount", 0)
        digest = template_hash(template, collisions)
        name = f"{self._key[1]}-{digest}"
        number = 1 + max((revision(group.metadata) for group in self.all), default=0)
        metadata = template.get("metadata") or {}
        labels = {**(metadata.get("labels") or {}), _HASH: digest}
        spec = deployment["spec"]
        selector = spec["selector"]
        selector = {
            **selector,
            "matchLabels": {**(selector.get("matchLabels") or {}), _HASH: digest},
        }
        wanted = new_size(deployment, self.all, None)
        of_set: dict[str, Any] = {"replicas": wanted, "selector": selector}
        of_set["template"] = {**template, "metadata": {**metadata, "labels": labels}}
        if spec.get("minReadySeconds"):
            of_set["minReadySeconds"] = spec["minReadySeconds"]
        made = self._client.create(
            _SETS,
            self.namespace,
            {
                "apiVersion": "apps/v1",
                "kind": "ReplicaSet",
                "metadata": {
                    "name": name,
                    "namespace": self.namespace,
                    "labels": labels,
                    "annotations": {**self._copied(), REVISION: str(number), **self._sizes()},
                    "ownerReferences": [owned_by(deployment)],
                },
                "spec": of_set,
            },
        )
        if made is None:
            self._not_created(name, collisions)
            return
        self._new_name = name
        created = self._client.get(_SETS, (self.namespace, name))
        assert created is not None
        self._groups.append(created)
        if wanted:
            self._tell_scaled("up", name, 0, wanted)
        text = f'Created new replica set "{name}"'
        self._tell_revision(str(number), "NewReplicaSetCreated", text, new=True)

    def _not_created(self, name: str, collisions: int) -> None:
        taken = self._client.get(_SETS, (self.namespace, name))
        uid = self.deployment["metadata"]["uid"]
        if taken is not None and controller_uid(taken.metadata) == uid:
            # Its template has the defaults that the Deployment's has not.
            self._new_name = name
            return
        if taken is not None:
            # Somebody else's has the name: the next hash is another.
            status = {**(self.deployment.get("status") or {}), "collisionCount": collisions + 1}
            self._client.update_status(_STORAGE, self._current(), status)
            return
        why = self._client.refusal
        text = f'Failed to create new replica set "{name}": {why}'
        self._events.event(self.deployment, "ReplicaSetCreateError", text, warning=True)

    def _number(self, group: StoredObject) -> None:
        """An old ReplicaSet that is the new one again gets the next revision."""
        others = [found for found in self.all if found.key != group.key]
        number = 1 + max((revision(found.metadata) for found in others), default=0)
        before = group.metadata.get("annotations") or {}
        annotations = {**before, **self._copied()}
        current = annotated(group.metadata, REVISION)
        if (current or 0) < number:
            annotations[REVISION] = str(number)
            if current is not None:
                history = [*filter(None, before.get(_HISTORY, "").split(",")), str(current)]
                annotations[_HISTORY] = ",".join(history)
        ready = self.deployment["spec"].get("minReadySeconds") or 0
        if annotations != before or (group.value["spec"].get("minReadySeconds") or 0) != ready:
            spec = {**group.value["spec"], "minReadySeconds": ready}
            if not ready:
                del spec["minReadySeconds"]
            metadata = {**group.metadata, "annotations": annotations}
            self._client.update(_SETS, {**group.value, "metadata": metadata, "spec": spec})
        text = f'Found new replica set "{group.key[1]}"'
        self._tell_revision(annotations.get(REVISION, "1"), "FoundNewReplicaSet", text, new=False)

    def _tell_revision(self, number: str, reason: str, text: str, *, new: bool) -> None:
        value = self._current()
        metadata = value["metadata"]
        status = dict(value.get("status") or {})
        annotations = metadata.get("annotations") or {}
        conditions = status.get("conditions") or ()
        if self.deployment["spec"].get("progressDeadlineSeconds") is not None and (
            new or condition_of(value, "Progressing") is None
        ):
            condition = progress_condition("True", reason, text, self._client.stamp)
            conditions = with_condition(conditions, condition)
        told = annotations.get(REVISION) == number
        if told and list(conditions) == list(status.get("conditions") or ()):
            return
        metadata = {**metadata, "annotations": {**annotations, REVISION: number}}
        if conditions:
            status["conditions"] = list(conditions)
        self._client.update_status(_STORAGE, {**value, "metadata": metadata}, status)

    def _current(self) -> Mapping[str, Any]:
        found = self._client.get(_STORAGE, self._key)
        return self.deployment if found is None else found.value

    def _copied(self) -> dict[str, str]:
        annotations = self.deployment["metadata"].get("annotations") or {}
        return {name: text for name, text in annotations.items() if name not in _NOT_COPIED}

    def _sizes(self) -> dict[str, str]:
        wanted = desired(self.deployment)
        return {DESIRED: str(wanted), MAXIMUM: str(wanted + max_surge(self.deployment))}

    def _tell_scaled(self, way: str, name: str, before: int, wanted: int) -> None:
        text = f"Scaled {way} replica set {name} from {before} to {wanted}"
        self._events.event(self.deployment, "ScalingReplicaSet", text)


def _without_hash(template: Mapping[str, Any]) -> dict[str, Any]:
    metadata = dict(template.get("metadata") or {})
    labels = {name: text for name, text in (metadata.get("labels") or {}).items() if name != _HASH}
    metadata.pop("labels", None)
    if labels:
        metadata["labels"] = labels
    return {**template, "metadata": metadata}


def _age(group: StoredObject) -> tuple[str, str]:
    return str(group.metadata["creationTimestamp"]), str(group.metadata["name"])
