"""What becomes of dependents (K34), as it was seen of kube-controller-manager v1.36."""

from __future__ import annotations

from typing import Any

import pytest

from tests.testing.apiserver.controllers.acting import CONFIGMAPS, CORE, Acting

GONE = "11111111-1111-4111-8111-111111111111"


@pytest.fixture
def server() -> Acting:
    return Acting("garbage-collector")


def owned(
    server: Acting, name: str, *owners: dict[str, Any], blocks: bool = True, **more: Any
) -> Any:
    references = [
        {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "name": owner["metadata"]["name"],
            "uid": owner["metadata"]["uid"],
            "blockOwnerDeletion": blocks,
        }
        for owner in owners
    ]
    metadata = {"name": name, "ownerReferences": references, **more}
    return server.made(CONFIGMAPS, {"metadata": metadata}, agent="maker")


def names(server: Acting) -> list[str]:
    return [one["metadata"]["name"] for one in server.items(CONFIGMAPS)]


def family(server: Acting) -> None:
    top, other = owned(server, "top"), owned(server, "other")
    child = owned(server, "child", top)
    owned(server, "loose", top, blocks=False)
    owned(server, "shared", top, other)
    owned(server, "grandchild", child)


def test_in_the_background_dependents_go_after_their_owner(server: Acting) -> None:
    family(server)
    server.delete(f"{CONFIGMAPS}/top", "Background")
    assert "top" not in names(server)
    server.wait(1)
    assert names(server) == ["other", "shared"]
    [left] = server.found(f"{CONFIGMAPS}/shared")["metadata"]["ownerReferences"]
    assert left["name"] == "other"


def test_in_the_foreground_the_owner_waits_for_those_that_block(server: Acting) -> None:
    family(server)
    server.merge(f"{CONFIGMAPS}/child", {"metadata": {"finalizers": ["example.com/hold"]}})
    server.delete(f"{CONFIGMAPS}/top", "Foreground")
    server.wait(1)
    assert names(server) == ["child", "other", "shared", "top"]
    held = server.found(f"{CONFIGMAPS}/child")["metadata"]
    assert held["finalizers"] == ["example.com/hold"]
    server.merge(f"{CONFIGMAPS}/child", {"metadata": {"finalizers": None}})
    server.wait(1)
    assert names(server) == ["other", "shared"]


def test_one_that_does_not_block_is_not_waited_for(server: Acting) -> None:
    top = owned(server, "top")
    owned(server, "loose", top, blocks=False, finalizers=["example.com/hold"])
    server.delete(f"{CONFIGMAPS}/top", "Foreground")
    server.wait(1)
    assert names(server) == ["loose"]
    assert "deletionTimestamp" in server.found(f"{CONFIGMAPS}/loose")["metadata"]


def test_orphans_stay_and_say_nothing_of_their_owner(server: Acting) -> None:
    family(server)
    server.delete(f"{CONFIGMAPS}/top", "Orphan")
    server.wait(1)
    assert names(server) == ["child", "grandchild", "loose", "other", "shared"]
    assert "ownerReferences" not in server.found(f"{CONFIGMAPS}/child")["metadata"]
    [kept] = server.found(f"{CONFIGMAPS}/grandchild")["metadata"]["ownerReferences"]
    assert kept["name"] == "child"


def test_without_it_the_finalizers_stay(server: Acting) -> None:
    alone = Acting()
    owned(alone, "top")
    alone.delete(f"{CONFIGMAPS}/top", "Orphan")
    alone.wait(60)
    assert alone.found(f"{CONFIGMAPS}/top")["metadata"]["finalizers"] == ["orphan"]
    alone.server.run_controllers(["garbage-collector"])
    alone.wait(1)
    assert names(alone) == []


@pytest.mark.parametrize("uid", [GONE, "the other's"])
def test_what_never_had_an_owner_goes(server: Acting, uid: str) -> None:
    owned(server, "top")
    owned(server, "child", {"metadata": {"name": "top", "uid": uid}})
    server.wait(1)
    assert names(server) == ["top"]


def test_an_owner_in_another_namespace_is_none(server: Acting) -> None:
    server.made("/api/v1/namespaces", {"metadata": {"name": "other"}})
    far = "/api/v1/namespaces/other/configmaps"
    owner = server.made(far, {"metadata": {"name": "top"}})
    owned(server, "child", owner)
    server.wait(1)
    assert names(server) == []


def test_an_owner_of_the_whole_cluster_counts_everywhere(server: Acting) -> None:
    node = server.made("/api/v1/nodes", {"metadata": {"name": "n"}})
    uid = node["metadata"]["uid"]
    reference = {"apiVersion": "v1", "kind": "Node", "name": "n", "uid": uid}
    server.made(CONFIGMAPS, {"metadata": {"name": "a", "ownerReferences": [reference]}})
    server.wait(1)
    assert names(server) == ["a"]
    server.delete("/api/v1/nodes/n")
    server.wait(1)
    assert names(server) == []


def test_an_owner_of_an_unknown_kind_is_left_in_peace(server: Acting) -> None:
    reference = {"apiVersion": "example.com/v1", "kind": "Nope", "name": "x", "uid": GONE}
    server.made(CONFIGMAPS, {"metadata": {"name": "a", "ownerReferences": [reference]}})
    server.wait(10)
    assert names(server) == ["a"]


def test_a_reference_that_comes_later_counts(server: Acting) -> None:
    owned(server, "a")
    reference = {"apiVersion": "v1", "kind": "ConfigMap", "name": "x", "uid": GONE}
    server.merge(f"{CONFIGMAPS}/a", {"metadata": {"ownerReferences": [reference]}})
    server.wait(1)
    assert names(server) == []


def test_a_collection_goes_with_what_belongs_to_it(server: Acting) -> None:
    family(server)
    server.write("DELETE", CONFIGMAPS)
    server.wait(1)
    assert names(server) == []
    assert server.items(f"{CORE}/pods") == []
