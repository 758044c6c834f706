"""A pod as its kubelet sees it: what is due next, and the status that this leads to."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from random import Random
from typing import Any

from .debugging import after_debug_step, debug_steps
from .owners import controller_of
from .pod_reports import (
    container_status,
    hex_digits,
    image_digest,
    in_condition_order,
    pod_condition,
    terminated,
    waiting,
)
from .programs import Run, run_of

__all__ = ["REPORT", "PodState", "Step"]

Step = tuple[str, str, int]
"""What is to be done, to which container, and how often that has been started again before."""

REPORT: Step = ("report", "", 0)
"""Nothing is done, but said again."""
_START, _STOP, _READY = 0.2, 0.2, 0.05
_ACCEPT = 0.02
_BACK_OFF, _MOST_BACK_OFF = 10.0, 300.0
_DEBUGGING = "ephemeralContainerStatuses"
_OURS = ("PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady")


class PodState:
    """Of one pod, at one time."""

    def __init__(self, pod: Mapping[str, Any], now: datetime, stamp: str, rng: Random) -> None:
        self.pod = pod
        self._now = now
        self._stamp = stamp
        self._rng = rng
        self.spec: Mapping[str, Any] = pod["spec"]
        self.status: dict[str, Any] = dict(pod.get("status") or {})
        statuses = self.status.get("containerStatuses") or ()
        self._containers = {found["name"]: dict(found) for found in statuses}
        holder = controller_of(pod["metadata"])
        self._works = holder is not None and holder["kind"] == "Job"

    # What is due

    def steps(self) -> dict[Step, float]:
        """Each with the seconds that it takes, from when it was first seen to be due."""
        phase = self.status.get("phase", "Pending")
        metadata = self.pod["metadata"]
        if phase in ("Succeeded", "Failed"):
            return {}
        if metadata.get("deletionTimestamp") is not None:
            given = metadata.get("deletionGracePeriodSeconds") or 0
            return {("stop", "", 0): min(_STOP, given)} if given else {}
        if not self.status.get("startTime"):
            return {("accept", "", 0): _ACCEPT}
        if phase == "Pending":
            return {("start", "", 0): _START}
        found: dict[Step, float] = {}
        for container in self.spec.get("containers") or ():
            found |= self._steps_of(container)
        return found | debug_steps(self.spec, self.status.get(_DEBUGGING) or ())

    def _steps_of(self, container: Mapping[str, Any]) -> dict[Step, float]:
        name = container["name"]
        status = self._containers.get(name, {})
        state, restarts = status.get("state") or {}, status.get("restartCount", 0)
        if "running" in state:
            steps: dict[Step, float] = {}
            if not status.get("ready"):
                probe = container.get("readinessProbe") or {}
                steps["ready", name, restarts] = probe.get("initialDelaySeconds", 0) + _READY
            run = self._run(container)
            if run is not None:
                steps["end", name, restarts] = run.seconds
            return steps
        if "terminated" in state and self._restarts(state["terminated"].get("exitCode", 0)):
            # The first time at once, and then later each time.
            return {("back off" if restarts else "restart", name, restarts): 0.05}
        if "waiting" in state:
            seconds = min(_BACK_OFF * 2.0 ** max(0, restarts - 1), _MOST_BACK_OFF)
            return {("restart", name, restarts): seconds}
        return {}

    # Steps

    def take(self, step: Step) -> dict[str, Any]:
        """The status after it."""
        action, name, _ = step
        if action == "accept":
            self._accept()
        elif action == "start":
            self._start()
        elif action == "stop":
            self._stop()
        elif action.startswith("debug"):
            before, new_id = self.status.get(_DEBUGGING) or (), self._container_id()
            after = after_debug_step(self.spec, before, step, self._stamp, new_id)
            self.status[_DEBUGGING] = after
        elif action != "report":
            actions: dict[str, Callable[[str], None]] = {
                "ready": self._make_ready,
                "end": self._end,
                "back off": self._back_off,
                "restart": self._restart,
            }
            actions[action](name)
        return self._written()

    def place(self, node_ip: str, pod_ip: str) -> None:
        """Where it runs: told once, when it starts."""
        if self.spec.get("hostNetwork"):
            pod_ip = node_ip
        self.status |= {"hostIP": node_ip, "hostIPs": [{"ip": node_ip}]}
        self.status |= {"podIP": pod_ip, "podIPs": [{"ip": pod_ip}]}

    def _accept(self) -> None:
        self.status["startTime"] = self._stamp
        for container in self.spec.get("containers") or ():
            self._put(container, waiting("ContainerCreating"), ready=False)
        if self.spec.get("initContainers"):
            self.status["initContainerStatuses"] = [
                self._made(container, waiting("PodInitializing"), ready=False, container_id="")
                for container in self.spec["initContainers"]
            ]

    def _start(self) -> None:
        self.status["phase"] = "Running"
        for container in self.spec.get("containers") or ():
            self._run_container(container)
        self._finish_init()

    def _finish_init(self) -> None:
        done = []
        for container in self.spec.get("initContainers") or ():
            container_id = self._container_id()
            always = container.get("restartPolicy") == "Always"  # a sidecar
            state = {"running": {"startedAt": self._stamp}}
            if not always:
                state = terminated(state, "Completed", 0, self._stamp, container_id)
            done.append(self._made(container, state, ready=True, container_id=container_id))
        if done:
            self.status["initContainerStatuses"] = done

    def _stop(self) -> None:
        """All containers end, as servers that are told to: with 0."""
        for container in self.spec.get("containers") or ():
            if "running" in (self._containers.get(container["name"], {}).get("state") or {}):
                self._end_container(container, 0)
        if self.status.get("phase") == "Running":
            self._finish()

    def _make_ready(self, name: str) -> None:
        self._containers[name]["ready"] = True

    def _end(self, name: str) -> None:
        container = self._container(name)
        run = self._run(container)
        self._end_container(container, run.code if run is not None else 0)
        states = [status.get("state") or {} for status in self._containers.values()]
        codes = [found.get("terminated", {}).get("exitCode") for found in states]
        if all(code is not None and not self._restarts(code) for code in codes):
            self._finish()

    def _back_off(self, name: str) -> None:
        status = self._containers[name]
        restarts = status["restartCount"]
        seconds = min(_BACK_OFF * 2.0 ** max(0, restarts - 1), _MOST_BACK_OFF)
        metadata = self.pod["metadata"]
        where = f"{metadata['name']}_{metadata['namespace']}({metadata['uid']})"
        text = f"back-off {seconds:g}s restarting failed container={name} pod={where}"
        status["lastState"] = status["state"]
        status["state"] = waiting("CrashLoopBackOff", text)

    def _restart(self, name: str) -> None:
        status = self._containers[name]
        if "terminated" in status["state"]:
            status["lastState"] = status["state"]
        last, restarts = status["lastState"], status["restartCount"] + 1
        self._run_container(self._container(name))
        self._containers[name] |= {"lastState": last, "restartCount": restarts}

    # Containers

    def _run_container(self, container: Mapping[str, Any]) -> None:
        ready = "readinessProbe" not in container
        state = {"running": {"startedAt": self._stamp}}
        self._put(container, state, ready=ready, container_id=self._container_id())

    def _end_container(self, container: Mapping[str, Any], code: int) -> None:
        status = self._containers[container["name"]]
        reason = "Error" if code else "Completed"
        made = terminated(status["state"], reason, code, self._stamp, status.get("containerID", ""))
        self._containers[container["name"]] = {
            **status,
            "state": made,
            "ready": False,
            "started": False,
        }

    def _finish(self) -> None:
        states = [status.get("state") or {} for status in self._containers.values()]
        failed = any(found.get("terminated", {}).get("exitCode") for found in states)
        self.status["phase"] = "Failed" if failed else "Succeeded"

    def _put(
        self,
        container: Mapping[str, Any],
        state: Mapping[str, Any],
        *,
        ready: bool,
        container_id: str = "",
    ) -> None:
        made = self._made(container, state, ready=ready, container_id=container_id)
        self._containers[container["name"]] = made

    def _made(
        self,
        container: Mapping[str, Any],
        state: Mapping[str, Any],
        *,
        ready: bool,
        container_id: str,
    ) -> dict[str, Any]:
        image = container.get("image", "")
        return container_status(
            container["name"],
            image,
            state=state,
            last_state={},
            ready=ready,
            restarts=0,
            digest=image_digest(image),
            container_id=container_id,
        )

    def _container(self, name: str) -> Mapping[str, Any]:
        found: Mapping[str, Any] = next(
            one for one in self.spec["containers"] if one["name"] == name
        )
        return found

    def _container_id(self) -> str:
        return f"containerd://{hex_digits(self._rng)}"

    def _run(self, container: Mapping[str, Any]) -> Run | None:
        return run_of(container, works=self._works)

    def _restarts(self, code: int) -> bool:
        policy = self.spec.get("restartPolicy", "Always")
        return policy == "Always" or (policy == "OnFailure" and code != 0)

    # The status

    def _written(self) -> dict[str, Any]:
        names = [container["name"] for container in self.spec.get("containers") or ()]
        statuses = [self._containers[name] for name in names if name in self._containers]
        phase = self.status.get("phase", "Pending")
        done = "PodCompleted" if phase == "Succeeded" else ""
        unready = [found["name"] for found in statuses if not found["ready"]]
        message = f"containers with unready status: [{' '.join(unready)}]"
        conditions = {found["type"]: found for found in self.status.get("conditions") or ()}
        started = phase == "Running"
        gates = self.spec.get("readinessGates") or ()
        open_gates = all(
            (conditions.get(gate["conditionType"]) or {}).get("status") == "True" for gate in gates
        )
        containers_ready = started and not unready
        wanted = {
            "PodReadyToStartContainers": (started, "", ""),
            "Initialized": (phase != "Pending" or not self.spec.get("initContainers"), done, ""),
            "ContainersReady": (containers_ready, done or "ContainersNotReady", message),
            "Ready": (containers_ready and open_gates, done or "ContainersNotReady", message),
        }
        if containers_ready and not open_gates:
            text = 'the status of pod readiness gate is not "True"'
            wanted["Ready"] = (False, "ReadinessGatesNotReady", text)
        for kind in _OURS:
            status, reason, text = wanted[kind]
            if status or done:
                text, reason = "", "" if status and kind != "Initialized" else reason
            made = pod_condition(conditions.get(kind), kind, status, self._stamp, reason, text)
            conditions[kind] = made
        return {
            **self.status,
            "observedGeneration": self.pod["metadata"].get("generation", 1),
            "phase": phase,
            "conditions": in_condition_order(conditions.values()),
            "containerStatuses": statuses,
        }
