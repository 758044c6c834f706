"""What a pod's state is called: kubectl's READY, STATUS and RESTARTS."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from .reading import UNKNOWN, Obj, at, items, mapping, number, span, text, time_at

__all__ = ["PodState", "pod_ready", "pod_restarts", "pod_status"]


def pod_status(pod: Obj, now: datetime) -> str:
    """Such as `Running`, `CrashLoopBackOff`, `Completed`, `Init:0/1` or `Terminating`."""
    return PodState.of(pod).reason or UNKNOWN


def pod_ready(pod: Obj, now: datetime) -> str:
    """Ready containers, and how many there are: `1/2`."""
    return PodState.of(pod).of_all


def pod_restarts(pod: Obj, now: datetime) -> str:
    """Such as `0`, or `3 (5m ago)`."""
    return PodState.of(pod).restarts_text(now)


@dataclass(slots=True)
class PodState:
    """A pod in a few words, as a kube-apiserver 1.36 puts them."""

    reason: str = ""
    """Empty for a pod that has no phase yet."""
    ready: int = 0
    total: int = 0
    restarts: int = 0
    restarted: datetime | None = None
    """When a container last did."""

    @classmethod
    def of(cls, pod: Obj) -> PodState:
        phase = text(pod, "status", "phase")
        state = cls(reason=text(pod, "status", "reason") or phase)
        conditions = items(pod, "status", "conditions")
        if any(
            text(each, "type") == "PodScheduled" and text(each, "reason") == "SchedulingGated"
            for each in conditions
        ):
            state.reason = "SchedulingGated"
        initial = items(pod, "spec", "initContainers")
        sidecars = {
            text(each, "name") for each in initial if text(each, "restartPolicy") == "Always"
        }
        state.total = len(items(pod, "spec", "containers")) + len(sidecars)
        seen = state._begin(items(pod, "status", "initContainerStatuses"), sidecars, len(initial))
        if seen is None or _holds(conditions, "Initialized"):
            state._run(
                items(pod, "status", "containerStatuses"),
                is_ready=_holds(conditions, "Ready"),
            )
        else:
            state._count(seen)
        if at(pod, "metadata", "deletionTimestamp"):
            if text(pod, "status", "reason") == "NodeLost":
                state.reason = "Unknown"
            elif phase not in ("Succeeded", "Failed"):
                state.reason = "Terminating"
        return state

    @property
    def of_all(self) -> str:
        return f"{self.ready}/{self.total}"

    def restarts_text(self, now: datetime) -> str:
        if not self.restarts or self.restarted is None:
            return str(self.restarts)
        return f"{self.restarts} ({span(self.restarted, now)} ago)"

    def _begin(
        self, states: Sequence[Obj], sidecars: set[str], number_of_all: int
    ) -> Sequence[Obj] | None:
        """Look at the init containers, up to the first that is not done. None: all are; else those
        that were looked at.
        """
        for index, state in enumerate(states):
            is_sidecar = text(state, "name") in sidecars
            if is_sidecar:
                self._count([state])
            ended = mapping(state, "state", "terminated")
            if ended and not number(ended, "exitCode"):
                continue
            if is_sidecar and at(state, "started"):
                self.ready += bool(at(state, "ready"))
                continue
            waits = text(state, "state", "waiting", "reason")
            if ended:
                self.reason = f"Init:{_how_it_ended(ended)}"
            elif waits and waits != "PodInitializing":
                self.reason = f"Init:{waits}"
            else:
                self.reason = f"Init:{index}/{number_of_all}"
            return [each for each in states[: index + 1] if text(each, "name") not in sidecars]
        return None

    def _run(self, states: Sequence[Obj], *, is_ready: bool) -> None:
        """Look at the other containers: the first that has something to say says it."""
        runs, failure = False, ""
        for state in reversed(states):
            waits = text(state, "state", "waiting", "reason")
            ended = at(state, "state", "terminated")
            if waits:
                self.reason = waits
            elif ended is not None:
                self.reason = _how_it_ended(ended)
                if number(ended, "exitCode"):
                    failure = self.reason
            elif at(state, "ready") is True and at(state, "state", "running") is not None:
                runs = True
                self.ready += 1
        self._count(states)
        if self.reason == "Completed":
            if runs and is_ready:
                self.reason = "Running"
            elif failure or runs:
                self.reason = failure or "NotReady"

    def _count(self, states: Iterable[Obj]) -> None:
        for state in states:
            self.restarts += number(state, "restartCount")
            ended = time_at(state, "lastState", "terminated", "finishedAt")
            if ended is not None and (self.restarted is None or ended > self.restarted):
                self.restarted = ended


def _holds(conditions: Sequence[Obj], kind: str) -> bool:
    return any(text(each, "type") == kind and text(each, "status") == "True" for each in conditions)


def _how_it_ended(ended: Obj) -> str:
    if reason := text(ended, "reason"):
        return reason
    if signal := number(ended, "signal"):
        return f"Signal:{signal}"
    return f"ExitCode:{number(ended, 'exitCode')}"
