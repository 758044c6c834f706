"""What a pod's state is called: kubectl's READY, STATUS and RESTARTS."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

from .fields import Obj, at, condition, items, mapping, number, span, text, time_at

__all__ = ["pod_ready", "pod_restarts", "pod_status"]


def pod_status(pod: Obj, now: datetime) -> str:
    """Such as `Running`, `CrashLoopBackOff`, `Completed`, `Init:0/1` or `Terminating`."""
    return _State.of(pod).reason


def pod_ready(pod: Obj, now: datetime) -> str:
    """Ready containers, and how many there are: `1/2`."""
    state = _State.of(pod)
    return f"{state.ready}/{state.total}"


def pod_restarts(pod: Obj, now: datetime) -> str:
    """Such as `0`, or `3 (5m ago)`."""
    state = _State.of(pod)
    if not state.restarts or state.restarted is None:
        return str(state.restarts)
    return f"{state.restarts} ({span(state.restarted, now)} ago)"


class _State(NamedTuple):
    reason: str
    ready: int
    total: int
    restarts: int
    restarted: datetime | None

    @classmethod
    def of(cls, pod: Obj) -> _State:
        sidecars = {
            text(container, "name")
            for container in items(pod, "spec", "initContainers")
            if text(container, "restartPolicy") == "Always"
        }
        initial = items(pod, "status", "initContainerStatuses")
        main = items(pod, "status", "containerStatuses")
        sidecar_states = [state for state in initial if text(state, "name") in sidecars]

        scheduled = condition(pod, "PodScheduled")
        reason = text(pod, "status", "reason") or text(pod, "status", "phase", default="<unknown>")
        if text(scheduled, "reason") == "SchedulingGated":
            reason = "SchedulingGated"
        initializing = _initializing(pod, initial, sidecars)
        if initializing and text(condition(pod, "Initialized"), "status") != "True":
            reason = initializing
            counted = initial
            ready = 0
        else:
            reason = _main_reason(pod, main) or reason
            counted = [*main, *sidecar_states]
            ready = sum(1 for state in main if _runs_ready(state))
        ready += sum(1 for state in sidecar_states if at(state, "started") and at(state, "ready"))
        if at(pod, "metadata", "deletionTimestamp"):
            if text(pod, "status", "reason") == "NodeLost":
                reason = "Unknown"
            elif text(pod, "status", "phase") not in ("Succeeded", "Failed"):
                reason = "Terminating"
        ends = [time_at(state, "lastState", "terminated", "finishedAt") for state in counted]
        return cls(
            reason=reason,
            ready=ready,
            total=len(items(pod, "spec", "containers")) + len(sidecars),
            restarts=sum(number(state, "restartCount") for state in counted),
            restarted=max((end for end in ends if end is not None), default=None),
        )


def _initializing(pod: Obj, states: object, sidecars: set[str]) -> str:
    """What the first init container that is not done does; empty when all are done."""
    for index, state in enumerate(items({"states": states}, "states")):
        if text(state, "name") in sidecars and at(state, "started"):
            continue
        ended = mapping(state, "state", "terminated")
        if ended:
            if number(ended, "exitCode", default=-1) == 0:
                continue
            return f"Init:{_how_it_ended(ended)}"
        waits = text(state, "state", "waiting", "reason")
        if waits and waits != "PodInitializing":
            return f"Init:{waits}"
        return f"Init:{index}/{len(items(pod, 'spec', 'initContainers'))}"
    return ""


def _main_reason(pod: Obj, states: object) -> str:
    """What the first container that has something to say says."""
    reason = ""
    runs = False
    for state in reversed(items({"states": states}, "states")):
        waits = text(state, "state", "waiting", "reason")
        ended = mapping(state, "state", "terminated")
        if waits:
            reason = waits
        elif ended:
            reason = _how_it_ended(ended)
        elif _runs_ready(state):
            runs = True
    if reason == "Completed" and runs:
        return "Running" if text(condition(pod, "Ready"), "status") == "True" else "NotReady"
    return reason


def _runs_ready(state: Obj) -> bool:
    return at(state, "ready") is True and at(state, "state", "running") is not None


def _how_it_ended(ended: Obj) -> str:
    if reason := text(ended, "reason"):
        return reason
    if signal := number(ended, "signal"):
        return f"Signal:{signal}"
    return f"ExitCode:{number(ended, 'exitCode')}"
