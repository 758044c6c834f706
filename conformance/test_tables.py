"""Tables that the server makes: the command prints what kubectl prints, byte for byte, and what is
followed row by row is what a list shows.
"""

from __future__ import annotations

import asyncio
import re
import subprocess
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from conformance.cluster import Cluster
from conformance.objects import CustomResource, config_map, deployment, install_crd, pod
from conformance.test_command import Command, listwatch
from conformance.waiting import until
from listwatch import Client
from listwatch.client.tables import table
from listwatch.rest import Discovery
from listwatch.wire.table_rows import TableRows

__all__ = ["listwatch"]

pytestmark = pytest.mark.clause("B9")

_AGE = re.compile(r"\b[0-9]+(s|m|m[0-9]+s)\b")
_CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"

GAUGE_COLUMNS = [
    {"name": "Level", "type": "integer", "jsonPath": ".spec.level"},
    {"name": "Ratio", "type": "number", "jsonPath": ".spec.ratio"},
    {"name": "On", "type": "boolean", "jsonPath": ".spec.on"},
    {"name": "Since", "type": "date", "jsonPath": ".spec.since"},
    {"name": "Notes", "type": "string", "jsonPath": ".spec.notes", "priority": 1},
    {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"},
    {"name": "Words", "type": "string", "jsonPath": ".spec.words"},
]
GAUGES = {
    "full": {
        "level": 7,
        "ratio": 0.25,
        "on": True,
        "since": "2001-02-03T04:05:06Z",
        "notes": ["a", {"b": 1}],
        "words": "first line\nsecond",
    },
    "empty": {},
    "odd": {
        "level": -1,
        "ratio": 123456789.5,
        "on": False,
        "since": "no date",
        "words": "red \x1b[31m é",
    },
    "large": {"level": 9007199254740993, "ratio": 1e21, "words": "x" * 90},
    "whole": {"ratio": 3.0, "words": ""},
}


def gauge_crd() -> dict[str, Any]:
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "gauges.tables.example.com"},
        "spec": {
            "group": "tables.example.com",
            "scope": "Namespaced",
            "names": {
                "plural": "gauges",
                "singular": "gauge",
                "kind": "Gauge",
                "shortNames": ["gg"],
            },
            "versions": [
                {
                    "name": "v1",
                    "served": True,
                    "storage": True,
                    "additionalPrinterColumns": GAUGE_COLUMNS,
                    "schema": {
                        "openAPIV3Schema": {
                            "type": "object",
                            "properties": {
                                "spec": {
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


@pytest.fixture(scope="module")
def gauges(cluster: Cluster) -> Iterator[CustomResource]:
    yield install_crd(cluster, gauge_crd())
    cluster.delete(f"{_CRDS}/gauges.tables.example.com")


@pytest.fixture
def filled(cluster: Cluster, namespace: str, crd: CustomResource, gauges: CustomResource) -> str:
    for name in ("web-0", "web-with-a-longer-name"):
        cluster.create(f"/api/v1/namespaces/{namespace}/pods", pod(name, {"app": "web"}))
    cluster.create(f"/apis/apps/v1/namespaces/{namespace}/deployments", deployment("web", 3))
    cluster.create(f"/api/v1/namespaces/{namespace}/configmaps", config_map("one", a="1"))
    cluster.create(crd.path(namespace), crd.object("red", color="red"))
    cluster.create(crd.path(namespace), crd.object("colourless"))
    for name, spec in GAUGES.items():
        cluster.create(gauges.path(namespace), gauges.object(name, **spec))
    for name, message in (("one", "all is well"), ("two", "first line\nsecond"), ("three", "")):
        cluster.create(f"/api/v1/namespaces/{namespace}/events", event(namespace, name, message))
    return namespace


@pytest.fixture
def nodes(cluster: Cluster) -> Iterator[None]:
    for name in ("node-a", "node-with-a-longer-name"):
        cluster.create("/api/v1/nodes", {"metadata": {"name": name, "labels": {"tables": "yes"}}})
    yield
    for name in ("node-a", "node-with-a-longer-name"):
        cluster.delete(f"/api/v1/nodes/{name}")


def event(namespace: str, name: str, message: str) -> dict[str, Any]:
    about = {"kind": "Pod", "apiVersion": "v1", "name": "web-0", "namespace": namespace}
    return {
        "metadata": {"name": name},
        "involvedObject": about,
        "reason": "Because",
        "type": "Normal",
        "message": message,
        "count": 3,
        "source": {"component": "tests"},
        "firstTimestamp": "2020-01-01T00:00:00Z",
        "lastTimestamp": "2020-01-02T00:00:00Z",
    }


def without_ages(text: str) -> str:
    """With ages of as many digits, whatever they are: what is printed a moment later is older."""
    return _AGE.sub(lambda age: re.sub("[0-9]", "#", age[0]), text)


def same(ours: Callable[[], str], theirs: Callable[[], str]) -> str:
    """What both print, to the byte; asked again where an age has become a digit longer between the
    two.
    """
    found = wanted = ""
    for _ in range(3):
        found, wanted = ours(), theirs()
        if without_ages(found) == without_ages(wanted):
            break
    assert without_ages(found) == without_ages(wanted)
    return found


@pytest.mark.parametrize(
    "arguments",
    [
        ("pods",),
        ("pods", "-o", "wide"),
        ("pods", "web-0"),
        ("pod/web-0", "-o", "wide"),
        ("pods", "-l", "app=web"),
        ("deployments",),
        ("deploy", "-o", "wide"),
        ("configmaps",),
        ("events",),
        ("widgets",),
        ("wd", "red"),
        ("gauges",),
        ("gg", "-o", "wide"),
        ("gauges.tables.example.com", "full"),
        ("gauges", "-A", "-l", "!none"),
        ("pods", "-A", "-l", "app=web"),
        ("crds", "gauges.tables.example.com"),
        ("nodes", "-l", "tables"),
        ("nodes", "-l", "tables", "-o", "wide"),
        ("namespaces", "default"),
        ("flowschemas",),
        ("apiservices",),
        ("clusterroles",),
        ("priorityclasses", "-o", "wide"),
        ("leases", "-A"),
        ("cm,pods,wd,deploy",),
    ],
    ids=" ".join,
)
def test_get_prints_what_kubectl_prints(
    cluster: Cluster, filled: str, nodes: None, listwatch: Command, arguments: tuple[str, ...]
) -> None:
    where = () if "-A" in arguments else ("-n", filled)

    def ours() -> str:
        ran = listwatch("get", *arguments, *where)
        assert (ran.code, ran.err) == (0, "")
        return ran.out

    printed = same(ours, lambda: cluster.kubectl()("get", *arguments, *where).stdout)
    assert len(printed.splitlines()) >= 2


def test_columns_are_as_wide_as_what_is_in_them(
    cluster: Cluster, filled: str, listwatch: Command
) -> None:
    # kubectl makes room for the lines of a message that it leaves out, from 1.37 on.
    arguments = ("get", "events", "-o", "wide", "-n", filled)
    ours, theirs = listwatch(*arguments).out, cluster.kubectl()(*arguments).stdout
    assert re.sub(" +", " ", ours) == re.sub(" +", " ", theirs)
    assert " first line...   " in ours


def test_what_is_not_there_is_told_as_kubectl_tells_it(
    cluster: Cluster, namespace: str, gauges: CustomResource, listwatch: Command
) -> None:
    ours = listwatch("get", "gauges", "-n", namespace)
    theirs = cluster.kubectl()("get", "gauges", "-n", namespace)
    assert (ours.out, ours.err) == (theirs.stdout, theirs.stderr)


def test_more_objects_than_a_page_of_kubectl_are_the_same_rows(
    cluster: Cluster, namespace: str, listwatch: Command
) -> None:
    with cluster.session() as session:
        for number in range(510):
            name = f"c-{number:03}" + "-with-a-longer-name" * (number > 505)
            path = f"/api/v1/namespaces/{namespace}/configmaps"
            session.request("POST", path, config_map(name, a="1"))
    # kubectl lays out each page for itself; ours are one table.
    arguments = ("get", "configmaps", "-n", namespace)
    ours, theirs = listwatch(*arguments).out, cluster.kubectl()(*arguments).stdout
    rows = [line.split()[:-1] for line in ours.splitlines()]
    assert rows == [line.split()[:-1] for line in theirs.splitlines()]
    assert len(rows) == 511


class Following:
    """A program that prints what changes, and what it has printed so far."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self.printed: list[str] = []
        self._reading = threading.Thread(target=self._read)
        self._reading.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        self.printed.extend(self.process.stdout)

    @property
    def text(self) -> str:
        return "".join(self.printed)

    def __enter__(self) -> Following:
        return self

    def __exit__(self, *error: object) -> None:
        self.process.terminate()
        self.process.wait()
        self._reading.join()
        for stream in (self.process.stdout, self.process.stderr):
            if stream is not None:
                stream.close()


@pytest.mark.parametrize(
    "arguments",
    [
        ("gauges",),
        ("gauges", "-o", "wide"),
        ("gauges", "-A", "-l", "here"),
        ("gauges", "--watch-only"),
    ],
    ids=" ".join,
)
def test_get_watch_prints_what_kubectl_prints(
    cluster: Cluster,
    namespace: str,
    gauges: CustomResource,
    listwatch: Command,
    arguments: tuple[str, ...],
) -> None:
    def put(name: str, **spec: Any) -> None:
        obj = gauges.object(name, **spec)
        obj["metadata"]["labels"] = {"here": namespace}
        cluster.create(gauges.path(namespace), obj)

    put("first", level=1)
    put("second-with-a-longer-name", level=2, words="some")
    where = () if "-A" in arguments else ("-n", namespace)
    arguments = tuple(f"here={namespace}" if each == "here" else each for each in arguments)
    follow = () if "--watch-only" in arguments else ("-w",)
    with (
        Following(cluster.kubectl().start("get", *arguments, *where, *follow)) as theirs,
        Following(listwatch.start("get", *arguments, *where, *follow)) as ours,
    ):

        def both_have(text: str) -> None:
            until(lambda: text in theirs.text and text in ours.text, what=f"both to print {text!r}")

        if follow:
            both_have("second-with-a-longer-name")
        mark = 0

        def mark_shown() -> bool:
            nonlocal mark
            mark += 1
            put(f"mark-{mark}")
            until_shown = f"mark-{mark} "
            return until_shown in theirs.text and until_shown in ours.text

        # Nobody knows when a watch begins: what both have seen is where they are compared from.
        until(mark_shown, what="both to watch")
        before = f"mark-{mark} "
        cluster.patch(gauges.path(namespace, "first"), {"spec": {"level": 100000, "on": True}})
        cluster.patch(gauges.path(namespace, "first"), {"spec": {"words": "w" * 40}})
        put("third-with-an-even-longer-name-than-the-second", ratio=0.5)
        cluster.delete(gauges.path(namespace, "second-with-a-longer-name"))
        cluster.patch(
            gauges.path(namespace, "first"), {"spec": {"level": None, "notes": "end-of-it"}}
        )
        put("last-of-all")
        both_have("last-of-all")
    wanted, found = (without_ages(each.text) for each in (theirs, ours))
    assert found.split(before, 1)[1] == wanted.split(before, 1)[1]
    if follow:
        heads = [text.splitlines()[:3] for text in (found, wanted)]
        assert heads[0] == heads[1]


def test_columns_that_change_have_a_new_header_as_in_kubectl(
    cluster: Cluster, namespace: str, gauges: CustomResource, listwatch: Command
) -> None:
    path = f"{_CRDS}/gauges.tables.example.com"

    def set_columns(columns: list[dict[str, Any]]) -> None:
        definition = cluster.request("GET", path).json()
        definition["spec"]["versions"][0]["additionalPrinterColumns"] = columns
        assert cluster.request("PUT", path, definition).status == 200

    cluster.create(gauges.path(namespace), gauges.object("first", level=1))
    with Following(listwatch.start("get", "gauges", "-n", namespace, "-w")) as ours:
        until(lambda: "first" in ours.text, what="the first set")
        try:
            set_columns(GAUGE_COLUMNS[:1])

            def told_so() -> bool:
                number = len(ours.printed)
                cluster.patch(gauges.path(namespace, "first"), {"spec": {"level": number}})
                return len(re.findall("^NAME .*LEVEL", ours.text, re.MULTILINE)) == 2

            until(told_so, what="a header of the new columns")
        finally:
            set_columns(GAUGE_COLUMNS)
    headers = [line.split() for line in ours.printed if line.startswith("NAME")]
    assert headers[0] == ["NAME", "LEVEL", "RATIO", "ON", "SINCE", "AGE", "WORDS"]
    assert headers[1] == ["NAME", "LEVEL"]


async def test_rows_that_are_followed_are_those_that_a_list_shows(
    cluster: Cluster, namespace: str, gauges: CustomResource
) -> None:
    resource = f"{gauges.group}/{gauges.version}/{gauges.plural}"

    def do(work: Callable[[], object]) -> asyncio.Future[object]:
        return asyncio.get_running_loop().run_in_executor(None, work)

    def change() -> None:
        for number in range(30):
            cluster.create(gauges.path(namespace), gauges.object(f"g-{number}", level=number))
            cluster.patch(gauges.path(namespace, f"g-{number}"), {"spec": {"ratio": number / 2}})
        for number in range(0, 30, 3):
            cluster.delete(gauges.path(namespace, f"g-{number}"))

    kubeconfig = cluster.kubeconfig()
    async with (
        Client(kubeconfig=kubeconfig) as client,
        client.mirror(resource, namespace=namespace, decoder=TableRows()) as mirror,
    ):
        await mirror.synced()
        await do(change)
        found = await Discovery(client.rest).resolve(resource)
        listed = await table(client.rest, found, namespace=namespace, page_size=7)
        whole = await table(client.rest, found, "g-1", namespace=namespace, whole=True)
        await mirror.store.at_least(listed.resource_version, timeout=60)
        followed = {key: mirror.store[key] for key in list(mirror.store.keys())}
    assert [column.name for column in listed.columns] == [
        "Name",
        *(column["name"] for column in GAUGE_COLUMNS),
    ]
    ages = [column.name for column in listed.columns].index("Age")
    assert {key: _without(row.cells, ages) for key, row in followed.items()} == {
        row.key: _without(row.cells, ages) for row in listed.rows
    }
    assert len(listed.rows) == 20
    assert {row.kind for row in listed.rows} == {row.kind for row in followed.values()} == {"Gauge"}
    assert whole.rows[0]["spec"] == {"level": 1, "ratio": 0.5}


def _without(cells: tuple[Any, ...], index: int) -> tuple[Any, ...]:
    return cells[:index] + cells[index + 1 :]
