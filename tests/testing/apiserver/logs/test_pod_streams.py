"""What `kubectl exec`, `attach`, `cp` and `port-forward` are told."""

from __future__ import annotations

from typing import Any

import pytest

from tests.testing.apiserver.controllers.acting import PODS, Acting, container
from tests.testing.apiserver.write_server import parsed


def _asked(server: Acting, path: str, method: str = "POST") -> tuple[int, dict[str, Any]]:
    answer = server.write(method, f"{PODS}/{path}", connection="Upgrade", upgrade="SPDY/3.1")
    return answer.status, parsed(answer)


def _pod(server: Acting, *names: str, **spec: Any) -> None:
    containers = [{**container(), "name": name} for name in names]
    server.made(PODS, {"metadata": {"name": "p"}, "spec": {"containers": containers, **spec}})


@pytest.fixture
def server() -> Acting:
    """Without anybody who runs pods, as a kube-apiserver alone."""
    made = Acting()
    node = {"status": {"addresses": [{"type": "InternalIP", "address": "127.0.0.77"}]}}
    made.made("/api/v1/nodes", {"metadata": {"name": "n"}, **node})
    return made


REFUSED = "error dialing backend: dial tcp 127.0.0.77:10250: connect: connection refused"


@pytest.mark.parametrize("method", ["GET", "POST"])
@pytest.mark.parametrize(
    "path", ["p/exec?container=a&command=ls", "p/attach?container=c", "p/portforward"]
)
def test_a_node_whose_kubelet_nobody_is_cannot_be_reached(
    server: Acting, path: str, method: str
) -> None:
    _pod(server, "a", "c", nodeName="n")
    status, body = _asked(server, path, method)
    assert (status, body["message"]) == (500, REFUSED)
    assert "reason" not in body


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("p/exec", "a container name must be specified for pod p, choose one of: [a c]"),
        ("p/exec?container=zz", "container zz is not valid for pod p"),
        ("p/exec?container=a", "pod p does not have a host assigned"),
        ("p/portforward", "pod p does not have a host assigned"),
    ],
)
def test_what_cannot_be_is_told_first(server: Acting, path: str, message: str) -> None:
    _pod(server, "a", "c")
    assert _asked(server, path)[0] == 400
    assert _asked(server, path)[1]["message"] == message


def test_a_pod_that_is_not_there_is_not_found(server: Acting) -> None:
    status, body = _asked(server, "nope/exec?container=a")
    assert (status, body["message"]) == (404, 'pods "nope" not found')


def test_it_is_another_protocol_that_has_to_be_asked_for(server: Acting) -> None:
    _pod(server, "a", nodeName="n")
    answer = server.write("POST", f"{PODS}/p/exec?command=ls")
    assert (answer.status, parsed(answer)["message"]) == (400, "Upgrade request required")


def test_other_methods_are_not_allowed(server: Acting) -> None:
    _pod(server, "a")
    assert _asked(server, "p/exec", "PUT")[0] == 405


def test_where_pods_are_run_it_is_told_that_nothing_really_runs() -> None:
    server = Acting("kubelet")
    _pod(server, "a")
    server.wait(2.0)
    status, body = _asked(server, "p/exec?command=ls")
    assert status == 500
    assert body["message"] == (
        "error dialing backend: the embedded server has no real containers: exec, attach, cp and "
        "port-forward have nothing to reach"
    )
