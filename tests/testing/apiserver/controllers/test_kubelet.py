"""Pods that run: where, how long, and how they end."""

from __future__ import annotations

from typing import Any

import pytest

from listwatch.testing.apiserver.controllers.programs import Run, run_of
from tests.testing.apiserver.controllers.acting import NODES, PODS, Acting, container


@pytest.fixture
def server() -> Acting:
    return Acting("kubelet")


def pod(server: Acting, name: str, *containers: dict[str, Any], **spec: Any) -> str:
    body = {"metadata": {"name": name}, "spec": {"containers": list(containers), **spec}}
    server.made(PODS, body)
    return f"{PODS}/{name}"


def state(server: Acting, path: str, number: int = 0) -> dict[str, Any]:
    found: dict[str, Any] = server.status(path)["containerStatuses"][number]["state"]
    return found


def test_there_is_a_node_that_is_ready(server: Acting) -> None:
    [node] = server.items(NODES)
    assert server.condition(f"{NODES}/{node['metadata']['name']}", "Ready")["status"] == "True"
    assert "taints" not in node["spec"]


def test_a_node_that_is_there_already_is_enough() -> None:
    server = Acting()
    ready = {"conditions": [{"type": "Ready", "status": "True"}]}
    server.made(NODES, {"metadata": {"name": "mine"}, "status": ready})
    server.server.run_controllers(["kubelet"])
    server.wait(1)
    path = pod(server, "a", container())
    server.wait(1)
    assert [one["metadata"]["name"] for one in server.items(NODES)] == ["mine"]
    assert server.found(path)["spec"]["nodeName"] == "mine"


def test_a_pod_runs_and_is_ready(server: Acting) -> None:
    path = pod(server, "a", container())
    server.wait(0.1)
    assert server.status(path)["phase"] == "Pending"
    assert state(server, path) == {"waiting": {"reason": "ContainerCreating"}}
    server.wait(1)
    status = server.status(path)
    assert status["phase"] == "Running"
    assert {one["type"]: one["status"] for one in status["conditions"]} == dict.fromkeys(
        ("PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled"),
        "True",
    )
    assert status["podIP"] == status["podIPs"][0]["ip"]
    managers = {one["manager"] for one in server.found(path)["metadata"]["managedFields"]}
    assert managers == {"rawcap", "kubelet"}


def test_pods_have_addresses_of_their_own(server: Acting) -> None:
    paths = [pod(server, name, container()) for name in "abc"]
    server.wait(1)
    assert len({server.status(path)["podIP"] for path in paths}) == 3


def test_a_probe_takes_its_time(server: Acting) -> None:
    probe = {"httpGet": {"path": "/", "port": 80}, "initialDelaySeconds": 5}
    path = pod(server, "a", container(readinessProbe=probe))
    server.wait(4)
    assert server.status(path)["phase"] == "Running"
    assert server.condition(path, "Ready")["status"] == "False"
    server.wait(3)
    assert server.condition(path, "Ready")["status"] == "True"


def test_a_gate_has_to_be_opened(server: Acting) -> None:
    path = pod(server, "a", container(), readinessGates=[{"conditionType": "example.com/go"}])
    server.wait(2)
    assert server.condition(path, "ContainersReady")["status"] == "True"
    assert server.condition(path, "Ready")["status"] == "False"


def test_init_containers_are_done_when_it_runs(server: Acting) -> None:
    path = pod(server, "a", container(), initContainers=[container(name="first")])
    server.wait(2)
    [first] = server.status(path)["initContainerStatuses"]
    assert first["state"]["terminated"]["exitCode"] == 0


@pytest.mark.parametrize(("code", "phase"), [(0, "Succeeded"), (4, "Failed")])
def test_a_command_that_ends_ends_the_pod(server: Acting, code: int, phase: str) -> None:
    command = ["sh", "-c", f"sleep 3; exit {code}"]
    path = pod(server, "a", container(command=command), restartPolicy="Never")
    server.wait(2)
    assert server.status(path)["phase"] == "Running"
    server.wait(3)
    assert server.status(path)["phase"] == phase
    assert state(server, path)["terminated"]["exitCode"] == code


def test_a_container_that_ends_is_started_again(server: Acting) -> None:
    path = pod(server, "a", container(command=["sleep", "5"]))
    server.wait(8)
    [status] = server.status(path)["containerStatuses"]
    assert (status["restartCount"], list(status["state"])) == (1, ["running"])
    server.wait(6)
    assert state(server, path)["waiting"]["reason"] == "CrashLoopBackOff"
    server.wait(10)
    assert server.status(path)["containerStatuses"][0]["restartCount"] == 2


def test_a_pod_that_is_deleted_ends_soon(server: Acting) -> None:
    path = pod(server, "a", container())
    server.wait(1)
    server.write("DELETE", path)
    assert "deletionTimestamp" in server.found(path)["metadata"]
    server.wait(1)
    assert not server.is_there(path)


def test_a_finalizer_keeps_what_has_ended(server: Acting) -> None:
    path = pod(server, "a", container())
    server.merge(path, {"metadata": {"finalizers": ["example.com/hold"]}})
    server.wait(1)
    server.write("DELETE", path)
    server.wait(5)
    assert server.status(path)["phase"] == "Succeeded"
    server.merge(path, {"metadata": {"finalizers": None}})
    assert not server.is_there(path)


def test_what_fits_nowhere_says_why_and_waits(server: Acting) -> None:
    path = pod(server, "a", container(), nodeSelector={"disk": "fast"})
    server.wait(1)
    told = server.condition(path, "PodScheduled")
    assert (told["status"], told["reason"]) == ("False", "Unschedulable")
    assert told["message"].startswith("0/1 nodes are available: 1 node(s) didn't match")
    server.merge(f"{NODES}/node-1", {"metadata": {"labels": {"disk": "fast"}}})
    server.wait(1)
    assert server.status(path)["phase"] == "Running"


def test_a_cordoned_node_takes_nothing_new(server: Acting) -> None:
    server.merge(f"{NODES}/node-1", {"spec": {"unschedulable": True}})
    path = pod(server, "a", container())
    server.wait(1)
    assert "unschedulable" in server.condition(path, "PodScheduled")["message"]


def test_who_has_another_scheduler_is_left_to_it(server: Acting) -> None:
    path = pod(server, "a", container(), schedulerName="mine")
    server.wait(1)
    assert "nodeName" not in server.found(path)["spec"]


def test_a_pod_of_a_node_that_is_not_there_waits_for_it(server: Acting) -> None:
    path = pod(server, "a", container(), nodeName="later")
    server.wait(5)
    assert server.status(path)["phase"] == "Pending"
    server.made(NODES, {"metadata": {"name": "later"}})
    server.wait(1)
    assert server.status(path)["phase"] == "Running"


def test_what_kubectl_debug_adds_runs_beside_the_others(server: Acting) -> None:
    path = pod(server, "a", container())
    server.wait(1)
    added = {**container(command=["sh", "-c", "sleep 3"]), "name": "debugger"}
    answer = server.write(
        "PATCH",
        f"{path}/ephemeralcontainers",
        {"spec": {"ephemeralContainers": [added]}},
        kind="application/strategic-merge-patch+json",
    )
    assert answer.status == 200, answer.body
    server.wait(1)
    [status] = server.status(path)["ephemeralContainerStatuses"]
    assert (status["name"], list(status["state"])) == ("debugger", ["running"])
    assert (status["ready"], "started" in status) == (False, False)
    assert server.condition(path, "Ready")["status"] == "True"
    assert "Started: Container debugger started" in server.events()
    server.wait(3)
    [status] = server.status(path)["ephemeralContainerStatuses"]
    assert status["state"]["terminated"]["exitCode"] == 0
    assert server.status(path)["phase"] == "Running"
    server.delete(path)
    server.wait(2)
    assert not server.is_there(path)


@pytest.mark.parametrize(
    ("words", "works", "expected"),
    [
        ([], False, None),
        ([], True, Run(1.0, 0)),
        (["sleep", "2.5"], False, Run(2.5, 0)),
        (["sleep", "infinity"], True, None),
        (["true"], False, Run(0.1, 0)),
        (["false"], False, Run(0.1, 1)),
        (["sh", "-c", "exit 7"], True, Run(1.0, 7)),
        (["sh", "-c", "sleep 1 && sleep 2; exit 1"], False, Run(3.0, 1)),
        (["nginx", "-g", "daemon off;"], False, None),
        (["echo", "hello"], False, Run(0.1, 0)),
        (["python", "-c", "work()"], True, Run(1.0, 0)),
        (["wget", "web:80"], False, Run(0.1, 0)),  # what `helm create` tests a chart with
        (["/bin/curl", "-f", "http://web"], False, Run(0.1, 0)),
        (["sh", "-c", "nc -z web 80"], False, Run(0.1, 0)),
    ],
)
def test_what_a_command_tells(words: list[str], works: bool, expected: Run | None) -> None:
    assert run_of({"command": words}, works=works) == expected
