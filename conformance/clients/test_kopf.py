"""PyPI ``kopf``: an operator of Widgets, in a thread of the test or as a program of its own."""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from conformance.clients.kopf_operator import PATIENCE, Operator, Told
from conformance.clients.place import AnyServer, Place, widget_server
from conformance.objects import WIDGET, config_map, install_crd
from conformance.requests import Json
from conformance.two_servers import KINDS
from conformance.waiting import until

FINALIZER = "kopf.zalando.org/KopfFinalizerMarker"

PEERINGS = "/apis/kopf.dev/v1/namespaces/{}/kopfpeerings"
CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"

PEERING_CRD: Json = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "kopfpeerings.kopf.dev"},
    "spec": {
        "group": "kopf.dev",
        "scope": "Namespaced",
        "names": {"plural": "kopfpeerings", "singular": "kopfpeering", "kind": "KopfPeering"},
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "schema": {
                    "openAPIV3Schema": {
                        "type": "object",
                        "properties": {
                            "status": {
                                "type": "object",
                                "x-kubernetes-preserve-unknown-fields": True,
                            }
                        },
                    }
                },
            }
        ],
    },
}


@pytest.fixture
def told() -> Iterator[Told]:
    handler = Told()
    logger = logging.getLogger("kopf")
    level = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.DEBUG)
    yield handler
    logger.setLevel(level)
    logger.removeHandler(handler)


def at(place: Place, monkeypatch: pytest.MonkeyPatch) -> Place:
    """Have kopf find the server of this place."""
    monkeypatch.setenv("KUBECONFIG", str(place.kubeconfig()))
    monkeypatch.delenv("KUBERNETES_SERVICE_HOST", raising=False)
    return place


@pytest.fixture
def here(place: Place, monkeypatch: pytest.MonkeyPatch) -> Iterator[Place]:
    yield at(place, monkeypatch)
    for left in place.server.get(place.path(WIDGET.plural))["items"]:
        path = place.path(WIDGET.plural, left["metadata"]["name"])
        place.server.patch(path, {"metadata": {"finalizers": None}})


def paint(place: Place, name: str, color: str) -> None:
    place.server.create(place.path(WIDGET.plural), WIDGET.object(name, color=color))


def widget(place: Place, name: str) -> Json:
    return place.server.get(place.path(WIDGET.plural, name))


def wait_for(place: Place, name: str, condition: Callable[[Json], object]) -> Json:
    """The Widget as soon as it is so."""
    found: list[Json] = []

    def is_so() -> bool:
        found[:] = [widget(place, name)]
        return bool(condition(found[0]))

    until(is_so, what=f"Widget {name}")
    return found[0]


def is_painted(color: str) -> Callable[[Json], bool]:
    """Painted so, and no work left of which kopf keeps account in the object."""

    def check(obj: Json) -> bool:
        status = obj.get("status", {})
        return status.get("painted") == color and not status.get("kopf", {}).get("progress")

    return check


def wait_until_gone(place: Place, name: str) -> None:
    until(lambda: not place.exists(name, WIDGET.plural), what=f"Widget {name} to go")


def test_creates_changes_and_lets_go(here: Place) -> None:
    with Operator(here) as operator:
        paint(here, "a", "red")
        operator.find("create", "a")
        made = wait_for(here, "a", is_painted("red"))
        assert made["status"]["create"] == {"coats": 1}
        assert made["metadata"]["finalizers"] == [FINALIZER]
        assert made["metadata"]["annotations"]["example.com/painted"] == "yes"
        assert made["metadata"]["generation"] == 1
        assert {entry.get("subresource", "") for entry in made["metadata"]["managedFields"]} == {
            "",
            "status",
        }

        here.server.patch(here.path(WIDGET.plural, "a"), {"spec": {"color": "blue"}})
        operator.find("update red to blue", "a")
        changed = wait_for(here, "a", is_painted("blue"))
        assert changed["metadata"]["generation"] == 2

        here.server.delete(here.path(WIDGET.plural, "a"))
        operator.find("delete", "a")
        going = widget(here, "a")
        assert going["metadata"]["deletionTimestamp"]
        assert going["metadata"]["finalizers"] == [FINALIZER]
        operator.may_go.set()
        wait_until_gone(here, "a")


def test_posts_events(here: Place) -> None:
    path = f"/api/v1/namespaces/{here.namespace}/events"

    with Operator(here):
        paint(here, "a", "red")
        until(lambda: here.server.get(path)["items"], what="an Event")
    [event] = here.server.get(path)["items"]
    assert event["metadata"]["name"].startswith("kopf-event-")
    assert (event["type"], event["reason"]) == ("Normal", "Painted")
    assert event["message"] == "a is red"
    assert event["involvedObject"]["name"] == "a"
    assert event["involvedObject"]["uid"] == widget(here, "a")["metadata"]["uid"]
    assert event["source"]["component"] == "kopf"


def test_does_what_it_has_missed(here: Place) -> None:
    with Operator(here) as operator:
        for name in ("a", "b"):
            paint(here, name, "red")
            operator.find("create", name)
            wait_for(here, name, is_painted("red"))
    here.server.patch(here.path(WIDGET.plural, "a"), {"spec": {"color": "blue"}})
    here.server.delete(here.path(WIDGET.plural, "b"))
    assert widget(here, "b")["metadata"]["deletionTimestamp"]
    with Operator(here) as operator:
        operator.may_go.set()
        wait_for(here, "a", is_painted("blue"))
        wait_until_gone(here, "b")
        done = {operator.next() for _ in range(3)}
    assert done == {("resume", "a"), ("update red to blue", "a"), ("delete", "b")}


@pytest.fixture
def peering(here: Place) -> Iterator[str]:
    """The name of a KopfPeering."""
    install_crd(here.server, PEERING_CRD)
    team = {"apiVersion": "kopf.dev/v1", "kind": "KopfPeering", "metadata": {"name": "team"}}
    here.server.create(PEERINGS.format(here.namespace), team)
    yield "team"
    here.server.delete(f"{CRDS}/kopfpeerings.kopf.dev")
    until(
        lambda: here.server.request("GET", f"{CRDS}/kopfpeerings.kopf.dev").status == 404,
        what="the peerings' definition to go",
    )


def test_gives_way_to_a_peer_of_higher_priority(here: Place, peering: str, told: Told) -> None:
    def peers() -> list[int]:
        obj = here.server.get(f"{PEERINGS.format(here.namespace)}/{peering}")
        return sorted(peer["priority"] for peer in (obj.get("status") or {}).values())

    options: dict[str, Any] = {"standalone": False, "peering_name": peering}
    with Operator(here, priority=1, identity="low", **options) as low:
        paint(here, "a", "red")
        low.find("create", "a")
        wait_for(here, "a", is_painted("red"))
        with Operator(here, priority=10, identity="high", **options) as high:
            told.wait_for("Pausing operations in favour of", "Pausing the watch-stream for widgets")
            assert peers() == [1, 10]
            paint(here, "b", "red")
            high.find("create", "b")
            wait_for(here, "b", is_painted("red"))
        assert peers() == [1]
        paint(here, "c", "red")
        assert ("create", "b") not in low.find("create", "c")
        wait_for(here, "c", is_painted("red"))
    assert peers() == []


@pytest.fixture(scope="module", params=KINDS)
def own_server(request: pytest.FixtureRequest) -> Iterator[AnyServer]:
    """Either server, to restart."""
    with widget_server(request) as server:
        yield server


@pytest.mark.parametrize("streaming", [False, True], ids=["by lists", "by watches alone"])
def test_goes_on_after_a_restart_and_a_410(
    own_server: AnyServer,
    streaming: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    told: Told,
) -> None:
    here = at(Place(own_server, "default", tmp_path), monkeypatch)
    with Operator(here, clusterwide=True, streaming=streaming) as operator:
        for name in ("a", "b"):
            paint(here, name, "red")
            operator.find("create", name)
            wait_for(here, name, is_painted("red"))
        here.server.delete(here.path(WIDGET.plural, "a"))
        operator.find("delete", "a")

        # Its watch is of a version before these, which are forgotten when it asks again.
        for number in range(3):
            own_server.create(here.path(), config_map(f"c-{streaming:d}-{number}"))
        own_server.compact_etcd(here.resource_version())
        own_server.restart_apiserver()
        told.wait_for("Restarting the watch-stream for widgets")

        assert widget(here, "a")["metadata"]["finalizers"] == [FINALIZER]
        operator.may_go.set()
        wait_until_gone(here, "a")
        here.server.patch(here.path(WIDGET.plural, "b"), {"spec": {"color": "blue"}})
        operator.find("update red to blue", "b")
        wait_for(here, "b", is_painted("blue"))
        here.server.delete(here.path(WIDGET.plural, "b"))
        operator.find("delete", "b")
        wait_until_gone(here, "b")


PROGRAM = """
import kopf

@kopf.on.create("example.com", "v1", "widgets")
def create(spec, patch, **_):
    patch.status["painted"] = spec["color"]

@kopf.on.delete("example.com", "v1", "widgets")
def delete(**_):
    pass
"""


@pytest.mark.parametrize("peering", ["--standalone", ""], ids=["standalone", "by itself"])
def test_as_a_program(here: Place, peering: str) -> None:
    """Without peering, and where it looks for one and there is none."""
    program = here.folder / "operator.py"
    program.write_text(PROGRAM)
    options = ["--verbose", "--namespace", here.namespace, *([peering] if peering else [])]
    with subprocess.Popen(
        [sys.executable, "-m", "kopf", "run", *options, str(program)],
        env=dict(os.environ),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            paint(here, "a", "red")
            wait_for(here, "a", is_painted("red"))
            here.server.delete(here.path(WIDGET.plural, "a"))
            wait_until_gone(here, "a")
        finally:
            process.send_signal(signal.SIGINT)
            _, log = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, log
