"""ReplicaSets: so many pods as they say, and a status that tells how many there are."""

from __future__ import annotations

from typing import ClassVar

from .pods import PODS
from .replicas import Replicas

__all__ = ["ReplicaSets"]

_STORAGE = "apps/replicasets"


class ReplicaSets(Replicas):
    """What Deployments make, and what may stand alone."""

    name: ClassVar[str] = "replicaset"
    watched: ClassVar[frozenset[str] | None] = frozenset({_STORAGE, PODS})
    storage: ClassVar[str] = _STORAGE
    kind: ClassVar[str] = "ReplicaSet"
    counts_ending: ClassVar[bool] = True
