"""Whatever is wrong, there is one clear line on standard error, and no traceback."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.cli.servers import STREAM, http, replaying, serving, silent, streaming

PAGE = (
    b"<!doctype html><html><head><title>Sign in</title></head>"
    b"<body><p>Corp\x1b[2J proxy</p></body></html>"
)
ONCE = pytest.mark.parametrize("command", ["get", "watch --raw"])
"""What asks once."""
FIRST = pytest.mark.parametrize("command", ["get", "watch --raw", "watch", "get -w"])
"""What ends when the first answer is a refusal for good."""


@FIRST
def test_an_unknown_resource(command: str, run: Run) -> None:
    with replaying([]) as server:
        ran = run(*command.split(), "podz", "--server", server.url)
    assert ran.code == 1
    assert ran.note.startswith("listwatch: the server has no resource 'podz' that we know of.")
    assert "Did you mean pods" in ran.note


@FIRST
@pytest.mark.parametrize("resource", ["pods/", "po ds", "-x-", "pods/a/log", "", "a/b/c/d"])
def test_what_can_be_no_resource(resource: str, command: str, run: Run) -> None:
    with replaying([]) as server:
        ran = run(*command.split(), "--server", server.url, "--", resource)
    assert ran.code in (1, 2)
    assert ran.note.startswith("listwatch: ")


@FIRST
@pytest.mark.clause("A4")
@pytest.mark.parametrize("option", ["-l", "--field-selector"])
def test_a_bad_selector(option: str, command: str, run: Run) -> None:
    ran = run(*command.split(), "pods", option, "a in b", "--server", "http://127.0.0.1:1")
    assert ran.code == 2
    assert ran.note.startswith("listwatch: selector 'a in b', at position ")


@FIRST
def test_a_selector_that_only_the_server_refuses(command: str, run: Run) -> None:
    status = {"kind": "Status", "status": "Failure", "reason": "BadRequest", "code": 400}
    told = {**status, "message": 'field label not supported: "spec.color"'}
    with serving(http(json.dumps(told).encode(), status="400 Bad Request")) as url:
        ran = run(*command.split(), "pods", "--field-selector", "spec.color=red", "--server", url)
    assert ran.code == 1
    assert ran.note == (
        'listwatch: the server answered 400 BadRequest: field label not supported: "spec.color"'
    )


@ONCE
def test_a_refused_connection(command: str, run: Run) -> None:
    ran = run(*command.split(), "pods", "--server", "http://127.0.0.1:1")
    assert ran.code == 1
    assert ran.note == "listwatch: cannot connect to http://127.0.0.1:1: connection refused"


@ONCE
@pytest.mark.clause("B6")
def test_html_from_a_proxy_with_200(command: str, run: Run) -> None:
    with serving(http(PAGE, content_type="text/html; charset=utf-8")) as url:
        ran = run(*command.split(), "pods", "--server", url)
    assert ran.code == 1
    assert ran.note.startswith(f"listwatch: {url}: the answer has Content-Type 'text/html")
    assert "is there a proxy in between" in ran.note
    assert "Corp" in ran.note
    assert "\x1b" not in ran.note


@ONCE
@pytest.mark.clause("A5")
def test_html_from_a_proxy_with_503(command: str, run: Run) -> None:
    with serving(http(PAGE, status="503 Service Unavailable", content_type="text/html")) as url:
        ran = run(*command.split(), "pods", "--server", url)
    assert ran.code == 1
    assert ran.note.startswith("listwatch: the server answered 503 ServiceUnavailable: ")
    assert "<" not in ran.note


@ONCE
@pytest.mark.clause("B11")
def test_a_half_open_server(command: str, run: Run) -> None:
    with serving(silent) as url:
        ran = run(*command.split(), "pods", "--server", url, "--request-timeout", "0.3s")
    assert ran.code == 1
    path = "/api/v1/namespaces/default/pods"
    assert ran.note == f"listwatch: {url} did not answer GET {path} within 0.3 s"


def test_a_half_open_server_when_the_duration_is_over(run: Run) -> None:
    with serving(silent) as url:
        ran = run("watch", "--raw", "pods", "--server", url, "--duration", "0.3s")
    assert ran.code == 1
    assert ran.note == f"listwatch: {url} had not answered when --duration was over"


@ONCE
def test_a_server_that_hangs_up(command: str, run: Run) -> None:
    with serving(b"") as url:
        ran = run(*command.split(), "pods", "--server", url)
    assert ran.code == 1
    assert ran.note == f"listwatch: {url} closed the connection before it answered"


@ONCE
def test_a_server_that_does_not_speak_http(command: str, run: Run) -> None:
    with serving(b"SSH-2.0-OpenSSH_9.9\r\n") as url:
        ran = run(*command.split(), "pods", "--server", url)
    assert ran.code == 1
    assert "does not answer in HTTP" in ran.note


@pytest.mark.clause("C4", "E2")
@pytest.mark.parametrize(
    "garbage", [b"garbage\n", b'{"type":', b"{}\n", b"\xff\xfe\x00", b'{"type":"X","object":{}}\n']
)
@pytest.mark.parametrize("output", ["table", "json", "yaml", "name"])
def test_a_stream_of_garbage(garbage: bytes, output: str, run: Run) -> None:
    good = b'{"type":"ADDED","object":{"kind":"Pod","metadata":{"name":"a"}}}\n'
    with serving(streaming(good + garbage + good + b"x" * 100)) as url:
        ran = run("watch", "--raw", "pods", "-o", output, "--server", url, "--duration", "5s")
    assert ran.code == 1
    assert ran.note.startswith(f"listwatch: {url}: unable to decode an event from the watch stream")
    assert ran.text.count("ADDED") == 1  # what came before it is there, and nothing else


@pytest.mark.clause("D7")
@pytest.mark.parametrize("body", [b"garbage", b'{"kind":', b"[]", b"\xff\xfe", b'"x"', b"{}"])
def test_a_list_of_garbage(body: bytes, run: Run) -> None:
    with serving(http(body)) as url:
        ran = run("get", "pods", "--server", url)
    assert (ran.code, ran.data) == (1, b"")
    assert ran.note.startswith(f"listwatch: {url}: the server")


@pytest.mark.parametrize("body", [b"garbage", b"[]", b"{}", b"", b"null", b'{"kind":"Pod"}'])
@pytest.mark.parametrize("output", ["table", "json", "yaml", "name"])
def test_garbage_in_place_of_an_object(body: bytes, output: str, run: Run) -> None:
    with serving(http(body)) as url:
        ran = run("get", "pods", "a", "-o", output, "--server", url)
    assert (ran.code, ran.data) == (1, b"")
    assert ran.note.startswith(f"listwatch: {url}")


def test_an_empty_body_of_a_list(run: Run) -> None:
    with serving(http(b"")) as url:
        ran = run("get", "pods", "--server", url)
    assert ran.code == 1
    assert ran.note == (
        f"listwatch: {url}: the server sent an empty body where a list was expected"
    )


def test_an_empty_body_of_a_watch_is_its_end(run: Run) -> None:
    with serving(STREAM) as url:
        ran = run("watch", "--raw", "pods", "--server", url)
    assert (ran.code, ran.data) == (0, b"")
    assert ran.note == "listwatch: the server ended the watch after 0 events"


@pytest.mark.clause("D7")
def test_items_that_are_null_are_none(run: Run) -> None:
    with serving(http(b'{"kind":"PodList","apiVersion":"v1","metadata":{},"items":null}')) as url:
        table = run("get", "pods", "--server", url)
        as_json = run("get", "pods", "-o", "json", "--server", url)
    assert (table.code, table.note) == (0, "No resources found in default namespace.")
    assert json.loads(as_json.data)["items"] == []


def test_a_list_that_breaks_off(run: Run) -> None:
    with serving(b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{") as url:
        ran = run("get", "pods", "--server", url)
    assert ran.code == 1
    assert "the connection was lost inside the answer" in ran.notes


@pytest.mark.parametrize(
    "arguments",
    [
        ["get"],
        ["fetch"],
        ["--nonsense"],
        ["get", "pods,services", "a"],
        ["get", "pods,services", "--watch"],
        ["get", "pods", "-o", "broad"],
        ["get", "pods", "--limit", "x"],
        ["get", "pods", "--limit", "-1"],
        ["get", "pods", "a", "-A"],
        ["watch", "pods", "--count", "0"],
        ["watch", "pods", "--duration", "soon"],
        ["watch", "pods", "--duration", "0s"],
        ["get", "pods", "-n", "a/b", "--server", "http://127.0.0.1:1"],
        ["watch", "pods", "-n", "a/b", "--server", "http://127.0.0.1:1"],
        ["replay", "--speed", "-1"],
        ["replay", "--speed", "warp"],
        ["demo", "--rate", "0/s"],
    ],
)
def test_bad_usage_is_2(arguments: list[str], run: Run) -> None:
    ran = run(*arguments)
    assert (ran.code, ran.data) == (2, b"")
    assert ran.note.startswith("listwatch: ")


def test_no_configuration(run: Run, tmp_path: Path) -> None:
    nowhere = run("get", "pods")
    missing = run("get", "pods", "--kubeconfig", tmp_path / "none")
    (tmp_path / "broken").write_text("clusters: [")
    broken = run("get", "pods", "--kubeconfig", tmp_path / "broken")
    url = run("get", "pods", "--server", "gopher://x")
    assert nowhere.code == missing.code == broken.code == url.code == 1
    assert nowhere.note.startswith("listwatch: no configuration says how to reach")
    assert "none" in missing.note
    assert "broken" in broken.note
    assert "gopher" in url.note


def test_a_token_that_would_travel_in_the_clear_is_not_sent_and_not_shown(run: Run) -> None:
    ran = run("get", "pods", "--server", "http://192.0.2.1", "--token", "top-secret")
    assert ran.code == 1
    assert "a token is not sent" in ran.note
    assert "top-secret" not in ran.note


def test_a_recording_that_is_none(run: Run, tmp_path: Path) -> None:
    missing = run("replay", tmp_path / "none.http")
    (tmp_path / "a.http").write_bytes(b"")
    (tmp_path / "a.meta.json").write_text("{}")
    broken = run("replay", tmp_path / "a.http")
    assert missing.code == broken.code == 1
    assert missing.note.endswith("none.http: No such file or directory")
    assert "does not describe a recording" in broken.note


def test_a_fault_of_our_own_is_one_line_too(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*arguments: object, **options: object) -> None:
        raise KeyError("x")

    monkeypatch.setattr("listwatch.cli.get.objects_text", fail)
    with serving(http(b'{"kind":"PodList","apiVersion":"v1","items":[{}]}')) as url:
        ran = run("get", "pods", "--server", url)
    assert ran.code == 1
    assert ran.note == "listwatch: a fault in listwatch itself: KeyError: 'x' (-v shows where)"


UNREADABLE = b'{"metadata":{"name":"bad"},"status":{"phase":"\xff"}}'
READABLE = b'{"metadata":{"name":"good"},"status":{"phase":"Running"}}'


@pytest.mark.clause("D6", "H10")
@pytest.mark.parametrize("bad", [UNREADABLE, b'{"metadata":{"name":"bad"},"spec":{"n":1E400}}'])
@pytest.mark.parametrize("output", ["table", "yaml"])
def test_an_object_that_cannot_be_read_costs_no_other(bad: bytes, output: str, run: Run) -> None:
    listed = b'{"kind":"PodList","apiVersion":"v1","items":[%s,%s]}' % (bad, READABLE)
    with serving(http(listed)) as url:
        got = run("get", "pods", "-o", output, "--server", url)
    assert got.code == 1
    assert "good" in got.text
    assert "bad" not in got.text
    assert "object bad" in got.note
    line = b'{"type":"ADDED","object":%s}\n'
    with serving(STREAM + line % bad + line % READABLE) as url:
        watched = run("watch", "--raw", "pods", "-o", output, "--server", url)
    assert watched.code == 1
    assert "cannot decode object bad" in watched.text
    assert "good" in watched.text


def test_a_name_cannot_command_the_terminal(run: Run) -> None:
    listed = b'{"kind":"PodList","apiVersion":"v1","items":[{"metadata":{"name":"a\\u001b[31m"}}]}'
    with serving(http(listed)) as url:
        got = run("get", "pods", "-o", "name", "--server", url)
    assert "\x1b" not in got.text
    assert got.text.startswith("pod/a")
