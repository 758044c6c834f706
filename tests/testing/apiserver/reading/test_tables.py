"""Tables, as a real server made them of the same objects (K2, K5, K16, K17, K52). What columns are
for is told in words of our own, which are left out of all comparisons.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Any

import pytest

from listwatch.testing.apiserver.messages import Answer
from listwatch.testing.apiserver.reading.printers import printer_of
from listwatch.testing.apiserver.types.type_table import builtin_types
from tests.testing.apiserver.asking import Asking
from tests.testing.apiserver.read_server import (
    RECORDINGS,
    START,
    WIDGETS,
    ReadServer,
    events_of,
    items_of,
    message,
    recorded,
    stream_of,
)

TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"
PODS = "/api/v1/namespaces/rec/pods"

_DESCRIPTION = re.compile(rb'"description":"(\\.|[^"\\])*"')
_AGE = re.compile(rb'"[0-9]+(s|m|m[0-9]+s)"')
_COLOR = {"name": "Color", "type": "string", "jsonPath": ".spec.color"}
_AGED = {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"}

_LISTS = {
    "k-list-configmaps-table": "configmaps",
    "k-list-crds-table": "customresourcedefinitions.apiextensions.k8s.io",
    "k-list-deployments-table": "deployments.apps",
    "k-list-endpointslices-table": "endpointslices.discovery.k8s.io",
    "k-list-events-k8s-io-table": "events.events.k8s.io",
    "k-list-events-table": "events",
    "k-list-jobs-table": "jobs.batch",
    "k-list-leases-table": "leases.coordination.k8s.io",
    "k-list-namespaces-table": "namespaces",
    "k-list-nodes-table": "nodes",
    "k-list-replicasets-table": "replicasets.apps",
    "k-list-secrets-table": "secrets",
    "k-list-services-table": "services",
}


def undescribed(body: bytes) -> bytes:
    return _DESCRIPTION.sub(b'"description":""', body)


def without_ages(body: bytes) -> bytes:
    return _AGE.sub(b'"AGE"', undescribed(body))


def restored(kinds: str, source: str, *, rv: int, revision: int) -> ReadServer:
    """What another recording shows of the same objects."""
    server = ReadServer(rv=1)
    plural, _, group = kinds.partition(".")
    server.restore(server.type(plural, group), items_of(source), rv)
    server.log.revision = revision
    return server


def at_the_time_of(server: ReadServer, name: str) -> None:
    date = recorded(name).headers.get("Date")
    assert date is not None
    server.now = (parsedate_to_datetime(date) - START).total_seconds()


def same(server: ReadServer, name: str) -> None:
    at_the_time_of(server, name)
    answer = server.settled(server.replay(name))
    recording = recorded(name)
    assert undescribed(answer.body) == undescribed(recording.body)
    assert (answer.status, answer.content_type) == (recording.status, "application/json")


def rv_of(name: str) -> int:
    return int(json.loads(recorded(name).body)["metadata"]["resourceVersion"])


@pytest.mark.parametrize("name", _LISTS)
def test_a_table_is_printed_as_recorded(name: str) -> None:
    rv = rv_of(name)
    server = restored(_LISTS[name], name.removesuffix("-table"), rv=rv, revision=rv)
    same(server, name)


def test_an_empty_table_has_its_columns() -> None:
    name = "k-list-configmaps-table-empty"
    same(restored("configmaps", "k-list-configmaps", rv=1271, revision=1271), name)


@pytest.mark.parametrize(
    "name",
    [
        "k-list-pods-table",
        "k-list-pods-table-includeNone",
        "k-list-pods-table-includeMetadata",
        "k-list-pods-table-includeObject",
    ],
)
def test_beside_the_cells_is_what_was_asked_for(name: str) -> None:
    server = restored("pods", "k-list-pods-rv0", rv=rv_of(name), revision=rv_of(name))
    server.items("/api/v1/pods")
    same(server, name)


@pytest.mark.parametrize(
    "name", ["k-list-pods-table-includeBogus", "k-watch-pods-table-includeBogus"]
)
def test_what_nobody_includes_is_refused_as_recorded(name: str) -> None:
    server = restored("pods", "k-list-pods-rv0", rv=456, revision=456)
    answer = server.replay(name)
    assert isinstance(answer, Answer)
    assert answer.status == recorded(name).status == 400
    assert json.loads(answer.body) == json.loads(recorded(name).body)


def test_what_is_wrong_otherwise_is_told_first() -> None:
    server = ReadServer()
    for target, code in (
        (f"{PODS}/nope?includeObject=Bogus", 404),
        (f"{PODS}?includeObject=Bogus&fieldSelector=a%3Db", 400),
        (f"{PODS}?includeObject=Bogus&fieldSelector=a%3Db&watch=1", 400),
    ):
        answer = server.answer(target, accept=TABLE)
        assert answer.status == code
        assert "includeObject" not in message(answer)


@pytest.mark.parametrize(
    "name", ["5-list-table", "5-list-table-includeObject-none", "5-list-table-includeObject-object"]
)
def test_a_custom_resource_has_the_columns_of_its_definition(name: str) -> None:
    server = _widgets(212)
    server.state.types.add(replace(WIDGETS, columns=[_COLOR, _AGED]))
    same(server, name)


def _widgets(rv: int) -> ReadServer:
    server = ReadServer(rv=4)
    server.restore(WIDGETS, items_of("2-list-rv0-limit10"), 55)
    for event, value in events_of("3-watch-add-modify-status-delete"):
        if int(value["metadata"]["resourceVersion"]) <= rv:
            server.replay_write(WIDGETS, event, value)
    server.log.revision = rv
    return server


# Watches


def _pod(metadata: Mapping[str, Any], phase: str) -> dict[str, Any]:
    return {"metadata": metadata, "spec": {"containers": [{}]}, "status": {"phase": phase}}


def test_a_watch_tells_the_columns_with_its_first_event_only() -> None:
    name = "k-watch-pods-crud-table"
    recording = recorded(name)
    server = ReadServer(rv=int(dict(recording.query)["resourceVersion"]))
    server.items("/api/v1/pods")
    at_the_time_of(server, name)
    stream = stream_of(server.replay(name))
    pods = server.type("pods")
    for event in map(json.loads, recording.body.splitlines()):
        metadata = event["object"]["rows"][0]["object"]["metadata"]
        server.replay_write(pods, event["type"], _pod(metadata, "Pending"))
    given = b"".join(data for _, data in server.run(stream, 100))
    assert without_ages(given) == without_ages(recording.body)


def test_a_watch_list_ends_with_a_row_of_empty_cells() -> None:
    name = "k-watchlist-nodes-table"
    server = restored("nodes", "k-list-nodes", rv=663, revision=663)
    at_the_time_of(server, name)
    stream = stream_of(server.replay(name))
    given = b"".join(data for _, data in server.run(stream, 2))
    assert undescribed(given) == undescribed(recorded(name).body)


@pytest.mark.parametrize(
    ("included", "metadata"),
    [("", True), ("Metadata", True), ("None", False), ("Object", None)],
)
def test_a_bookmark_has_no_more_than_was_asked_for(included: str, metadata: bool | None) -> None:
    server = ReadServer()
    target = f"/api/v1/nodes?watch=1&allowWatchBookmarks=true&includeObject={included}"
    stream = server.watch(f"{target}&timeoutSeconds=5&resourceVersion=1", accept=TABLE)
    server.put("nodes", "a")
    *_, (_, last) = server.run(stream, 10)
    event = json.loads(last)
    row = event["object"]["rows"][0]
    assert (event["type"], row["cells"][:3]) == ("BOOKMARK", ["", "Unknown", "<none>"])
    if metadata is None:
        assert row["object"]["kind"] == "Node"
    else:
        found = row["object"] and row["object"]["metadata"]
        assert found == ({"resourceVersion": "2"} if metadata else None)


def test_the_last_initial_bookmark_has_its_metadata_whatever_was_asked_for() -> None:
    server = ReadServer()
    target = "/api/v1/nodes?watch=1&allowWatchBookmarks=true&sendInitialEvents=true"
    more = "resourceVersionMatch=NotOlderThan&includeObject=None&timeoutSeconds=1"
    stream = server.watch(f"{target}&{more}", accept=TABLE)
    ((_, data),) = server.run(stream, 2)
    table = json.loads(data)["object"]
    assert len(table["columnDefinitions"]) == 10
    assert table["rows"][0]["object"]["metadata"]["annotations"] == {
        "k8s.io/initial-events-end": "true"
    }


def test_what_leaves_the_selection_shows_its_old_cells_and_the_new_revision() -> None:
    server = ReadServer()
    server.put("configmaps", "a", labels={"x": "1"}, data={"a": "1"})
    target = "/api/v1/configmaps?watch=1&labelSelector=x%3D1"
    stream = server.watch(f"{target}&resourceVersion=2", accept=TABLE)
    server.put("configmaps", "a", labels={"x": "2"}, data={"a": "1", "b": "2"})
    event = json.loads(stream.take()[0])
    assert (event["type"], event["object"]["metadata"]) == ("DELETED", {"resourceVersion": "3"})
    assert event["object"]["rows"][0]["cells"][:2] == ["a", 1]


def test_watches_of_different_forms_do_not_get_each_others_frames() -> None:
    server = ReadServer()
    ways = [("application/json", ""), (TABLE, ""), (TABLE, "&includeObject=None")]
    streams = [
        server.watch(f"/api/v1/pods?watch=1&resourceVersion=1{more}", accept=accept)
        for accept, more in ways
    ]
    server.put("pods", "a")
    found = [json.loads(stream.take()[0])["object"] for stream in streams]
    assert [each["kind"] for each in found] == ["Pod", "Table", "Table"]
    assert [each["rows"][0]["object"] is None for each in found[1:]] == [False, True]


def test_an_error_in_a_watch_is_a_status_still() -> None:
    server = ReadServer(rv=5)
    server.log.compact(5)
    stream = server.watch("/api/v1/events?watch=1&resourceVersion=2", accept=TABLE)
    event = json.loads(stream.take()[0])
    assert (event["type"], event["object"]["kind"]) == ("ERROR", "Status")


# Forms


@pytest.mark.parametrize("version", ["v1", "v1beta1"])
def test_a_table_is_of_the_version_that_was_asked_for(version: str) -> None:
    server = ReadServer()
    server.put("pods", "a")
    accept = f"application/json;as=Table;v={version};g=meta.k8s.io"
    for target in ("/api/v1/pods", "/api/v1/namespaces/default/pods/a"):
        table = json.loads(server.answer(target, accept=accept).body)
        assert (table["kind"], table["apiVersion"]) == ("Table", f"meta.k8s.io/{version}")
        assert table["rows"][0]["object"]["apiVersion"] == f"meta.k8s.io/{version}"


@pytest.mark.parametrize(
    ("accept", "kind"),
    [
        (f"{TABLE},application/json", "Table"),
        (f"application/json,{TABLE}", "PodList"),
        ("*/*;as=Table;v=v1;g=meta.k8s.io", "Table"),
        ("application/json;as=Table;v=v2;g=meta.k8s.io,application/json", "PodList"),
        ("application/json;as=Table;g=meta.k8s.io,application/json", "PodList"),
        ("application/vnd.kubernetes.protobuf;as=Table;v=v1;g=meta.k8s.io,*/*", "PodList"),
    ],
)
def test_a_table_is_one_of_the_forms_of_json(accept: str, kind: str) -> None:
    """K6."""
    assert json.loads(ReadServer().answer("/api/v1/pods", accept=accept).body)["kind"] == kind


def test_ages_are_of_the_moment_of_the_answer() -> None:
    ask = Asking()
    ask("POST", "/api/v1/namespaces", {"metadata": {"name": "x"}})
    ages = []
    for seconds in (0, 119, 125, 3600 * 30, 86400 * 400):
        ask.now = float(seconds)
        table = json.loads(ask.get("/api/v1/namespaces/x", accept=TABLE).body)
        ages.append(table["rows"][0]["cells"][-1])
    assert ages == ["0s", "119s", "2m5s", "30h", "400d"]


def test_what_is_written_comes_back_as_a_table_too() -> None:
    ask = Asking()
    path = "/api/v1/namespaces/default/configmaps"
    made = ask("POST", path, {"metadata": {"name": "a"}, "data": {"a": "1"}}, accept=TABLE)
    assert isinstance(made, Answer)
    assert made.status == 201
    assert json.loads(made.body)["rows"][0]["cells"][:2] == ["a", 1]
    gone = ask("DELETE", f"{path}/a", accept=TABLE)
    assert isinstance(gone, Answer)
    assert json.loads(gone.body)["kind"] == "Status"


@pytest.mark.parametrize("included", ["", "None"])
def test_a_collection_that_is_deleted_can_be_a_table(included: str) -> None:
    ask = Asking()
    path = "/api/v1/namespaces/default/configmaps"
    for name in ("a", "b"):
        ask("POST", path, {"metadata": {"name": name, "labels": {"l": name}}})
    query = f"labelSelector=l%3Da&includeObject={included}"
    gone = ask("DELETE", f"{path}?{query}", accept=TABLE)
    assert isinstance(gone, Answer)
    assert [row["cells"][0] for row in json.loads(gone.body)["rows"]] == ["a"]
    left = json.loads(ask.get(path).body)["items"]
    assert [item["metadata"]["name"] for item in left] == ["b"]


def test_the_scale_of_a_deployment_is_a_table_of_its_own() -> None:
    ask = Asking()
    path = "/apis/apps/v1/namespaces/default/deployments"
    pod = {"containers": [{"name": "c", "image": "i"}]}
    template = {"metadata": {"labels": {"a": "b"}}, "spec": pod}
    selector = {"matchLabels": {"a": "b"}}
    spec = {"replicas": 3, "selector": selector, "template": template}
    ask("POST", path, {"metadata": {"name": "web"}, "spec": spec})
    table = json.loads(ask.get(f"{path}/web/scale", accept=TABLE).body)
    columns = [(each["name"], each["format"]) for each in table["columnDefinitions"]]
    assert columns == [("Name", ""), ("Desired", ""), ("Available", ""), ("Age", "")]
    assert table["rows"][0]["cells"] == ["web", 3, 0, "0s"]


# Columns


def test_all_types_have_the_columns_of_the_real_server() -> None:
    """K52."""
    recording = json.loads((RECORDINGS / "k-table-columns.json").read_text())
    found = {
        f"{of.api_version}/{of.plural}": [column.definition for column in printer_of(of).columns]
        for of in builtin_types()
        if of.is_stored
    }
    for columns in found.values():
        for column in columns:
            assert column.pop("description")
    assert found == recording


_PRINTED = json.loads((RECORDINGS / "k-printed.json").read_text())
"""Objects of a kube-apiserver with the cells that it printed of them, and when."""


@pytest.mark.parametrize(
    "printed", _PRINTED, ids=lambda each: f"{each['type']}/{each['object']['metadata']['name']}"
)
def test_cells_are_those_of_the_real_server(printed: dict[str, Any]) -> None:
    """K52."""
    of = next(of for of in builtin_types() if f"{of.api_version}/{of.plural}" == printed["type"])
    printer, obj, now = printer_of(of), printed["object"], datetime.fromisoformat(printed["now"])
    # It may have printed it a moment before it told the time.
    moments = (printer.cells(obj, now - timedelta(seconds=early)) for early in (0, 1))
    assert printed["cells"] in moments
    given = printer.conditions(obj) if printer.conditions is not None else []
    assert given == printed.get("conditions", [])


def test_all_types_but_a_few_that_are_seldom_made_were_printed() -> None:
    types = {f"{of.api_version}/{of.plural}" for of in builtin_types() if of.is_stored}
    assert {each["type"] for each in _PRINTED} <= types
    assert len(types - {each["type"] for each in _PRINTED}) < 10


@pytest.mark.parametrize("of", [of for of in builtin_types() if of.is_stored], ids=str)
def test_every_type_prints_an_object_with_nothing_in_it(of: Any) -> None:
    printer = printer_of(of)
    cells = printer.cells({}, START)
    extra = of.plural == "ipaddresses"  # the real server's mistake
    assert len(cells) == len(printer.columns) + extra
    for wrong in (None, "text", 3, [None], [{"a": 1}], {"a": None}):
        whole = {"metadata": {"name": "a"}, "spec": wrong, "status": wrong, "subjects": wrong}
        assert len(printer.cells(whole, START)) == len(cells)


_FULL = {
    "s": "text",
    "i": 3,
    "n": 3,
    "b": True,
    "d": "2001-02-03T04:05:06Z",
    "l": [{"x": "a", "y": 1}, {"x": "b", "y": 2}],
}


@pytest.mark.parametrize(
    ("kind", "path", "spec", "cell"),
    [
        ("string", ".spec.s", _FULL, "text"),
        ("string", ".spec.i", _FULL, "3"),
        ("string", ".spec.b", _FULL, "true"),
        ("string", ".spec.none", _FULL, None),
        ("string", ".spec.s", {"s": None}, "<no value>"),
        ("string", ".spec.s", {"s": 1.5}, "1.5"),
        ("string", ".spec.s", {"s": 1e21}, "1e+21"),
        ("string", ".spec.s", {"s": 0.00001}, "1e-05"),
        ("string", ".spec.s", {"s": 123456789.5}, "1.234567895e+08"),
        ("string", ".spec.s", {"s": 20000000.0}, "20000000"),
        ("string", ".spec.s", {"s": {"b": 1, "a": None}}, '{"a":null,"b":1}'),
        ("string", ".spec.s", {"s": [1, {"b": 2.5, "a": "<"}]}, '[1,{"a":"\\u003c","b":2.5}]'),
        ("string", ".spec.l[*].x", _FULL, "a"),
        ("string", ".spec.l[*].x", {"l": [{"z": 1}, {"x": "q"}]}, "q"),
        ("string", ".spec.l[0:1]", _FULL, '{"x":"a","y":1}'),
        ("string", ".spec.l[-1].x", _FULL, "b"),
        ("string", ".spec.l[7].x", _FULL, None),
        ("string", '.spec.l[?(@.x=="b")].y', _FULL, "2"),
        ("string", ".", _FULL, None),
        ("integer", ".spec.i", _FULL, 3),
        ("integer", ".spec.i", {"i": -3.7}, -3),
        ("integer", ".spec.i", {"i": 1e21}, -(2**63)),
        ("integer", ".spec.i", {"i": True}, None),
        ("integer", ".spec.i", {"i": "3"}, None),
        ("number", ".spec.n", {"n": 3.0}, 3),
        ("number", ".spec.n", {"n": 9007199254740993}, 9007199254740992),
        ("number", ".spec.n", {"n": 0.25}, 0.25),
        ("number", ".spec.n", {"n": "1"}, None),
        ("boolean", ".spec.b", {"b": False}, False),
        ("boolean", ".spec.b", {"b": "true"}, None),
        ("date", ".spec.d", _FULL, "24y"),
        ("date", ".spec.d", {"d": "2001-02-03T04:05:06+01:00"}, "24y"),
        ("date", ".spec.d", {"d": "bad"}, "<invalid>"),
        ("date", ".spec.d", {"d": ""}, "<unknown>"),
        ("date", ".spec.d", {"d": 5}, None),
        ("date", ".spec.d", {"d": "2999-02-03T04:05:06Z"}, "<invalid>"),
    ],
)
def test_the_cells_of_a_custom_resource(kind: str, path: str, spec: Any, cell: Any) -> None:
    """As a kube-apiserver printed these values."""
    column = {"name": "X", "type": kind, "jsonPath": path}
    printer = printer_of(replace(WIDGETS, columns=[column]))
    assert printer.cells({"metadata": {"name": "a"}, "spec": spec}, START) == ["a", cell]


@pytest.mark.parametrize(
    ("number", "text"),
    [(1e21, b"1e+21"), (0.00001, b"0.00001"), (1e-7, b"1e-7"), (2.5e-10, b"2.5e-10")],
)
def test_numbers_are_written_as_go_does(number: float, text: bytes) -> None:
    server = ReadServer()
    server.state.types.add(
        widgets := replace(
            WIDGETS, columns=[{"name": "N", "type": "number", "jsonPath": ".spec.n"}]
        )
    )
    server.log.put(
        widgets.storage,
        ("default", "a"),
        {"apiVersion": "example.com/v1", "metadata": {"name": "a"}, "spec": {"n": number}},
    )
    body = server.answer("/apis/example.com/v1/widgets?includeObject=None", accept=TABLE).body
    assert b'"cells":["a",%b]' % text in body


def test_a_custom_resource_has_its_age_where_its_definition_has_no_columns() -> None:
    assert [column.name for column in printer_of(WIDGETS).columns] == ["Name", "Age"]


def test_columns_end_before_one_that_cannot_be_read() -> None:
    columns = [_COLOR, {**_COLOR, "jsonPath": ".spec..x["}, _AGED]
    printer = printer_of(replace(WIDGETS, columns=columns))
    assert [column.name for column in printer.columns] == ["Name", "Color"]


def test_a_column_is_what_its_definition_says() -> None:
    given = {**_COLOR, "description": "Its color.", "format": "byte", "priority": 1}
    _, column = printer_of(replace(WIDGETS, columns=[given])).columns
    assert column.definition == {
        "name": "Color",
        "type": "string",
        "format": "byte",
        "description": "Its color.",
        "priority": 1,
    }
