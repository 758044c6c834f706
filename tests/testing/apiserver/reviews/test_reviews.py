"""Who one is, what one may do, and tokens of ServiceAccounts (K41)."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from listwatch.testing.apiserver.auth import ADMIN, Auth, Rule, User
from listwatch.testing.apiserver.types.messages import decode_object
from tests.testing.apiserver.asking import Asking, normal, recorded, request_of

ACCESS = "/apis/authorization.k8s.io/v1"
IDENTITY = "/apis/authentication.k8s.io/v1"
ACCOUNTS = "/api/v1/namespaces/default/serviceaccounts"
PODS = Rule(verbs=("get", "list"), groups=("",), resources=("pods",), namespaces=("default",))


@pytest.fixture
def ask() -> Asking:
    return Asking(
        auth=Auth(
            [
                User(
                    name="admin", token="admintok", rules=ADMIN, uid="1", groups=("system:masters",)
                ),
                User(name="plain", token="plaintok", uid="2"),
                User(name="viewer", token="viewertok", rules=(PODS,)),
            ]
        )
    )


def post(ask: Asking, target: str, body: Any, token: str = "admintok") -> Any:
    answer = ask.answer("POST", target, body, authorization=f"Bearer {token}")
    assert answer.status == 201, answer.body
    return json.loads(answer.body)


def attributes(**given: str) -> dict[str, Any]:
    return {"spec": {"resourceAttributes": given}}


@pytest.mark.parametrize(
    "name", ["k-auth-self-subject-access-review", "k-auth-self-subject-review"]
)
def test_answers_as_recorded(ask: Asking, name: str) -> None:
    recording = recorded(name)
    answer = ask.server.handle(request_of(recording))
    assert normal(answer.body) == normal(recording.body)  # type: ignore[union-attr]


@pytest.mark.parametrize("name", ["k-kubectl-auth-can-i-02", "k-kubectl-auth-whoami-01"])
def test_answers_kubectl_in_protobuf_as_recorded(ask: Asking, name: str) -> None:
    recording = recorded(name)
    answer = ask.server.handle(request_of(recording))
    found = json.dumps(decode_object(answer.body)).encode()  # type: ignore[union-attr]
    wanted = json.dumps(decode_object(recording.body)).encode()
    assert normal(found.replace(b" ", b"")) == normal(wanted.replace(b" ", b""))


@pytest.mark.parametrize(
    ("namespace", "verb", "allowed"),
    [("default", "list", True), ("default", "delete", False), ("other", "list", False)],
)
def test_tells_what_one_may_do(ask: Asking, namespace: str, verb: str, allowed: bool) -> None:
    asked = attributes(namespace=namespace, verb=verb, resource="pods")
    own = post(ask, f"{ACCESS}/selfsubjectaccessreviews", asked, "viewertok")
    assert own["status"]["allowed"] is allowed
    asked["spec"]["user"] = "viewer"
    others = post(ask, f"{ACCESS}/subjectaccessreviews", asked)
    assert others["status"]["allowed"] is allowed


def test_those_in_masters_may_do_everything(ask: Asking) -> None:
    asked = attributes(verb="delete", resource="nodes")
    asked["spec"]["groups"] = ["system:masters"]
    assert post(ask, f"{ACCESS}/subjectaccessreviews", asked)["status"] == {"allowed": True}


def test_a_path_can_be_asked_for(ask: Asking) -> None:
    asked = {"spec": {"nonResourceAttributes": {"path": "/apis", "verb": "get"}}}
    status = post(ask, f"{ACCESS}/selfsubjectaccessreviews", asked, "plaintok")["status"]
    assert status["allowed"] is True
    assert "system:discovery" in status["reason"]


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ({}, "exactly one of nonResourceAttributes or resourceAttributes"),
        (
            {"resourceAttributes": {"verb": "get"}, "nonResourceAttributes": {"path": "/"}},
            "cannot be specified in combination with resourceAttributes",
        ),
    ],
)
def test_a_review_asks_one_thing(ask: Asking, spec: Any, message: str) -> None:
    target = f"{ACCESS}/selfsubjectaccessreviews"
    answer = ask.answer("POST", target, {"spec": spec}, authorization="Bearer admintok")
    assert answer.status == 422
    assert message in answer.body.decode()


def test_a_local_review_is_of_its_namespace(ask: Asking) -> None:
    target = f"{ACCESS}/namespaces/default/localsubjectaccessreviews"
    asked = attributes(namespace="other", verb="get", resource="pods")
    asked["spec"]["user"] = "viewer"
    answer = ask.answer("POST", target, asked, authorization="Bearer admintok")
    assert answer.status == 422
    assert "must match metadata.namespace" in answer.body.decode()


def test_rules_are_listed(ask: Asking) -> None:
    target = f"{ACCESS}/selfsubjectrulesreviews"
    status = post(ask, target, {"spec": {"namespace": "default"}}, "viewertok")["status"]
    assert {"verbs": ["get", "list"], "apiGroups": [""], "resources": ["pods"]} in status[
        "resourceRules"
    ]
    assert status["incomplete"] is False
    elsewhere = post(ask, target, {"spec": {"namespace": "other"}}, "viewertok")["status"]
    assert len(elsewhere["resourceRules"]) == len(status["resourceRules"]) - 1


def test_nobody_needs_rights_where_there_is_no_auth() -> None:
    ask = Asking()
    asked = attributes(verb="delete", resource="nodes")
    status = post(ask, f"{ACCESS}/selfsubjectaccessreviews", asked)["status"]
    assert status == {"allowed": True}
    user = post(ask, f"{IDENTITY}/selfsubjectreviews", {})["status"]["userInfo"]
    assert user == {"username": "admin", "groups": ["system:masters", "system:authenticated"]}


# Tokens


def token_of(ask: Asking, **spec: Any) -> str:
    ask.answer("POST", ACCOUNTS, {"metadata": {"name": "bot"}}, authorization="Bearer admintok")
    made = post(ask, f"{ACCOUNTS}/bot/token", {"spec": spec})
    return str(made["status"]["token"])


def who(ask: Asking, token: str) -> int:
    target = f"{IDENTITY}/selfsubjectreviews"
    return ask.answer("POST", target, {}, authorization=f"Bearer {token}").status


def test_a_token_is_its_accounts(ask: Asking) -> None:
    token = token_of(ask)
    claims = json.loads(base64.urlsafe_b64decode(token.split(".")[1] + "==="))
    assert claims["sub"] == "system:serviceaccount:default:bot"
    assert claims["exp"] - claims["iat"] == 3600
    user = post(ask, f"{IDENTITY}/selfsubjectreviews", {}, token)["status"]["userInfo"]
    assert user["username"] == "system:serviceaccount:default:bot"
    assert user["groups"] == [
        "system:serviceaccounts",
        "system:serviceaccounts:default",
        "system:authenticated",
    ]


def test_an_account_has_the_rules_of_its_name(ask: Asking) -> None:
    token = token_of(ask)
    pods = "/api/v1/namespaces/default/pods"
    assert ask.answer("GET", pods, authorization=f"Bearer {token}").status == 403
    assert ask.server.auth is not None
    ask.server.auth.add(User(name="system:serviceaccount:default:bot", rules=(PODS,)))
    assert ask.answer("GET", pods, authorization=f"Bearer {token}").status == 200


@pytest.mark.parametrize("auth", [True, False])
def test_a_token_expires(ask: Asking, auth: bool) -> None:
    ask = ask if auth else Asking()
    token = token_of(ask, expirationSeconds=600)
    ask.now = 599.0
    assert who(ask, token) == 201
    ask.now = 600.0
    assert who(ask, token) == 401


@pytest.mark.parametrize("auth", [True, False])
def test_a_token_goes_with_its_account(ask: Asking, auth: bool) -> None:
    ask = ask if auth else Asking()
    token = token_of(ask)
    ask.answer("DELETE", f"{ACCOUNTS}/bot", authorization="Bearer admintok")
    assert who(ask, token) == 401
    token_of(ask)  # another account of the same name
    assert who(ask, token) == 401


def test_a_token_for_others_is_none_here(ask: Asking) -> None:
    token = token_of(ask, audiences=["somebody"])
    assert who(ask, token) == 401
    asked = {"spec": {"token": token, "audiences": ["somebody", "else"]}}
    status = post(ask, f"{IDENTITY}/tokenreviews", asked)["status"]
    assert (status["authenticated"], status["audiences"]) == (True, ["somebody"])


@pytest.mark.parametrize("token", ["a.b.c", "nonsense"])
def test_what_was_not_made_here_is_no_token(ask: Asking, token: str) -> None:
    token_of(ask)
    assert who(ask, token) == 401
    status = post(ask, f"{IDENTITY}/tokenreviews", {"spec": {"token": token}})["status"]
    assert status == {"user": {}, "error": "invalid bearer token"}


def test_a_bound_token_goes_with_what_it_is_bound_to(ask: Asking) -> None:
    secrets = "/api/v1/namespaces/default/secrets"
    made = post(ask, secrets, {"metadata": {"name": "s"}})
    reference = {"kind": "Secret", "apiVersion": "v1", "name": "s", "uid": made["metadata"]["uid"]}
    token = token_of(ask, boundObjectRef=reference)
    assert who(ask, token) == 201
    ask.answer("DELETE", f"{secrets}/s", authorization="Bearer admintok")
    assert who(ask, token) == 401


@pytest.mark.parametrize(
    ("spec", "status", "message"),
    [
        ({"expirationSeconds": 60}, 422, "may not specify a duration less than 10 minutes"),
        ({"expirationSeconds": 1 << 33}, 422, "larger than 2^32 seconds"),
        (
            {"boundObjectRef": {"kind": "ConfigMap", "apiVersion": "v1", "name": "a"}},
            400,
            "cannot bind token to object of type /v1, Kind=ConfigMap",
        ),
        (
            {"boundObjectRef": {"kind": "Pod", "apiVersion": "v1", "name": "a"}},
            404,
            'pods \\"a\\" not found',
        ),
    ],
)
def test_refused_tokens(ask: Asking, spec: Any, status: int, message: str) -> None:
    token_of(ask)
    target = f"{ACCOUNTS}/bot/token"
    answer = ask.answer("POST", target, {"spec": spec}, authorization="Bearer admintok")
    assert answer.status == status
    assert message in answer.body.decode()


def test_too_short_is_refused_as_recorded(ask: Asking) -> None:
    for target, body in (
        ("/api/v1/namespaces", {"metadata": {"name": "rec"}}),
        ("/api/v1/namespaces/rec/serviceaccounts", {"metadata": {"name": "bot"}}),
    ):
        post(ask, target, body)
    recording = recorded("k-auth-token-request-too-short")
    answer = ask.server.handle(request_of(recording))
    assert answer.body == recording.body  # type: ignore[union-attr]


def test_secrets_are_not_shown() -> None:
    assert "admintok" not in repr(Auth([User(name="admin", token="admintok")]))
    assert "admintok" not in repr(User(name="admin", token="admintok"))


# Impersonation


@pytest.mark.parametrize(
    "name",
    [
        "k-auth-impersonate",
        "k-auth-impersonate-forbidden",
        "k-auth-impersonate-group-without-user",
    ],
)
def test_another_user_is_taken_on_as_recorded(ask: Asking, name: str) -> None:
    post(ask, "/api/v1/namespaces", {"metadata": {"name": "rec"}})
    recording = recorded(name)
    answer = ask.replay(name)
    assert (answer.status, answer.body) == (recording.status, recording.body)


def test_a_group_is_taken_on_too(ask: Asking) -> None:
    sent = {
        "authorization": "Bearer admintok",
        "impersonate_user": "x",
        "impersonate_group": "system:masters",
    }
    answer = ask.answer("POST", f"{IDENTITY}/selfsubjectreviews", {}, **sent)
    user = json.loads(answer.body)["status"]["userInfo"]
    assert user == {"username": "x", "groups": ["system:masters", "system:authenticated"]}
    assert ask.get("/api/v1/nodes", **sent).status == 200
