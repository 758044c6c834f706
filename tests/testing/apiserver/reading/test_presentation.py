"""How answers look, whatever they hold (K5)."""

from __future__ import annotations

import json

import pytest

from tests.testing.apiserver.asking import Asking

CONFIG_MAPS = "/api/v1/namespaces/default/configmaps"


@pytest.mark.parametrize("path", [CONFIG_MAPS, f"{CONFIG_MAPS}/none", "/nosuch", "/version"])
def test_the_audit_id_of_the_client_comes_back(path: str) -> None:
    headers = Asking().get(path, audit_id="mine").headers
    assert [value for name, value in headers if name == "Audit-Id"] == ["mine"]


def test_a_watch_has_it_too() -> None:
    assert ("Audit-Id", "mine") in Asking().watch(f"{CONFIG_MAPS}?watch=1", audit_id="mine").headers


def test_accept_may_ask_for_it_pretty() -> None:
    ask = Asking()
    assert ask.get(CONFIG_MAPS, accept="application/json;pretty=1").body.startswith(b"{\n  ")
    assert ask.get(CONFIG_MAPS, accept="application/json;pretty=0").body.startswith(b'{"')


def test_quotes_in_an_unknown_member_are_escaped_twice() -> None:
    answer = Asking().answer("POST", CONFIG_MAPS, {"metadata": {"name": "a"}, 'a "b"': 1})
    assert ("Warning", r'299 - "unknown field \"a \\\"b\\\"\""') in answer.headers


def test_one_health_check_has_no_header_of_its_own() -> None:
    ask = Asking()
    assert ask.get("/readyz/ping").headers == ()
    assert ask.get("/readyz").headers != ()


def test_a_new_event_leaves_an_empty_reporter_out() -> None:
    ask = Asking()
    involved = {"kind": "Pod", "namespace": "default", "name": "web"}
    event = {"metadata": {"name": "a"}, "involvedObject": involved}
    ask.answer("POST", "/api/v1/namespaces/default/events", event)
    old = json.loads(ask.get("/api/v1/namespaces/default/events/a").body)
    new = json.loads(ask.get("/apis/events.k8s.io/v1/namespaces/default/events/a").body)
    assert (old["reportingComponent"], old["reportingInstance"]) == ("", "")
    assert "reportingController" not in new
    assert "reportingInstance" not in new
