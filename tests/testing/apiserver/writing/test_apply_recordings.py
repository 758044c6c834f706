"""Server-side applies and strategic merge patches as a real server was recorded to answer them."""

from __future__ import annotations

import pytest

from tests.testing.apiserver.write_server import Writing

NAMESPACES = "/api/v1/namespaces"
REC = f"{NAMESPACES}/rec"
CONFIGMAPS = f"{REC}/configmaps"
DEPLOYMENTS = "/apis/apps/v1/namespaces/rec/deployments"


@pytest.fixture
def rec() -> Writing:
    """A server with the namespace that the recorder used."""
    server = Writing()
    server.made(NAMESPACES, {"metadata": {"name": "rec"}})
    return server


def test_k31_an_object_that_two_apply(rec: Writing) -> None:
    for name in (
        "k-ssa-create",
        "k-ssa-same",
        "k-ssa-conflict",
        "k-ssa-force",
        "k-ssa-dryrun",
        "k-ssa-remove-owned",
    ):
        rec.again(name)


@pytest.mark.parametrize(
    "name",
    ["k-ssa-no-manager", "k-ssa-bad-yaml", "k-ssa-managedfields-set", "k-ssa-unknown-field"],
)
def test_k31_applies_that_are_refused(rec: Writing, name: str) -> None:
    rec.again("k-ssa-create")
    rec.again(name)


def test_k31_a_conflict_with_a_program_that_updates(rec: Writing) -> None:
    rec.made(CONFIGMAPS, {"metadata": {"name": "w-0"}, "data": {"b": "2", "c": "3"}})
    rec.again("k-ssa-conflict-update-manager")
    rec.again("k-ssa-force-not-apply")


def test_k30_containers_are_merged_by_their_names(rec: Writing) -> None:
    template = {
        "metadata": {"labels": {"app": "webd"}},
        "spec": {"containers": [{"name": "c", "image": "example.invalid/app:1"}]},
    }
    spec = {"replicas": 3, "selector": {"matchLabels": {"app": "webd"}}, "template": template}
    rec.made(DEPLOYMENTS, {"metadata": {"name": "web"}, "spec": spec})
    rec.again("k-write-patch-strategic")
    rec.again("k-write-patch-strategic-delete")
