"""What client-go tries of its reflector, told as stories of ours (docs/parity.md)."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest

from listwatch.api import (
    APIError,
    ListOptions,
    Status,
    StatusCause,
    StatusDetails,
    error_for_status,
)
from listwatch.cache import Cause, Liveness, Pacing, ReflectorOptions
from listwatch.wire import ObjectList, decode_list, decode_unstructured
from tests.cache.scripted import (
    Page,
    Scripted,
    Watch,
    added,
    deleted,
    error_event,
    failure,
    modified,
    names,
    pod,
    reflecting,
    refusal,
    settle,
    until,
)

pytestmark = pytest.mark.virtual_time


class Counted(Watch):
    """A watch that counts how often it is closed."""

    def __init__(self) -> None:
        super().__init__()
        self.closings = 0

    def close(self) -> None:
        self.closings += 1
        super().close()


@pytest.mark.clause("H8", "H17", "E3")
@pytest.mark.parametrize("after", [0, 40], ids=["at once", "later"])
@pytest.mark.parametrize("how", ["stop", "end", "cut", "error"])
async def test_whatever_ends_a_watch_its_connection_is_released(how: str, after: float) -> None:
    source = Scripted(Page(rv=1), watch := Counted(), Watch() if how != "error" else Page(rv=2))
    async with reflecting(source) as life:
        await until(after)
        match how:
            case "stop":
                life.reflector.stop()
            case "end":
                watch.end()
            case "cut":
                watch.fail()
            case "error":
                watch.send(error_event(Status(code=500, reason="InternalError")))
        await settle()
        assert watch.closed_at == after
        assert watch.closings >= 1
        assert not watch.is_open


@pytest.mark.clause("H8", "D3")
async def test_an_error_event_that_carries_no_status_ends_the_watch_like_any_other() -> None:
    source = Scripted(Page(rv=1), watch := Watch(), Page(pod("a", 4), rv=5), Watch())
    async with reflecting(source) as life:
        watch.send(error_event(pod("bar", 3)))  # type: ignore[arg-type]
        await settle()
        assert not watch.is_open
        await until(10)
        assert source.asked_at[2:] == [(2, "list rv=1 NotOlderThan"), (2, "watch rv=5")]
        assert names(life.store) == {"a": "4"}


@pytest.mark.clause("H6", "H10", "I3")
async def test_one_watch_of_a_stranger_a_deletion_a_change_and_an_event_out_of_order() -> None:
    """client-go drops the stranger and takes the last event for the newest. Here the stranger is
    kept raw, and what is older than the store is late: it was seen before, or is of a past state.
    """
    source = Scripted(Page(pod("foo", 1), pod("bar", 2), rv=5), watch := Watch())
    async with reflecting(source) as life:
        watch.send(
            added(pod("stranger", 20, kind="Service")),
            deleted(pod("foo", 21)),
            modified(pod("bar", 55)),
            added(pod("baz", 32)),
            added(pod("qux", 56)),
        )
        await settle()
        assert [obj.key for obj in life.store.list()] == ["default/bar", "default/qux"]
        assert life.store.get("default/bar").resource_version == "55"
        assert list(life.store.undecodable) == ["default/stranger"]
        assert life.reflector.last_sync_resource_version == "56"
        assert life.reflector.health.late_writes == 1


@pytest.mark.clause("H1", "H7", "H8")
async def test_lists_and_watches_with_failures_between_them_lose_nothing() -> None:
    source = Scripted(
        Page(rv=1),
        first := Watch(),
        Page(pod("foo", 2), pod("bar", 3), rv=3),
        second := Watch(),
        refusal(500),  # a list that fails
        Page(pod("bar", 3), pod("qux", 5), rv=5),
        refusal(503),  # a watch that does not open
        Page(pod("bar", 3), pod("qux", 5), rv=5),
        third := Watch(),
        Page(pod("bar", 3), pod("qux", 5), pod("baz", 6), rv=6),
        Watch(),
    )
    options = ReflectorOptions(liveness=Liveness(idle=None))
    async with reflecting(source, options=options) as life:
        first.send(added(pod("foo", 2)), added(pod("bar", 3)))
        await settle()
        assert names(life.store) == {"foo": "2", "bar": "3"}
        first.send(failure(410))
        await settle()
        assert names(life.store) == {"foo": "2", "bar": "3"}
        second.send(deleted(pod("foo", 4)), added(pod("qux", 5)))
        await settle()
        assert names(life.store) == {"bar": "3", "qux": "5"}
        second.send(failure(410))
        await until(120)
        assert third.is_open
        assert names(life.store) == {"bar": "3", "qux": "5"}
        third.send(added(pod("baz", 6)), failure(500))
        await until(240)
        assert names(life.store) == {"bar": "3", "qux": "5", "baz": "6"}
        assert source.answers == []
        changed = [(note.added, note.changed, note.vanished) for note in life.sets]
        assert changed == [(0, 0, 0)] * 5, "no relist had anything to tell"


# Pages


@pytest.mark.clause("H2", "G1")
async def test_ten_objects_in_pages_of_four_are_three_requests_also_at_an_rv() -> None:
    pods = [pod(f"pod-{n}", n + 1) for n in range(10)]
    source = Scripted(
        Page(rv=10),
        watch := Watch(),
        Page(*pods[:4], rv=10, more="C1"),
        Page(*pods[4:8], rv=10, more="C2"),
        Page(*pods[8:], rv=10),
        Watch(),
    )
    async with reflecting(source, options=ReflectorOptions(page_size=4)) as life:
        watch.send(failure(410))
        await settle()
        assert source.asked[2:] == [
            "list rv=10 NotOlderThan limit=4",
            "list continue=C1 limit=4",
            "list continue=C2 limit=4",
            "watch rv=10",
        ]
        assert len(life.store) == 10


@pytest.mark.clause("G2", "H1")
async def test_a_second_page_that_expired_is_one_whole_list_at_the_rv_of_the_first() -> None:
    source = Scripted(
        Page(*[pod(f"pod-{n}", n + 1) for n in range(4)], rv=10),
        watch := Watch(),
        Page(*[pod(f"pod-{n}", n + 1) for n in range(4)], rv=11, more="C1"),
        refusal(410),
        Page(*[pod(f"pod-{n}", n + 1) for n in range(8)], rv=11),
        Watch(),
    )
    async with reflecting(source, options=ReflectorOptions(page_size=4)) as life:
        assert source.asked[0] == "list rv=0 limit=4"
        watch.send(failure(410))
        await settle()
        assert source.asked[2:] == [
            "list rv=10 NotOlderThan limit=4",
            "list continue=C1 limit=4",
            "list rv=10 NotOlderThan",
            "watch rv=11",
        ]
        assert len(life.store) == 8


def too_large_as(server: str) -> APIError:
    """How servers of three generations said it."""
    details, message = StatusDetails(retry_after_seconds=1), "too large resource version"
    match server:
        case "today":
            details = StatusDetails(causes=(StatusCause(reason="ResourceVersionTooLarge"),))
        case "1.17 to 1.18.5":
            details = StatusDetails(causes=(StatusCause(message="Too large resource version"),))
        case "before 1.17":
            message = "Too large resource version: 40, current: 30"
    told = Status(status="Failure", code=504, reason="Timeout", message=message, details=details)
    return error_for_status(told)


@pytest.mark.clause("H1")
@pytest.mark.parametrize("server", ["today", "1.17 to 1.18.5", "before 1.17"])
async def test_an_rv_too_large_is_read_consistently_whoever_says_it(server: str) -> None:
    source = Scripted(
        Page(rv=20), watch := Watch(), too_large_as(server), Page(pod("a", 25), rv=30), Watch()
    )
    async with reflecting(source) as life:
        watch.send(failure(410))
        await settle()
        assert source.asked_at[2:] == [
            (0, "list rv=20 NotOlderThan"),
            (0, "list rv=- limit=500"),
            (0, "watch rv=30"),
        ]
        assert names(life.store) == {"a": "25"}


# Internal errors


@pytest.mark.clause("H8")
async def test_the_budget_for_internal_errors_begins_anew_after_a_watch_that_lived() -> None:
    budget = ReflectorOptions(
        internal_error_budget=30,
        liveness=Liveness(idle=None),
        pacing=Pacing(first=1, cap=1, burst=1000, slow_burst=1000),
    )
    early = [Watch(failure(500)) for _ in range(10)]
    quiet = Watch()
    late = [Watch(failure(500)) for _ in range(10)]
    source = Scripted(Page(rv=1), *early, quiet, *late, Watch())
    async with reflecting(source, options=budget) as life:
        await until(25)
        assert quiet.is_open
        await until(100)
        quiet.send(failure(500))
        await until(125)
        assert source.answers == []
        assert not life.reflector.health.relists
        assert Counter(asked.split()[0] for asked in source.asked) == {"list": 1, "watch": 22}


@pytest.mark.clause("H8")
async def test_an_error_of_another_kind_is_a_list_whatever_the_budget() -> None:
    budget = ReflectorOptions(internal_error_budget=30)
    source = Scripted(Page(rv=1), Watch(failure(503)), Page(rv=2), Watch())
    async with reflecting(source, options=budget) as life:
        await until(10)
        assert source.asked_at[2:] == [(2, "list rv=1 NotOlderThan"), (2, "watch rv=2")]
        assert life.reflector.health.relists == {Cause.SERVER: 1}


@pytest.mark.clause("H8", "H14")
async def test_an_object_that_cannot_be_read_in_storage_and_was_forced_out_leaves_the_store() -> (
    None
):
    there = [pod("foo-1", 1), pod("foo-2", 2), pod("foo-3", 3)]
    corrupt = Status(
        status="Failure",
        code=500,
        reason="StorageReadError",
        message="the corrupt object has been deleted",
    )
    source = Scripted(Page(*there, rv=3), watch := Watch(), Page(*there, rv=5), Watch())
    async with reflecting(source) as life:
        watch.send(added(pod("foo", 4)))
        await settle()
        kept = life.store.get("default/foo-1")
        watch.send(error_event(corrupt))
        await settle()
        assert "default/foo" in life.store, "until the relist nothing is known of it"
        await until(10)
        assert names(life.store) == {"foo-1": "1", "foo-2": "2", "foo-3": "3"}
        assert life.store.get("default/foo-1") is kept
        assert life.reflector.last_sync_resource_version == "5"
        assert life.sets[-1].vanished == 1


# Tables


@pytest.mark.clause("H10", "B9")
@pytest.mark.parametrize(
    ("api_version", "refused"),
    [("meta.k8s.io/v1", True), ("meta.k8s.io/v1beta1", True), ("custom.group/v1", False)],
)
async def test_a_table_of_the_server_is_refused_and_a_type_of_that_name_is_not(
    api_version: str, refused: bool
) -> None:
    def table(name: str) -> dict[str, Any]:
        return {"kind": "Table", "apiVersion": api_version, "metadata": {"name": name}}

    body = (
        {"kind": "Table", "apiVersion": api_version, "metadata": {}, "rows": [{"cells": ["a"]}]}
        if refused
        else {
            "kind": "TableList",
            "apiVersion": api_version,
            "metadata": {"resourceVersion": "5"},
            "items": [table("a")],
        }
    )

    class Raw(Scripted):
        async def alist(self, options: ListOptions, /) -> ObjectList[Any]:
            self._note("list", options)
            return decode_list(json.dumps(body).encode(), decode_unstructured)

    source = Raw(Watch())
    async with reflecting(source, kind="" if refused else "Table") as life:
        assert life.reflector.synced is not refused
        assert list(life.store) == ([] if refused else ["a"])
        if refused:
            assert "Table" in str(life.errors[0])
            assert life.setbacks[0].cause is Cause.UNREADABLE
