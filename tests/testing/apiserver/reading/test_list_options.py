"""The options of LIST and WATCH: what is read from a query, and which go together."""

from __future__ import annotations

import json

import pytest

from listwatch.testing.apiserver.messages import ServerRequest
from listwatch.testing.apiserver.reading.list_options import ListOptions, parse_rv, rv_problem
from listwatch.testing.apiserver.statuses import Refused


def _options(*query: tuple[str, str], watch_list: bool = True) -> ListOptions:
    request = ServerRequest(method="GET", path="/api/v1/pods", query=query)
    return ListOptions.of(request, watch_list=watch_list)


def _refusal(*query: tuple[str, str], watch_list: bool = True) -> tuple[int, str]:
    with pytest.raises(Refused) as caught:
        _options(*query, watch_list=watch_list)
    status = json.loads(caught.value.answer.body)
    return status["code"], status["message"]


@pytest.mark.parametrize(
    ("value", "expected"),
    [("", True), ("1", True), ("abc", True), ("false", False), ("FALSE", False), ("0", False)],
)
def test_flags_are_true_unless_they_say_false(value: str, expected: bool) -> None:
    """K14, K19."""
    assert _options(("watch", value)).watch is expected
    assert _options(("allowWatchBookmarks", value)).bookmarks is expected


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("abc", "invalid syntax"),
        ("", "invalid syntax"),
        ("1.5", "invalid syntax"),
        (" 1", "invalid syntax"),
        ("99999999999999999999", "value out of range"),
    ],
)
def test_numbers_are_read_as_go_reads_them(text: str, problem: str) -> None:
    expected = (400, f'strconv.ParseInt: parsing "{text}": {problem}')
    assert _refusal(("limit", text)) == expected
    assert _refusal(("timeoutSeconds", text)) == expected


def test_a_negative_limit_is_none() -> None:
    assert _options(("limit", "-1")).limit == 0
    assert _options(("limit", "+7")).limit == 7


def test_of_equal_names_the_first_counts() -> None:
    assert _options(("limit", "1"), ("limit", "abc")).limit == 1


def test_what_cannot_be_read_is_refused_before_what_does_not_go_together() -> None:
    bad_match = ("resourceVersionMatch", "X")
    assert _refusal(("limit", "y"), ("timeoutSeconds", "x"), ("labelSelector", "a b"))[1] == (
        'strconv.ParseInt: parsing "x": invalid syntax'
    )
    assert _refusal(("fieldSelector", "z"), ("labelSelector", "!"), bad_match)[1].startswith(
        "unable to parse requirement"
    )
    assert _refusal(("fieldSelector", "z"), bad_match)[0] == 400
    assert _refusal(bad_match)[0] == 422


@pytest.mark.parametrize("rv", [(), (("resourceVersion", ""),), (("resourceVersion", "0"),)])
def test_a_watch_from_nothing_or_0_is_a_watch_list(rv: tuple[tuple[str, str], ...]) -> None:
    """K14."""
    options = _options(("watch", "1"), *rv)
    assert (options.initial_events, options.match) == (True, "NotOlderThan")
    assert _options(("watch", "1"), *rv, watch_list=False).initial_events is None
    assert _options(*rv).initial_events is None


def test_a_watch_from_a_revision_is_none() -> None:
    assert _options(("watch", "1"), ("resourceVersion", "7")).initial_events is None


def test_a_server_that_does_not_know_watch_lists_refuses_them() -> None:
    code, text = _refusal(
        ("watch", "1"),
        ("sendInitialEvents", "true"),
        ("resourceVersionMatch", "NotOlderThan"),
        watch_list=False,
    )
    assert code == 422
    assert "sendInitialEvents: Forbidden: sendInitialEvents is forbidden for watch unless" in text


@pytest.mark.parametrize(
    ("text", "problem"),
    [("abc", "invalid syntax"), ("-1", "invalid syntax"), ("9" * 20, "value out of range")],
)
def test_a_bad_revision_is_told_as_go_tells_it(text: str, problem: str) -> None:
    expected = (
        f'resourceVersion: Invalid value: "{text}": strconv.ParseUint: parsing "{text}": {problem}'
    )
    assert rv_problem(text) == expected
    with pytest.raises(Refused) as caught:
        parse_rv(text)
    assert json.loads(caught.value.answer.body)["message"] == expected
    assert b'"reason"' not in caught.value.answer.body


def test_revisions_may_have_zeros_in_front() -> None:
    assert parse_rv("0" * 50 + "7") == 7
    assert parse_rv("") == 0
    assert rv_problem(str(2**64 - 1)) == ""
