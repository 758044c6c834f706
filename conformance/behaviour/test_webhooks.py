"""Admission webhooks: who is asked before something is written, and what comes of it."""

from __future__ import annotations

import uuid
from typing import Any

import pytest

from conformance.behaviour.hooked import Hooked
from conformance.behaviour.space import refusal
from conformance.objects import config_map, deployment
from conformance.requests import Json
from conformance.webhook_server import allowed, denied, patched


def test_a_validating_webhook_lets_an_object_be(hooked: Hooked) -> None:
    hooked.hooks.answer("lets", allowed)
    with hooked.configured("validating", hooked.webhook("lets")):
        assert hooked.create("a").status == 201
    (request,) = hooked.asked_at("lets")
    assert request["operation"] == "CREATE"
    assert request["object"]["metadata"]["uid"]
    assert request["object"]["kind"] == "ConfigMap"
    assert request["oldObject"] is None


def test_what_it_is_told(hooked: Hooked) -> None:
    hooked.hooks.answer("told", allowed)
    space = hooked.space
    with hooked.configured("validating", hooked.webhook("told", "*")):
        hooked.create("a", x="1")
        space.ask(
            "PATCH",
            space.path(name="a", fieldManager="me"),
            {"data": {"x": "2"}},
            content_type="application/merge-patch+json",
        )
        space.remove("a")
    created, updated, deleted = hooked.asked_at("told")
    for request in (created, updated, deleted):
        assert request["uid"]
        assert request["kind"] == {"group": "", "version": "v1", "kind": "ConfigMap"}
        assert request["requestKind"] == request["kind"]
        assert request["resource"] == {"group": "", "version": "v1", "resource": "configmaps"}
        assert request["requestResource"] == request["resource"]
        assert request["namespace"] == space.name
        assert request["name"] == "a"
        assert request["userInfo"]["username"] == "admin"
        assert request["dryRun"] is False
        assert "subResource" not in request
    assert created["options"] == {"kind": "CreateOptions", "apiVersion": "meta.k8s.io/v1"}
    assert updated["options"] == {
        "kind": "UpdateOptions",
        "apiVersion": "meta.k8s.io/v1",
        "fieldManager": "me",
    }
    assert updated["oldObject"]["data"] == {"x": "1"}
    assert updated["object"]["data"] == {"x": "2"}
    assert deleted["object"] is None
    assert deleted["oldObject"]["data"] == {"x": "2"}
    assert deleted["options"]["kind"] == "DeleteOptions"


def test_what_it_denies_is_not_written(hooked: Hooked) -> None:
    hooked.hooks.answer("denies", lambda request: denied(request, message="not today", code=403))
    with hooked.configured("validating", hooked.webhook("denies")):
        answer = hooked.create("a")
    assert refusal(answer) == (
        403,
        "",
        'admission webhook "denies.example.com" denied the request: not today',
    )
    assert hooked.space.list()["items"] == []


@pytest.mark.parametrize(
    ("status", "told"),
    [
        ({}, (400, "", " without explanation")),
        ({"reason": "Forbidden"}, (400, "Forbidden", ": Forbidden")),
        ({"code": 200, "status": "Success"}, (400, "", " without explanation")),
        ({"code": 409, "reason": "Conflict", "message": "x"}, (409, "Conflict", ": x")),
    ],
)
def test_the_refusal_is_the_webhooks_status(
    hooked: Hooked, status: Json, told: tuple[int, str, str]
) -> None:
    hooked.hooks.answer("status", lambda request: denied(request, **status))
    with hooked.configured("validating", hooked.webhook("status")):
        code, reason, message = refusal(hooked.create("a"))
    assert (code, reason) == told[:2]
    denial = 'admission webhook "status.example.com" denied the request'
    assert message == f"{denial}{told[2]}"


def test_a_deletion_can_be_denied(hooked: Hooked) -> None:
    hooked.hooks.answer("keeps", lambda request: denied(request, message="stays"))
    hooked.create("a")
    space = hooked.space
    with hooked.configured("validating", hooked.webhook("keeps", "DELETE", "CREATE")):
        one = space.ask("DELETE", space.path(name="a"))
        many = space.ask("DELETE", space.path())
    assert refusal(one)[2].endswith("denied the request: stays")
    assert refusal(many)[2].endswith("denied the request: stays")
    assert space.get("a")


def test_a_mutating_webhook_changes_what_is_written(hooked: Hooked) -> None:
    def answer(request: Json) -> Json:
        assert "uid" not in request["object"]["metadata"]
        return patched(
            request,
            {"op": "add", "path": "/data/added", "value": "by webhook"},
            {"op": "add", "path": "/metadata/labels", "value": {"injected": "yes"}},
        )

    hooked.hooks.answer("changes", answer)
    with hooked.configured("mutating", hooked.webhook("changes")):
        made = hooked.create("a", x="1").json()
    assert made["data"] == {"added": "by webhook", "x": "1"}
    assert made["metadata"]["labels"] == {"injected": "yes"}
    assert hooked.space.get("a") == made


def test_a_mutating_webhook_changes_updates(hooked: Hooked) -> None:
    hooked.create("a", x="1")
    hooked.hooks.answer(
        "updates",
        lambda request: patched(request, {"op": "add", "path": "/data/seen", "value": "yes"}),
    )
    with hooked.configured("mutating", hooked.webhook("updates", "UPDATE", "CREATE")):
        changed = hooked.space.change("a", data={"x": "2"})
    assert changed["data"] == {"seen": "yes", "x": "2"}


def test_what_a_mutating_webhook_makes_is_validated(hooked: Hooked) -> None:
    hooked.hooks.answer(
        "breaks",
        lambda request: patched(request, {"op": "add", "path": "/data/a~1b", "value": "x"}),
    )
    with hooked.configured("mutating", hooked.webhook("breaks")):
        code, reason, message = refusal(hooked.create("a", x="1"))
    assert (code, reason) == (422, "Invalid")
    assert 'ConfigMap "a" is invalid: data[a/b]' in message


def test_the_validating_webhook_sees_what_the_mutating_one_has_made(hooked: Hooked) -> None:
    hooked.hooks.answer(
        "first", lambda request: patched(request, {"op": "add", "path": "/data/m", "value": "1"})
    )
    hooked.hooks.answer("second", allowed)
    with (
        hooked.configured("mutating", hooked.webhook("first")),
        hooked.configured("validating", hooked.webhook("second")),
    ):
        made = hooked.create("a", x="1").json()
    (request,) = hooked.asked_at("second")
    assert request["object"]["data"] == {"m": "1", "x": "1"}
    assert request["object"]["metadata"]["uid"] == made["metadata"]["uid"]


def test_mutating_webhooks_are_asked_in_the_order_of_their_configurations(hooked: Hooked) -> None:
    def appends(text: str) -> Any:
        def answer(request: Json) -> Json:
            value = request["object"]["data"]["x"] + text
            return patched(request, {"op": "replace", "path": "/data/x", "value": value})

        return answer

    names = sorted(f"order-{uuid.uuid4().hex[:8]}" for _ in range(2))
    hooked.hooks.answer("append-a", appends("a"))
    hooked.hooks.answer("append-b", appends("b"))
    with (
        hooked.configured("mutating", hooked.webhook("append-b"), name=names[1]),
        hooked.configured("mutating", hooked.webhook("append-a"), name=names[0]),
    ):
        assert hooked.create("a", x="").json()["data"] == {"x": "ab"}


def test_one_that_wants_it_is_asked_again_after_another_has_changed_the_object(
    hooked: Hooked,
) -> None:
    hooked.hooks.answer("again", allowed)
    hooked.hooks.answer(
        "later", lambda request: patched(request, {"op": "add", "path": "/data/l", "value": "1"})
    )
    with hooked.configured(
        "mutating",
        hooked.webhook("again", reinvocationPolicy="IfNeeded"),
        hooked.webhook("later"),
    ):
        hooked.create("a", x="1")
    assert [request["object"]["data"] for request in hooked.asked_at("again")] == [
        {"x": "1"},
        {"l": "1", "x": "1"},
    ]


def test_warnings_reach_the_client(hooked: Hooked) -> None:
    hooked.hooks.answer("warns", lambda request: allowed(request, warnings=["look out"]))
    with hooked.configured("validating", hooked.webhook("warns")):
        answer = hooked.create("a")
    assert answer.headers.get_all("Warning") == ['299 - "look out"']


def test_one_that_cannot_be_asked_stops_the_write(hooked: Hooked) -> None:
    webhook = hooked.webhook("nowhere", clientConfig={"url": "https://127.0.0.1:1/x"})
    with hooked.configured("validating", webhook):
        answer = hooked.create("a")
    code, reason, message = refusal(answer)
    assert (code, reason) == (500, "InternalError")
    assert message == (
        'Internal error occurred: failed calling webhook "nowhere.example.com": failed to call '
        'webhook: Post "https://127.0.0.1:1/x?timeout=10s": dial tcp 127.0.0.1:1: connect: '
        "connection refused"
    )
    assert answer.json()["details"] == {
        "causes": [{"message": message.removeprefix("Internal error occurred: ")}]
    }


def test_one_that_may_fail_does_not_stop_the_write(hooked: Hooked) -> None:
    webhook = hooked.webhook(
        "ignored", clientConfig={"url": "https://127.0.0.1:1/x"}, failurePolicy="Ignore"
    )
    with hooked.configured("validating", webhook):
        assert hooked.create("a").status == 201


@pytest.mark.parametrize(
    ("response", "why"),
    [
        ({"uid": "other", "allowed": True}, "expected response.uid="),
        (None, "webhook response was absent"),
        ({"allowed": True, "patch": "W10=", "patchType": "JSONPatch"}, "may not return"),
    ],
)
def test_an_answer_that_is_none_stops_the_write(
    hooked: Hooked, response: Json | None, why: str
) -> None:
    hooked.hooks.answer(
        "nonsense",
        lambda request: response and {"uid": request["uid"], **response},  # type: ignore[arg-type]
    )
    with hooked.configured("validating", hooked.webhook("nonsense")):
        code, _, message = refusal(hooked.create("a"))
    assert code == 500
    assert "received invalid webhook response: " in message
    assert why in message


def test_an_answer_of_another_status_stops_the_write(hooked: Hooked) -> None:
    with hooked.configured("validating", hooked.webhook("missing")):
        assert refusal(hooked.create("a")) == (
            500,
            "InternalError",
            'Internal error occurred: failed calling webhook "missing.example.com": failed to '
            "call webhook: the server could not find the requested resource",
        )


def test_a_certificate_that_is_not_of_the_authority_stops_the_write(hooked: Hooked) -> None:
    config = hooked.hooks.client_config("untrusted")
    del config["caBundle"]
    with hooked.configured("validating", hooked.webhook("untrusted", clientConfig=config)):
        code, _, message = refusal(hooked.create("a"))
    assert code == 500
    assert 'failed calling webhook "untrusted.example.com": failed to call webhook: Post' in message
    assert not hooked.asked_at("untrusted")


def test_a_dry_run_needs_a_webhook_without_side_effects(hooked: Hooked) -> None:
    hooked.hooks.answer("dry", allowed)
    space = hooked.space
    dry_run = space.path(dryRun="All")
    with hooked.configured("validating", hooked.webhook("dry")):
        assert space.ask("POST", dry_run, config_map("a")).status == 201
    assert [request["dryRun"] for request in hooked.asked_at("dry")] == [True]


def test_object_selectors_look_at_both_states(hooked: Hooked) -> None:
    hooked.hooks.answer("labelled", allowed)
    selected = hooked.webhook(
        "labelled", "CREATE", "UPDATE", objectSelector={"matchLabels": {"a": "b"}}
    )
    space = hooked.space
    with hooked.configured("validating", selected):
        space.add("without")
        space.add("with", labels={"a": "b"})
        space.change("with", metadata={"labels": {"a": None}})
        space.change("with", data={"x": "1"})
    operations = [request["operation"] for request in hooked.asked_at("labelled")]
    assert operations == ["CREATE", "UPDATE"]


def test_subresources_have_rules_of_their_own(hooked: Hooked) -> None:
    hooked.hooks.answer("scales", allowed)
    space = hooked.space
    webhook = hooked.webhook("scales", "UPDATE", "CREATE", resources=["configmaps", "pods/status"])
    pod = {
        "metadata": {"name": "p"},
        "spec": {"containers": [{"name": "c", "image": "i"}]},
    }
    with hooked.configured("validating", webhook):
        space.put(pod, "pods")
        space.ask(
            "PATCH",
            f"{space.path('pods', 'p')}/status",
            {"status": {"message": "x"}},
            content_type="application/merge-patch+json",
        )
    (request,) = hooked.asked_at("scales")
    assert request["subResource"] == "status"
    assert request["object"]["status"]["message"] == "x"


def test_an_eviction_is_asked_about_and_not_the_deletion_that_it_is(hooked: Hooked) -> None:
    hooked.hooks.answer("evicts", lambda request: denied(request, message="stays"))
    space = hooked.space
    webhook = hooked.webhook("evicts", "*", resources=["pods/eviction"])
    other = hooked.webhook("deletes", "DELETE", resources=["pods"])
    pod = {"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    space.put(pod, "pods")
    eviction = {
        "kind": "Eviction",
        "apiVersion": "policy/v1",
        "metadata": {"name": "p", "namespace": space.name},
    }
    with hooked.configured("validating", webhook, other):
        answer = space.ask("POST", f"{space.path('pods', 'p')}/eviction", eviction)
    assert refusal(answer)[2].endswith("denied the request: stays")
    (request,) = hooked.asked_at("evicts")
    assert request["kind"] == {"group": "policy", "version": "v1", "kind": "Eviction"}
    assert (request["operation"], request["subResource"]) == ("CREATE", "eviction")
    assert (request["resource"]["resource"], request["name"]) == ("pods", "p")
    assert request["object"]["metadata"]["name"] == "p"
    assert not hooked.asked_at("deletes")


def test_a_scale_is_asked_about_as_a_scale(hooked: Hooked) -> None:
    hooked.hooks.answer(
        "scale",
        lambda request: patched(request, {"op": "add", "path": "/spec/replicas", "value": 7}),
    )
    space = hooked.space
    webhook = hooked.webhook("scale", "*", resources=["deployments/scale", "configmaps"])
    space.put(deployment("web", replicas=1), "deployments")
    with hooked.configured("mutating", webhook):
        answer = space.ask(
            "PATCH",
            f"{space.path('deployments', 'web')}/scale",
            {"spec": {"replicas": 3}},
            content_type="application/merge-patch+json",
        )
    assert answer.json()["spec"]["replicas"] == 7
    assert space.get("web", "deployments")["spec"]["replicas"] == 7
    (request,) = hooked.asked_at("scale")
    assert request["kind"] == {"group": "autoscaling", "version": "v1", "kind": "Scale"}
    assert (request["operation"], request["subResource"]) == ("UPDATE", "scale")
    assert request["object"]["spec"]["replicas"] == 3
    assert request["oldObject"]["spec"]["replicas"] == 1


def test_webhooks_are_not_asked_about_webhooks(hooked: Hooked) -> None:
    hooked.hooks.answer("everything", denied)
    everything = hooked.webhook("everything", "*", resources=["validatingwebhookconfigurations"])
    del everything["namespaceSelector"]
    with hooked.configured("validating", everything):
        pass
    assert not hooked.asked_at("everything")
