from __future__ import annotations

import json

import pytest
import yaml

from listwatch.testing import Match, Recording
from tests.cli.conftest import Run
from tests.cli.servers import STREAM, replaying, serving, streaming


def _pod(name: str, rv: str, phase: str = "Running") -> dict[str, object]:
    return {
        "kind": "Pod",
        "apiVersion": "v1",
        "metadata": {"name": name, "namespace": "default", "resourceVersion": rv},
        "status": {"phase": phase},
    }


ADDED = b'{"type":"ADDED","object":%s}\n' % json.dumps(_pod("a", "1", "Pending")).encode()
MODIFIED = b'{"type":"MODIFIED","object":%s}\n' % json.dumps(_pod("a", "2")).encode()
DELETED = b'{"type":"DELETED","object":%s}\n' % json.dumps(_pod("a", "3")).encode()
BOOKMARK = b'{"type":"BOOKMARK","object":{"kind":"Pod","metadata":{"resourceVersion":"9"}}}\n'
EXPIRED = (
    b'{"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure",'
    b'"message":"too old resource version: 1 (900)","reason":"Expired","code":410}}\n'
)
ALL = (ADDED, MODIFIED, DELETED, BOOKMARK)


@pytest.mark.clause("D1")
def test_json_is_the_apis_own_lines(run: Run) -> None:
    obj = b'{"kind":"Pod","metadata":{"name":"b"},"x":1.0e2, "y":"\\u003c"}'
    odd = b'{"object": %s,"type":"ADDED"}\n' % obj
    with serving(STREAM + b"".join(ALL) + odd) as url:
        ran = run("watch", "--raw", "pods", "-o", "json", "--server", url)
    assert ran.data == b"".join(ALL) + b'{"type":"ADDED","object":%s}\n' % obj
    assert ran.code == 0


@pytest.mark.clause("C2")
def test_a_pretty_printing_server_still_gives_one_line_an_event(run: Run) -> None:
    pretty = json.dumps(json.loads(ADDED), indent=2).encode()
    with serving(STREAM + pretty) as url:
        ran = run("watch", "--raw", "pods", "-o", "json", "--server", url)
    assert (
        ran.data
        == b'{"type":"ADDED","object":%s}\n'
        % json.dumps(_pod("a", "1", "Pending"), separators=(",", ":")).encode()
    )


def test_a_table_row_is_one_event(run: Run) -> None:
    with serving(STREAM + b"".join(ALL)) as url:
        ran = run("watch", "--raw", "pods", "--server", url)
    rows = [line.split() for line in ran.lines]
    assert rows[0] == ["EVENT", "TIME", "NAME", "READY", "STATUS", "RESTARTS", "AGE", "NODE"]
    assert [[row[0], *row[2:5]] for row in rows[1:4]] == [
        ["ADDED", "a", "0/0", "Pending"],
        ["MODIFIED", "a", "0/0", "Running"],
        ["DELETED", "a", "0/0", "Running"],
    ]
    assert rows[4][0] == "BOOKMARK"
    assert rows[4][2:] == ["resourceVersion=9"]
    assert "\x1b" not in ran.text  # no colours but on a terminal


def test_names_and_yaml_are_there_too(run: Run) -> None:
    with serving(STREAM + ADDED + DELETED + BOOKMARK) as url:
        names = run("watch", "--raw", "pods", "-o", "name", "--server", url)
        documents = run("watch", "--raw", "pods", "-o", "yaml", "--server", url)
    assert names.lines == ["ADDED pod/a", "DELETED pod/a", "BOOKMARK resourceVersion=9"]
    assert documents.lines[:3] == ["---", "type: ADDED", "object:"]
    assert list(yaml.safe_load_all(documents.data)) == [
        json.loads(line) for line in (ADDED, DELETED, BOOKMARK)
    ]


@pytest.mark.parametrize(
    ("arguments", "target"),
    [
        (["pods", "--raw"], "/api/v1/namespaces/default/pods?watch=true"),
        (["pods", "--raw", "-A"], "/api/v1/pods?watch=true"),
        (["pods", "--since", "7", "-A"], "/api/v1/pods?resourceVersion=7&watch=true"),
        (["pods", "--raw", "--since", "7", "-A"], "/api/v1/pods?resourceVersion=7&watch=true"),
        (
            ["pods/web-0", "--raw"],
            "/api/v1/namespaces/default/pods?fieldSelector=metadata.name%3Dweb-0&watch=true",
        ),
        (
            ["pods", "--raw", "-A", "-l", "a=b", "--limit", "3"],
            "/api/v1/pods?labelSelector=a%3Db&limit=3&watch=true",
        ),
    ],
)
def test_one_watch_asks_for_what_the_user_did_and_no_more(
    arguments: list[str], target: str, run: Run
) -> None:
    recording = Recording("", b"GET / HTTP/1.1\r\n\r\n", STREAM)
    with replaying([recording], match=Match.ORDER) as server:
        run("watch", *arguments, "--server", server.url)
        assert [request.target for request in server.requests] == [target]


@pytest.mark.clause("D3")
def test_an_error_event_is_printed_and_is_a_failure_and_so_is_what_follows_it(run: Run) -> None:
    with serving(STREAM + ADDED + EXPIRED + DELETED) as url:
        ran = run("watch", "--raw", "pods", "-o", "json", "--server", url)
    assert ran.data == ADDED + EXPIRED + DELETED
    assert ran.code == 1
    assert ran.note == (
        "listwatch: the server ended the watch: 410 Expired: too old resource version: 1 (900)"
    )


def test_an_error_event_is_a_row_too(run: Run) -> None:
    with serving(STREAM + EXPIRED) as url:
        table = run("watch", "--raw", "pods", "--server", url)
        names = run("watch", "--raw", "pods", "-o", "name", "--server", url)
    assert table.lines[1].split(maxsplit=2)[2] == "410 Expired: too old resource version: 1 (900)"
    assert names.lines == ["ERROR 410 Expired: too old resource version: 1 (900)"]
    assert table.code == names.code == 1


def test_an_end_by_the_server_is_said_and_is_no_failure(run: Run) -> None:
    with serving(STREAM + ADDED) as url:
        ran = run("watch", "--raw", "pods", "-o", "name", "--server", url)
    assert (ran.code, ran.note) == (0, "listwatch: the server ended the watch after 1 event")


@pytest.mark.clause("E2")
def test_a_connection_that_breaks_off_is_told_apart_from_an_end(run: Run) -> None:
    head = (
        b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
    )
    cut = b"%x\r\n%s\r\n" % (len(ADDED), ADDED)
    with serving(head + cut) as url:
        ran = run("watch", "--raw", "pods", "-o", "name", "--server", url)
    assert ran.code == 1
    assert ran.note.startswith("listwatch: the watch broke off after 1 event: the connection ")


@pytest.mark.clause("C4", "E2")
def test_a_body_that_ends_inside_an_event_broke_off_too(run: Run) -> None:
    with serving(STREAM + ADDED + MODIFIED[:30]) as url:
        ran = run("watch", "--raw", "pods", "-o", "name", "--server", url)
    assert (ran.code, ran.lines) == (1, ["ADDED pod/a"])
    assert ran.note.startswith("listwatch: the watch broke off after 1 event: the stream ended ")


def test_count_ends_it_after_so_many_events_of_a_batch(run: Run) -> None:
    with serving(streaming(b"".join(ALL))) as url:
        ran = run("watch", "--raw", "pods", "-o", "json", "--count", "2", "--server", url)
    assert (ran.data, ran.code, ran.notes) == (ADDED + MODIFIED, 0, "")


def test_duration_ends_it(run: Run) -> None:
    with serving(streaming(ADDED)) as url:
        ran = run("watch", "--raw", "pods", "-o", "json", "--duration", "300ms", "--server", url)
    assert (ran.data, ran.code, ran.notes) == (ADDED, 0, "")


@pytest.mark.clause("D6")
def test_an_object_that_cannot_be_read_is_a_row_and_the_watch_goes_on(run: Run) -> None:
    bad = b'{"type":"ADDED","object":{"metadata":{"name":7}}}\n'
    with serving(STREAM + bad + DELETED) as url:
        names = run("watch", "--raw", "pods", "-o", "name", "--server", url)
        lines = run("watch", "--raw", "pods", "-o", "json", "--server", url)
    assert names.lines[0].startswith("ADDED cannot decode an object")
    assert names.lines[1] == "DELETED pod/a"
    assert names.code == 1
    assert (lines.data, lines.code) == (bad + DELETED, 0)
