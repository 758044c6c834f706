"""Objects as Tables."""

from __future__ import annotations

import re
from typing import Any

import pytest

from conformance.behaviour.space import Space, refusal, rv
from conformance.objects import CustomResource, deployment, install_crd, pod
from conformance.requests import Json
from conformance.two_servers import TestedServer

_TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"
_AGE = re.compile(r"[0-9]+s")

_READY = {"type": "Ready", "status": "True"}


def _cells(table: Json) -> list[list[Any]]:
    """The cells of each row, with ages that do not tell how long a test takes."""
    return [
        ["AGE" if isinstance(cell, str) and _AGE.fullmatch(cell) else cell for cell in row["cells"]]
        for row in table["rows"]
    ]


def _columns(table: Json) -> list[str]:
    return [column["name"] for column in table["columnDefinitions"]]


def _table(space: Space, path: str) -> Json:
    answer = space.ask("GET", path, Accept=_TABLE)
    assert answer.status == 200
    found = answer.json()
    assert isinstance(found, dict)
    assert (found["kind"], found["apiVersion"]) == ("Table", "meta.k8s.io/v1")
    return found


def test_a_list_as_a_table(space: Space) -> None:
    """A list as Table: columns, and for each object cells and its metadata."""
    [made] = space.add("a", x="1")
    table = _table(space, space.path())
    assert list(table) == ["kind", "apiVersion", "metadata", "columnDefinitions", "rows"]
    assert _columns(table) == ["Name", "Data", "Age"]
    assert _cells(table) == [["a", 1, "AGE"]]
    assert table["rows"][0]["object"] == {
        "kind": "PartialObjectMetadata",
        "apiVersion": "meta.k8s.io/v1",
        "metadata": made["metadata"],
    }


def test_an_object_as_a_table(space: Space) -> None:
    """GET of one object as Table: one row, and the object's RV as that of the table."""
    [made] = space.add("a", x="1", y="2")
    space.add("b")
    table = _table(space, space.path(name="a"))
    assert _cells(table) == [["a", 2, "AGE"]]
    assert table["metadata"] == {"resourceVersion": made["metadata"]["resourceVersion"]}


def test_an_empty_table_has_columns(space: Space) -> None:
    """An empty list as Table has its columns and no rows."""
    table = _table(space, space.path("secrets"))
    assert (_columns(table), table["rows"]) == (["Name", "Type", "Data", "Age"], [])


def test_a_table_has_pages(space: Space) -> None:
    """Tables have pages: continue and remainingItemCount are in their metadata."""
    space.add("a", "b", "c")
    first = _table(space, space.path(limit=2))
    assert first["metadata"]["remainingItemCount"] == 1
    rest = _table(space, space.path(limit=2, continue_=first["metadata"]["continue"]))
    assert [row[0] for row in _cells(first) + _cells(rest)] == ["a", "b", "c"]
    assert list(rest["metadata"]) == ["resourceVersion"]


def test_a_table_is_one_chunk(space: Space) -> None:
    """A Table over 2048 bytes is one chunk (K2)."""
    space.add(*(f"n{number:02}" for number in range(20)))
    with space.server.stream(space.path(), headers={"Accept": _TABLE}) as stream:
        stream.finished()
        assert len(stream.body) > 2048
        assert len(stream.chunks) == 1


@pytest.mark.parametrize("included", ["", "Metadata", "Object", "None"])
def test_what_is_beside_the_cells(space: Space, included: str) -> None:
    """includeObject: the object's metadata, all of it, or nothing (K17)."""
    [made] = space.add("a", x="1")
    table = _table(space, space.path(includeObject=included))
    obj = table["rows"][0]["object"]
    kinds = {"Object": "ConfigMap", "None": None}
    assert (obj and obj["kind"]) == kinds.get(included, "PartialObjectMetadata")
    if included == "Object":
        assert obj == made


def test_nothing_else_can_be_included(space: Space) -> None:
    """Any other includeObject is 400, at once in a watch too; a 404 comes first (K17)."""
    for path in (space.path(includeObject="X"), space.path(includeObject="X", watch=1)):
        code, reason, text = refusal(space.ask("GET", path, Accept=_TABLE))
        assert (code, reason) == (400, "BadRequest")
        assert "must be 'Metadata', 'Object', 'None', or empty" in text
    missing = space.path(name="none", includeObject="X")
    assert refusal(space.ask("GET", missing, Accept=_TABLE))[0] == 404


@pytest.mark.parametrize(
    ("accept", "kind"),
    [
        (f"{_TABLE},application/json", "Table"),
        (f"application/json,{_TABLE}", "ConfigMapList"),
        ("*/*;as=Table;v=v1;g=meta.k8s.io", "Table"),
        ("application/json;as=Table;v=v1beta1;g=meta.k8s.io", "Table"),
        ("application/json;as=Table;v=v1,application/json", "ConfigMapList"),
    ],
)
def test_a_table_is_a_form_like_others(space: Space, accept: str, kind: str) -> None:
    """A Table is given where it is asked for first, in v1 and v1beta1 of meta.k8s.io."""
    assert space.ask("GET", space.path(), Accept=accept).json()["kind"] == kind


def test_a_deleted_collection_as_a_table(space: Space) -> None:
    """What deletecollection answers is a list, and a Table if asked for."""
    space.add("a", "b", x="1")
    gone = space.ask("DELETE", space.path(), Accept=_TABLE)
    assert (gone.status, _cells(gone.json())) == (200, [["a", 1, "AGE"], ["b", 1, "AGE"]])


def test_writes_answer_tables(space: Space) -> None:
    """Create, update and patch answer a Table if asked; a deletion answers a Status still."""
    body = {"metadata": {"name": "a"}, "data": {"x": "1"}}
    made = space.ask("POST", space.path(), body, Accept=_TABLE)
    assert (made.status, _cells(made.json())) == (201, [["a", 1, "AGE"]])
    body["data"] = {"x": "1", "y": "2"}
    put = space.ask("PUT", space.path(name="a"), body, Accept=_TABLE)
    assert (put.status, _cells(put.json())) == (200, [["a", 2, "AGE"]])
    gone = space.ask("DELETE", space.path(name="a"), Accept=_TABLE)
    assert (gone.status, gone.json()["kind"]) == (200, "Status")


def test_a_watch_as_tables(space: Space) -> None:
    """A watch as Tables: the columns come with the first event only."""
    [made] = space.add("a", x="1")
    path = space.path(watch=1, resourceVersion=rv(made))
    with space.server.stream(path, headers={"Accept": _TABLE}) as watch:
        changed = space.change("a", data={"y": "2"})
        space.remove("a")
        events = watch.events(2)
    tables = [event["object"] for event in events]
    assert [event["type"] for event in events] == ["MODIFIED", "DELETED"]
    assert _columns(tables[0]) == ["Name", "Data", "Age"]
    assert tables[1]["columnDefinitions"] is None
    assert [_cells(table) for table in tables] == [[["a", 2, "AGE"]]] * 2
    assert rv(tables[0]) == rv(changed) < rv(tables[1])


def test_a_watch_list_of_tables_ends_with_empty_cells(space: Space) -> None:
    """The bookmark behind the initial Tables has a row of empty cells (K16)."""
    space.add("a", x="1")
    path = space.path(
        watch=1, sendInitialEvents=True, resourceVersionMatch="NotOlderThan",
        allowWatchBookmarks=True, includeObject="None",
    )  # fmt: skip
    with space.server.stream(path, headers={"Accept": _TABLE}) as watch:
        events: list[Json] = []
        while not events or events[-1]["type"] != "BOOKMARK":
            events = watch.events(len(events) + 1)
    first, last = events[0]["object"], events[-1]["object"]
    assert (first["rows"][0]["object"], _columns(first)) == (None, ["Name", "Data", "Age"])
    assert last["columnDefinitions"] is None
    [row] = last["rows"]
    assert row["cells"] == ["", 0, "<unknown>"]
    assert row["object"]["metadata"] == {
        "resourceVersion": last["metadata"]["resourceVersion"],
        "annotations": {"k8s.io/initial-events-end": "true"},
    }


def test_a_table_of_what_leaves_the_selection(space: Space) -> None:
    """What leaves the selection is DELETED with its old cells and a new RV (K17)."""
    [made] = space.add("a", labels={"l": "1"}, x="1")
    path = space.path(watch=1, resourceVersion=rv(made), labelSelector="l=1")
    with space.server.stream(path, headers={"Accept": _TABLE}) as watch:
        changed = space.change("a", metadata={"labels": {"l": "2"}}, data={"y": "2"})
        [event] = watch.events(1)
    assert event["type"] == "DELETED"
    assert _cells(event["object"]) == [["a", 1, "AGE"]]
    assert rv(event["object"]) == rv(changed)


def test_a_watch_that_is_too_old_is_told_so_plainly(space: Space) -> None:
    """Within a watch as Tables an error is a Status."""
    path = space.path("events", watch=1, resourceVersion=10**12, sendInitialEvents=True,
                      resourceVersionMatch="NotOlderThan")  # fmt: skip
    with space.server.stream(path, headers={"Accept": _TABLE}) as watch:
        [event] = watch.events(1)
    assert (event["type"], event["object"]["kind"]) == ("ERROR", "Status")


def test_pods_in_a_table(space: Space) -> None:
    """A pod's row tells what it does, of how many containers, and how often they restarted."""
    space.put(pod("a"), "pods")
    space.put(pod("b"), "pods")
    state = {"terminated": {"exitCode": 0, "reason": "Completed"}}
    status: Json = {"name": "c", "image": "i", "imageID": "", "ready": False, "restartCount": 2}
    space.server.patch(
        f"{space.path('pods', 'b')}/status",
        {"status": {"phase": "Succeeded", "containerStatuses": [{**status, "state": state}]}},
    )
    table = _table(space, space.path("pods"))
    none = "<none>"
    assert _cells(table) == [
        ["a", "0/1", "Pending", "0", "AGE", none, none, none, none],
        ["b", "0/1", "Completed", "2", "AGE", none, none, none, none],
    ]
    assert [row.get("conditions", [{}])[0].get("reason") for row in table["rows"]] == [
        None,
        "Succeeded",
    ]


def test_deployments_in_a_table(space: Space) -> None:
    """Counts are numbers, and what kubectl shows with -o wide is there with priority 1."""
    space.put(deployment("web", 3), "deployments")
    table = _table(space, space.path("deployments"))
    [row] = _cells(table)
    assert row[:5] == ["web", "0/3", 0, 0, "AGE"]
    priorities = [column["priority"] for column in table["columnDefinitions"]]
    assert priorities == [0, 0, 0, 0, 0, 1, 1, 1]


def test_a_scale_in_a_table(space: Space) -> None:
    """The subresources scale and status are given as Tables too."""
    space.put(deployment("web", 3), "deployments")
    scale = _table(space, f"{space.path('deployments', 'web')}/scale")
    assert _columns(scale) == ["Name", "Desired", "Available", "Age"]
    assert _cells(scale) == [["web", 3, 0, "AGE"]]
    assert _columns(_table(space, f"{space.path('deployments', 'web')}/status"))[1] == "Ready"


def test_types_without_a_printer(space: Space) -> None:
    """A type that nobody prints has its name and the time of its creation."""
    made = space.put({"metadata": {"name": "a"}, "rules": []}, "roles")
    table = _table(space, space.path("roles"))
    assert _columns(table) == ["Name", "Created At"]
    assert _cells(table) == [["a", made["metadata"]["creationTimestamp"]]]


_SCHEMA: Json = {
    "openAPIV3Schema": {
        "type": "object",
        "properties": {"spec": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}},
    }
}
_DIALS: list[dict[str, Any]] = [
    {"name": "Text", "type": "string", "jsonPath": ".spec.text"},
    {"name": "Level", "type": "integer", "jsonPath": ".spec.level"},
    {"name": "Ratio", "type": "number", "jsonPath": ".spec.ratio"},
    {"name": "On", "type": "boolean", "jsonPath": ".spec.on"},
    {"name": "Since", "type": "date", "jsonPath": ".spec.since", "priority": 1},
    {"name": "First", "type": "string", "jsonPath": ".spec.list[*].x"},
]


@pytest.fixture(scope="module")
def dials(server: TestedServer) -> CustomResource:
    """A custom resource with columns in one version and without in another."""
    names = {"plural": "dials", "singular": "dial", "kind": "Dial", "listKind": "DialList"}
    version = {"served": True, "schema": _SCHEMA}
    columns = {"additionalPrinterColumns": _DIALS}
    return install_crd(
        server,
        {
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition",
            "metadata": {"name": "dials.tables.example.com"},
            "spec": {
                "group": "tables.example.com",
                "scope": "Namespaced",
                "names": names,
                "versions": [
                    {**version, **columns, "name": "v1", "storage": True},
                    {**version, "name": "v2", "storage": False},
                ],
            },
        },
    )


@pytest.mark.parametrize(
    ("spec", "cells"),
    [
        ({}, [None] * 6),
        (
            {"text": "a", "level": 1, "ratio": 0.5, "on": True, "list": [{}, {"x": "b"}]},
            ["a", 1, 0.5, True, None, "b"],
        ),
        (
            {"text": {"b": 1, "a": "<"}, "level": 2.9, "ratio": 2.0, "on": "no", "since": "then"},
            ['{"a":"\\u003c","b":1}', 2, 2, None, "<invalid>", None],
        ),
        (
            {"text": 1.5, "level": "1", "ratio": "1", "since": ""},
            ["1.5", None, None, None, "<unknown>", None],
        ),
    ],
)
def test_the_columns_of_a_custom_resource(
    space: Space, dials: CustomResource, spec: Json, cells: list[Any]
) -> None:
    """A CRD's additionalPrinterColumns: what is at the path, if it is of the column's type."""
    space.server.create(dials.path(space.name), dials.object("a", **spec))
    table = _table(space, dials.path(space.name))
    assert _columns(table) == ["Name", *(column["name"] for column in _DIALS)]
    assert _cells(table) == [["a", *cells]]


def test_a_custom_resource_without_columns(space: Space, dials: CustomResource) -> None:
    """A version without additionalPrinterColumns shows the age."""
    space.server.create(dials.path(space.name), dials.object("a"))
    path = dials.path(space.name).replace("/v1/", "/v2/")
    table = _table(space, path)
    assert (_columns(table), _cells(table)) == (["Name", "Age"], [["a", "AGE"]])
