from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from listwatch.api.cells.pods import pod_ready, pod_restarts, pod_status

NOW = datetime(2026, 11, 29, 12, 0, tzinfo=UTC)


def _pod(
    *main: dict[str, Any],
    init: tuple[dict[str, Any], ...] = (),
    sidecars: tuple[str, ...] = (),
    conditions: dict[str, str] | None = None,
    deleted: bool = False,
    **status: Any,
) -> dict[str, Any]:
    states = [{"name": f"c{at}", **state} for at, state in enumerate(main)]
    init_states = [{"name": f"i{at}", **state} for at, state in enumerate(init)]
    return {
        "metadata": {"deletionTimestamp": "2026-11-29T12:00:30Z"} if deleted else {},
        "spec": {
            "containers": [{"name": state["name"]} for state in states],
            "initContainers": [
                {
                    "name": state["name"],
                    **({"restartPolicy": "Always"} if state["name"] in sidecars else {}),
                }
                for state in init_states
            ],
        },
        "status": {
            "phase": "Running",
            "containerStatuses": states,
            "initContainerStatuses": init_states,
            "conditions": [
                {"type": kind, "status": value} for kind, value in (conditions or {}).items()
            ],
            **status,
        },
    }


RUNNING = {"ready": True, "state": {"running": {}}, "restartCount": 0}
STARTING = {"ready": False, "state": {"waiting": {"reason": "ContainerCreating"}}}
CRASHING = {
    "ready": False,
    "restartCount": 4,
    "state": {"waiting": {"reason": "CrashLoopBackOff"}},
    "lastState": {"terminated": {"exitCode": 1, "finishedAt": "2026-11-29T11:58:00Z"}},
}
DONE = {"ready": False, "state": {"terminated": {"exitCode": 0, "reason": "Completed"}}}
SIDECAR = {"started": True, "ready": True, "restartCount": 2, "state": {"running": {}}}
INIT_RUNS = {"state": {"running": {}}, "restartCount": 1}


def _ended(code: int, **more: Any) -> dict[str, Any]:
    return {"ready": False, "state": {"terminated": {"exitCode": code, **more}}}


@pytest.mark.parametrize(
    ("pod", "status", "ready"),
    [
        (_pod(RUNNING), "Running", "1/1"),
        (_pod(RUNNING, STARTING), "ContainerCreating", "1/2"),
        (_pod(CRASHING, RUNNING), "CrashLoopBackOff", "1/2"),
        (_pod(DONE, phase="Succeeded"), "Completed", "0/1"),
        (_pod(DONE, RUNNING, conditions={"Ready": "True"}), "Running", "1/2"),
        (_pod(DONE, RUNNING), "NotReady", "1/2"),
        (_pod(_ended(3), phase="Failed"), "ExitCode:3", "0/1"),
        (_pod(_ended(137, signal=9), phase="Failed"), "Signal:9", "0/1"),
        (_pod(_ended(1, reason="Error"), phase="Failed"), "Error", "0/1"),
        (_pod(phase="Failed", reason="Evicted"), "Evicted", "0/0"),
        (_pod(RUNNING, deleted=True), "Terminating", "1/1"),
        (_pod(DONE, deleted=True, phase="Succeeded"), "Completed", "0/1"),
        (_pod(RUNNING, deleted=True, reason="NodeLost"), "Unknown", "1/1"),
        (_pod(STARTING, init=(INIT_RUNS,)), "Init:0/1", "0/1"),
        (_pod(STARTING, init=(DONE, INIT_RUNS)), "Init:1/2", "0/1"),
        (_pod(STARTING, init=(CRASHING,)), "Init:CrashLoopBackOff", "0/1"),
        (_pod(STARTING, init=(_ended(2),)), "Init:ExitCode:2", "0/1"),
        (_pod(STARTING, init=(_ended(2, signal=11),)), "Init:Signal:11", "0/1"),
        (_pod(STARTING, init=(_ended(1, reason="Error"),)), "Init:Error", "0/1"),
        (_pod(RUNNING, init=(DONE,)), "Running", "1/1"),
        (_pod(RUNNING, init=(SIDECAR,), sidecars=("i0",)), "Running", "2/2"),
        (_pod(STARTING, init=(INIT_RUNS,), sidecars=("i0",)), "Init:0/1", "0/2"),
        ({"status": {"phase": "Pending"}}, "Pending", "0/0"),
        ({}, "<unknown>", "0/0"),
    ],
)
def test_a_pods_state_has_kubectls_name(pod: dict[str, Any], status: str, ready: str) -> None:
    assert (pod_status(pod, NOW), pod_ready(pod, NOW)) == (status, ready)


def test_a_pod_that_waits_for_its_gates_says_so() -> None:
    gate = {"type": "PodScheduled", "status": "False", "reason": "SchedulingGated"}
    pod = {"status": {"phase": "Pending", "conditions": [gate]}}
    assert pod_status(pod, NOW) == "SchedulingGated"


@pytest.mark.parametrize(
    ("pod", "restarts"),
    [
        (_pod(RUNNING), "0"),
        (_pod(CRASHING, RUNNING), "4 (2m ago)"),
        (_pod(RUNNING, init=(SIDECAR,), sidecars=("i0",)), "2"),
        (_pod(STARTING, init=(CRASHING,)), "4 (2m ago)"),
        (_pod(RUNNING, init=({**DONE, "restartCount": 3},)), "0"),
    ],
)
def test_restarts_are_those_of_what_runs_now(pod: dict[str, Any], restarts: str) -> None:
    assert pod_restarts(pod, NOW) == restarts


def _begins(*init: dict[str, Any], **more: Any) -> dict[str, Any]:
    return _pod(STARTING, init=init, sidecars=("i0", "i1"), **more)


@pytest.mark.parametrize(
    ("pod", "ready", "status", "restarts"),
    [
        (_begins(SIDECAR, _ended(1), SIDECAR), "1/3", "Init:ExitCode:1", "2"),
        (_begins(SIDECAR, SIDECAR, INIT_RUNS), "2/3", "Init:2/3", "5"),
        (_begins(INIT_RUNS, SIDECAR), "0/3", "Init:0/2", "1"),
        (_begins(SIDECAR, SIDECAR, DONE), "2/3", "ContainerCreating", "4"),
        (_pod(DONE, _ended(3)), "0/2", "ExitCode:3", "0"),
        (_pod({}, reason=""), "0/1", "Running", "0"),
    ],
)
def test_what_comes_behind_an_init_container_that_is_not_done_does_not_count(
    pod: dict[str, Any], ready: str, status: str, restarts: str
) -> None:
    assert pod_ready(pod, NOW) == ready
    assert pod_restarts(pod, NOW) == restarts
    assert pod_status(pod, NOW) == status
