"""Ephemeral containers: what `kubectl debug` adds to a pod that runs.

They start once, are never ready, and the pod is what it is without them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from .pod_reports import container_status, image_digest, terminated
from .programs import run_of

__all__ = ["DebugStep", "after_debug_step", "debug_steps"]

DebugStep = tuple[str, str, int]
_START = 0.2


def debug_steps(
    spec: Mapping[str, Any], statuses: Iterable[Mapping[str, Any]]
) -> dict[DebugStep, float]:
    """What is due next of each, with the seconds that it takes."""
    known = {status["name"]: status for status in statuses}
    found: dict[DebugStep, float] = {}
    for container in spec.get("ephemeralContainers") or ():
        name = container["name"]
        run = run_of(container, works=False)
        if name not in known:
            found["debug", name, 0] = _START
        elif run is not None and "running" in known[name]["state"]:
            found["debug end", name, 0] = run.seconds
    return found


def after_debug_step(
    spec: Mapping[str, Any],
    statuses: Iterable[Mapping[str, Any]],
    step: DebugStep,
    stamp: str,
    container_id: str,
) -> list[Mapping[str, Any]]:
    """Their statuses then. `container_id` is the one of a container that starts."""
    action, name, _ = step
    container = next(one for one in spec["ephemeralContainers"] if one["name"] == name)
    if action == "debug":
        return [*statuses, _started(container, stamp, container_id)]
    run = run_of(container, works=False)
    return [
        _ended(status, 0 if run is None else run.code, stamp) if status["name"] == name else status
        for status in statuses
    ]


def _started(container: Mapping[str, Any], stamp: str, container_id: str) -> Mapping[str, Any]:
    image = container.get("image", "")
    made = container_status(
        container["name"],
        image,
        state={"running": {"startedAt": stamp}},
        last_state={},
        ready=False,
        restarts=0,
        digest=image_digest(image),
        container_id=container_id,
    )
    del made["started"]  # only those have it that may be probed
    return made


def _ended(status: Mapping[str, Any], code: int, stamp: str) -> Mapping[str, Any]:
    reason = "Error" if code else "Completed"
    state = terminated(status["state"], reason, code, stamp, status["containerID"])
    return {**status, "state": state}
