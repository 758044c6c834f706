"""client-go, the library that Kubernetes itself is made with.

Collected only where Go is installed (`conformance/conftest.py`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path

import pytest

from conformance.clients.client_go import Follower, running
from conformance.clients.place import Place
from conformance.objects import WIDGET, deployment, pod
from conformance.requests import Json
from conformance.waiting import until

PLURALS = ("configmaps", WIDGET.plural)

CONFIG_MAPS = ("-resource", "configmaps.v1.")
WIDGETS = ("-resource", f"{WIDGET.plural}.{WIDGET.version}.{WIDGET.group}")

# What is followed, by which client, and whether by a streamed list or by pages.
INFORMERS: tuple[tuple[str, bool, tuple[str, ...]], ...] = (
    ("configmaps", True, (*CONFIG_MAPS, "-client", "typed")),
    ("configmaps", False, (*CONFIG_MAPS, "-client", "typed")),
    ("configmaps", True, (*CONFIG_MAPS, "-client", "typed", "-protobuf")),
    ("configmaps", False, (*CONFIG_MAPS, "-client", "typed", "-protobuf")),
    ("configmaps", True, (*CONFIG_MAPS, "-client", "metadata")),
    ("widgets", True, (*WIDGETS, "-client", "dynamic")),
    ("widgets", False, (*WIDGETS, "-client", "dynamic")),
    ("widgets", False, (*WIDGETS, "-client", "metadata")),
)


_RULE = {"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}
_BACKEND = {"service": {"name": "a", "port": {"number": 80}}}

# By what they are to client-go: their group's path, and an object.
BUILT_IN: Mapping[str, tuple[str, Json]] = {
    "pods.v1.": ("api/v1", pod("a")),
    "secrets.v1.": ("api/v1", {"metadata": {"name": "a"}, "data": {"key": "AAAA"}}),
    "services.v1.": ("api/v1", {"metadata": {"name": "a"}, "spec": {"ports": [{"port": 80}]}}),
    "deployments.v1.apps": ("apis/apps/v1", deployment("a", 1)),
    "cronjobs.v1.batch": (
        "apis/batch/v1",
        {
            "metadata": {"name": "a"},
            "spec": {
                "schedule": "* * * * *",
                "jobTemplate": {
                    "spec": {
                        "template": {"spec": {**pod("a")["spec"], "restartPolicy": "Never"}},
                    }
                },
            },
        },
    ),
    "leases.v1.coordination.k8s.io": (
        "apis/coordination.k8s.io/v1",
        {"metadata": {"name": "a"}, "spec": {"renewTime": "2026-01-01T00:00:00.123456Z"}},
    ),
    "ingresses.v1.networking.k8s.io": (
        "apis/networking.k8s.io/v1",
        {"metadata": {"name": "a"}, "spec": {"defaultBackend": _BACKEND}},
    ),
    "roles.v1.rbac.authorization.k8s.io": (
        "apis/rbac.authorization.k8s.io/v1",
        {"metadata": {"name": "a"}, "rules": [_RULE]},
    ),
}


@pytest.fixture
def followers(client_go: Path, mortal_place: Place) -> Iterator[list[tuple[str, Follower]]]:
    """client-go's informers of all sorts, not synced yet, and what each follows."""
    with ExitStack() as stack:
        yield [
            (
                plural,
                stack.enter_context(
                    running(
                        client_go,
                        mortal_place.kubeconfig(),
                        mortal_place.namespace,
                        *words,
                        watch_list=watch_list,
                    )
                ),
            )
            for plural, watch_list, words in INFORMERS
        ]


def listed(place: Place, plural: str) -> dict[str, str]:
    """What the server has."""
    items = place.server.get(place.path(plural))["items"]
    return {item["metadata"]["name"]: item["metadata"]["resourceVersion"] for item in items}


def restart(place: Place) -> None:
    """Crash its server and have it back, with all that it serves."""
    place.server.kill_apiserver()
    place.server.start_apiserver()
    until(
        lambda: place.server.request("GET", place.path(WIDGET.plural)).status == 200,
        what="Widgets to be served again",
    )


def steps(follower: Follower, kind: str, name: str) -> list[tuple[str, str]]:
    """What it tells of objects up to this."""
    return [(line["type"], line["name"]) for line in follower.until(kind, name) if "name" in line]


def test_its_informers_see_every_change(
    followers: list[tuple[str, Follower]], mortal_place: Place
) -> None:
    for _, follower in followers:
        follower.until("SYNCED")
    churns = {plural: mortal_place.churn(plural) for plural in PLURALS}
    for plural, follower in followers:
        assert steps(follower, "DELETED", "one") == list(churns[plural].all), follower.what
        assert follower.store() == listed(mortal_place, plural) == {}, follower.what


@pytest.mark.parametrize("watch_list", [True, False], ids=["streamed", "pages"])
def test_its_typed_informers_read_built_in_types_in_protobuf(
    client_go: Path, place: Place, watch_list: bool
) -> None:
    server, kubeconfig = place.server, place.kubeconfig()
    for resource, (base, made) in BUILT_IN.items():
        collection = f"/{base}/namespaces/{place.namespace}/{resource.partition('.')[0]}"
        server.create(collection, made)
        words = ("-resource", resource, "-client", "typed", "-protobuf")
        with running(
            client_go, kubeconfig, place.namespace, *words, watch_list=watch_list
        ) as follower:
            assert steps(follower, "ADDED", "a") == [("ADDED", "a")]
            follower.until("SYNCED")
            found = server.get(f"{collection}/a")
            found["metadata"]["labels"] = {"more": "x"}
            changed = server.request("PUT", f"{collection}/a", found).json()
            assert steps(follower, "MODIFIED", "a") == [("MODIFIED", "a")]
            assert follower.store() == {"a": changed["metadata"]["resourceVersion"]}, resource


def test_its_informers_outlive_a_restart_and_a_compaction(
    followers: list[tuple[str, Follower]], mortal_place: Place
) -> None:
    place, server = mortal_place, mortal_place.server
    for plural in PLURALS:
        for name in ("kept", "changed", "gone"):
            place.add(name, plural)
    for _, follower in followers:
        follower.until("SYNCED")

    restart(place)
    for plural in PLURALS:
        place.add("later", plural)
    for plural, follower in followers:
        follower.until("ADDED", "later")
        assert follower.store() == listed(place, plural), follower.what

    # While they do not look, their connections break, and what they have missed is forgotten.
    for _, follower in followers:
        follower.pause()
    restart(place)
    for plural in PLURALS:
        server.delete(place.path(plural, "gone"))
        server.patch(place.path(plural, "changed"), {"metadata": {"labels": {"a": "b"}}})
        place.add("last", plural)
    server.compact_etcd(place.resource_version())
    restart(place)
    for _, follower in followers:
        follower.resume()
    for _, follower in followers:
        follower.until("MISSED", "gone")  # so it has listed again
    for plural in PLURALS:
        place.add("end", plural)
    for plural, follower in followers:
        follower.until("ADDED", "end")
        assert follower.store() == listed(place, plural), follower.what
        assert set(listed(place, plural)) == {"kept", "changed", "later", "last", "end"}


@pytest.mark.parametrize("encoding", [(), ("-protobuf",)], ids=["json", "protobuf"])
def test_its_leader_election_hands_over(
    client_go: Path, place: Place, encoding: tuple[str, ...]
) -> None:
    def candidate(name: str) -> Follower:
        words = ("-elect", name, *encoding)
        return stack.enter_context(running(client_go, place.kubeconfig(), place.namespace, *words))

    with ExitStack() as stack:
        one = candidate("one")
        one.until("STARTED", "one")
        two = candidate("two")
        assert [line["type"] for line in two.until("LEADER", "one")] == ["LEADER"]
        one.leave()
        one.until("STOPPED", "one")
        two.until("STARTED", "two")
