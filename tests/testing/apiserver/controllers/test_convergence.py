"""Whatever is done to a workload, in the end there is what its spec says."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.testing.apiserver.controllers.acting import (
    APPS,
    DEPLOYMENTS,
    PODS,
    SETS,
    Acting,
    image,
    workload,
)

_ACTIONS = st.one_of(
    st.tuples(st.just("scale"), st.integers(0, 6)),
    st.tuples(st.just("image"), st.integers(1, 4)),
    st.tuples(st.just("pause"), st.booleans()),
    st.tuples(st.sampled_from(["delete", "kill", "evict"]), st.integers(0, 9)),
    st.tuples(st.just("restart"), st.just(0)),
)
_STEPS = st.lists(st.tuples(_ACTIONS, st.floats(0.0, 1.5)), max_size=8)


def _act(server: Acting, path: str, action: str, number: int) -> None:
    if action == "scale":
        server.merge(f"{path}/scale", {"spec": {"replicas": number}})
    elif action == "image":
        server.merge(path, image(number))
    elif action == "pause":
        if path.startswith(DEPLOYMENTS):
            server.merge(path, {"spec": {"paused": bool(number) or None}})
    elif action == "restart":
        server.server.restart()
    elif pods := server.items(PODS):
        _act_on_pod(server, pods[number % len(pods)]["metadata"]["name"], action)


def _act_on_pod(server: Acting, name: str, action: str) -> None:
    path = f"{PODS}/{name}"
    if action == "evict":
        server.write("POST", f"{path}/eviction", {"metadata": {"name": name}})
    else:
        server.write("DELETE", path, {"gracePeriodSeconds": 0} if action == "kill" else {})


def _pods(server: Acting) -> list[dict[str, Any]]:
    return [one for one in server.items(PODS) if "deletionTimestamp" not in one["metadata"]]


@settings(max_examples=40, deadline=None)
@given(steps=_STEPS, strategy=st.sampled_from(["RollingUpdate", "Recreate"]))
def test_a_deployment(steps: list[tuple[tuple[str, int], float]], strategy: str) -> None:
    server = Acting("garbage-collector", "deployment", "replicaset", "kubelet")
    server.made(DEPLOYMENTS, workload("web", 2, strategy={"type": strategy}))
    path = f"{DEPLOYMENTS}/web"
    for (action, number), after in steps:
        server.wait(after)
        _act(server, path, action, number)
    server.merge(path, {"spec": {"paused": None}})
    server.wait(60)
    found = server.found(path)
    wanted, status = found["spec"]["replicas"], found["status"]
    assert status["observedGeneration"] == found["metadata"]["generation"]
    assert [
        status.get(name, 0) for name in ("replicas", "updatedReplicas", "availableReplicas")
    ] == [wanted] * 3
    assert sorted(one["spec"]["replicas"] for one in server.items(SETS))[-1] == wanted
    assert sum(one["spec"]["replicas"] for one in server.items(SETS)) == wanted
    container = found["spec"]["template"]["spec"]["containers"][0]
    images = [one["spec"]["containers"][0]["image"] for one in _pods(server)]
    assert images == [container["image"]] * wanted


@settings(max_examples=25, deadline=None)
@given(steps=_STEPS, policy=st.sampled_from(["OrderedReady", "Parallel"]))
def test_a_stateful_set(steps: list[tuple[tuple[str, int], float]], policy: str) -> None:
    server = Acting("garbage-collector", "statefulset", "kubelet")
    server.made(f"{APPS}/statefulsets", workload("db", 2, podManagementPolicy=policy))
    path = f"{APPS}/statefulsets/db"
    for (action, number), after in steps:
        server.wait(after)
        _act(server, path, action, number)
    server.wait(60)
    found = server.found(path)
    wanted, status = found["spec"]["replicas"], found["status"]
    assert status["replicas"] == status["availableReplicas"] == wanted
    assert status["currentRevision"] == status["updateRevision"]
    assert [one["metadata"]["name"] for one in _pods(server)] == [f"db-{n}" for n in range(wanted)]
    container = found["spec"]["template"]["spec"]["containers"][0]
    images = {one["spec"]["containers"][0]["image"] for one in _pods(server)}
    assert images <= {container["image"]}
