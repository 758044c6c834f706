"""What kubelets write of their pods, member by member."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from random import Random
from typing import Any

__all__ = [
    "container_status",
    "hex_digits",
    "image_digest",
    "in_condition_order",
    "pod_condition",
    "terminated",
    "waiting",
]

_ORDER = ("PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled")


def pod_condition(
    before: Mapping[str, Any] | None,
    kind: str,
    status: bool,
    now: str,
    reason: str = "",
    message: str = "",
) -> dict[str, Any]:
    """A condition; `before` is the one of its type that there was."""
    text = "True" if status else "False"
    since = before["lastTransitionTime"] if before and before["status"] == text else now
    condition = {"type": kind, "status": text, "lastProbeTime": None, "lastTransitionTime": since}
    if reason:
        condition["reason"] = reason
    if message:
        condition["message"] = message
    return condition


def in_condition_order(conditions: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """As kubelets list them."""
    return sorted(conditions, key=_place)


def waiting(reason: str, message: str = "") -> dict[str, Any]:
    """The state of a container that does not run yet."""
    return {"waiting": {"reason": reason, **({"message": message} if message else {})}}


def terminated(
    state: Mapping[str, Any], reason: str, code: int, now: str, container_id: str
) -> dict[str, Any]:
    """The state of a container that ends now; `state` is what it was in."""
    running = state.get("running") or {}
    return {
        "terminated": {
            "exitCode": code,
            "reason": reason,
            "startedAt": running.get("startedAt", now),
            "finishedAt": now,
            "containerID": container_id,
        }
    }


def container_status(
    name: str,
    image: str,
    *,
    state: Mapping[str, Any],
    last_state: Mapping[str, Any],
    ready: bool,
    restarts: int,
    digest: str,
    container_id: str,
) -> dict[str, Any]:
    """One of `containerStatuses`. `container_id` is empty before it has ever run."""
    found: dict[str, Any] = {
        "name": name,
        "state": state,
        "lastState": last_state,
        "ready": ready,
        "restartCount": restarts,
        "image": image,
        "imageID": f"{image.partition(':')[0]}@sha256:{digest}" if container_id else "",
        "started": "running" in state,
    }
    if container_id:
        found["containerID"] = container_id
    return found


def hex_digits(rng: Random, count: int = 64) -> str:
    """The digits of an image or container id."""
    return f"{rng.getrandbits(count * 4):0{count}x}"


def image_digest(image: str) -> str:
    """The digest that a tag stands for: the same one everywhere."""
    return hashlib.sha256(image.encode()).hexdigest()


def _place(condition: Mapping[str, Any]) -> int:
    kind = condition["type"]
    return _ORDER.index(kind) if kind in _ORDER else -1
