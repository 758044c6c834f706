"""The logs of pods, as far as a server without kubelets answers."""

from __future__ import annotations

import uuid

import pytest

from conformance.behaviour.space import Space, refusal
from conformance.requests import Json, Response


def _pod(name: str, node: str = "", *containers: str) -> Json:
    spec: Json = {"containers": [{"name": each, "image": "i"} for each in containers or ("a",)]}
    if node:
        spec["nodeName"] = node
    return {"metadata": {"name": name}, "spec": spec}


def _log(space: Space, name: str, query: str = "") -> Response:
    return space.ask("GET", f"{space.path('pods', name)}/log{query}")


def test_a_pod_on_no_node_has_no_content(space: Space) -> None:
    space.put(_pod("a"), "pods")
    answer = _log(space, "a")
    assert (answer.status, answer.body) == (204, b"")


def test_of_several_containers_one_must_be_named(space: Space) -> None:
    pod = _pod("a", "", "one", "two")
    pod["spec"]["initContainers"] = [{"name": "init", "image": "i"}]
    space.put(pod, "pods")
    text = "a container name must be specified for pod a, choose one of: [init one two]"
    assert refusal(_log(space, "a")) == (400, "BadRequest", text)
    text = "container x is not valid for pod a"
    assert refusal(_log(space, "a", "?container=x")) == (400, "BadRequest", text)
    assert _log(space, "a", "?container=init").status == 204


def test_a_pod_on_a_node_that_is_not_there_is_not_found(space: Space) -> None:
    space.put(_pod("a", "nowhere"), "pods")
    assert refusal(_log(space, "a")) == (404, "NotFound", 'pods "nowhere" not found')


def test_a_pod_that_is_not_there_is_not_found(space: Space) -> None:
    assert refusal(_log(space, "none")) == (404, "NotFound", 'pods "none" not found')


@pytest.mark.parametrize(
    ("addresses", "text"),
    [
        ([], "no preferred addresses found; known addresses: []"),
        (
            [{"type": "InternalIP", "address": "127.0.0.1"}],
            'Get "https://127.0.0.1:10250/containerLogs/{namespace}/a/a": dial tcp '
            "127.0.0.1:10250: connect: connection refused",
        ),
    ],
)
def test_a_node_without_a_kubelet_cannot_be_asked(
    space: Space, addresses: list[Json], text: str
) -> None:
    node = f"node-{uuid.uuid4().hex[:8]}"
    status = {"addresses": addresses} if addresses else {}
    space.server.create("/api/v1/nodes", {"metadata": {"name": node}, "status": status})
    space.put(_pod("a", node), "pods")
    assert refusal(_log(space, "a")) == (500, "", text.format(namespace=space.name))


@pytest.mark.parametrize(
    ("query", "code", "text"),
    [
        ("tailLines=-1", 422, "tailLines: Invalid value: -1: must be greater than or equal to 0"),
        ("limitBytes=0", 422, "limitBytes: Invalid value: 0: must be greater than 0"),
        ("sinceSeconds=0", 422, "sinceSeconds: Invalid value: 0: must be greater than 0"),
        (
            "sinceSeconds=1&sinceTime=2026-01-01T00:00:00Z",
            422,
            "[]: Forbidden: at most one of `sinceTime` or `sinceSeconds` may be specified",
        ),
        ("stream=All", 422, "stream: Forbidden: may not be specified"),
        ("tailLines=x", 400, 'strconv.ParseInt: parsing "x": invalid syntax'),
        (
            "sinceTime=x",
            400,
            'parsing time "x" as "2006-01-02T15:04:05Z07:00": cannot parse "x" as "2006"',
        ),
    ],
)
def test_options_that_make_no_sense_are_told(
    space: Space, query: str, code: int, text: str
) -> None:
    space.put(_pod("a"), "pods")
    status, _, message = refusal(_log(space, "a", f"?{query}"))
    assert status == code
    assert message.removeprefix('PodLogOptions "a" is invalid: ') == text


def test_logs_have_no_priority_level(space: Space) -> None:
    space.put(_pod("a"), "pods")
    assert "X-Kubernetes-Pf-Flowschema-Uid" not in _log(space, "a").headers
    assert "X-Kubernetes-Pf-Flowschema-Uid" in space.ask("GET", space.path("pods", "a")).headers


def test_a_log_cannot_be_written(space: Space) -> None:
    space.put(_pod("a"), "pods")
    answer = space.ask("POST", f"{space.path('pods', 'a')}/log", {})
    assert refusal(answer)[:2] == (405, "MethodNotAllowed")
