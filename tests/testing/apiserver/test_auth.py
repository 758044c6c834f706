"""401 and 403, in the words of the real server (K41)."""

from __future__ import annotations

import pytest

from listwatch.testing.apiserver.auth import ADMIN, Auth, Rule, User

from .asking import Asking, message, same_as_recorded

PLAIN = "plaintok"
READER = "readertok"
ADMINISTRATOR = "admintok"


@pytest.fixture
def ask() -> Asking:
    return Asking(
        auth=Auth(
            [
                User(name="plain", token=PLAIN),
                User(name="admin", token=ADMINISTRATOR, rules=ADMIN),
                User(
                    name="reader",
                    token=READER,
                    rules=(
                        Rule(
                            verbs=("get", "list", "watch"),
                            groups=("", "apps"),
                            resources=("pods", "deployments/status"),
                            namespaces=("default",),
                        ),
                        Rule(
                            verbs=("get", "list", "watch"),
                            groups=("",),
                            resources=("secrets",),
                            names=("one",),
                        ),
                        Rule(verbs=("get",), resources=(), paths=("/metrics",)),
                    ),
                ),
            ]
        )
    )


@pytest.mark.parametrize(
    "name",
    [
        "k-auth-401",
        "k-auth-401-basic",
        "k-auth-401-watch",
        "k-auth-403-cluster-scoped",
        "k-auth-403-create",
        "k-auth-403-delete",
        "k-auth-403-deletecollection",
        "k-auth-403-get",
        "k-auth-403-list",
        "k-auth-403-list-all",
        "k-auth-403-nonresource",
        "k-auth-403-patch-status",
        "k-auth-403-unknown-resource",
        "k-auth-403-watch",
        "k-auth-403-watch-table",
        "k-auth-none-api",
        "k-auth-none-healthz",
        "k-auth-none-list",
        "k-auth-serviceaccount-deleted-401",
        "k-disc-metrics-403",
    ],
)
def test_answers_as_recorded(ask: Asking, name: str) -> None:
    same_as_recorded(ask.replay(name), name)


def test_without_tokens_everybody_may_do_everything() -> None:
    assert Asking().get("/api/v1/secrets").status == 200


def test_anybody_may_see_the_version(ask: Asking) -> None:
    assert ask.get("/version").status == 200
    assert ask.get("/livez").status == 200


def test_anybody_with_a_token_may_discover(ask: Asking) -> None:
    bearer = f"Bearer {PLAIN}"
    assert ask.get("/apis", authorization=bearer).status == 200
    assert ask.get("/apis/nosuch/v1", authorization=bearer).status == 404
    assert ask.get("/", authorization=bearer).status == 403
    assert ask.answer("POST", "/apis", authorization=bearer).status == 403


@pytest.mark.parametrize(
    ("target", "allowed"),
    [
        ("/api/v1/namespaces/default/pods", True),
        ("/api/v1/namespaces/default/pods?watch=0", True),
        ("/api/v1/namespaces/other/pods", False),
        ("/api/v1/pods", False),
        ("/api/v1/namespaces/default/configmaps", False),
        ("/apis/apps/v1/namespaces/default/deployments/d", False),
        ("/apis/apps/v1/namespaces/default/deployments/d/status", True),
        ("/api/v1/namespaces/default/secrets/one", True),
        ("/api/v1/namespaces/default/secrets/two", False),
        ("/api/v1/namespaces/default/secrets", False),
        ("/api/v1/namespaces/default/secrets?fieldSelector=metadata.name%3Done", True),
        ("/api/v1/namespaces/default/secrets?fieldSelector=metadata.name%3D%3Dtwo", False),
        ("/metrics", True),
        ("/foo", False),
    ],
)
def test_a_rule_allows_what_it_names(ask: Asking, target: str, allowed: bool) -> None:
    answer = ask.get(target, authorization=f"Bearer {READER}")
    assert (answer.status != 403) is allowed


def test_an_administrator_may_do_everything(ask: Asking) -> None:
    bearer = f"bearer {ADMINISTRATOR}"
    assert ask.get("/api/v1/secrets", authorization=bearer).status == 200
    assert ask.get("/foo", authorization=bearer).status == 404


def test_a_field_selector_on_the_name_names_the_object(ask: Asking) -> None:
    answer = ask.get(
        "/api/v1/pods?fieldSelector=metadata.name%3Dx", authorization=f"Bearer {PLAIN}"
    )
    assert message(answer) == (
        'pods "x" is forbidden: User "plain" cannot list resource "pods" in API group "" '
        "at the cluster scope"
    )


def test_permission_is_asked_before_the_type_is_looked_for(ask: Asking) -> None:
    answer = ask.get("/apis/nosuch/v1/foos", authorization=f"Bearer {PLAIN}")
    assert message(answer).startswith("foos.nosuch is forbidden")


def test_a_token_that_expired_is_unauthorized_and_a_new_one_works(ask: Asking) -> None:
    auth = ask.server.auth
    assert auth is not None
    auth.expire(ADMINISTRATOR)
    assert ask.get("/api/v1/pods", authorization=f"Bearer {ADMINISTRATOR}").status == 401
    auth.add(User(name="admin", token="fresh", rules=ADMIN))
    assert ask.get("/api/v1/pods", authorization="Bearer fresh").status == 200
    auth.expire()
    assert ask.get("/api/v1/pods", authorization="Bearer fresh").status == 401


def test_tokens_are_never_shown() -> None:
    user = User(name="admin", token="s3cret", rules=ADMIN)
    assert "s3cret" not in repr(user)
    assert "s3cret" not in repr(Auth([user]))
    assert "admin" in repr(Auth([user]))
