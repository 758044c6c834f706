"""Who may do what: 401 and 403."""

from __future__ import annotations

import base64

import pytest

from conformance.behaviour.space import refusal
from conformance.objects import config_map
from conformance.streams import Stream
from conformance.two_servers import TestedServer
from conformance.users import NOBODY, VIEWER

_PODS = "/api/v1/namespaces/default/pods"


def test_an_unknown_token_is_401(server: TestedServer) -> None:
    """A wrong bearer token is 401, a Status, without WWW-Authenticate (K1, K41)."""
    answer = server.request("GET", _PODS, token="wrong")
    assert refusal(answer) == (401, "Unauthorized", "Unauthorized")
    assert answer.headers["WWW-Authenticate"] is None
    assert answer.headers["X-Kubernetes-Pf-Flowschema-Uid"] is None


def test_an_unknown_token_may_not_even_ask_for_the_version(server: TestedServer) -> None:
    """A wrong token is 401 for paths that are open without one, too."""
    assert server.request("GET", "/version", token="wrong").status == 401


def test_no_token_is_anonymous(server: TestedServer) -> None:
    """No credentials: 403 as system:anonymous (K41)."""
    answer = server.request("GET", _PODS, token="")
    text = (
        'pods is forbidden: User "system:anonymous" cannot list resource "pods" '
        'in API group "" in the namespace "default"'
    )
    assert refusal(answer) == (403, "Forbidden", text)
    assert answer.headers["X-Content-Type-Options"] == "nosniff"


def test_a_password_is_anonymous(server: TestedServer) -> None:
    """Basic credentials are none: 403 as system:anonymous (K41)."""
    basic = base64.b64encode(b"admin:admin").decode()
    answer = server.request("GET", _PODS, token="", headers={"Authorization": f"Basic {basic}"})
    assert answer.status == 403
    assert "system:anonymous" in answer.json()["message"]


@pytest.mark.parametrize("path", ["/version", "/healthz", "/readyz", "/livez"])
def test_some_paths_are_open(server: TestedServer, path: str) -> None:
    """Version and health are open for everybody (K41)."""
    assert server.request("GET", path, token="").status == 200


def test_discovery_is_not_open(server: TestedServer) -> None:
    """Discovery is 403 without a token, and allowed with any."""
    answer = server.request("GET", "/apis", token="")
    assert answer.status == 403
    assert 'cannot get path "/apis"' in answer.json()["message"]
    assert server.request("GET", "/apis", token=server.tokens[NOBODY]).status == 200


@pytest.mark.parametrize(
    ("method", "path", "text"),
    [
        (
            "GET",
            "/api/v1/pods",
            'pods is forbidden: User "viewer" cannot list resource "pods" in API group "" '
            "at the cluster scope",
        ),
        (
            "GET",
            "/api/v1/namespaces/kube-system/pods?watch=1",
            'pods is forbidden: User "viewer" cannot watch resource "pods" in API group "" '
            'in the namespace "kube-system"',
        ),
        (
            "GET",
            f"{_PODS}/web/log",
            'pods "web" is forbidden: User "viewer" cannot get resource "pods/log" '
            'in API group "" in the namespace "default"',
        ),
        (
            "DELETE",
            f"{_PODS}/web",
            'pods "web" is forbidden: User "viewer" cannot delete resource "pods" '
            'in API group "" in the namespace "default"',
        ),
        (
            "DELETE",
            _PODS,
            'pods is forbidden: User "viewer" cannot deletecollection resource "pods" '
            'in API group "" in the namespace "default"',
        ),
        (
            "PATCH",
            "/apis/apps/v1/namespaces/default/deployments/web",
            'deployments.apps "web" is forbidden: User "viewer" cannot patch resource '
            '"deployments" in API group "apps" in the namespace "default"',
        ),
        (
            "POST",
            "/api/v1/namespaces/default/configmaps",
            'configmaps is forbidden: User "viewer" cannot create resource "configmaps" '
            'in API group "" in the namespace "default"',
        ),
        ("GET", "/metrics", 'forbidden: User "viewer" cannot get path "/metrics"'),
    ],
)
def test_what_is_forbidden_is_told(server: TestedServer, method: str, path: str, text: str) -> None:
    """403 tells user, verb, resource, group and where."""
    body = config_map("a") if method in ("POST", "PATCH") else None
    answer = server.request(method, path, body, token=server.tokens[VIEWER])
    assert refusal(answer) == (403, "Forbidden", text)


def test_what_is_allowed_works(server: TestedServer) -> None:
    """A user may do what it may: viewer lists, gets and watches pods in the namespace default."""
    token = server.tokens[VIEWER]
    assert server.request("GET", _PODS, token=token).status == 200
    assert server.request("GET", f"{_PODS}/none", token=token).status == 404
    with server.stream(f"{_PODS}?watch=1&timeoutSeconds=1", token=token) as watch:
        assert watch.head().status == 200


def test_a_forbidden_watch_is_no_stream(server: TestedServer) -> None:
    """A watch that is forbidden is a 403 with a length."""
    stream: Stream = server.stream("/api/v1/pods?watch=1", token=server.tokens[NOBODY])
    with stream:
        stream.finished()
        assert (stream.status, stream.is_chunked) == (403, False)


def test_forbidden_comes_before_not_found(server: TestedServer) -> None:
    """Without rights an unknown resource is 403 too."""
    answer = server.request("GET", "/api/v1/nosuch", token=server.tokens[NOBODY])
    assert answer.status == 403


def test_nobody_sees_who_is_asked_for(server: TestedServer) -> None:
    """A user without rights gets 403 for names that exist and names that do not."""
    token = server.tokens[NOBODY]
    for name in ("default", "none"):
        answer = server.request("GET", f"/api/v1/namespaces/{name}", token=token)
        assert answer.status == 403
