"""Writes that wait for webhooks: what happens while they wait, and when nobody answers."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from listwatch.testing.apiserver.core import APIServer
from listwatch.testing.apiserver.messages import Answer, Later, Reaction, ServerRequest
from listwatch.testing.apiserver.webhooks.consulting import Outcome
from listwatch.testing.apiserver.webhooks.questions import Question

START = datetime(2026, 1, 1, tzinfo=UTC)
CONFIG_MAPS = "/api/v1/namespaces/default/configmaps"
WEBHOOKS = "/apis/admissionregistration.k8s.io/v1"


class Asked:
    """A server whose questions the test answers when it likes."""

    def __init__(self) -> None:
        self.now = 0.0
        self.server = APIServer(
            clock=lambda: self.now, wall=lambda: START + timedelta(seconds=self.now)
        )
        self.server.ask_webhook = self._ask
        self.questions: list[tuple[Question, Callable[[Outcome], None]]] = []
        self.taken_back: list[Question] = []

    def _ask(self, question: Question, done: Callable[[Outcome], None]) -> Callable[[], None]:
        self.questions.append((question, done))
        return lambda: self.taken_back.append(question)

    def request(self, method: str, path: str, body: object = None) -> Reaction:
        data = json.dumps(body).encode() if body is not None else b""
        content_type = "application/merge-patch+json" if method == "PATCH" else "application/json"
        headers = {"accept": "application/json", "content-type": content_type}
        return self.server.handle(
            ServerRequest(method=method, path=path, headers=headers, body=data)
        )

    def done(self, method: str, path: str, body: object = None) -> dict[str, Any]:
        """A request that nobody is asked about, or not any more."""
        return answered(self.request(method, path, body))

    def configure(self, kind: str = "validating", *, name: str = "hooks", **more: Any) -> None:
        webhook = {
            "name": "one.example.com",
            "clientConfig": {"url": "https://hook.example.com/ask"},
            "rules": [
                {
                    "apiGroups": [""],
                    "apiVersions": ["v1"],
                    "operations": ["*"],
                    "resources": ["configmaps"],
                }
            ],
            "sideEffects": "None",
            "admissionReviewVersions": ["v1"],
            **more,
        }
        path = f"{WEBHOOKS}/{kind}webhookconfigurations"
        self.done("POST", path, {"metadata": {"name": name}, "webhooks": [webhook]})

    def review(self) -> dict[str, Any]:
        """The request in the question that is open."""
        request: dict[str, Any] = json.loads(self.questions[0][0].body)["request"]
        return request

    def say(self, *, allowed: bool = True, patch: list[dict[str, Any]] | None = None) -> None:
        """Answer the question that is open."""
        response: dict[str, Any] = {"uid": self.review()["uid"], "allowed": allowed}
        if patch:
            response["patch"] = base64.b64encode(json.dumps(patch).encode()).decode()
            response["patchType"] = "JSONPatch"
        body = {"kind": "AdmissionReview", "apiVersion": "admission.k8s.io/v1"}
        _, done = self.questions.pop(0)
        done(json.dumps({**body, "response": response}).encode())


def answered(reaction: Reaction | None) -> dict[str, Any]:
    assert isinstance(reaction, Answer)
    value: dict[str, Any] = json.loads(reaction.body)
    return value


def waiting(reaction: Reaction) -> Later:
    assert not isinstance(reaction, Answer)
    assert not hasattr(reaction, "take")
    return reaction  # type: ignore[return-value]  # it is the third kind


@pytest.fixture
def asked() -> Asked:
    return Asked()


def test_nothing_is_written_before_the_answer_is_there(asked: Asked) -> None:
    asked.configure()
    later = waiting(asked.request("POST", CONFIG_MAPS, {"metadata": {"name": "a"}}))
    assert later.tick() is None
    assert asked.done("GET", CONFIG_MAPS)["items"] == []
    asked.say()
    made = answered(later.tick())
    assert made["metadata"]["name"] == "a"
    assert asked.done("GET", f"{CONFIG_MAPS}/a") == made


def test_whoever_waits_is_woken(asked: Asked) -> None:
    asked.configure()
    later = waiting(asked.request("POST", CONFIG_MAPS, {"metadata": {"name": "a"}}))
    woken: list[float] = []
    later.wake = lambda: woken.append(asked.now)
    asked.say()
    assert woken == [0.0]


def test_what_was_made_up_stays_what_the_webhooks_saw(asked: Asked) -> None:
    asked.configure()
    obj = {"metadata": {"generateName": "a-"}}
    later = waiting(asked.request("POST", CONFIG_MAPS, obj))
    seen = asked.review()["object"]["metadata"]
    asked.done("POST", "/api/v1/namespaces", {"metadata": {"name": "meanwhile"}})
    asked.now = 5.0
    asked.say()
    made = answered(later.tick())["metadata"]
    for name in ("uid", "name", "creationTimestamp"):
        assert made[name] == seen[name]


def test_an_update_is_asked_about_again_where_the_object_has_changed_meanwhile(
    asked: Asked,
) -> None:
    asked.done("POST", CONFIG_MAPS, {"metadata": {"name": "a"}, "data": {"x": "1"}})
    asked.configure()
    first = waiting(asked.request("PATCH", f"{CONFIG_MAPS}/a", {"data": {"y": "1"}}))
    second = waiting(asked.request("PATCH", f"{CONFIG_MAPS}/a", {"data": {"z": "1"}}))
    asked.say()
    answered(first.tick())
    asked.say()
    assert second.tick() is None
    assert asked.review()["oldObject"]["data"] == {"x": "1", "y": "1"}
    asked.say()
    assert answered(second.tick())["data"] == {"x": "1", "y": "1", "z": "1"}


def test_a_put_of_an_old_state_is_a_conflict_once_the_answer_is_there(asked: Asked) -> None:
    made = asked.done("POST", CONFIG_MAPS, {"metadata": {"name": "a"}})
    asked.configure()
    later = waiting(asked.request("PUT", f"{CONFIG_MAPS}/a", {**made, "data": {"x": "1"}}))
    asked.server.webhooks = False
    asked.done("PATCH", f"{CONFIG_MAPS}/a", {"data": {"x": "2"}})
    asked.server.webhooks = True
    asked.say()
    assert answered(later.tick())["reason"] == "Conflict"


def test_who_does_not_answer_in_time_has_failed(asked: Asked) -> None:
    asked.configure(timeoutSeconds=2)
    later = waiting(asked.request("POST", CONFIG_MAPS, {"metadata": {"name": "a"}}))
    assert later.due == 3.0
    asked.now = later.due
    status = answered(later.tick())
    assert status["code"] == 500
    assert "context deadline exceeded" in status["message"]


def test_an_answer_that_comes_too_late_changes_nothing(asked: Asked) -> None:
    asked.configure(failurePolicy="Ignore")
    later = waiting(asked.request("POST", CONFIG_MAPS, {"metadata": {"name": "a"}}))
    asked.now = later.due
    assert answered(later.tick())["metadata"]["name"] == "a"
    asked.say(allowed=False)
    assert asked.done("GET", f"{CONFIG_MAPS}/a")["metadata"]["name"] == "a"


def test_a_server_that_cannot_ask_says_so(asked: Asked) -> None:
    asked.configure()
    asked.server.ask_webhook = None
    status = asked.done("POST", CONFIG_MAPS, {"metadata": {"name": "a"}})
    assert status["code"] == 500
    assert "this server has no way to the outside" in status["message"]


def test_each_mutating_webhook_sees_what_those_before_it_have_made(asked: Asked) -> None:
    asked.configure("mutating", name="a")
    asked.configure("mutating", name="b")
    later = waiting(asked.request("POST", CONFIG_MAPS, {"metadata": {"name": "a"}, "data": {}}))
    asked.say(patch=[{"op": "add", "path": "/data", "value": {"x": "1"}}])
    assert later.tick() is None
    assert asked.review()["object"]["data"] == {"x": "1"}
    asked.say(patch=[{"op": "add", "path": "/data/y", "value": "2"}])
    assert answered(later.tick())["data"] == {"x": "1", "y": "2"}


def test_a_patch_of_a_webhook_that_does_not_fit_is_told(asked: Asked) -> None:
    asked.configure("mutating")
    later = waiting(asked.request("POST", CONFIG_MAPS, {"metadata": {"name": "a"}}))
    asked.say(patch=[{"op": "test", "path": "/data/x", "value": "1"}])
    assert answered(later.tick())["code"] == 500


def test_a_collection_is_deleted_when_all_of_it_may_go(asked: Asked) -> None:
    for name in ("a", "b"):
        asked.done("POST", CONFIG_MAPS, {"metadata": {"name": name}})
    asked.configure()
    later = waiting(asked.request("DELETE", CONFIG_MAPS))
    asked.say()
    assert later.tick() is None
    assert len(asked.done("GET", CONFIG_MAPS)["items"]) == 2
    asked.say()
    assert len(answered(later.tick())["items"]) == 2
    assert asked.done("GET", CONFIG_MAPS)["items"] == []


def test_reads_are_nobodys_business(asked: Asked) -> None:
    asked.configure()
    assert asked.done("GET", CONFIG_MAPS)["items"] == []
    assert not asked.questions


def test_a_service_is_found_by_its_endpoints(asked: Asked) -> None:
    services = "/api/v1/namespaces/default/services"
    asked.done(
        "POST",
        services,
        {"metadata": {"name": "hook"}, "spec": {"ports": [{"name": "w", "port": 443}]}},
    )
    asked.configure(clientConfig={"service": {"name": "hook", "namespace": "default"}})
    status = asked.done("POST", CONFIG_MAPS, {"metadata": {"name": "a"}})
    assert 'no endpoints available for service "hook"' in status["message"]
    asked.done(
        "POST",
        "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices",
        {
            "metadata": {"name": "hook-1", "labels": {"kubernetes.io/service-name": "hook"}},
            "addressType": "IPv4",
            "ports": [{"name": "w", "port": 8443}],
            "endpoints": [{"addresses": ["10.1.2.3"]}],
        },
    )
    waiting(asked.request("POST", CONFIG_MAPS, {"metadata": {"name": "a"}}))
    place = asked.questions[0][0].place
    assert place.address == ("10.1.2.3", 8443)
    assert place.host == "hook.default.svc"
    assert place.url == "https://hook.default.svc:443/"


def test_a_question_of_a_client_that_has_gone_is_taken_back(asked: Asked) -> None:
    asked.configure()
    later = waiting(asked.request("POST", CONFIG_MAPS, {"metadata": {"name": "a"}}))
    later.close()
    later.close()
    assert asked.taken_back == [asked.questions[0][0]]
    asked.say()
    assert asked.done("GET", CONFIG_MAPS)["items"] == []


def test_a_question_that_is_not_answered_in_time_is_taken_back(asked: Asked) -> None:
    asked.configure(timeoutSeconds=2)
    later = waiting(asked.request("POST", CONFIG_MAPS, {"metadata": {"name": "a"}}))
    asked.now = later.due
    later.tick()
    assert asked.taken_back == [asked.questions[0][0]]


def test_the_object_may_go_while_a_webhook_is_asked_about_its_change(asked: Asked) -> None:
    asked.done("POST", CONFIG_MAPS, {"metadata": {"name": "a"}})
    asked.configure()
    later = waiting(asked.request("PATCH", f"{CONFIG_MAPS}/a", {"data": {"x": "1"}}))
    asked.server.webhooks = False
    asked.done("DELETE", f"{CONFIG_MAPS}/a")
    asked.server.webhooks = True
    asked.say()
    assert answered(later.tick())["code"] == 404


def test_a_collection_that_is_waited_for_is_not_deleted_unasked(asked: Asked) -> None:
    made = asked.done("POST", CONFIG_MAPS, {"metadata": {"name": "a"}})
    asked.configure()
    revision = int(asked.done("GET", CONFIG_MAPS)["metadata"]["resourceVersion"]) + 1
    query = (("resourceVersion", str(revision)), ("resourceVersionMatch", "NotOlderThan"))
    later = waiting(
        asked.server.handle(ServerRequest(method="DELETE", path=CONFIG_MAPS, query=query))
    )
    asked.done("POST", "/api/v1/namespaces", {"metadata": {"name": "meanwhile"}})
    assert later.tick() is None
    assert asked.review()["oldObject"]["metadata"]["uid"] == made["metadata"]["uid"]
    asked.say(allowed=False)
    assert answered(later.tick())["code"] == 400
    assert len(asked.done("GET", CONFIG_MAPS)["items"]) == 1


def test_what_comes_before_a_denial_is_deleted(asked: Asked) -> None:
    for name in ("a", "b", "c"):
        asked.done("POST", CONFIG_MAPS, {"metadata": {"name": name}})
    asked.configure()
    later = waiting(asked.request("DELETE", CONFIG_MAPS))
    assert "name" not in asked.review()  # it is in oldObject
    asked.say()
    assert later.tick() is None
    asked.say(allowed=False)
    assert answered(later.tick())["code"] == 400
    left = asked.done("GET", CONFIG_MAPS)["items"]
    assert [item["metadata"]["name"] for item in left] == ["b", "c"]


def test_preconditions_come_before_the_question(asked: Asked) -> None:
    asked.done("POST", CONFIG_MAPS, {"metadata": {"name": "a"}})
    asked.configure()
    answer = asked.done("DELETE", f"{CONFIG_MAPS}/a", {"preconditions": {"uid": "other"}})
    assert answer["code"] == 409


def test_a_definition_is_asked_about_as_what_is_written(asked: Asked) -> None:
    rule = {"apiGroups": ["*"], "apiVersions": ["*"], "operations": ["*"]}
    crds = "customresourcedefinitions"
    asked.configure(rules=[{**rule, "resources": [crds]}])
    path = f"/apis/apiextensions.k8s.io/v1/{crds}"
    schema = {"openAPIV3Schema": {"type": "object"}}
    version = {"name": "v1", "served": True, "storage": True, "schema": schema}
    names = {"plural": "things", "kind": "Thing"}
    spec = {"group": "example.com", "scope": "Cluster", "names": names, "versions": [version]}
    definition = {"metadata": {"name": "things.example.com"}, "spec": spec}
    later = waiting(asked.request("POST", path, definition))
    assert asked.review()["dryRun"] is False
    asked.say()
    answered(later.tick())
    assert asked.server.next_due is not None
    later = waiting(asked.request("DELETE", f"{path}/things.example.com"))
    assert asked.review()["dryRun"] is False
    asked.say()
    answered(later.tick())


def test_tokens_and_reviews_are_asked_about(asked: Asked) -> None:
    accounts = "/api/v1/namespaces/default/serviceaccounts"
    asked.done("POST", accounts, {"metadata": {"name": "robot"}})
    rule = {"apiGroups": ["*"], "apiVersions": ["*"], "operations": ["*"], "resources": ["*/*"]}
    asked.configure(rules=[rule])
    later = waiting(asked.request("POST", f"{accounts}/robot/token", {"spec": {}}))
    assert asked.review()["kind"]["kind"] == "TokenRequest"
    assert asked.review()["subResource"] == "token"
    asked.say()
    assert answered(later.tick())["status"]["token"]
    path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
    later = waiting(asked.request("POST", path, {"spec": {"resourceAttributes": {"verb": "get"}}}))
    asked.say(allowed=False)
    assert answered(later.tick())["code"] == 400


@pytest.mark.parametrize("path", ["eviction", "binding"])
def test_a_pod_that_there_is_not_is_asked_about(asked: Asked, path: str) -> None:
    rule = {"apiGroups": ["*"], "apiVersions": ["*"], "operations": ["*"], "resources": ["*/*"]}
    asked.configure(rules=[rule])
    body = {"metadata": {"name": "none"}, "target": {"name": "node"}}
    later = waiting(asked.request("POST", f"/api/v1/namespaces/default/pods/none/{path}", body))
    assert asked.review()["subResource"] == path
    asked.say()
    assert answered(later.tick())["code"] == 404
