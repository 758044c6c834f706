"""What a real server makes for itself: roles, bindings, flow schemas, priority levels."""

from __future__ import annotations

import json
from typing import Any

import pytest

from listwatch.testing.apiserver import EmbeddedServer
from listwatch.testing.apiserver.storage.state import Settings
from tests.testing.apiserver.asking import Asking

RBAC = "/apis/rbac.authorization.k8s.io/v1"
FLOWS = "/apis/flowcontrol.apiserver.k8s.io/v1"


def listed(ask: Asking, path: str) -> list[dict[str, Any]]:
    items = json.loads(ask.get(path).body)["items"]
    assert isinstance(items, list)
    return items


def test_by_default_a_server_has_no_roles() -> None:
    assert listed(Asking(), f"{RBAC}/clusterroles") == []


@pytest.mark.parametrize(
    ("path", "count"),
    [
        (f"{RBAC}/clusterroles", 69),
        (f"{RBAC}/clusterrolebindings", 50),
        (f"{RBAC}/roles", 7),
        (f"{RBAC}/rolebindings", 7),
        (f"{FLOWS}/flowschemas", 11),
        (f"{FLOWS}/prioritylevelconfigurations", 8),
    ],
)
def test_it_has_those_of_a_real_server_when_asked_for(path: str, count: int) -> None:
    assert len(listed(Asking(settings=Settings(bootstrap=True)), path)) == count


@pytest.mark.parametrize("name", ["admin", "edit", "view", "cluster-admin"])
def test_the_roles_that_operators_bind_to_have_their_rules(name: str) -> None:
    ask = Asking(settings=Settings(bootstrap=True))
    role = json.loads(ask.get(f"{RBAC}/clusterroles/{name}").body)
    assert role["rules"]
    assert role["metadata"]["creationTimestamp"] == "2026-01-01T00:00:00Z"
    assert {entry["time"] for entry in role["metadata"]["managedFields"]} == {
        "2026-01-01T00:00:00Z"
    }


def test_they_have_uids_of_their_own() -> None:
    ask = Asking(settings=Settings(bootstrap=True))
    every = listed(ask, f"{RBAC}/clusterroles") + listed(ask, f"{RBAC}/clusterrolebindings")
    assert len({each["metadata"]["uid"] for each in every}) == 119


@pytest.mark.parametrize(
    "path",
    [f"{RBAC}/clusterroles", f"{RBAC}/clusterrolebindings", f"{FLOWS}/flowschemas"],
)
def test_a_put_of_what_was_read_changes_nothing(path: str) -> None:
    ask = Asking(settings=Settings(bootstrap=True))
    for found in listed(ask, path):
        name = found["metadata"]["name"]
        answer = ask.answer("PUT", f"{path}/{name}", found)
        assert answer.status == 200, answer.body
        assert {**found, **json.loads(answer.body)} == json.loads(answer.body), name


def test_they_come_back_with_a_server_that_has_lost_everything() -> None:
    ask = Asking(settings=Settings(bootstrap=True))
    ask.server.restart("lost")
    assert len(listed(ask, f"{RBAC}/clusterroles")) == 69


def test_the_other_objects_are_the_same_with_and_without_them() -> None:
    def uids(settings: Settings) -> list[str]:
        namespaces = listed(Asking(settings=settings), "/api/v1/namespaces")
        return [each["metadata"]["uid"] for each in namespaces]

    assert uids(Settings(bootstrap=True)) == uids(Settings())


async def test_an_embedded_server_takes_settings() -> None:
    async with EmbeddedServer(settings=Settings(bootstrap=True)) as server:
        key = ("", "cluster-admin")
        assert server.core.state.log.get("rbac.authorization.k8s.io/clusterroles", key)


def test_settings_are_for_a_server_that_is_made_here() -> None:
    with pytest.raises(ValueError, match="settings"):
        EmbeddedServer(Asking().server, settings=Settings())
