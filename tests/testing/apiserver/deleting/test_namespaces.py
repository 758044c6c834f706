"""Namespaces: they must be there, and take what is in them with them (K28, K37)."""

from __future__ import annotations

from typing import Any

import pytest

from listwatch.testing.apiserver.deleting.namespaces import contents, finish
from tests.testing.apiserver.asking import message
from tests.testing.apiserver.write_server import Writing, events_of, parsed, rv
from tests.testing.apiserver.writing.test_writes_recordings import CONTAINER

NAMESPACES = "/api/v1/namespaces"
GONE = f"{NAMESPACES}/gone"


@pytest.fixture
def server() -> Writing:
    server = Writing()
    server.made(NAMESPACES, {"metadata": {"name": "gone"}})
    return server


def pod(server: Writing, name: str, **metadata: Any) -> None:
    spec = {"containers": [CONTAINER], "nodeName": "n"}
    server.made(f"{GONE}/pods", {"metadata": {"name": name, **metadata}, "spec": spec})


def status(server: Writing) -> int:
    return server.get(GONE).status


def test_k28_a_namespace_has_its_own_name_as_a_label_whatever_one_says(server: Writing) -> None:
    labels = {"kubernetes.io/metadata.name": "wrong", "a": "b"}
    made = server.made(NAMESPACES, {"metadata": {"name": "x", "labels": labels}})
    assert made["metadata"]["labels"] == {"a": "b", "kubernetes.io/metadata.name": "x"}
    assert (made["spec"], made["status"]) == ({"finalizers": ["kubernetes"]}, {"phase": "Active"})
    patch = {"metadata": {"labels": {"kubernetes.io/metadata.name": "q"}}}
    assert server.merged(f"{NAMESPACES}/x", patch) == made


@pytest.mark.parametrize("name", ["default", "kube-system", "kube-public"])
def test_k37_the_clusters_own_namespaces_stay(server: Writing, name: str) -> None:
    answer = server.write("DELETE", f"{NAMESPACES}/{name}")
    assert (answer.status, message(answer)) == (
        403,
        f'namespaces "{name}" is forbidden: this namespace may not be deleted',
    )


def test_k28_nothing_is_made_in_a_namespace_that_goes_but_what_is_there_can_change(
    server: Writing,
) -> None:
    server.made(f"{GONE}/configmaps", {"metadata": {"name": "a"}})
    server.write("DELETE", GONE)
    refused = server.write("POST", f"{GONE}/configmaps", {"metadata": {"generateName": "b-"}})
    assert refused.status == 403
    assert server.write("PUT", f"{GONE}/services/new", {"metadata": {"name": "new"}}).status == 403
    assert server.merged(f"{GONE}/configmaps/a", {"data": {"x": "1"}})


def test_k37_an_empty_namespace_goes_after_five_seconds(server: Writing) -> None:
    told = parsed(server.write("DELETE", GONE))
    watch = server.watch(f"{NAMESPACES}?watch=true&resourceVersion={rv(told)}")
    server.wait(5)
    assert status(server) == 404
    events = list(events_of(watch.take()))
    assert [kind for kind, _ in events] == ["MODIFIED", "DELETED"]
    assert len(events[1][1]["status"]["conditions"]) == 5


def test_k37_pods_have_their_time_before_the_namespace_goes(server: Writing) -> None:
    pod(server, "a")
    server.write("DELETE", GONE)
    server.wait(34)
    assert (status(server), server.get(f"{GONE}/pods/a").status) == (200, 200)
    server.wait(1)
    assert server.get(f"{GONE}/pods/a").status == 404
    server.wait(5)
    assert status(server) == 404


def test_k37_finalizers_hold_a_namespace_up(server: Writing) -> None:
    metadata = {"name": "a", "finalizers": ["a.b/c"]}
    server.made(f"{GONE}/configmaps", {"metadata": metadata})
    server.write("DELETE", GONE)
    server.wait(60)
    assert status(server) == 200
    server.merged(f"{GONE}/configmaps/a", {"metadata": {"finalizers": None}})
    server.wait(5)
    assert status(server) == 404


def test_k37_a_namespace_with_a_finalizer_of_its_own_stays_empty(server: Writing) -> None:
    server.merged(GONE, {"metadata": {"finalizers": ["a.b/c"]}})
    server.made(f"{GONE}/configmaps", {"metadata": {"name": "a"}})
    server.write("DELETE", GONE)
    server.wait(5)
    assert not list(contents(server.server.state.log, "gone"))
    assert status(server) == 200


def test_a_namespace_made_again_is_not_emptied_by_the_old_ones_end(server: Writing) -> None:
    server.write("DELETE", GONE)
    finish(server.server.state, "gone")
    server.made(NAMESPACES, {"metadata": {"name": "gone"}})
    server.made(f"{GONE}/configmaps", {"metadata": {"name": "a"}})
    server.wait(100)
    assert server.get(f"{GONE}/configmaps/a").status == 200


def test_a_dry_run_leaves_a_namespace_as_it_is(server: Writing) -> None:
    answer = parsed(server.write("DELETE", f"{GONE}?dryRun=All"))
    assert answer["status"] == {"phase": "Terminating"}
    server.wait(100)
    assert parsed(server.get(GONE))["status"] == {"phase": "Active"}


def test_finish_takes_everything_at_once(server: Writing) -> None:
    pod(server, "a", finalizers=["a.b/c"])
    server.made(f"{GONE}/configmaps", {"metadata": {"name": "a"}})
    finish(server.server.state, "gone")
    assert status(server) == 404
    assert not list(contents(server.server.state.log, "gone"))
    finish(server.server.state, "gone")
    finish(server.server.state, "never")


def test_a_put_of_finalize_lets_a_dying_namespace_go(server: Writing) -> None:
    before = server.get(GONE)
    managed = parsed(before)["metadata"].get("managedFields")
    server.answer("DELETE", GONE)
    empty = {"metadata": {"name": "gone"}, "spec": {"finalizers": []}}
    answer = server.answer("PUT", f"{GONE}/finalize", empty)
    assert answer.status == 200
    assert parsed(answer)["spec"] == {}
    assert parsed(answer)["metadata"].get("managedFields") == managed
    assert status(server) == 404


def test_a_put_of_finalize_lets_a_living_one_stay(server: Writing) -> None:
    empty = {"metadata": {"name": "gone"}, "spec": {"finalizers": []}}
    assert server.answer("PUT", f"{GONE}/finalize", empty).status == 200
    assert status(server) == 200
