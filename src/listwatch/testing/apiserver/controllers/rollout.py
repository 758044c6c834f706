"""How many pods each ReplicaSet of a Deployment is to have: arithmetic, and nothing else."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from ..storage.log import StoredObject

__all__ = [
    "DESIRED",
    "MAXIMUM",
    "REVISION",
    "available",
    "desired",
    "is_saturated",
    "max_surge",
    "max_unavailable",
    "new_size",
    "proportional_sizes",
    "revision",
    "shrunk",
    "size",
    "total",
]

_PREFIX = "deployment.kubernetes.io"
REVISION = f"{_PREFIX}/revision"
DESIRED = f"{_PREFIX}/desired-replicas"
MAXIMUM = f"{_PREFIX}/max-replicas"


def size(group: StoredObject | None) -> int:
    """How many pods a ReplicaSet is to have."""
    return 0 if group is None else int(group.value["spec"].get("replicas", 1))


def desired(deployment: Mapping[str, Any]) -> int:
    """How many pods a Deployment is to have. One that was not created by a request has no
    defaults.
    """
    return int(deployment["spec"].get("replicas", 1))


def total(groups: Sequence[StoredObject]) -> int:
    return sum(size(group) for group in groups)


def available(group: StoredObject) -> int:
    return int((group.value.get("status") or {}).get("availableReplicas", 0))


def revision(metadata: Mapping[str, Any]) -> int:
    """0 where it has none."""
    return annotated(metadata, REVISION) or 0


def annotated(metadata: Mapping[str, Any], name: str) -> int | None:
    text = (metadata.get("annotations") or {}).get(name)
    return int(text) if text is not None and text.isdigit() else None


def max_surge(deployment: Mapping[str, Any]) -> int:
    """How many pods more than wanted there may be during a rolling update."""
    return _limits(deployment)[0] if _is_rolling(deployment) else 0


def max_unavailable(deployment: Mapping[str, Any]) -> int:
    """How many pods may be missing of those that are wanted."""
    wanted = desired(deployment)
    if not _is_rolling(deployment) or not wanted:
        return 0
    return min(_limits(deployment)[1], wanted)


def new_size(
    deployment: Mapping[str, Any], groups: Sequence[StoredObject], new: StoredObject | None
) -> int:
    """What the new ReplicaSet grows to now. `groups` are all."""
    wanted = desired(deployment)
    if not _is_rolling(deployment):
        return wanted
    room = wanted + max_surge(deployment) - total(groups)
    if room <= 0:
        return size(new)
    return size(new) + min(room, wanted - size(new))


def shrunk(
    deployment: Mapping[str, Any], old: Sequence[StoredObject], new: StoredObject | None
) -> list[tuple[StoredObject, int]]:
    """What old ReplicaSets shrink to now, the oldest first: pods that are not available go before
    others, and so many stay available as the strategy wants.
    """
    if not total(old):
        return []
    wanted = desired(deployment)
    least = wanted - max_unavailable(deployment)
    groups = [*old, *([new] if new is not None else [])]
    unavailable = size(new) - (available(new) if new is not None else 0)
    room = total(groups) - least - unavailable
    if room <= 0:
        return []
    sizes = {group.key: size(group) for group in old}
    in_order = sorted(old, key=_age)
    for group in in_order:
        away = min(room, max(0, sizes[group.key] - available(group)))
        sizes[group.key] -= away
        room -= away
    spare = sum(available(group) for group in groups) - least
    for group in in_order:
        away = min(max(0, spare), sizes[group.key])
        sizes[group.key] -= away
        spare -= away
    return [(group, sizes[group.key]) for group in in_order if sizes[group.key] != size(group)]


def is_saturated(deployment: Mapping[str, Any], group: StoredObject | None) -> bool:
    """Whether this ReplicaSet alone is all that is wanted."""
    if group is None:
        return False
    wanted = desired(deployment)
    told = annotated(group.metadata, DESIRED)
    return bool(size(group) == wanted == told == available(group))


def proportional_sizes(
    deployment: Mapping[str, Any], groups: Sequence[StoredObject]
) -> dict[StoredObject, int]:
    """The sizes of active ReplicaSets when a Deployment is scaled in the middle of a rollout: each
    gets its share, and what is left over goes to the largest.
    """
    wanted = desired(deployment)
    allowed = wanted + max_surge(deployment) if wanted else 0
    change = allowed - total(groups)
    in_order = sorted(groups, key=_age, reverse=change > 0)
    in_order.sort(key=size, reverse=True)
    sizes: dict[StoredObject, int] = {}
    added = 0
    for group in in_order:
        part = 0
        if change and size(group) and change != added:
            share, left = _share(deployment, group), change - added
            part = min(share, left) if change > 0 else max(share, left)
        sizes[group] = size(group) + part
        added += part
    if change and in_order:
        first = in_order[0]
        sizes[first] = max(0, sizes[first] + change - added)
    return sizes


def _share(deployment: Mapping[str, Any], group: StoredObject) -> int:
    wanted = desired(deployment)
    if not wanted:
        return -size(group)
    before = annotated(group.metadata, MAXIMUM)
    if not before:
        before = int((deployment.get("status") or {}).get("replicas") or 1)
    exact = float(size(group) * (wanted + max_surge(deployment)) / before)
    return math.floor(exact + 0.5) - size(group)


def _is_rolling(deployment: Mapping[str, Any]) -> bool:
    return (deployment["spec"].get("strategy") or {}).get("type") != "Recreate"


def _limits(deployment: Mapping[str, Any]) -> tuple[int, int]:
    """Surge, rounded up, and unavailable, rounded down; not both 0."""
    given = (deployment["spec"].get("strategy") or {}).get("rollingUpdate") or {}
    wanted = desired(deployment)
    surge = _scaled(given.get("maxSurge", "25%"), wanted, up=True)
    unavailable = _scaled(given.get("maxUnavailable", "25%"), wanted, up=False)
    return surge, unavailable if surge or unavailable else 1


def _scaled(value: Any, of: int, *, up: bool) -> int:
    if isinstance(value, int):
        return value
    percent = int(str(value).rstrip("%"))
    return -(-of * percent // 100) if up else of * percent // 100


def _age(group: StoredObject) -> tuple[str, str]:
    return str(group.metadata["creationTimestamp"]), str(group.metadata["name"])
