"""ReplicationControllers: what there was before ReplicaSets, and still is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from .pods import PODS
from .replicas import Replicas

__all__ = ["ReplicationControllers"]

_STORAGE = "replicationcontrollers"


class ReplicationControllers(Replicas):
    """Their selectors are plain labels, and their status counts no pods that are ending."""

    name: ClassVar[str] = "replicationcontroller"
    component: ClassVar[str] = "replication-controller"
    watched: ClassVar[frozenset[str] | None] = frozenset({_STORAGE, PODS})
    storage: ClassVar[str] = _STORAGE
    kind: ClassVar[str] = "ReplicationController"

    def selector(self, value: Mapping[str, Any]) -> Mapping[str, Any] | None:
        labels = value["spec"].get("selector")
        return {"matchLabels": labels} if labels else None
