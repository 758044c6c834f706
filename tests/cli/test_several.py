"""`listwatch get` of several resources, and `listwatch api-resources`."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

import pytest

from listwatch import APIResource, ListMeta, Unstructured
from listwatch.cli.failures import UsageError
from listwatch.cli.several import Found, tables_of
from listwatch.cli.targets import one_selection, selections_to_get
from listwatch.testing.apiserver import APIServer, Auth, EmbeddedServer, Faults, Rule, User
from listwatch.wire import ObjectList
from tests.cli.conftest import Run
from tests.cli.servers import in_thread

pytestmark = pytest.mark.clause("L3")


def crd(name: str, group: str, *categories: str, **names: Any) -> dict[str, Any]:
    schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
    kind = name.removesuffix("s").capitalize()
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{name}.{group}"},
        "spec": {
            "group": group,
            "scope": "Namespaced",
            "names": {"plural": name, "kind": kind, "categories": list(categories), **names},
            "versions": [{"name": "v1", "served": True, "storage": True, "schema": schema}],
        },
    }


def named(api_version: str, kind: str, name: str, **more: Any) -> dict[str, Any]:
    return {
        "apiVersion": api_version,
        "kind": kind,
        "metadata": {"name": name, "namespace": "default"},
        **more,
    }


OBJECTS = [
    named("v1", "ConfigMap", "settings", data={"a": "1"}),
    named("v1", "ConfigMap", "words", data={"a": "1"}),
    named("v1", "Secret", "key", data={}),
    named("v1", "ServiceAccount", "robot"),
]
TOYS = [
    crd("balls", "toys.example", "all", "toys", shortNames=["bl"]),
    crd("dolls", "toys.example", "toys"),
    named("toys.example/v1", "Ball", "red"),
    named("toys.example/v1", "Doll", "anna"),
]


@contextmanager
def serving(
    *objects: dict[str, Any], auth: Auth | None = None, faults: tuple[str, ...] = ()
) -> Iterator[str]:
    """The address of a server with these objects."""

    def make() -> EmbeddedServer:
        core = APIServer(clock=time.monotonic, wall=lambda: datetime.now(UTC), auth=auth)
        core.load(objects)
        return EmbeddedServer(core, faults=Faults(*faults))

    # One server for each test: a connection that a server has yet to close is not the next test's.
    with in_thread(make) as server:
        yield server.url


@pytest.fixture
def server() -> Iterator[str]:
    with serving(*OBJECTS, *TOYS) as url:
        yield url


def rows(text: str) -> list[list[str]]:
    """The first word of each line, one list for each table."""
    tables = text.split("\n\n")
    return [[line.split()[0] for line in table.splitlines()] for table in tables]


# Which are meant


@pytest.mark.parametrize(
    ("targets", "selected"),
    [
        (["pods"], [("pods", "")]),
        (["pods", "a"], [("pods", "a")]),
        (["pods/a"], [("pods", "a")]),
        (["pods", "a", "b"], [("pods", "a"), ("pods", "b")]),
        (["pods,svc"], [("pods", ""), ("svc", "")]),
        (["pods,svc,pods"], [("pods", ""), ("svc", "")]),
        (["deploy/a", "apps/v1/deployments/b"], [("deploy", "a"), ("apps/v1/deployments", "b")]),
        (["all"], [("all", "")]),
        (["v1/pods,apps/v1/deployments"], [("v1/pods", ""), ("apps/v1/deployments", "")]),
    ],
)
def test_what_is_typed_means_what_it_means_to_kubectl(
    targets: list[str], selected: list[tuple[str, str]]
) -> None:
    found = selections_to_get(targets, namespace="n", limit=None)
    assert [(each.resource, each.name) for each in found] == selected
    assert {each.namespace for each in found} == {"n"}


@pytest.mark.parametrize(
    ("targets", "options", "message"),
    [
        (["pods,svc", "a"], {}, "names go with one resource"),
        (["pods/a", "svc"], {}, "svc is no object: name each as pods/a is named"),
        (["pods,"], {}, "a resource is missing beside a comma"),
        ([",pods"], {}, "a resource is missing beside a comma"),
        (["pods", "a", "b"], {"all_namespaces": True}, "-A does not go with a name"),
        (["pods/a", "svc/b"], {"label_selector": "x=y"}, "a selector does not go with a name"),
        (["pods,svc/a"], {}, "names go with one resource"),
        (["pods/a", "svc,cm/b"], {}, "one resource at a time"),
    ],
)
def test_what_makes_no_sense_is_refused(
    targets: list[str], options: dict[str, Any], message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        selections_to_get(targets, **options)


def test_what_takes_one_says_so_of_several() -> None:
    [one] = selections_to_get(["pods"])
    assert one_selection([one], "--watch") is one
    with pytest.raises(UsageError, match="--watch: one resource at a time"):
        one_selection(selections_to_get(["pods,svc"]), "--watch")


# Tables


def test_each_resource_has_a_table_and_names_say_of_what_they_are(run: Run, server: str) -> None:
    ran = run("get", "configmaps,serviceaccounts,balls", "--server", server)
    assert rows(ran.text) == [
        ["NAME", "configmap/settings", "configmap/words"],
        ["NAME", "serviceaccount/robot"],
        ["NAME", "ball.toys.example/red"],
    ]
    assert (ran.code, ran.notes) == (0, "")


def test_what_there_is_none_of_has_no_table(run: Run, server: str) -> None:
    ran = run("get", "pods,cm,replicasets", "--server", server)
    assert rows(ran.text) == [["NAME", "configmap/settings", "configmap/words"]]
    assert ran.notes == ""


def test_one_resource_alone_has_plain_names(run: Run, server: str) -> None:
    for target in ("cm", "cm,configmaps", "configmaps,v1/configmaps,ConfigMap"):
        ran = run("get", target, "--server", server)
        assert rows(ran.text) == [["NAME", "settings", "words"]], target


def test_where_nothing_is_it_says_so_once(run: Run, server: str) -> None:
    ran = run("get", "pods,replicasets", "--server", server)
    assert (ran.code, ran.data) == (0, b"")
    assert ran.note == "No resources found in default namespace."
    assert run("get", "pods,nodes", "--server", server).note == "No resources found"


def test_objects_of_several_resources_may_be_named(run: Run, server: str) -> None:
    ran = run("get", "cm/words", "ball/red", "cm/settings", "--server", server)
    assert rows(ran.text) == [
        ["NAME", "configmap/words"],
        ["NAME", "ball.toys.example/red"],
        ["NAME", "configmap/settings"],
    ]


def test_objects_of_one_resource_are_in_one_table(run: Run, server: str) -> None:
    for targets in (["cm", "words", "settings"], ["cm/words", "configmaps/settings"]):
        ran = run("get", *targets, "--server", server)
        assert rows(ran.text) == [["NAME", "words", "settings"]]


def test_other_forms_have_all_of_them_together(run: Run, server: str) -> None:
    names = run("get", "cm,balls", "-o", "name", "--server", server)
    assert names.lines == ["configmap/settings", "configmap/words", "ball.toys.example/red"]
    ran = run("get", "cm,balls", "-o", "json", "--server", server)
    document = json.loads(ran.data)
    assert document["kind"] == "List"
    assert [item["kind"] for item in document["items"]] == ["ConfigMap", "ConfigMap", "Ball"]
    one = json.loads(run("get", "cm/words", "-o", "json", "--server", server).data)
    assert one["kind"] == "ConfigMap"
    two = json.loads(run("get", "cm", "words", "settings", "-o", "json", "--server", server).data)
    assert [item["metadata"]["name"] for item in two["items"]] == ["words", "settings"]


def test_tables_of_a_type_that_nobody_knows_are_called_by_the_objects() -> None:
    resource = APIResource(
        group="example.com", version="v1", name="things", kind="", namespaced=True
    )
    other = APIResource(group="", version="v1", name="pods", kind="Pod", namespaced=True)
    thing = Unstructured.from_dict(named("example.com/v1", "Thing", "a"))
    found = [
        Found(resource=each, namespace="", objects=ObjectList(items, ListMeta()))
        for each, items in ((resource, [thing]), (other, []))
    ]
    text = tables_of(found, lambda objects, resource, prefix: f"{prefix}{len(objects)}\n".encode())
    assert text == b"thing.example.com/1\n"


# Categories


def test_a_category_is_each_of_its_resources(run: Run, server: str) -> None:
    ran = run("get", "toys", "--server", server)
    assert rows(ran.text) == [
        ["NAME", "ball.toys.example/red"],
        ["NAME", "doll.toys.example/anna"],
    ]
    assert rows(run("get", "all", "--server", server).text) == [
        ["NAME", "service/kubernetes"],
        ["NAME", "ball.toys.example/red"],
    ]


def test_a_category_may_stand_beside_resources_which_come_once(run: Run, server: str) -> None:
    ran = run("get", "dolls,toys,bl", "-o", "name", "--server", server)
    assert ran.lines == ["doll.toys.example/anna", "ball.toys.example/red"]


def test_a_built_in_name_is_no_category_and_asks_for_nothing(run: Run) -> None:
    with serving(*OBJECTS, faults=("any /apis: answer 500",)) as url:
        assert run("get", "cm", "--server", url).code == 0


def test_where_discovery_is_refused_all_is_what_is_built_in(run: Run) -> None:
    pod = named("v1", "Service", "web", spec={"ports": [{"port": 80}]})
    faults = ("any /api: answer 403", "any /apis: answer 403")
    with serving(pod, faults=faults) as url:
        ran = run("get", "all", "--server", url)
        assert rows(ran.text) == [["NAME", "service/kubernetes", "service/web"]]
        assert run("get", "balls", "--server", url).code == 1


# Failures


def test_one_that_is_refused_costs_no_other(run: Run, server: str) -> None:
    ran = run("get", "cm/words", "cm/nothing", "ball/none", "--server", server)
    assert rows(ran.text) == [["NAME", "words"]]
    assert ran.code == 1
    assert ran.notes.splitlines() == [
        'listwatch: the server answered 404 NotFound: configmaps "nothing" not found',
        'listwatch: the server answered 404 NotFound: balls.toys.example "none" not found',
    ]
    nothing = run("get", "cm", "x", "y", "-o", "json", "--server", server)
    assert (nothing.code, nothing.data, len(nothing.notes.splitlines())) == (1, b"", 2)


def test_a_server_that_is_gone_is_told_once(run: Run) -> None:
    ran = run("get", "cm,secrets", "--server", "http://127.0.0.1:1")
    assert ran.code == 1
    assert "connection refused" in ran.note


def test_a_name_that_means_nothing_is_told_before_anything_is_printed(
    run: Run, server: str
) -> None:
    ran = run("get", "cm,blls", "--server", server)
    assert (ran.code, ran.data) == (1, b"")
    assert "no resource 'blls'" in ran.note
    assert "Did you mean balls.toys.example" in ran.note
    assert "`listwatch api-resources` lists what there is" in ran.note


def test_watch_takes_one(run: Run, server: str) -> None:
    for targets in (["cm,secrets"], ["cm/a", "cm/b"], ["cm", "a", "b"]):
        ran = run("get", *targets, "-w", "--server", server)
        assert ran.code == 2
        assert "--watch: one resource at a time, please, or one object" in ran.note


def test_a_category_where_one_resource_is_needed_is_told_as_one(run: Run, server: str) -> None:
    for arguments in (["get", "all", "a"], ["get", "all", "-w"], ["watch", "all"]):
        ran = run(*arguments, "--server", server)
        assert ran.code == 1
        assert "'all' that we know of. It is a category" in ran.note
    ran = run("watch", "cm,secrets", "--server", server)
    assert ran.code == 2
    assert "one resource at a time" in ran.note


# What is allowed


DEV = User(name="dev", token="made-up", rules=(Rule(namespaces=("team",)),))
HINT = "all namespaces were asked for: -n NAME, in place of -A, asks for one alone"


@pytest.mark.parametrize(
    "arguments", [["get", "pods", "-A"], ["watch", "pods", "-A"], ["get", "pods", "-A", "-w"]]
)
def test_who_may_see_one_namespace_hears_of_the_option(arguments: list[str], run: Run) -> None:
    with serving(auth=Auth([DEV])) as url:
        ran = run(*arguments, "--server", url, "--token", DEV.token)
    assert ran.code == 1
    assert HINT in ran.notes
    assert 'namespace="' not in ran.notes


def test_who_asks_for_one_namespace_hears_of_no_option(run: Run) -> None:
    with serving(auth=Auth([DEV])) as url:
        there = run("get", "pods", "-n", "team", "--server", url, "--token", DEV.token)
        other = run("get", "pods", "-n", "other", "--server", url, "--token", DEV.token)
        nodes = run("get", "nodes", "-A", "--server", url, "--token", DEV.token)
    assert there.code == 0
    for ran in (other, nodes):
        assert ran.code == 1
        assert "asks for one" not in ran.notes


# api-resources


def test_api_resources_are_those_of_the_server_by_group_and_name(run: Run, server: str) -> None:
    ran = run("api-resources", "--server", server)
    assert ran.lines[0].split() == ["NAME", "SHORTNAMES", "APIVERSION", "NAMESPACED", "KIND"]
    cells = [line.split() for line in ran.lines[1:]]
    assert ["pods", "po", "v1", "true", "Pod"] in cells
    assert ["namespaces", "ns", "v1", "false", "Namespace"] in cells
    assert ["balls", "bl", "toys.example/v1", "true", "Ball"] in cells
    assert len({tuple(row) for row in cells}) == len(cells)
    core = [row[0] for row in cells if row[-3] == "v1"]
    assert core == sorted(core)
    assert [row[0] for row in cells][: len(core)] == core
    assert (ran.code, ran.notes) == (0, "")


def test_api_resources_of_a_category(run: Run, server: str) -> None:
    ran = run("api-resources", "--category", "toys", "--server", server)
    assert [line.split()[0] for line in ran.lines] == ["NAME", "balls", "dolls"]
    none = run("api-resources", "--category", "tools", "--server", server)
    assert (none.code, none.data) == (1, b"")
    assert "no category 'tools'" in none.note


def test_what_could_not_be_looked_at_is_told(run: Run) -> None:
    with serving(faults=("any /apis: answer 403",)) as url:
        ran = run("api-resources", "--server", url)
    assert ran.code == 0
    assert any(line.split()[0] == "pods" for line in ran.lines)
    assert "/apis could not be looked at: 403 Forbidden" in ran.note


def test_who_may_see_nothing_gets_no_table(run: Run) -> None:
    with serving(faults=("any /api: answer 403", "any /apis: answer 403")) as url:
        ran = run("api-resources", "--server", url)
    assert (ran.code, ran.data) == (1, b"")
    assert "403 Forbidden" in ran.note
