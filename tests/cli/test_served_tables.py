"""Tables of recorded servers, as the command prints them."""

from __future__ import annotations

import json

import pytest

from listwatch.testing import Recording
from tests.cli.conftest import Run
from tests.cli.servers import http, replaying, serving
from tests.support.vectors import vector

pytestmark = pytest.mark.clause("B9")


def test_get_prints_the_cells_of_the_server(run: Run) -> None:
    with replaying([vector("k-list-nodes-table")]) as server:
        ran = run("get", "nodes", "--server", server.url)
        wide = run("get", "nodes", "-o", "wide", "--server", server.url)
        [asked, _] = server.requests
    assert ran.text == (
        "NAME     STATUS                     ROLES    AGE   VERSION\n"
        "node-0   Ready                      <none>   18s   v1.36.3\n"
        "node-1   Ready                      <none>   18s   v1.36.3\n"
        "node-2   Ready,SchedulingDisabled   <none>   18s   v1.36.3\n"
    )
    assert wide.lines[0].split("   ")[-1].strip() == "CONTAINER-RUNTIME"
    assert wide.lines[1].endswith("Linux      6.1 (amd64)      containerd://2.1")
    assert (ran.code, ran.notes) == (0, "")
    assert asked.headers.get("Accept") == (
        "application/json;as=Table;g=meta.k8s.io;v=v1, application/json"
    )
    assert asked.target == "/api/v1/nodes"  # no parameter beside what was asked for


@pytest.mark.parametrize(
    ("name", "arguments", "header"),
    [
        ("k-cr-list-table", ["example.com/v1/widgets", "-n", "rec"], ["NAME", "COLOR"]),
        ("5-list-table", ["example.com/v1/widgets"], ["NAME", "COLOR", "AGE"]),
        ("k-list-crds-table", ["crds"], ["NAME", "CREATED AT"]),
        (
            "k-list-events-table",
            ["events", "-n", "rec"],
            ["LAST SEEN", "TYPE", "REASON", "OBJECT", "MESSAGE"],
        ),
        ("k-list-secrets-table", ["secrets", "-n", "rec"], ["NAME", "TYPE", "DATA", "AGE"]),
        (
            "k-list-pods-table-includeObject",
            ["pods", "-n", "rec"],
            ["NAME", "READY", "STATUS", "RESTARTS", "AGE"],
        ),
    ],
)
def test_columns_are_those_of_the_server_whatever_the_type(
    name: str, arguments: list[str], header: list[str], run: Run
) -> None:
    recording = vector(name)
    with replaying([recording]) as server:
        ran = run("get", *arguments, "--server", server.url)
    sent = json.loads(recording.body)
    shown = [each["priority"] == 0 for each in sent["columnDefinitions"]]
    found = [[cell.strip() for cell in line.split("  ") if cell] for line in ran.lines]
    assert found[0] == header
    assert found[1:] == [
        [str(cell) for cell, wanted in zip(row["cells"], shown, strict=True) if wanted]
        for row in sent["rows"]
    ]
    assert ran.code == 0


def test_the_namespace_is_that_of_the_object(run: Run) -> None:
    recording = vector("k-list-services-table")
    everywhere = Recording("", b"GET /api/v1/services HTTP/1.1\r\n\r\n", recording.response)
    with replaying([everywhere]) as server:
        ran = run("get", "svc", "-A", "--server", server.url)
    assert [line.split()[:2] for line in ran.lines] == [
        ["NAMESPACE", "NAME"],
        ["rec", "headless"],
        ["rec", "web"],
    ]


def test_of_an_empty_table_nothing_is_printed(run: Run) -> None:
    with replaying([vector("k-list-configmaps-table-empty")]) as server:
        path = vector("k-list-configmaps-table-empty").path
        namespace = path.split("/")[4]
        ran = run("get", "cm", "-n", namespace, "--server", server.url)
    assert (ran.code, ran.data) == (0, b"")
    assert ran.note == f"No resources found in {namespace} namespace."


def test_the_servers_words_are_not_asked_for_where_they_are_not_wanted(run: Run) -> None:
    items = [{"metadata": {"name": "w"}, "spec": {"nodeName": "n"}}]
    body = {"kind": "PodList", "apiVersion": "v1", "metadata": {}, "items": items}
    request = b"GET /api/v1/namespaces/default/pods HTTP/1.1\r\n\r\n"
    answer = Recording("", request, http(json.dumps(body).encode()))
    with replaying([answer]) as server:
        ours = run("get", "pods", "--server-print=false", "--server", server.url)
        served = run("get", "pods", "--server-print", "True", "--server", server.url)
        for form in ("name", "json", "yaml"):
            run("get", "pods", "-o", form, "--server", server.url)
        asked = [request.headers.get("Accept") or "" for request in server.requests]
    assert ours.data == served.data  # this server has no words of its own
    assert ours.lines[0].split()[-1] == "NODE"
    assert asked[0] == "application/json"
    assert asked[1].startswith("application/json;as=Table")
    assert asked[2:] == ["application/json"] * 3


def test_server_print_is_yes_or_no(run: Run) -> None:
    ran = run("get", "pods", "--server-print=maybe", "--server", "http://127.0.0.1:1")
    assert ran.code == 2
    assert "neither true nor false" in ran.notes


def test_one_object_is_a_row(run: Run) -> None:
    listed = json.loads(vector("k-list-nodes-table").body)
    listed["rows"] = listed["rows"][:1]
    with serving(http(json.dumps(listed).encode())) as url:
        ran = run("get", "node/node-0", "--server", url)
    assert [line.split()[:2] for line in ran.lines] == [["NAME", "STATUS"], ["node-0", "Ready"]]


def test_watch_prints_the_cells_of_the_server(run: Run) -> None:
    with replaying([vector("k-watchlist-nodes-table")]) as server:
        ran = run("watch", "nodes", "--count", "3", "--server", server.url)
    rows = [line.split() for line in ran.lines]
    assert rows[0] == ["EVENT", "TIME", "NAME", "STATUS", "ROLES", "AGE", "VERSION"]
    assert [[row[0], *row[2:]] for row in rows[1:]] == [
        ["ADDED", "node-0", "Ready", "<none>", "9m20s", "v1.36.3"],
        ["ADDED", "node-1", "Ready", "<none>", "9m20s", "v1.36.3"],
        ["ADDED", "node-2", "Ready,SchedulingDisabled", "<none>", "9m20s", "v1.36.3"],
    ]
    assert ran.code == 0


def test_one_single_watch_prints_them_too_and_bookmarks_as_ever(run: Run) -> None:
    with replaying([vector("k-bookmarks-nodes-table-70s")], speed=None) as server:
        ran = run("watch", "nodes", "--raw", "-o", "wide", "--count", "4", "--server", server.url)
        [asked] = server.requests
    rows = [line.split() for line in ran.lines]
    assert rows[0][-2:] == ["KERNEL-VERSION", "CONTAINER-RUNTIME"]
    assert [row[0] for row in rows[1:]] == ["MODIFIED", "MODIFIED", "BOOKMARK", "BOOKMARK"]
    assert rows[1][2:4] == ["node-0", "Ready"]
    assert rows[3][2] == "resourceVersion=668"
    assert asked.target == "/api/v1/nodes?watch=true"


@pytest.mark.clause("D3")
def test_an_error_in_a_watch_of_tables_is_said(run: Run) -> None:
    recording = vector("k-compacted-restart-watch-table")
    namespace = recording.path.split("/")[4]
    with replaying([recording]) as server:
        ran = run("watch", "pods", "-n", namespace, "--raw", "--server", server.url)
    assert ran.code == 1
    assert "410 Expired" in ran.text
