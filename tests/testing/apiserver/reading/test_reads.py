"""GET and LIST, clause by clause."""

from __future__ import annotations

import json
from typing import Any

import pytest

from listwatch.testing.apiserver.messages import Answer
from listwatch.testing.apiserver.reading.continue_token import ContinueToken
from tests.testing.apiserver.read_server import ReadServer, is_later, message

PODS = "/api/v1/namespaces/default/pods"


def _with_pods(*names: str, rv: int = 1) -> ReadServer:
    server = ReadServer(rv=rv)
    for name in names:
        server.put("pods", name)
    return server


def _metadata(answer: Answer) -> dict[str, Any]:
    assert answer.status == 200, answer
    metadata: dict[str, Any] = json.loads(answer.body)["metadata"]
    return metadata


def _names(answer: Answer) -> list[str]:
    return [item["metadata"]["name"] for item in json.loads(answer.body)["items"]]


# GET


def test_a_missing_object_is_not_found_in_any_version() -> None:
    server = _with_pods("a")
    for query in ("", "?resourceVersion=0", "?resourceVersion=1"):
        answer = server.answer(f"{PODS}/nope{query}")
        assert answer.status == 404
        assert message(answer) == 'pods "nope" not found'
        assert json.loads(answer.body)["details"] == {"name": "nope", "kind": "pods"}


def test_a_get_ignores_the_options_of_lists() -> None:
    server = _with_pods("a")
    for query in ("limit=abc", "watch=1&timeoutSeconds=abc", "labelSelector=!!", "watch"):
        assert server.answer(f"{PODS}/a?{query}").status == 200


def test_a_get_of_what_is_no_revision_is_an_error_that_depends_on_the_cache() -> None:
    """K12: a real server was asked."""
    server = _with_pods("a")
    text = 'resourceVersion: Invalid value: "x": strconv.ParseUint: parsing "x": invalid syntax'
    answer = server.answer(f"{PODS}/a?resourceVersion=x")
    assert (answer.status, message(answer)) == (500, text)
    answer = server.answer("/api/v1/namespaces/default/events/a?resourceVersion=x")
    assert (answer.status, message(answer)) == (400, f"invalid resource version: {text}")


def test_a_get_of_a_future_revision_is_answered_when_it_comes() -> None:
    """K13."""
    server = _with_pods("a")
    later = server.later(f"{PODS}/a?resourceVersion=4")
    assert later.tick() is None
    server.put("nodes", "n")
    assert later.tick() is None
    server.put("pods", "a", labels={"x": "y"})
    answer = later.tick()
    assert isinstance(answer, Answer)
    assert json.loads(answer.body)["metadata"]["resourceVersion"] == "4"


def test_what_waited_may_find_nothing() -> None:
    server = _with_pods("a")
    later = server.later(f"{PODS}/a?resourceVersion=3")
    server.delete("pods", "a")
    answer = later.tick()
    assert isinstance(answer, Answer)
    assert answer.status == 404


# Which revision


def test_the_rv_of_a_list_is_the_newest_of_the_store() -> None:
    """K10: it moves without a write to that type."""
    server = _with_pods("a")
    server.put("nodes", "n")
    assert _metadata(server.answer(PODS))["resourceVersion"] == "3"


def test_rv_0_gives_what_the_cache_has_and_how_far_it_is() -> None:
    """K14."""
    server = _with_pods("a")
    server.put("nodes", "n")
    assert _metadata(server.answer(f"{PODS}?resourceVersion=0"))["resourceVersion"] == "2"
    assert _metadata(server.answer(f"{PODS}?resourceVersion=3"))["resourceVersion"] == "3"


def test_rv_n_gives_the_newest_state_but_exact_and_a_limit_give_that_state() -> None:
    server = _with_pods("a", "b", "c")
    assert _names(server.answer(f"{PODS}?resourceVersion=3")) == ["a", "b", "c"]
    query = "resourceVersion=3&resourceVersionMatch=NotOlderThan&limit=9"
    assert _names(server.answer(f"{PODS}?{query}")) == ["a", "b", "c"]
    for query in ("resourceVersionMatch=Exact", "limit=9"):
        answer = server.answer(f"{PODS}?resourceVersion=3&{query}")
        assert _names(answer) == ["a", "b"]
        assert _metadata(answer)["resourceVersion"] == "3"


def test_an_exact_list_has_the_objects_as_they_were() -> None:
    server = _with_pods("a", "b")
    server.put("pods", "a", labels={"x": "new"})
    server.delete("pods", "b")
    answer = server.answer(f"{PODS}?resourceVersion=3&resourceVersionMatch=Exact")
    assert _names(answer) == ["a", "b"]
    assert b"new" not in answer.body
    answer = server.answer(f"{PODS}?resourceVersion=4&resourceVersionMatch=Exact")
    assert _names(answer) == ["a", "b"]
    assert b"new" in answer.body


@pytest.mark.parametrize(
    "query", ["resourceVersion=9", "resourceVersion=9&resourceVersionMatch=Exact"]
)
def test_a_list_of_a_future_revision_is_refused_after_three_seconds(query: str) -> None:
    """K13."""
    server = _with_pods("a")
    later = server.later(f"{PODS}?{query}")
    assert later.due == 3.0
    server.put("nodes", "n")
    answer = server.settled(later)
    assert answer.status == 504
    assert dict(answer.headers) == {"Retry-After": "1"}
    assert message(answer) == "Timeout: Too large resource version: 9, current: 3"


def test_a_list_of_a_future_revision_is_answered_when_it_comes() -> None:
    """K13: the write that brings it wakes those who wait, as soon as it is there."""
    server = _with_pods("a")
    later = server.later(f"{PODS}?resourceVersion=3&resourceVersionMatch=Exact")
    woken: list[Answer] = []

    def wake() -> None:
        answer = later.tick()
        assert isinstance(answer, Answer)
        woken.append(answer)

    later.wake = wake
    server.put("pods", "b")
    server.put("pods", "c")
    (answer,) = woken
    assert _names(answer) == ["a", "b"]
    assert _metadata(answer)["resourceVersion"] == "3"


def test_a_token_of_a_future_revision_waits_as_well() -> None:
    """K24: a client may have it from before a rollback."""
    server = _with_pods("a")
    token = ContinueToken(99, "/a\0").encode()
    answer = server.answer(f"{PODS}?continue={token}")
    assert (server.now, answer.status) == (3.0, 504)


# Pages


def test_pages_have_the_rv_and_the_state_of_the_first() -> None:
    """K11."""
    server = _with_pods("a", "b", "c", "d", "e")
    page = server.answer(f"{PODS}?limit=2")
    first = _metadata(page)
    assert first["remainingItemCount"] == 3
    server.delete("pods", "c")
    server.put("pods", "bb")
    page = server.answer(f"{PODS}?limit=2&continue={first['continue']}")
    assert _names(page) == ["c", "d"]
    second = _metadata(page)
    assert (second["resourceVersion"], second["remainingItemCount"]) == ("6", 1)
    page = server.answer(f"{PODS}?limit=2&continue={second['continue']}")
    assert _names(page) == ["e"]
    assert _metadata(page) == {"resourceVersion": "6"}


def test_a_limit_that_everything_fits_in_gives_no_token() -> None:
    server = _with_pods("a", "b")
    assert _metadata(server.answer(f"{PODS}?limit=2")) == {"resourceVersion": "3"}


def test_with_a_selector_it_is_not_told_how_many_remain_nor_whether_they_are_meant() -> None:
    """K11: a token comes whenever there is another object, selected or not."""
    server = ReadServer()
    for name, app in [("a", "x"), ("b", "y"), ("c", "x"), ("d", "y")]:
        server.put("pods", name, labels={"app": app})
    page = server.answer(f"{PODS}?limit=2&labelSelector=app%3Dx")
    assert _names(page) == ["a", "c"]
    metadata = _metadata(page)
    assert "remainingItemCount" not in metadata
    token = metadata["continue"]
    page = server.answer(f"{PODS}?limit=2&labelSelector=app%3Dx&continue={token}")
    assert _names(page) == []
    assert _metadata(page) == {"resourceVersion": "5"}


def test_rv_0_ignores_the_limit_where_there_is_a_cache() -> None:
    """K12."""
    server = _with_pods("a", "b")
    server.put("events", "a")
    server.put("events", "b")
    for match in ("", "&resourceVersionMatch=NotOlderThan"):
        assert server.items(f"{PODS}?resourceVersion=0&limit=1{match}") == ["a", "b"]
    page = server.answer("/api/v1/events?resourceVersion=0&limit=1")
    assert _names(page) == ["a"]
    assert _metadata(page)["remainingItemCount"] == 1


def test_a_page_of_all_namespaces_goes_on_across_them() -> None:
    server = ReadServer()
    for namespace in ("x", "x-y", "z"):
        for name in ("a", "b"):
            server.put("pods", name, namespace)
    found, token = [], ""
    while True:
        page = server.answer(f"/api/v1/pods?limit=4&continue={token}")
        found += [
            (item["metadata"]["namespace"], item["metadata"]["name"])
            for item in json.loads(page.body)["items"]
        ]
        token = _metadata(page).get("continue", "")
        if not token:
            break
    assert found == [(n, m) for n in ("x-y", "x", "z") for m in ("a", "b")]


def test_a_token_without_the_zero_byte_begins_with_its_key() -> None:
    """A real server was asked."""
    server = _with_pods("a", "b", "c")
    token = ContinueToken(-1, "b").encode()
    page = server.answer(f"{PODS}?limit=1&continue={token}")
    assert _names(page) == ["b"]
    assert _metadata(page)["remainingItemCount"] == 1
    assert server.items(f"{PODS}?continue={ContinueToken(-1, 'bb').encode()}") == ["c"]


def test_exactly_no_revision_is_the_newest() -> None:
    """A real server was asked."""
    server = _with_pods("a", "b")
    assert server.items(f"{PODS}?resourceVersion=00&resourceVersionMatch=Exact") == ["a", "b"]


def test_a_list_of_one_name_looks_at_nothing_else() -> None:
    """A real server was asked: neither limit nor a token plays a part."""
    server = _with_pods("a", "b")
    query = "fieldSelector=metadata.name%3Da"
    assert _metadata(server.answer(f"{PODS}?{query}&limit=1")) == {"resourceVersion": "3"}
    assert _metadata(server.answer(f"{PODS}?{query}&limit=1&resourceVersion=2")) == {
        "resourceVersion": "3"
    }
    assert server.items(f"{PODS}?{query}&resourceVersion=1&resourceVersionMatch=Exact") == []
    assert server.items(f"{PODS}?{query},metadata.name%3Db") == []
    assert _names(server.answer(f"/api/v1/pods?{query}&limit=1")) == ["a"]
    assert "continue" in _metadata(server.answer(f"/api/v1/pods?{query}&limit=1"))
    answer = server.answer(f"{PODS}?{query}&continue=abc")
    assert message(answer).startswith("invalid continue token")


# What is forgotten


def test_compaction_alone_expires_nothing() -> None:
    """K21: until a restart."""
    server = _with_pods("a", "b", "c")
    token = _metadata(server.answer(f"{PODS}?limit=1"))["continue"]
    server.put("pods", "d")
    server.log.compact(server.log.revision)
    exact = f"{PODS}?resourceVersion=3&resourceVersionMatch=Exact"
    assert server.items(exact) == ["a", "b"]
    assert server.items(f"{PODS}?continue={token}") == ["b", "c"]
    server.hub.restart()
    answer = server.answer(exact)
    assert answer.status == 410
    assert message(answer) == "The resourceVersion for the provided list is too old."
    answer = server.answer(f"{PODS}?continue={token}")
    assert answer.status == 410
    assert message(answer).startswith("The provided continue parameter is too old")


def test_an_expired_list_can_go_on_inconsistently() -> None:
    """K11."""
    server = _with_pods("a", "b", "c")
    token = _metadata(server.answer(f"{PODS}?limit=1"))["continue"]
    server.put("pods", "bb")
    server.log.compact(server.log.revision)
    server.hub.restart()
    expired = json.loads(server.answer(f"{PODS}?limit=2&continue={token}").body)
    page = server.answer(f"{PODS}?limit=2&continue={expired['metadata']['continue']}")
    assert _names(page) == ["b", "bb"]
    metadata = _metadata(page)
    assert metadata["resourceVersion"] == "5"
    assert ContinueToken.decode(metadata["continue"]) == ContinueToken(5, "/bb\0")


def test_a_state_from_before_the_cache_comes_from_the_log() -> None:
    """K11: its tokens have no slash, as those of all lists that the cache does not serve."""
    server = _with_pods("a", "b", "c")
    server.hub.restart()
    server.put("pods", "d")
    page = server.answer(f"{PODS}?resourceVersion=3&resourceVersionMatch=Exact&limit=1")
    assert _names(page) == ["a"]
    assert ContinueToken.decode(_metadata(page)["continue"]) == ContinueToken(3, "a\0")


def test_events_expire_at_once() -> None:
    """K12, K21."""
    server = ReadServer()
    server.put("events", "a")
    server.put("events", "b")
    exact = "/api/v1/events?resourceVersion=2&resourceVersionMatch=Exact"
    assert server.items(exact) == ["a"]
    server.log.compact(3)
    assert server.answer(exact).status == 410


def test_a_rollback_puts_the_rvs_of_clients_into_the_future() -> None:
    """K24."""
    server = _with_pods("a")
    backup = server.log.backup()
    server.put("pods", "lost")
    server.log.restore(backup)
    server.hub.restart()
    assert server.items(PODS) == ["a"]
    assert server.answer(f"{PODS}?resourceVersion=3").status == 504


def test_a_large_store_is_listed_in_pages_without_looking_at_all_of_it() -> None:
    server = ReadServer()
    for number in range(3000):
        server.put("pods", f"p{number:04}")
    looked_at = 0
    objects = server.log.objects

    def counting(*args: Any, **options: Any) -> Any:
        nonlocal looked_at
        for found in objects(*args, **options):
            looked_at += 1
            yield found

    server.log.objects = counting  # type: ignore[method-assign]
    token = _metadata(server.answer(f"{PODS}?limit=100"))["continue"]
    server.put("pods", "p0150")
    page = server.answer(f"{PODS}?limit=100&continue={token}")
    assert _metadata(page)["remainingItemCount"] == 2800
    assert looked_at < 210


def test_nothing_waits_where_the_revision_is_there() -> None:
    server = _with_pods("a")
    for query in ("", "?resourceVersion=2", "?resourceVersion=2&resourceVersionMatch=Exact"):
        assert not is_later(server.request(PODS + query))
