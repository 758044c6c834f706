from __future__ import annotations

import asyncio
import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from listwatch.rest.errors import ConnectionLost
from listwatch.rest.transport import HTTPRequest
from listwatch.testing import Ending, MemoryTransport, Recording
from listwatch.testing._http1 import Framing
from tests.support import expected
from tests.support.vectors import vector, vectors

REQUEST = b"GET /api/v1/pods?limit=5 HTTP/1.1\r\nHost: x\r\n\r\n"
CHUNKED = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"


def _asked(target: str, method: str = "GET") -> Recording:
    return Recording("", f"{method} {target} HTTP/1.1\r\n\r\n".encode(), b"")


@pytest.mark.parametrize("recording", vectors(), ids=lambda recording: recording.name)
def test_every_vector_is_what_its_recorder_noted(recording: Recording) -> None:
    meta = recording.meta
    assert recording.status >= 200
    assert not (recording.is_list and recording.is_watch)
    assert len(recording.request) == meta.get("request_bytes", len(recording.request))
    assert len(recording.response) == meta.get("response_bytes", len(recording.response))
    assert recording.head_size + len(recording.wire_body) == len(recording.response)
    assert b"".join(piece for _, piece in recording.pieces()) == recording.body
    times = [seconds for seconds, _ in recording.body_reads]
    assert times == sorted(times)
    if recording.framing is Framing.LENGTH:
        assert recording.headers.get("Content-Length") == str(len(recording.wire_body))
    chunks = meta.get("chunks", [])
    if chunks and recording.headers.get("Content-Encoding") is None:
        assert sum(chunk["size"] for chunk in chunks) == len(recording.body)
    if chunks and recording.is_watch and recording.media_type == "application/json":
        whole = [each for each in expected.json_values(recording.body) if each != expected.CUT]
        assert sum(chunk["events"] for chunk in chunks) == len(whole)
    if recording.framing is not Framing.NONE and meta:
        assert recording.complete == meta["complete"]


def test_a_whole_recording_in_all_its_parts() -> None:
    recording = vector("5-gzip-list-large")
    assert recording.name == "5-gzip-list-large"
    assert recording.method == "GET"
    assert recording.path == "/apis/example.com/v1/namespaces/big/widgets"
    assert recording.request_headers.get("accept-encoding") == "gzip"
    assert recording.request_body == b""
    assert recording.status == 200
    assert recording.media_type == "application/json"
    assert recording.framing is Framing.CHUNKED
    assert json.loads(recording.body)["kind"] == "WidgetList"
    assert len(recording.wire_body) < len(recording.body)
    assert recording.end is Ending.KEPT
    assert recording.complete
    assert recording.keeps_alive
    assert repr(recording) == f"<Recording 5-gzip-list-large: GET {recording.target} -> 200>"


@pytest.mark.parametrize(
    ("name", "end", "complete"),
    [
        ("3-watch-rv0", Ending.KEPT, True),
        ("7-sigterm-grace5s-idle-watch", Ending.EOF, True),
        ("7-kill9-idle-watch", Ending.ABORT, False),
        ("k-watch-nodes-timeout0", Ending.CLIENT, False),
        ("k-kubectl-get-pods-watch-02", Ending.CLIENT, False),
    ],
)
def test_how_a_recording_ended(name: str, end: Ending, complete: bool) -> None:
    recording = vector(name)
    assert recording.end is end
    assert recording.complete is complete


@pytest.mark.parametrize("suffix", ["", ".http", ".meta.json"])
def test_it_loads_by_either_name(tmp_path: Path, suffix: str) -> None:
    (tmp_path / "a.b.http").write_bytes(REQUEST + CHUNKED)
    meta = {
        "request_bytes": len(REQUEST),
        "reads": [[0.5, len(CHUNKED)]],
        "end": "client closed the connection",
        "seconds": 2.5,
    }
    (tmp_path / "a.b.meta.json").write_text(json.dumps(meta))
    recording = Recording.load(tmp_path / f"a.b{suffix}")
    assert recording.name == "a.b"
    assert recording.reads == ((0.5, len(CHUNKED)),)
    assert recording.end is Ending.CLIENT
    assert recording.seconds == 2.5


def test_without_a_meta_file_the_request_says_where_it_ends(tmp_path: Path) -> None:
    request = b"POST /api/v1/pods HTTP/1.1\r\nContent-Length: 4\r\n\r\nbody"
    (tmp_path / "a.http").write_bytes(request + CHUNKED + b"0\r\n\r\n")
    recording = Recording.load(tmp_path / "a.http")
    assert recording.request_body == b"body"
    assert recording.status == 200
    assert recording.end is Ending.KEPT
    assert recording.seconds == 0


def test_an_answer_whose_request_was_not_kept(tmp_path: Path) -> None:
    (tmp_path / "a.http").write_bytes(b"HTTP/1.0 200 OK\r\n\r\n{}")
    recording = Recording.load(tmp_path / "a")
    assert (recording.method, recording.target, recording.query) == ("", "", ())
    assert recording.body == b"{}"
    assert recording.framing is Framing.CLOSE
    assert recording.end is Ending.EOF
    assert not recording.is_list
    assert not recording.is_watch


def test_an_answer_of_which_no_head_was_kept() -> None:
    recording = Recording("tail", REQUEST, b"}}\r\n0\r\n\r\n")
    assert recording.status == 0
    assert recording.body == b"}}\r\n0\r\n\r\n"
    assert recording.media_type == ""


def test_a_recording_without_any_answer() -> None:
    recording = Recording("nothing", REQUEST, b"")
    assert recording.body == b""
    assert recording.status == 0
    assert list(recording.pieces()) == []


def test_interim_answers_are_passed_over() -> None:
    interim = b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n"
    recording = Recording("interim", REQUEST, interim + CHUNKED + b"2\r\n{}\r\n0\r\n\r\n")
    assert recording.status == 200
    assert recording.body == b"{}"
    assert recording.head_size == len(interim) + len(CHUNKED)
    assert recording.complete


def test_another_protocol_after_101_is_a_body_until_the_end() -> None:
    head = b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n"
    recording = Recording("upgrade", REQUEST, head + b"\x81\x00")
    assert recording.status == 101
    assert recording.body == b"\x81\x00"


def test_reads_are_mapped_onto_the_body() -> None:
    answer = CHUNKED + b"3\r\nabc\r\n" + b"2\r\nde\r\n" + b"0\r\n\r\n"
    at = len(CHUNKED)
    # Cut inside the head, after the first byte of the body, inside a line break, and so on.
    reads = ((0.1, 10), (0.2, at - 10 + 4), (0.3, 3), (0.4, 1), (0.5, len(answer) - at - 8))
    recording = Recording("cuts", REQUEST, answer, reads=reads)
    assert list(recording.pieces()) == [(0.2, b"a"), (0.3, b"bc"), (0.5, b"de")]
    assert recording.seconds == 0.5


def test_a_compressed_body_that_was_cut_gives_what_is_there() -> None:
    packed = gzip.compress(bytes(range(256)) * 400)
    head = CHUNKED.replace(b"\r\n\r\n", b"\r\nContent-Encoding: gzip\r\n\r\n")
    cut = head + b"%x\r\n" % len(packed) + packed[:-40]
    recording = Recording("gzip", REQUEST, cut)
    assert 0 < len(recording.body) < 256 * 400
    assert (bytes(range(256)) * 400).startswith(recording.body)
    assert not recording.complete


def test_a_compression_that_nobody_knows_is_an_error() -> None:
    head = CHUNKED.replace(b"\r\n\r\n", b"\r\nContent-Encoding: br\r\n\r\n")
    with pytest.raises(ValueError, match="'br'"):
        _ = Recording("br", REQUEST, head + b"2\r\n{}\r\n").body


@pytest.mark.parametrize(
    ("meta", "problem"),
    [
        ({"reads": [], "end": "complete"}, "request_bytes"),
        ({"request_bytes": 1, "reads": 7, "end": "complete"}, "does not describe a recording"),
        ({"request_bytes": len(REQUEST), "reads": [], "end": "vanished"}, "unknown end"),
        ({"request_bytes": len(REQUEST), "reads": [[0, 1]], "end": "EOF"}, "not as long as"),
    ],
)
def test_a_meta_file_that_does_not_fit_is_an_error(
    tmp_path: Path, meta: dict[str, Any], problem: str
) -> None:
    (tmp_path / "a.http").write_bytes(REQUEST + CHUNKED)
    (tmp_path / "a.meta.json").write_text(json.dumps(meta))
    with pytest.raises(ValueError, match=problem):
        Recording.load(tmp_path / "a.http")


@pytest.mark.parametrize(
    "target",
    [
        "/api/v1/pods",
        "/api/v1/namespaces",
        "/api/v1/namespaces/a/pods?limit=5",
        "/apis/apps/v1/deployments",
        "/apis/apps/v1/namespaces/a/deployments?watch=false",
        "/apis/apps/v1/namespaces/a/deployments?watch=0",
    ],
)
def test_what_is_a_list(target: str) -> None:
    assert _asked(target).is_list
    assert not _asked(target).is_watch
    assert not _asked(target, "DELETE").is_list


@pytest.mark.parametrize(
    "target",
    [
        "/api/v1/pods?watch=true",
        "/api/v1/pods?watch=1",
        "/api/v1/pods?watch",
        "/apis/apps/v1/namespaces/a/deployments?resourceVersion=5&watch=t",
        "/api/v1/watch/namespaces/a/pods/b",
    ],
)
def test_what_is_a_watch(target: str) -> None:
    assert _asked(target).is_watch
    assert not _asked(target).is_list
    assert not _asked(target, "POST").is_watch


@pytest.mark.parametrize(
    "target",
    [
        "/version",
        "/api",
        "/api/v1",
        "/apis/apps/v1",
        "/api/v1/namespaces/a",
        "/api/v1/namespaces/a/status",
        "/api/v1/namespaces/a/pods/b",
        "/api/v1/namespaces/a/pods/b?watch=1",
        "/api/v1/nodes/a",
        "/apis/apps/v1/namespaces/a/deployments/b/scale",
    ],
)
def test_what_is_neither(target: str) -> None:
    assert not _asked(target).is_list
    assert not _asked(target).is_watch


@pytest.mark.virtual_time
@pytest.mark.parametrize("speed", [1.0, 10.0])
async def test_a_recording_can_answer_in_memory_in_its_own_time(speed: float) -> None:
    recording = vector("3-watch-add-modify-status-delete")
    transport = MemoryTransport(lambda _: recording.reply(speed=speed))
    response = await transport.send(HTTPRequest(method="GET", path=recording.path))
    loop = asyncio.get_running_loop()
    assert loop.time() == pytest.approx(recording.reads[0][0] / speed)
    received = []
    while piece := await response.receive():
        received.append((pytest.approx(loop.time() * speed), piece))
    assert received == list(recording.pieces())
    assert response.status == 200
    assert list(response.headers) == list(recording.headers)


@pytest.mark.virtual_time
async def test_a_recording_can_answer_in_memory_at_once() -> None:
    recording = vector("3-watch-add-modify-status-delete")
    transport = MemoryTransport(lambda _: recording.reply(speed=None))
    response = await transport.send(HTTPRequest(method="GET", path=recording.path))
    assert await response.read() == recording.body
    assert asyncio.get_running_loop().time() == 0


@pytest.mark.virtual_time
async def test_a_recording_that_was_cut_is_cut_in_memory_too() -> None:
    recording = vector("7-kill9-idle-watch")
    transport = MemoryTransport(lambda _: recording.reply(speed=None))
    response = await transport.send(HTTPRequest(method="GET", path=recording.path))
    assert await response.receive() == recording.body
    with pytest.raises(ConnectionLost):
        await response.receive()


@pytest.mark.virtual_time
async def test_a_recording_whose_client_left_goes_on_in_memory_until_somebody_leaves() -> None:
    recording = vector("k-watch-nodes-timeout0")
    transport = MemoryTransport(lambda _: recording.reply(speed=None))
    response = await transport.send(HTTPRequest(method="GET", path=recording.path))
    read = b""
    while len(read) < len(recording.body):
        read += await response.receive()
    assert read == recording.body
    waiting = asyncio.create_task(response.receive())
    await asyncio.sleep(3600)
    assert not waiting.done()
    response.close()
    with pytest.raises(ConnectionLost):
        await waiting
