"""APIServices of what a server itself serves: there, and in step with the definitions."""

from __future__ import annotations

from typing import Any

from tests.testing.apiserver.write_server import Writing, parsed

PATH = "/apis/apiregistration.k8s.io/v1/apiservices"
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"


def names(server: Writing, group: str) -> list[str]:
    found = parsed(server.write("GET", PATH))["items"]
    return [each["metadata"]["name"] for each in found if each["spec"].get("group", "") == group]


def definition(*versions: str) -> dict[str, Any]:
    schema = {"openAPIV3Schema": {"type": "object"}}
    return {
        "metadata": {"name": "ws.example.com"},
        "spec": {
            "group": "example.com",
            "scope": "Namespaced",
            "names": {"plural": "ws", "kind": "W"},
            "versions": [
                {"name": name, "served": True, "storage": name == versions[0], "schema": schema}
                for name in versions
            ],
        },
    }


def test_each_version_of_a_built_in_group_has_one() -> None:
    server = Writing()
    served = {(of.group, of.version) for of in server.server.state.types}
    served.discard(("apiregistration.k8s.io", "v1"))
    items = parsed(server.write("GET", PATH))["items"]
    assert {each["metadata"]["name"] for each in items} == {f"{v}.{g}" for g, v in served}
    assert all(each["status"]["conditions"][0]["status"] == "True" for each in items)


def test_those_of_custom_types_follow_their_versions() -> None:
    server = Writing()
    server.made(DEFINITIONS, definition("v1", "v1beta1"))
    assert names(server, "example.com") == ["v1.example.com", "v1beta1.example.com"]
    server.merged(f"{DEFINITIONS}/ws.example.com", {"spec": definition("v1")["spec"]})
    assert names(server, "example.com") == ["v1.example.com"]


def test_one_that_was_deleted_stays_away_if_it_is_of_built_in_types() -> None:
    server = Writing()
    server.write("DELETE", f"{PATH}/v1.batch")
    server.made(DEFINITIONS, definition("v1"))
    assert names(server, "batch") == []


def test_those_of_others_stay() -> None:
    server = Writing()
    spec = {
        "group": "metrics.example.com",
        "version": "v1",
        "service": {"namespace": "default", "name": "s"},
        "groupPriorityMinimum": 100,
        "versionPriority": 100,
    }
    server.made(PATH, {"metadata": {"name": "v1.metrics.example.com"}, "spec": spec})
    server.made(DEFINITIONS, definition("v1"))
    assert names(server, "metrics.example.com") == ["v1.metrics.example.com"]


def test_a_server_that_lost_its_history_has_them_again() -> None:
    server = Writing()
    server.made(DEFINITIONS, definition("v1"))
    server.server.restart("lost")
    assert names(server, "apps") == ["v1.apps"]
    assert names(server, "example.com") == []
