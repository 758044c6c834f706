"""Reviews of access and identity, and tokens of ServiceAccounts (K41, K50)."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from conformance.behaviour.space import Space
from conformance.requests import Response
from conformance.two_servers import TestedServer
from conformance.users import ADMIN, NOBODY, VIEWER

_ACCESS = "/apis/authorization.k8s.io/v1"
_IDENTITY = "/apis/authentication.k8s.io/v1"


def _post(server: TestedServer, path: str, body: Any, token: str | None = None) -> Response:
    return server.request("POST", path, body, token=token)


def _status(server: TestedServer, path: str, spec: Any, user: str = ADMIN) -> Any:
    answer = _post(server, path, {"spec": spec}, server.tokens[user])
    assert answer.status == 201, answer.body
    return answer.json()["status"]


@pytest.mark.parametrize(
    ("user", "namespace", "verb", "allowed"),
    [
        (VIEWER, "default", "list", True),
        (VIEWER, "default", "delete", False),
        (VIEWER, "kube-system", "list", False),
        (NOBODY, "default", "list", False),
        (ADMIN, "kube-system", "delete", True),
    ],
)
def test_one_can_ask_what_one_may(
    server: TestedServer, user: str, namespace: str, verb: str, allowed: bool
) -> None:
    """A SelfSubjectAccessReview tells whether the one who asks may do something."""
    spec = {"resourceAttributes": {"namespace": namespace, "verb": verb, "resource": "pods"}}
    found = _status(server, f"{_ACCESS}/selfsubjectaccessreviews", spec, user)
    assert found["allowed"] is allowed


def test_one_can_ask_what_another_may(server: TestedServer) -> None:
    """A SubjectAccessReview asks for somebody else, by name and groups; not everybody may."""
    path = f"{_ACCESS}/subjectaccessreviews"
    asked = {"namespace": "default", "verb": "list", "resource": "pods"}
    spec = {"user": VIEWER, "resourceAttributes": asked}
    assert _status(server, path, spec)["allowed"] is True
    spec = {"user": NOBODY, "resourceAttributes": asked}
    assert _status(server, path, spec) == {"allowed": False}
    spec = {"groups": ["system:masters"], "resourceAttributes": asked}
    assert _status(server, path, spec) == {"allowed": True}
    assert _post(server, path, {"spec": spec}, server.tokens[VIEWER]).status == 403


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        (
            {},
            '.authorization.k8s.io "" is invalid: spec.resourceAttributes: Invalid value: null: '
            "exactly one of nonResourceAttributes or resourceAttributes must be specified",
        ),
        (
            {
                "resourceAttributes": {"verb": "list"},
                "nonResourceAttributes": {"path": "/x", "verb": "get"},
            },
            '.authorization.k8s.io "" is invalid: spec.nonResourceAttributes: Invalid value: '
            '{"Path":"/x","Verb":"get"}: cannot be specified in combination with '
            "resourceAttributes",
        ),
    ],
)
def test_a_review_asks_one_thing(server: TestedServer, spec: Any, message: str) -> None:
    """Neither or both of a resource and a path is 422."""
    answer = _post(server, f"{_ACCESS}/selfsubjectaccessreviews", {"spec": spec})
    assert (answer.status, answer.json()["message"]) == (422, message)


def test_a_review_has_no_name(server: TestedServer) -> None:
    """A name is 422: nothing is stored."""
    spec = {"resourceAttributes": {"verb": "list", "resource": "pods"}}
    body = {"metadata": {"name": "x"}, "spec": spec}
    answer = _post(server, f"{_ACCESS}/selfsubjectaccessreviews", body)
    assert answer.status == 422
    assert answer.json()["message"].endswith(": must be empty")


def test_reviews_can_only_be_created(server: TestedServer) -> None:
    """GET of reviews is 405, and of one 404."""
    assert server.request("GET", f"{_ACCESS}/selfsubjectaccessreviews").status == 405
    assert server.request("GET", f"{_ACCESS}/selfsubjectaccessreviews/x").status == 404


def test_a_local_review_stays_in_its_namespace(server: TestedServer) -> None:
    """The namespace of a LocalSubjectAccessReview is that of its path."""
    path = f"{_ACCESS}/namespaces/default/localsubjectaccessreviews"
    asked = {"namespace": "default", "verb": "list", "resource": "pods"}
    spec = {"user": VIEWER, "resourceAttributes": asked}
    answer = _post(server, path, {"spec": spec})
    assert answer.json()["metadata"]["namespace"] == "default"
    assert answer.json()["status"]["allowed"] is True
    asked["namespace"] = "kube-system"
    refused = _post(server, path, {"spec": spec})
    assert (refused.status, refused.json()["details"]["causes"][0]["field"]) == (
        422,
        "spec.resourceAttributes.namespace",
    )


def test_rules_are_those_of_a_namespace(server: TestedServer) -> None:
    """A SelfSubjectRulesReview lists what one may do in a namespace, which must be named."""
    path = f"{_ACCESS}/selfsubjectrulesreviews"
    rule = {"verbs": ["get", "list", "watch"], "apiGroups": [""], "resources": ["pods"]}
    found = _status(server, path, {"namespace": "default"}, VIEWER)
    assert rule in found["resourceRules"]
    assert found["incomplete"] is False
    assert rule not in _status(server, path, {"namespace": "other"}, VIEWER)["resourceRules"]
    answer = _post(server, path, {"spec": {}})
    assert (answer.status, answer.json()["message"]) == (400, "no namespace on request")


def test_one_can_ask_who_one_is(server: TestedServer) -> None:
    """A SelfSubjectReview names user and groups, whatever it was sent with; not to strangers."""
    path = f"{_IDENTITY}/selfsubjectreviews"
    sent = {"metadata": {"name": "x"}, "status": {"userInfo": {"username": "z"}}}
    found = _post(server, path, sent).json()
    assert list(found["metadata"]) == ["creationTimestamp"]
    assert found["status"]["userInfo"] == {
        "username": ADMIN,
        "uid": ADMIN,
        "groups": ["system:masters", "system:authenticated"],
    }
    assert _post(server, path, {}, "").status == 403


def test_tokens_can_be_reviewed(server: TestedServer) -> None:
    """A TokenReview tells whose a token is."""
    path = f"{_IDENTITY}/tokenreviews"
    found = _status(server, path, {"token": server.tokens[VIEWER]})
    assert (found["authenticated"], found["user"]["username"]) == (True, VIEWER)
    found = _status(server, path, {"token": "made-up"})
    assert found == {"user": {}, "error": "invalid bearer token"}
    answer = _post(server, path, {"spec": {}})
    assert (answer.status, answer.json()["message"]) == (
        400,
        "token is required for TokenReview in authentication",
    )


def _account(space: Space) -> str:
    path = space.path("serviceaccounts")
    space.server.create(path, {"metadata": {"name": "bot"}})
    return f"{path}/bot"


def test_an_account_gets_a_token(space: Space) -> None:
    """TokenRequest: a JWT for an hour, as the account system:serviceaccount:NAMESPACE:NAME."""
    server, account = space.server, _account(space)
    made = _post(server, f"{account}/token", {}).json()
    assert made["spec"] == {
        "audiences": ["https://kubernetes.default.svc"],
        "expirationSeconds": 3600,
        "boundObjectRef": None,
    }
    token = made["status"]["token"]
    claims = json.loads(base64.urlsafe_b64decode(token.split(".")[1] + "==="))
    name = f"system:serviceaccount:{space.name}:bot"
    assert (claims["sub"], claims["exp"] - claims["iat"]) == (name, 3600)
    user = _post(server, f"{_IDENTITY}/selfsubjectreviews", {}, token).json()["status"]["userInfo"]
    assert user["username"] == name
    assert user["groups"] == [
        "system:serviceaccounts",
        f"system:serviceaccounts:{space.name}",
        "system:authenticated",
    ]
    refused = server.request("GET", space.path("pods"), token=token)
    assert f'User "{name}" cannot list resource "pods"' in refused.json()["message"]


def test_a_token_goes_with_its_account(space: Space) -> None:
    """Once the account is deleted its tokens are 401, even if there is another of its name."""
    server, account = space.server, _account(space)
    token = _post(server, f"{account}/token", {}).json()["status"]["token"]
    who = f"{_IDENTITY}/selfsubjectreviews"
    server.delete(account)  # it was not used before: the real server remembers that for a while
    _account(space)
    assert _post(server, who, {}, token).status == 401


@pytest.mark.parametrize(
    ("spec", "status", "message"),
    [
        (
            {"expirationSeconds": 599},
            422,
            'TokenRequest.authentication.k8s.io "" is invalid: spec.expirationSeconds: Invalid '
            "value: 599: may not specify a duration less than 10 minutes",
        ),
        (
            {"boundObjectRef": {"kind": "ConfigMap", "apiVersion": "v1", "name": "a"}},
            400,
            "cannot bind token to object of type /v1, Kind=ConfigMap",
        ),
        (
            {"boundObjectRef": {"kind": "Pod", "apiVersion": "v1", "name": "a"}},
            404,
            'pods "a" not found',
        ),
    ],
)
def test_refused_tokens(space: Space, spec: Any, status: int, message: str) -> None:
    """A token of less than 10 minutes is 422; it is bound to pods, secrets and nodes alone."""
    answer = _post(space.server, f"{_account(space)}/token", {"spec": spec})
    assert (answer.status, answer.json()["message"]) == (status, message)


def test_a_token_for_others_is_none_here(space: Space) -> None:
    """A token for another audience is 401, and a TokenReview for that audience finds it good."""
    server = space.server
    body = {"spec": {"audiences": ["x"]}}
    token = _post(server, f"{_account(space)}/token", body).json()["status"]["token"]
    assert _post(server, f"{_IDENTITY}/selfsubjectreviews", {}, token).status == 401
    found = _status(server, f"{_IDENTITY}/tokenreviews", {"token": token, "audiences": ["x", "y"]})
    assert (found["authenticated"], found["audiences"]) == (True, ["x"])


def test_no_account_no_token(space: Space) -> None:
    """The token of an account that is not there is 404, whatever is asked."""
    path = f"{space.path('serviceaccounts')}/none/token"
    answer = _post(space.server, path, {"spec": {"expirationSeconds": 1}})
    assert (answer.status, answer.json()["message"]) == (404, 'serviceaccounts "none" not found')
