from __future__ import annotations

import logging

import pytest
from hypothesis import given
from hypothesis import strategies as st

from listwatch.rest.warnings import (
    APIWarning,
    CollectWarnings,
    IgnoreWarnings,
    LogWarnings,
    RaiseWarnings,
    WarningError,
    for_handlers,
    parse_warnings,
)
from tests.support.vectors import vector

pytestmark = pytest.mark.clause("B7")


def texts(*headers: str) -> list[str]:
    return [warning.text for warning in parse_warnings(headers)]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        (
            "6-deprecated-list-v1alpha1",
            ["example.com/v1alpha1 Gadget is deprecated; use example.com/v1 Gadget"],
        ),
        (
            "6-deprecated-watch-v1alpha1",
            ["example.com/v1alpha1 Gadget is deprecated; use example.com/v1 Gadget"],
        ),
        (
            "6-deprecated-list-v1beta1",
            ['example.com/v1beta1 Gadget is "old"; use v1, ünïcode too'],
        ),
        (
            "k-write-warning-v1-endpoints",
            ["v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice"],
        ),
    ],
)
def test_the_warnings_of_a_real_server(name: str, expected: list[str]) -> None:
    head, _, _ = vector(name).response.partition(b"\r\n\r\n")
    lines = [line.partition(b": ") for line in head.split(b"\r\n")]
    headers = [value.decode() for header, _, value in lines if header == b"Warning"]
    assert texts(*headers) == expected


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        # As recorded for writes with an unknown field, and for a pod with a deprecated selector.
        (
            [
                '299 - "duplicate field \\"spec.a\\""',
                '299 - "unknown field \\"metadata.bogus\\""',
            ],
            ['duplicate field "spec.a"', 'unknown field "metadata.bogus"'],
        ),
        (
            [
                '299 - "spec.nodeSelector[beta.kubernetes.io/os]: deprecated since v1.14;'
                ' use \\"kubernetes.io/os\\" instead"'
            ],
            [
                "spec.nodeSelector[beta.kubernetes.io/os]: deprecated since v1.14;"
                ' use "kubernetes.io/os" instead'
            ],
        ),
        (['299 - "one", 299 - "two",299 - "three"'], ["one", "two", "three"]),
        (['299 - "a, b", 299 - "c"'], ["a, b", "c"]),
        (['299 - "a", , ,299 - "b"'], ["a", "b"]),
        (['299 - "back\\\\slash \\"q\\" \\x"'], ['back\\slash "q" x']),
        (['299 agent "dated" "Wed, 21 Oct 2015 07:28:00 GMT", 299 - "next"'], ["dated", "next"]),
        (['   299\t-   "spaced"   '], ["spaced"]),
        (['299 - ""'], [""]),
        (['299 - "ends with an escape \\\\"'], ["ends with an escape \\"]),
    ],
)
def test_several_in_one_header_quoted_commas_escapes_and_dates(
    headers: list[str], expected: list[str]
) -> None:
    assert texts(*headers) == expected


@pytest.mark.parametrize(
    "malformed",
    [
        "nonsense",
        "299",
        "299 -",
        "299 - unquoted",
        '29 - "short code"',
        '2999 - "long code"',
        '299 "no agent"',
        '299 - "text" trailing',
        "",
        " , ",
    ],
)
def test_what_is_malformed_is_passed_over_and_what_follows_is_not(malformed: str) -> None:
    assert texts(malformed) == []
    assert texts(f'{malformed}, 299 - "good"') == ["good"]
    assert texts(malformed, '299 - "good"') == ["good"]


def test_a_quote_that_never_ends_swallows_the_rest_of_its_header_only() -> None:
    assert texts('299 - "a", 299 - "never ends, 299 - b', '299 - "c"') == ["a", "c"]


def test_bytes_that_are_no_utf_8_can_still_be_logged() -> None:
    header = b'299 - "caf\xe9"'.decode("utf-8", "surrogateescape")
    assert texts(header) == ["caf\ufffd"]


def test_code_agent_and_request_are_kept() -> None:
    [warning] = parse_warnings(['110 proxy:80 "stale"'], request="GET /api/v1/pods")
    assert warning == APIWarning("stale", "proxy:80", 110, "GET /api/v1/pods")


def test_handlers_are_told_of_what_kubernetes_says_only() -> None:
    found = parse_warnings(['110 - "stale", 299 - "deprecated", 299 - ""'])
    assert [warning.text for warning in for_handlers(found)] == ["deprecated"]


@given(st.text(), st.text())
def test_no_header_can_break_the_parser(first: str, second: str) -> None:
    found = parse_warnings([first, f'{second}, 299 - "x"'])
    assert all(warning.text.encode() is not None for warning in found)


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"])), min_size=1, max_size=5))
def test_whatever_a_server_quotes_comes_out_as_it_was(originals: list[str]) -> None:
    quoted = (text.replace("\\", "\\\\").replace('"', '\\"') for text in originals)
    header = ", ".join(f'299 - "{text}"' for text in quoted)
    assert texts(header) == originals


def test_each_distinct_text_is_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    handler = LogWarnings()
    with caplog.at_level(logging.WARNING):
        for text in ("a", "b", "a"):
            handler.handle(APIWarning(text, request="GET /x"))
    assert [record.getMessage() for record in caplog.records] == [
        "the server warns of GET /x: a",
        "the server warns of GET /x: b",
    ]


def test_another_handler_logs_it_again(caplog: pytest.LogCaptureFixture) -> None:
    for handler in (LogWarnings(), LogWarnings()):
        handler.handle(APIWarning("a"))
    assert len(caplog.records) == 2


def test_the_memory_of_what_was_logged_is_bounded(caplog: pytest.LogCaptureFixture) -> None:
    handler = LogWarnings()
    for number in range(3000):
        handler.handle(APIWarning(f"object {number}"))
        handler.handle(APIWarning("said all the time"))
    assert len(handler._seen) == 1024
    said = [record.getMessage() for record in caplog.records]
    assert sum("all the time" in message for message in said) == 1


def test_collecting_ignoring_and_raising() -> None:
    warning = APIWarning("deprecated", request="GET /x")
    collected = CollectWarnings()
    collected.handle(warning)
    assert collected.warnings == [warning]
    IgnoreWarnings().handle(warning)
    with pytest.raises(WarningError, match="the server warned of GET /x: deprecated") as caught:
        RaiseWarnings().handle(warning)
    assert caught.value.warning is warning
