"""What kubelets write of their pods: each function is one change of state, and gives its step."""

from __future__ import annotations

from random import Random
from typing import Any

from listwatch.testing.apiserver.controllers.pod_reports import (
    container_status,
    hex_digits,
    in_condition_order,
    pod_condition,
    terminated,
    waiting,
)

from .model import Pod
from .steps import CONTROLLER, KUBELET, SCHEDULER, Step, Verb

__all__ = ["Kubelet"]

_EXIT_CODES = {"OOMKilled": 137, "Error": 1, "Completed": 0}


class Kubelet:
    """All kubelets of the cluster. `now` is the time that they write."""

    def __init__(self, rng: Random) -> None:
        self._rng = rng
        self.now = ""

    def accepted(self, pod: Pod) -> Step:
        """It has begun: volumes are mounted, images pulled."""
        pod.started_at = self.now
        pod.state = waiting("ContainerCreating")
        self._set(pod, "PodReadyToStartContainers", False)
        self._set(pod, "Initialized", True)
        self._set_ready(pod, False)
        self._set(pod, "PodScheduled", True)
        return self._status(pod)

    def cannot_pull(self, pod: Pod, reason: str) -> Step:
        """The image does not come: `ErrImagePull`, then `ImagePullBackOff`."""
        words = "Back-off pulling image" if reason == "ImagePullBackOff" else "failed to pull image"
        pod.state = waiting(reason, f'{words} "{pod.group.image}"')
        return self._status(pod)

    def started(self, pod: Pod) -> Step:
        """The container runs; it is not ready yet, unless nobody asks whether it is."""
        pod.phase = "Running"
        pod.container_id = f"containerd://{hex_digits(self._rng)}"
        pod.state = {"running": {"startedAt": self.now}}
        self._set(pod, "PodReadyToStartContainers", True)
        self._set_ready(pod, pod.group.kind == "Job")
        return self._status(pod)

    def ready(self, pod: Pod, ready: bool = True) -> Step:
        """Its readiness probe succeeds, or does not any more."""
        self._set_ready(pod, ready)
        return self._status(pod)

    def crashed(self, pod: Pod, reason: str) -> Step:
        """The container ended, as it should not."""
        pod.state = self._terminated(pod, reason)
        self._set_ready(pod, False)
        return self._status(pod)

    def backs_off(self, pod: Pod, seconds: int) -> Step:
        """The container is started again, but not at once."""
        where = f"{pod.name}_{pod.namespace}({pod.uid})"
        message = (
            f"back-off {seconds}s restarting failed container={pod.app.blueprint.name} pod={where}"
        )
        pod.last_state, pod.state = pod.state, waiting("CrashLoopBackOff", message)
        return self._status(pod)

    def restarted(self, pod: Pod) -> Step:
        """It runs once more."""
        if "terminated" in pod.state:
            pod.last_state = pod.state
        pod.restarts += 1
        return self.started(pod)

    def stopped(self, pod: Pod, reason: str = "Completed") -> Step:
        """The container ended because it was told to, or had nothing more to do."""
        if "running" in pod.state:
            pod.state = self._terminated(pod, reason)
        if pod.group.kind == "Job" and not pod.doomed:
            pod.phase = "Succeeded" if reason == "Completed" else "Failed"
            pod.finished = True
        self._set(pod, "PodReadyToStartContainers", False)
        self._set_ready(pod, False, "PodCompleted" if pod.phase == "Succeeded" else "")
        return self._status(pod)

    def evicted(self, pod: Pod) -> Step:
        """Its node has no room any more."""
        name, memory = pod.app.blueprint.name, pod.app.blueprint.memory
        pod.phase, pod.reason, pod.finished = "Failed", "Evicted", True
        pod.message = (
            "The node was low on resource: memory. Threshold quantity: 100Mi, available: 61Mi."
            f" Container {name} was using 2{memory}, request is {memory}."
        )
        pod.state = self._terminated(pod, "Error", 137)
        self._set(pod, "DisruptionTarget", True, "TerminationByKubelet", pod.message)
        self._set_ready(pod, False)
        return self._status(pod)

    def unschedulable(self, pod: Pod, nodes: int) -> Step:
        """Not the kubelet's: the scheduler finds no node."""
        message = f"0/{nodes} nodes are available: {nodes} Insufficient memory."
        self._set(pod, "PodScheduled", False, "Unschedulable", message)
        body = {"status": {"conditions": list(pod.conditions.values())}}
        return _step(Verb.STATUS, pod, SCHEDULER, body)

    def bound(self, pod: Pod) -> Step:
        """Nor this: the scheduler has found one."""
        assert pod.node is not None
        self._set(pod, "PodScheduled", True)
        conditions = list(pod.conditions.values())
        body = {"nodeName": pod.node.name, "conditions": conditions}
        return _step(Verb.BIND, pod, SCHEDULER, body)

    def told_to_end(self, pod: Pod) -> Step:
        """Its controller deletes it."""
        return _step(Verb.DELETE, pod, CONTROLLER, {})

    def gone(self, pod: Pod) -> Step:
        """Nothing of it is left."""
        manager = KUBELET if pod.node is not None else CONTROLLER
        return _step(Verb.DELETE, pod, manager, {"gracePeriodSeconds": 0})

    def _terminated(self, pod: Pod, reason: str, code: int | None = None) -> dict[str, Any]:
        code = _EXIT_CODES[reason] if code is None else code
        return terminated(pod.state, reason, code, self.now, pod.container_id)

    def _set_ready(self, pod: Pod, ready: bool, reason: str = "") -> None:
        pod.ready = ready
        message = f"containers with unready status: [{pod.app.blueprint.name}]"
        if reason or ready:
            message = ""
        for kind in ("Ready", "ContainersReady"):
            self._set(pod, kind, ready, "" if ready else reason or "ContainersNotReady", message)

    def _set(self, pod: Pod, kind: str, status: bool, reason: str = "", message: str = "") -> None:
        before = pod.conditions.get(kind)
        pod.conditions[kind] = pod_condition(before, kind, status, self.now, reason, message)

    def _status(self, pod: Pod) -> Step:
        assert pod.node is not None
        status: dict[str, Any] = {
            "observedGeneration": 2 if pod.doomed else 1,
            "phase": pod.phase,
            "conditions": in_condition_order(pod.conditions.values()),
            "hostIP": pod.node.ip,
            "hostIPs": [{"ip": pod.node.ip}],
            "startTime": pod.started_at,
            "containerStatuses": [self._container(pod)],
        }
        if pod.reason:
            status["reason"], status["message"] = pod.reason, pod.message
            status["containerStatuses"] = None  # an evicted pod keeps none
        if pod.phase != "Pending":
            status["podIP"], status["podIPs"] = pod.ip, [{"ip": pod.ip}]
        return _step(Verb.STATUS, pod, KUBELET, {"status": status})

    def _container(self, pod: Pod) -> dict[str, Any]:
        return container_status(
            pod.app.blueprint.name,
            pod.group.image,
            state=pod.state,
            last_state=pod.last_state,
            ready=pod.ready,
            restarts=pod.restarts,
            digest=pod.image_id,
            container_id=pod.container_id,
        )


def _step(verb: Verb, pod: Pod, manager: str, body: dict[str, Any]) -> Step:
    return Step(verb, "v1/pods", pod.namespace, pod.name, manager, body, uid=pod.uid)
