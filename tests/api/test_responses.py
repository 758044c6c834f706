"""The exception for an HTTP answer, whatever its body is."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from listwatch.api import (
    APIError,
    Expired,
    InternalError,
    NotFound,
    ResourceVersionTooLarge,
    ServiceUnavailable,
    Timeout,
    error_for_response,
)

pytestmark = pytest.mark.clause("A5")

RECORDED = [
    json.loads(line)
    for line in (Path(__file__).parent / "data" / "error_responses.jsonl")
    .read_text("utf-8")
    .splitlines()
]

NGINX = (
    b"<html>\r\n<head><title>502 Bad Gateway</title></head>\r\n<body>\r\n<center>"
    b"<h1>502 Bad Gateway</h1></center>\r\n<hr><center>nginx</center>\r\n</body>\r\n</html>\r\n"
)


@pytest.mark.parametrize("recorded", RECORDED, ids=lambda recorded: recorded["name"])
def test_what_real_servers_answered_is_understood(recorded: dict[str, Any]) -> None:
    body = base64.b64decode(recorded.get("base64", "")) or recorded.get("body", "").encode()
    error = error_for_response(recorded["code"], recorded["content_type"], body)
    assert type(error).__name__ == recorded["error"]
    assert error.reason == recorded["reason"]
    assert error.code == recorded["code"]
    assert error.retry_after == recorded["retry_after"]
    assert str(error) == recorded["text"]


def test_a_status_without_kind_and_of_another_content_type_is_one() -> None:
    body = (
        b'{"metadata":{},"status":"Failure","message":"Timeout: request did not complete within '
        b'the allotted timeout","reason":"Timeout","details":{},"code":504}'
    )
    error = error_for_response(504, "text/plain; charset=utf-8", body)
    assert type(error) is Timeout
    assert str(error) == "504 Timeout: request did not complete within the allotted timeout"


def test_a_status_with_nulls_is_one() -> None:
    body = b'{"kind":"Status","message":null,"details":{"causes":null},"reason":"Gone","code":null}'
    error = error_for_response(410, "application/json", body)
    assert isinstance(error, Expired)
    assert error.code == 410


def test_the_status_knows_better_than_the_http_code() -> None:
    error = error_for_response(500, None, b'{"kind":"Status","code":404,"reason":"NotFound"}')
    assert type(error) is NotFound
    assert error.code == 404


def test_an_rv_too_large_is_recognised_in_a_body() -> None:
    body = (
        b'{"kind":"Status","code":504,"reason":"Timeout","message":"Too large resource version: 9"}'
    )
    assert type(error_for_response(504, None, body)) is ResourceVersionTooLarge


@pytest.mark.parametrize(
    "body",
    [
        b'{"message":"no healthy upstream","code":7}',
        b'{"kind":"Pod","status":{"phase":"Failed"}}',
        b'{"status":"error"}',
        b'{"kind":"Status","code":"x"}',
        b'{"status":"Failure",',
        b"[1, 2]",
    ],
)
def test_other_json_is_text_like_any_other(body: bytes) -> None:
    error = error_for_response(503, "application/json", body)
    assert type(error) is ServiceUnavailable
    assert (error.code, error.reason, error.message) == (503, "ServiceUnavailable", body.decode())


@pytest.mark.parametrize(
    ("content_type", "body", "message"),
    [
        ("text/html", NGINX, "502 Bad Gateway nginx"),
        (None, b"\n<!DOCTYPE html><title>Bad&nbsp;day</title><body>", "Bad day"),
        ("text/plain", b"<HTML><p>Try &lt;later&gt;</p></HTML>", "Try <later>"),
        (
            "text/html; charset=utf-8",
            b"<title>Oops</title><style>p {}</style><script>x = '<p>no</p>'</script><p>Sorry</p>",
            "Oops: Sorry",
        ),
        ("text/html", b"not really", "not really"),
        ("text/html", b"<html><title>never closed", "never closed"),
        ("text/plain", b"  no backend\r\n", "no backend"),
        (
            "text/plain; charset=iso-8859-1",
            b"Zugriff verweigert f\xfcr Sie",
            "Zugriff verweigert für Sie",
        ),
        (None, b"", ""),
        ("application/json", b" \r\n", ""),
        ("application/grpc", b"\x00\x00\x01abc", "(6 bytes of application/grpc)"),
        (None, b"\x1f\x8b\x08\x00abc", "(7 bytes of binary data)"),
        (
            "text/plain",
            b"k8s\x00\n\x0c\n\x02v1\x12\x06Status",
            "(the description is in protobuf, 18 bytes)",
        ),
        (None, b"\xd9\xd9\xf7\xa0", "(the description is in CBOR, 4 bytes)"),
    ],
)
def test_a_body_that_is_no_status_becomes_a_readable_message(
    content_type: str | None, body: bytes, message: str
) -> None:
    error = error_for_response(502, content_type, body)
    assert type(error) is InternalError
    assert error.code == 502
    assert " ".join(error.message.split()) == message
    assert str(error) == (f"502 InternalError: {message}" if message else "502 InternalError")


@pytest.mark.parametrize(
    ("content_type", "body"),
    [
        ("text/plain", b"x" * 100_000),
        ("text/plain", "é".encode() * 50_000),
        ("text/plain", b"x" + "€".encode() * 50_000),
        ("text/plain", b"xx" + "\U0001f600".encode() * 50_000),
        ("text/html", b"<p>" + b"word " * 100_000),
        ("application/json", b'{"a":"' + b"x" * 100_000 + b'"}'),
    ],
)
def test_at_most_2_kib_of_a_text_body_are_kept(content_type: str, body: bytes) -> None:
    message = error_for_response(500, content_type, body).message
    assert 2040 <= len(message.encode()) <= 2048
    assert "\ufffd" not in message


def test_the_header_says_how_long_to_wait() -> None:
    assert error_for_response(429, "text/plain", b"busy", retry_after=5.0).retry_after == 5.0


@given(
    code=st.integers(400, 599),
    content_type=st.none() | st.sampled_from(["application/json", "text/html", ";", "TEXT/HTML;x"]),
    body=st.binary(max_size=64)
    | st.text(alphabet='{}[]<>!"/:,khtml \\u0', max_size=64).map(str.encode),
)
def test_any_body_gives_an_exception_of_one_line(
    code: int, content_type: str | None, body: bytes
) -> None:
    error = error_for_response(code, content_type, body)
    assert isinstance(error, APIError)
    assert error.code == code
    assert str(error).splitlines() == [str(error)]
    assert len(error.message.encode()) <= 4096
