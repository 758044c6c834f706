"""What becomes of nodes, and of pods that their taints drive away, is the same on both servers."""

from __future__ import annotations

import json
from functools import partial
from typing import Any

import pytest

from conformance.controllers.manifests import CONTAINER, Stages, both
from conformance.controllers.stage import Stage
from conformance.requests import Json
from conformance.waiting import until

_NODES = "/api/v1/nodes"
_TIME = "2026-01-01T00:00:00Z"


def _conditions(**states: str) -> list[Json]:
    times = {"lastHeartbeatTime": _TIME, "lastTransitionTime": _TIME}
    return [
        {"type": kind, "status": status, **times, "reason": "Said", "message": "so"}
        for kind, status in states.items()
    ]


def _create(stage: Stage, *conditions: Json, **spec: Any) -> str:
    name = f"{stage.namespace}-node"
    made = {"metadata": {"name": name}, "status": {"conditions": list(conditions)}}
    stage.server.create(_NODES, made)
    stage.server.patch(f"{_NODES}/{name}", {"spec": {"taints": None, **spec}})
    return name


def _taints(stage: Stage, name: str, effect: str = "NoSchedule") -> list[str]:
    taints = stage.server.get(f"{_NODES}/{name}")["spec"].get("taints", ())
    return sorted(one["key"] for one in taints if one["effect"] == effect)


@pytest.mark.parametrize(
    ("states", "spec", "wanted"),
    [
        ({"Ready": "False"}, {}, ["not-ready"]),
        ({"Ready": "Unknown"}, {}, ["unreachable"]),
        ({"Ready": "True"}, {"unschedulable": True}, ["unschedulable"]),
        (
            {"Ready": "True", "MemoryPressure": "True", "DiskPressure": "True"},
            {},
            ["disk-pressure", "memory-pressure"],
        ),
        ({"Ready": "True", "PIDPressure": "False"}, {}, []),
    ],
)
def test_taints_follow_the_state(
    stages: Stages, states: Json, spec: Json, wanted: list[str]
) -> None:
    """And go with it."""

    def play(stage: Stage) -> Any:
        name = _create(stage, *_conditions(**states), **spec)
        keys = [f"node.kubernetes.io/{one}" for one in wanted]
        stage.until(lambda: _taints(stage, name) == keys, f"the taints {keys}")
        status = {"conditions": _conditions(**{**dict.fromkeys(states, "False"), "Ready": "True"})}
        stage.server.patch(f"{_NODES}/{name}/status", {"status": status})
        stage.server.patch(f"{_NODES}/{name}", {"spec": {"unschedulable": None}})
        stage.until(lambda: not _taints(stage, name), "no taint")
        stage.server.delete(f"{_NODES}/{name}")
        return True

    both(stages, play)


def test_a_node_that_is_not_heard_of(stages: Stages) -> None:
    """After fifty seconds nobody knows how it is, and its pods are not ready."""
    names = [_create(stage, *_conditions(Ready="True", DiskPressure="False")) for stage in stages]
    for stage, name in zip(stages, names, strict=True):
        spec = {"nodeName": name, "containers": [CONTAINER]}
        stage.create("pods", {"metadata": {"name": "p"}, "spec": spec})
        condition = {"type": "Ready", "status": "True", "lastTransitionTime": _TIME}
        status = {"phase": "Running", "conditions": [condition]}
        stage.change("pods", "p", {"status": status}, "status")
    told = []
    for stage, name in zip(stages, names, strict=True):
        until(partial(_is_lost, stage, name), what="the end of patience", timeout=90)
        conditions = _plain(stage.server.get(f"{_NODES}/{name}"))
        pod = _plain(stage.get("pods", "p"))
        events = {
            (one["reason"], one["message"].replace(name, "it"), one["source"]["component"])
            for one in stage.server.get("/api/v1/events")["items"]
            if one["involvedObject"]["name"] == name
            or one["metadata"]["namespace"] == stage.namespace
        }
        told.append((conditions, pod, sorted(events)))
        stage.server.delete(f"{_NODES}/{name}")
    assert told[0] == told[1]


def _is_lost(stage: Stage, name: str) -> bool:
    [ready] = stage.get("pods", "p")["status"]["conditions"]
    lost = ["node.kubernetes.io/unreachable"]
    return ready["status"] == "False" and _taints(stage, name) == lost


def _plain(obj: Json) -> list[str]:
    made = [
        {**one, "lastTransitionTime": one["lastTransitionTime"] == _TIME}
        | ({"lastHeartbeatTime": one["lastHeartbeatTime"] == _TIME} if "reason" in one else {})
        for one in obj["status"]["conditions"]
    ]
    return sorted(json.dumps(one, sort_keys=True) for one in made)


def test_pods_that_do_not_bear_it_go(stages: Stages) -> None:
    """At once, or when their time is over; those that bear it for ever stay."""

    def play(stage: Stage) -> Any:
        name = _create(stage, *_conditions(Ready="True"))
        key = {"key": "example.com/leak", "operator": "Exists", "effect": "NoExecute"}
        bears: dict[str, list[Json]] = {
            "never": [],
            "shortly": [{**key, "tolerationSeconds": 2}],
            "always": [key],
        }
        for pod, tolerations in bears.items():
            spec = {"nodeName": name, "tolerations": tolerations, "containers": [CONTAINER]}
            stage.create("pods", {"metadata": {"name": pod}, "spec": spec})
        taint = {"key": "example.com/leak", "effect": "NoExecute"}
        stage.server.patch(f"{_NODES}/{name}", {"spec": {"taints": [taint]}})
        dying = "deletionTimestamp"
        stage.until(lambda: dying in stage.get("pods", "never")["metadata"], "the first pod's end")
        early = [dying in stage.get("pods", pod)["metadata"] for pod in bears]
        stage.until(lambda: dying in stage.get("pods", "shortly")["metadata"], "the second's")
        late = [dying in stage.get("pods", pod)["metadata"] for pod in bears]
        conditions = [
            {**one, "lastTransitionTime": ""}
            for one in stage.get("pods", "never")["status"]["conditions"]
        ]
        stage.server.delete(f"{_NODES}/{name}")
        return early, late, conditions

    both(stages, play)


def test_pods_of_a_node_that_is_gone(stages: Stages) -> None:
    """They are failed and deleted after a while; one that is held tells why."""
    for stage in stages:
        spec = {"nodeName": f"{stage.namespace}-gone", "containers": [CONTAINER]}
        held = {"finalizers": ["example.com/hold"]}
        stage.create("pods", {"metadata": {"name": "held", **held}, "spec": spec})
        stage.create("pods", {"metadata": {"name": "loose"}, "spec": spec})
    told = []
    for stage in stages:
        until(partial(_is_collected, stage), what="the end of the pods", timeout=120)
        status = stage.get("pods", "held")["status"]
        conditions = [{**one, "lastTransitionTime": ""} for one in status["conditions"]]
        told.append((status["phase"], status["observedGeneration"], conditions))
        stage.change("pods", "held", {"metadata": {"finalizers": None}})
    assert told[0] == told[1]


def _is_collected(stage: Stage) -> bool:
    dying = "deletionTimestamp" in stage.get("pods", "held")["metadata"]
    return dying and not stage.exists("pods", "loose")
