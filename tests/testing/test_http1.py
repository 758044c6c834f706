from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from listwatch.testing._http1 import BodyReader, Framing, parse_request, parse_response


def test_a_request_head() -> None:
    data = b"GET /a?b=c HTTP/1.1\r\nHost: x\r\naccept:  text/html \r\n\r\nbody"
    head = parse_request(data)
    assert head is not None
    assert (head.method, head.target, head.version) == ("GET", "/a?b=c", "HTTP/1.1")
    assert head.headers.get("Accept") == "text/html"
    assert data[head.size :] == b"body"


def test_a_response_head() -> None:
    data = b"HTTP/1.1 404 Not Found\r\nWarning: a\r\nWarning: b\r\n\r\nbody"
    head = parse_response(data)
    assert head is not None
    assert (head.status, head.reason, head.version) == (404, "Not Found", "HTTP/1.1")
    assert head.headers.get_all("warning") == ("a", "b")
    assert data[head.size :] == b"body"


def test_a_head_without_reason_or_headers() -> None:
    head = parse_response(b"HTTP/1.0 200\r\n\r\n")
    assert head is not None
    assert (head.status, head.reason, len(head.headers)) == (200, "", 0)


@pytest.mark.parametrize("data", [b"", b"GET / HTTP/1.1\r\nHost: x\r\n", b"\x16\x03\x01\r\n\r\n"])
def test_what_is_no_whole_head(data: bytes) -> None:
    assert parse_request(data) is None
    assert parse_response(data) is None


@pytest.mark.parametrize(
    ("head", "method", "framing"),
    [
        (b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", "GET", Framing.LENGTH),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\n\r\n", "GET", Framing.CHUNKED),
        (b"HTTP/1.0 200 OK\r\n\r\n", "GET", Framing.CLOSE),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", "HEAD", Framing.NONE),
        (b"HTTP/1.1 304 Not Modified\r\n\r\n", "GET", Framing.NONE),
        (b"HTTP/1.1 204 No Content\r\n\r\n", "GET", Framing.NONE),
        (b"HTTP/1.1 100 Continue\r\n\r\n", "GET", Framing.NONE),
        (b"HTTP/1.1 101 Switching Protocols\r\n\r\n", "GET", Framing.CLOSE),
    ],
)
def test_how_a_body_ends_follows_from_its_head(head: bytes, method: str, framing: Framing) -> None:
    parsed = parse_response(head)
    assert parsed is not None
    assert parsed.framing(method) is framing


@given(
    chunks=st.lists(st.binary(min_size=1, max_size=300), max_size=5),
    places=st.lists(st.integers(0, 2000), max_size=10),
)
def test_chunks_carry_the_same_however_they_are_cut(chunks: list[bytes], places: list[int]) -> None:
    wire = b"".join(b"%x\r\n%b\r\n" % (len(chunk), chunk) for chunk in chunks) + b"0\r\n\r\n"
    reader = BodyReader(Framing.CHUNKED)
    edges = [0, *sorted(min(place, len(wire)) for place in places), len(wire)]
    carried = b""
    for start, end in pairwise(edges):
        carried += reader.feed(wire[start:end])
    assert carried == b"".join(chunks)
    assert reader.complete


def test_extensions_and_trailers_of_chunks_are_passed_over() -> None:
    reader = BodyReader(Framing.CHUNKED)
    assert reader.feed(b"2;a=b\r\nhi\r\n0\r\nTrailer: x\r\n") == b"hi"
    assert not reader.complete
    assert reader.feed(b"\r\n") == b""
    assert reader.complete


@pytest.mark.parametrize(
    ("wire", "problem"),
    [
        (b"zz\r\n", "not the size of a chunk"),
        (b"2\r\nhi!\r\n", "not the end of a chunk"),
        (b"0\r\n\r\nmore", "4 bytes after the last chunk"),
    ],
)
def test_what_cannot_be_chunks_is_an_error(wire: bytes, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        BodyReader(Framing.CHUNKED).feed(wire)


def test_a_body_of_known_length() -> None:
    reader = BodyReader(Framing.LENGTH, 3)
    assert reader.feed(b"ab") == b"ab"
    assert not reader.complete
    assert reader.feed(b"c") == b"c"
    assert reader.complete
    with pytest.raises(ValueError, match="1 bytes too many"):
        reader.feed(b"d")


def test_a_body_until_the_connection_closes_is_never_known_to_be_complete() -> None:
    reader = BodyReader(Framing.CLOSE)
    assert reader.feed(b"abc") == b"abc"
    assert not reader.complete
