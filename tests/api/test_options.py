"""The options of a LIST or WATCH."""

from __future__ import annotations

import pickle
from typing import Any

import pytest

from listwatch.api import (
    FieldSelector,
    InvalidOptions,
    LabelSelector,
    ListOptions,
    ResourceVersionMatch,
    SelectorError,
)

pytestmark = pytest.mark.clause("A1")

# Each option: how it is set, and how it goes out.
OPTIONS: dict[str, tuple[Any, tuple[str, str]]] = {
    "allow_watch_bookmarks": (True, ("allowWatchBookmarks", "true")),
    "continue_": ("abc=", ("continue", "abc=")),
    "field_selector": ("spec.nodeName=a", ("fieldSelector", "spec.nodeName=a")),
    "label_selector": ("a in (b, c)", ("labelSelector", "a in (b, c)")),
    "limit": (500, ("limit", "500")),
    "resource_version": ("0", ("resourceVersion", "0")),
    "resource_version_match": ("NotOlderThan", ("resourceVersionMatch", "NotOlderThan")),
    "send_initial_events": (False, ("sendInitialEvents", "false")),
    "shard_selector": ("shardRange(...)", ("shardSelector", "shardRange(...)")),
    "timeout_seconds": (300, ("timeoutSeconds", "300")),
    "watch": (True, ("watch", "true")),
}


def test_nothing_is_sent_that_is_not_set() -> None:
    assert ListOptions().query() == ()


@pytest.mark.parametrize("name", OPTIONS)
def test_each_option_alone_is_sent_under_its_exact_name(name: str) -> None:
    value, pair = OPTIONS[name]
    assert ListOptions(**{name: value}).query() == (pair,)
    assert ListOptions().replace(**{name: value}).query() == (pair,)


def test_all_options_are_sent_sorted_as_client_go_sends_them() -> None:
    options = ListOptions(**{name: value for name, (value, _) in OPTIONS.items()})
    assert options.query() == tuple(pair for _, pair in OPTIONS.values())
    assert list(options.query()) == sorted(options.query())


@pytest.mark.parametrize(
    ("options", "pairs"),
    [
        ({"resource_version": ""}, ()),
        ({"resource_version_match": ""}, ()),
        ({"limit": 0}, ()),
        ({"timeout_seconds": 0}, (("timeoutSeconds", "0"),)),
        ({"send_initial_events": True}, (("sendInitialEvents", "true"),)),
        ({"label_selector": LabelSelector()}, ()),
        ({"label_selector": LabelSelector.parse("b , a")}, (("labelSelector", "a,b"),)),
        ({"field_selector": FieldSelector.parse("a==b")}, (("fieldSelector", "a=b"),)),
    ],
)
def test_empty_options_are_the_same_as_none(
    options: dict[str, Any], pairs: tuple[tuple[str, str], ...]
) -> None:
    assert ListOptions(**options).query() == pairs


@pytest.mark.clause("A2")
def test_rv_and_continue_are_sent_as_they_came() -> None:
    odd = "not/a number=&?%"
    assert ListOptions(resource_version=odd, continue_=odd).query() == (
        ("continue", odd),
        ("resourceVersion", odd),
    )


def test_they_cannot_be_changed_and_a_replacement_is_a_new_one() -> None:
    options = ListOptions(limit=5)
    with pytest.raises(AttributeError):
        options.limit = 6  # type: ignore[misc]
    assert options.replace(limit=6) == ListOptions(limit=6)
    assert options == ListOptions(limit=5)
    assert hash(options) == hash(ListOptions(limit=5))
    assert pickle.loads(pickle.dumps(options)) == options


def test_a_match_may_be_given_as_text_or_member() -> None:
    exact = ListOptions(resource_version_match="Exact")
    assert exact == ListOptions(resource_version_match=ResourceVersionMatch.EXACT)
    assert exact.resource_version_match is ResourceVersionMatch.EXACT


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"limit": -1}, "limit must not be negative, and is -1"),
        ({"timeout_seconds": -5}, "timeout_seconds must not be negative"),
        ({"limit": True}, "limit must be an int or None, not True"),
        ({"limit": "500"}, "limit must be an int or None, not '500'"),
        ({"timeout_seconds": 2.5}, "timeout_seconds must be an int"),
        ({"watch": 1}, "watch must be a bool, not 1"),
        ({"allow_watch_bookmarks": "true"}, "allow_watch_bookmarks must be a bool"),
        ({"send_initial_events": 0}, "send_initial_events must be a bool"),
        ({"resource_version": 5}, "resource_version must be a str, not 5"),
        ({"resource_version": None}, "resource_version must be a str"),
        ({"continue_": b"x"}, "continue_ must be a str"),
        ({"shard_selector": 1}, "shard_selector must be a str"),
        ({"resource_version_match": "exact"}, "must be 'Exact' or 'NotOlderThan', not 'exact'"),
        ({"label_selector": {"a": "b"}}, "label_selector must be a str or LabelSelector"),
        ({"field_selector": None}, "field_selector must be a str or FieldSelector"),
    ],
)
def test_what_no_server_takes_is_refused_when_it_is_set(
    options: dict[str, Any], message: str
) -> None:
    with pytest.raises(InvalidOptions, match=message):
        ListOptions(**options)
    with pytest.raises(InvalidOptions, match=message):
        ListOptions().replace(**options)


@pytest.mark.clause("A4")
@pytest.mark.parametrize("name", ["label_selector", "field_selector"])
def test_a_selector_given_as_text_is_checked_before_any_request(name: str) -> None:
    with pytest.raises(SelectorError, match=r"at position [47]: "):
        ListOptions(**{name: "a=b, c d"}).query()
    with pytest.raises(SelectorError):
        ListOptions().replace(**{name: "a in"})


def test_an_unknown_option_is_a_type_error() -> None:
    with pytest.raises(TypeError, match="labelSelector"):
        ListOptions().replace(labelSelector="a")
