"""What nobody should send, and what comes back; nobody else is hurt by it."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from conformance.behaviour.space import Space, refusal, rv, steps
from conformance.two_servers import TestedServer


@pytest.fixture(autouse=True)
def _lives_on(server: TestedServer) -> Iterator[None]:
    """After each of these the server answers as before."""
    yield
    assert server.request("GET", "/readyz").body == b"ok"


def _raw(server: TestedServer, *lines: str, body: bytes = b"") -> tuple[int, bytes]:
    head = [*lines, f"Authorization: Bearer {server.tokens['admin']}", "", ""]
    with server.send("\r\n".join(head).encode("latin-1") + body) as stream:
        stream.finished()
        return stream.status, stream.body


def test_plain_http_is_told_so(server: TestedServer) -> None:
    """Plain HTTP sent to the TLS port: HTTP/1.0 400 "Client sent an HTTP request..."."""
    answer = server.send_plainly(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
    assert (
        answer
        == b"HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n"
    )


@pytest.mark.parametrize(
    ("lines", "status"),
    [
        (("GET /version HTTP/1.1",), 400),
        (("GET /version HTTP/1.1", "Host: a", "Host: b"), 400),
        (("GET", "Host: a"), 400),
        (("GET /version HTTP/9.9", "Host: a"), 505),
        (("GET /version HTTP/1.1", "Host: a", "no colon"), 400),
        (("GET /version HTTP/1.1", "Host: a", "bad name: x"), 400),
        (("GET %zz HTTP/1.1", "Host: a"), 400),
        (("POST /api/v1/namespaces HTTP/1.1", "Host: a", "Content-Length: abc"), 400),
        (("POST /api/v1/namespaces HTTP/1.1", "Host: a", "Transfer-Encoding: odd"), 501),
    ],
    ids=[
        "no-host",
        "two-hosts",
        "no-path",
        "version",
        "no-colon",
        "header-name",
        "escape",
        "length",
        "encoding",
    ],
)
def test_bad_http_is_refused(server: TestedServer, lines: tuple[str, ...], status: int) -> None:
    """HTTP that is none is refused as Go refuses it, in plain text."""
    assert _raw(server, *lines)[0] == status


def test_a_head_over_1_mib_is_431(server: TestedServer) -> None:
    """Headers of more than 1 MiB are 431."""
    try:
        status, _ = _raw(server, "GET /version HTTP/1.1", "Host: a", f"X: {'x' * 1_100_000}")
    except OSError:  # hung up before all of it was sent, which closes the connection just as well
        return
    assert status == 431


def test_half_a_request_hurts_nobody(server: TestedServer) -> None:
    """A request that never ends, and one whose body does not come, leave all others alone."""
    head = b"POST /api/v1/namespaces HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\n{"
    with server.send(b"GET /version HT"), server.send(head):
        assert server.request("GET", "/version").status == 200


def test_a_chunked_body_is_read(space: Space) -> None:
    """A body may come in chunks."""
    data = json.dumps({"metadata": {"name": "a"}}).encode()
    chunks = b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in (data[:7], data[7:]))
    status, _ = _raw(
        space.server,
        f"POST {space.path()} HTTP/1.1",
        "Host: a",
        "Content-Type: application/json",
        "Transfer-Encoding: chunked",
        body=chunks + b"0\r\n\r\n",
    )
    assert status == 201
    assert space.get("a")


def test_http_1_0_is_spoken(server: TestedServer) -> None:
    """An HTTP/1.0 request is answered, and the connection closed."""
    status, body = _raw(server, "GET /readyz HTTP/1.0")
    assert (status, body) == (200, b"ok")


def test_requests_can_be_sent_ahead(server: TestedServer) -> None:
    """Two requests in one packet are answered in order."""
    one = b"GET /readyz HTTP/1.1\r\nHost: a\r\n\r\n"
    last = b"GET /version HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
    with server.send(one + last) as stream:
        stream.finished()
        assert stream.body == b"ok"
        rest = stream.rest()
    assert rest.startswith(b"HTTP/1.1 200 OK\r\n")
    assert b'"gitVersion"' in rest


@pytest.mark.parametrize(
    "body",
    [
        {"metadata": []},
        {"metadata": {"name": 5}},
        {"metadata": {"name": "a", "labels": ["x"]}},
        {"metadata": {"name": "a", "labels": {"x": 1}}},
        {"metadata": {"name": "a"}, "data": "text"},
        {"metadata": {"name": "a", "finalizers": "x"}},
        {"metadata": {"name": "a", "creationTimestamp": "yesterday"}},
    ],
    ids=["list", "number", "labels", "label", "data", "finalizers", "time"],
)
def test_wrong_types_are_400(space: Space, body: object) -> None:
    """Members of the wrong JSON type are 400 BadRequest."""
    assert refusal(space.ask("POST", space.path(), body))[:2] == (400, "BadRequest")


def test_deep_json_is_survived(space: Space) -> None:
    """JSON that is nested ten thousand deep is refused."""
    body = b'{"metadata": {"name": "a"}, "x": ' + b"[" * 20_000 + b"]" * 20_000 + b"}"
    assert 400 <= space.ask("POST", space.path(), body).status < 500


@pytest.mark.parametrize(
    "patch",
    [b"{", b"[]", b'"x"', b"null", b'[{"op": "jump", "path": "/x"}]', b'[{"op": "add"}]'],
)
@pytest.mark.parametrize("kind", ["merge-patch", "json-patch"])
def test_bad_patches_are_refused(space: Space, patch: bytes, kind: str) -> None:
    """A patch that is none is refused, and changes nothing."""
    [created] = space.add("a", x="1")
    path = space.path(name="a")
    answer = space.ask("PATCH", path, patch, Content_Type=f"application/{kind}+json")
    harmless = kind == "json-patch" and patch in (b"[]", b"null")
    if not harmless:
        assert 400 <= answer.status < 600
    assert space.get("a") == created


def test_a_slow_reader_hurts_nobody(space: Space) -> None:
    """Somebody who opens a watch and does not read it does not hold up those who do."""
    at = rv(space.list())
    host = "Host: a\r\n"
    token = f"Authorization: Bearer {space.server.tokens['admin']}\r\n"
    request = f"GET {space.path(watch=1, resourceVersion=at)} HTTP/1.1\r\n{host}{token}\r\n"
    with space.server.unread(request.encode()), space.watch(resourceVersion=at) as watch:
        for number in range(30):
            space.add(f"n{number:02}", text="x" * 20_000)
        assert len(steps(watch.events(30))) == 30


def test_many_connections_are_fine(server: TestedServer) -> None:
    """Fifty watches at once, and the server still answers."""
    path = "/api/v1/namespaces/default/configmaps?watch=1"
    watches = [server.stream(path) for _ in range(50)]
    try:
        assert all(watch.head().status == 200 for watch in watches)
        assert server.request("GET", "/version").status == 200
    finally:
        for watch in watches:
            watch.close()


@pytest.mark.parametrize(
    "path",
    [
        "/api/v1/namespaces/default/configmaps/..%2F..%2Fsecrets",
        "/api/v1/namespaces/default/configmaps/a%00b",
        "/api/v1/namespaces/default/configmaps/%ff",
        "//api/v1/namespaces",
        "/api/v1/namespaces/",
        "/api/v1/../v1/namespaces",
    ],
)
def test_odd_paths_are_survived(server: TestedServer, path: str) -> None:
    """Odd paths get an answer, and never an object of another place."""
    answer = server.request("GET", path)
    assert answer.status in (200, 301, 307, 400, 404)
