"""exec, attach and portforward of pods, as far as a server without kubelets answers."""

from __future__ import annotations

import uuid

import pytest

from conformance.behaviour.space import Space, refusal
from conformance.requests import Json, Response


def _pod(node: str = "", *containers: str) -> Json:
    spec: Json = {"containers": [{"name": each, "image": "i"} for each in containers or ("a",)]}
    if node:
        spec["nodeName"] = node
    return {"metadata": {"name": "a"}, "spec": spec}


def _stream(space: Space, path: str, method: str = "POST") -> Response:
    asked = f"{space.path('pods', 'a')}/{path}"
    return space.ask(method, asked, Connection="Upgrade", Upgrade="SPDY/3.1")


def test_of_several_containers_one_must_be_named(space: Space) -> None:
    space.put(_pod("", "one", "two"), "pods")
    text = "a container name must be specified for pod a, choose one of: [one two]"
    assert refusal(_stream(space, "exec?command=ls")) == (400, "BadRequest", text)
    text = "container x is not valid for pod a"
    assert refusal(_stream(space, "attach?container=x")) == (400, "BadRequest", text)


@pytest.mark.parametrize(
    "what", ["exec?command=ls&stdout=true", "attach?stdout=true", "portforward"]
)
def test_a_pod_on_no_node_has_no_host(space: Space, what: str) -> None:
    space.put(_pod(), "pods")
    text = "pod a does not have a host assigned"
    assert refusal(_stream(space, what)) == (400, "BadRequest", text)


def test_a_pod_that_is_not_there_is_not_found(space: Space) -> None:
    assert refusal(_stream(space, "exec?command=ls")) == (404, "NotFound", 'pods "a" not found')


def test_only_get_and_post_open_one(space: Space) -> None:
    space.put(_pod(), "pods")
    assert _stream(space, "exec?command=ls", "PUT").status == 405


@pytest.mark.parametrize(
    "what", ["exec?command=ls&stdout=true", "attach?stdout=true", "portforward"]
)
def test_a_node_without_a_kubelet_cannot_be_reached(space: Space, what: str) -> None:
    node = f"node-{uuid.uuid4().hex[:8]}"
    addresses = [{"type": "InternalIP", "address": "127.0.0.1"}]
    made = {"metadata": {"name": node}, "status": {"addresses": addresses}}
    space.server.create("/api/v1/nodes", made)
    space.put(_pod(node), "pods")
    text = "error dialing backend: dial tcp 127.0.0.1:10250: connect: connection refused"
    assert refusal(_stream(space, what)) == (500, "", text)
    plain = space.ask("POST", f"{space.path('pods', 'a')}/{what}")
    assert refusal(plain) == (400, "BadRequest", "Upgrade request required")
