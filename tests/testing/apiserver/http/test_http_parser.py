"""The refusals were seen on a real kube-apiserver, byte for byte."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from listwatch.testing.apiserver.http.parser import MAX_HEAD, BadRequest, RequestParser

MAX_BODY = 1000


def parsed(data: bytes) -> RequestParser:
    parser = RequestParser(MAX_BODY)
    parser.feed(data)
    return parser


def test_a_request_is_its_line_its_headers_and_its_body() -> None:
    parser = parsed(b"POST /api?a=1 HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nA:  b \r\n\r\n{}")
    assert parser.complete
    assert parser.head is not None
    assert (parser.head.method, parser.head.target, parser.head.minor) == ("POST", "/api?a=1", 1)
    assert parser.head.headers == {"host": "x", "content-length": "2", "a": "b"}
    assert bytes(parser.body) == b"{}"


GOOD = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"
REQUESTS = (
    b"POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello"
    b"PUT /b HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
    b"3;x=1\r\nabc\r\n2\r\nde\r\n0\r\nTrailer: 1\r\n\r\n"
    b"POST /c HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n\r\n" + GOOD
)


@given(st.lists(st.integers(0, len(REQUESTS)), max_size=20))
def test_any_slicing_gives_the_same_requests(cuts: list[int]) -> None:
    places = sorted({0, len(REQUESTS), *cuts})
    parser = RequestParser(MAX_BODY)
    found = []
    for start, end in itertools.pairwise(places):
        parser.feed(REQUESTS[start:end])
        while parser.complete:
            assert parser.head is not None
            found.append((parser.head.method, bytes(parser.body)))
            parser.next()
    assert found == [("POST", b"hello"), ("PUT", b"abcde"), ("POST", b""), ("GET", b"")]
    assert not parser.started


def test_requests_sent_ahead_wait_for_their_turn() -> None:
    parser = parsed(GOOD + GOOD)
    assert parser.complete
    assert parser.buffered == len(GOOD)
    parser.next()
    assert parser.complete
    parser.next()
    assert not parser.started


@pytest.mark.parametrize(
    "data",
    [
        b"hello\r\n\r\n",
        b"\x00\x01\x02\r\n\r\n",
        b"GET /version\r\n\r\n",
        b"GET /version HTTP/x.1\r\n\r\n",
        b"GET /ver sion HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GE(T /version HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GET version HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GET /%zz HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GET /a\x01 HTTP/1.1\r\nHost: x\r\n\r\n",
        b"\r\nGET /version HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: x\r\nfoo\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: x\r\nf(oo: a\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: x\r\n: a\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: x\r\nfoo: a\x01b\r\n\r\n",
        b"GET / HTTP/1.1\r\n folded: first\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: abc\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9999999999999999999999\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
    ],
)
def test_what_is_no_request_is_a_plain_400(data: bytes) -> None:
    with pytest.raises(BadRequest) as refusal:
        parsed(data)
    assert refusal.value.answer == (
        b"HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\n"
        b"Connection: close\r\n\r\n400 Bad Request"
    )


@pytest.mark.parametrize(
    ("data", "status", "text"),
    [
        (
            b"GET / HTTP/1.1\r\n\r\n",
            "400 Bad Request: missing required Host header",
            "400 Bad Request: missing required Host header",
        ),
        (
            b"GET / HTTP/1.1\r\nHost: a b\r\n\r\n",
            "400 Bad Request: malformed Host header",
            "400 Bad Request: malformed Host header",
        ),
        (
            b"GET / HTTP/1.1\r\nHost: x\r\nfoo : a\r\n\r\n",
            "400 Bad Request: invalid header name",
            "400 Bad Request: invalid header name",
        ),
        (
            b"GET / HTTP/2.0\r\nHost: x\r\n\r\n",
            "505 HTTP Version Not Supported: unsupported protocol version",
            "505 HTTP Version Not Supported: unsupported protocol version",
        ),
        (
            b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip\r\n\r\n",
            "501 Not Implemented",
            "Unsupported transfer encoding",
        ),
        (
            b"POST / HTTP/1.1\r\nHost: x\r\nExpect: tea\r\nContent-Length: 2\r\n\r\n{}",
            "417 Expectation Failed",
            "",
        ),
        (
            b"GET / HTTP/1.1\r\nHost: x\r\nX: " + b"a" * MAX_HEAD + b"\r\n\r\n",
            "431 Request Header Fields Too Large",
            "431 Request Header Fields Too Large",
        ),
    ],
)
def test_some_refusals_say_why(data: bytes, status: str, text: str) -> None:
    with pytest.raises(BadRequest) as refusal:
        parsed(data)
    assert (refusal.value.status, refusal.value.text) == (status, text)


def test_a_head_that_never_ends_is_refused_before_it_is_held() -> None:
    parser = RequestParser(MAX_BODY)
    parser.feed(b"GET / HTTP/1.1\r\nX: ")
    for _ in range(MAX_HEAD // 65536):
        parser.feed(b"a" * 65536)
    with pytest.raises(BadRequest, match="431"):
        parser.feed(b"a" * 65536)


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        (b"zz\r\n{}\r\n0\r\n\r\n", "invalid byte in chunk length"),
        (b"2\r\n{}xx0\r\n\r\n", "malformed chunked encoding"),
        (b"2" * 5000, "header line too long"),
    ],
)
def test_broken_chunks_are_told_of_in_an_answer(body: bytes, problem: str) -> None:
    with pytest.raises(BadRequest) as refusal:
        parsed(b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n" + body)
    assert refusal.value.in_body
    assert refusal.value.text == problem


def test_lines_may_end_in_a_bare_newline_and_headers_may_be_folded() -> None:
    parser = parsed(b"GET / HTTP/1.1\nHost: x\nfoo: a\n  b\n\n")
    assert parser.head is not None
    assert parser.head.headers["foo"] == "a b"


@pytest.mark.parametrize(
    ("lines", "keep_alive"),
    [
        (b"GET / HTTP/1.1\r\nHost: x", True),
        (b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close", False),
        (b"GET / HTTP/1.2\r\nHost: x", True),
        (b"GET / HTTP/1.0", False),
        (b"GET / HTTP/1.0\r\nConnection: Keep-Alive", True),
    ],
)
def test_whether_the_connection_is_kept_goes_by_version_and_wish(
    lines: bytes, keep_alive: bool
) -> None:
    head = parsed(lines + b"\r\n\r\n").head
    assert head is not None
    assert head.keep_alive is keep_alive


def test_where_length_and_chunks_are_told_the_chunks_count() -> None:
    parser = parsed(
        b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n"
        b"2\r\n{}\r\n0\r\n\r\n"
    )
    assert parser.complete
    assert bytes(parser.body) == b"{}"


def test_a_request_of_http_1_0_has_no_chunks() -> None:
    parser = parsed(b"POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n")
    assert parser.complete
    assert bytes(parser.body) == b""


@pytest.mark.parametrize("size", [MAX_BODY, MAX_BODY + 1, MAX_BODY * 50])
@pytest.mark.parametrize("chunked", [False, True])
def test_of_a_body_no_more_is_kept_than_tells_that_it_is_too_long(size: int, chunked: bool) -> None:
    how = b"Transfer-Encoding: chunked" if chunked else b"Content-Length: %d" % size
    parser = parsed(b"POST / HTTP/1.1\r\nHost: x\r\n" + how + b"\r\n\r\n")
    if chunked:
        parser.feed(b"%x\r\n" % size)
    for _ in range(size // 500):
        parser.feed(b"x" * 500)
    parser.feed(b"x" * (size % 500))
    if chunked:
        parser.feed(b"\r\n0\r\n\r\n")
    assert parser.complete
    assert len(parser.body) == min(size, MAX_BODY + 1)
    assert parser.skipped == max(size - MAX_BODY - 1, 0)


def test_a_client_that_waits_for_a_go_ahead_is_noticed() -> None:
    head = parsed(
        b"POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n"
    ).head
    assert head is not None
    assert head.expects_continue


def test_bytes_beyond_ascii_in_a_header_are_kept() -> None:
    head = parsed("GET / HTTP/1.1\r\nHost: x\r\nfoo: ü\r\n\r\n".encode()).head
    assert head is not None
    assert head.headers["foo"] == "ü"


@given(st.binary(max_size=200))
def test_no_bytes_make_it_fall_over(data: bytes) -> None:
    parser = RequestParser(MAX_BODY)
    refused = b"HTTP/1.1 "
    try:
        parser.feed(data)
    except BadRequest as refusal:
        refused = refusal.answer
    assert refused.startswith(b"HTTP/1.1 ")
