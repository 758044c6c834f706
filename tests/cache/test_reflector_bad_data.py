"""What cannot be read: contained, counted, told, and never taken for gone."""

from __future__ import annotations

from typing import Any

import pytest

from listwatch.api import Event, EventType, Unstructured
from listwatch.cache import Cause, IndexFunctionError, Mirror, Store, Undecodable, Undecoded
from listwatch.wire import EnvelopeError, FrameSyntaxError, ListDecodeError, ObjectTooLarge

from .scripted import (
    Page,
    Scripted,
    Still,
    Watch,
    added,
    deleted,
    end_of_initial_events,
    modified,
    names,
    pod,
    reflecting,
    refused_object,
    settle,
    until,
)

pytestmark = [pytest.mark.virtual_time, pytest.mark.clause("H10")]

ADDED, MODIFIED, DELETED = EventType.ADDED, EventType.MODIFIED, EventType.DELETED


async def test_an_object_of_a_list_that_cannot_be_decoded_is_there_raw() -> None:
    source = Scripted(Page(pod("good", 3), rv=5, undecodable=[pod("bad", 4)]), Watch())
    async with reflecting(source) as life:
        assert names(life.store) == {"good": "3", "bad": "4"}
        assert [obj.name for obj in life.store.list()] == ["good"]
        assert life.reflector.health.undecodable == ("default/bad",)
        assert life.reflector.health.objects == 2
        assert life.sets[0].count == 2
        assert [str(error) for error in life.errors] == [
            "cannot decode object default/bad: ValueError: no such field"
        ]
        assert Undecoded(key="default/bad", reason="ValueError: no such field") in life.notes
        assert source.asked == ["list rv=0 limit=500", "watch rv=5"]


async def test_so_it_is_in_a_watch_which_goes_on() -> None:
    source = Scripted(Page(pod("a", 3), rv=5), watch := Watch())
    async with reflecting(source) as life:
        watch.send(refused_object(MODIFIED, pod("a", 6)), added(pod("b", 7)))
        await settle()
        assert names(life.store) == {"a": "6", "b": "7"}
        assert life.reflector.health.undecodable == ("default/a",)
        assert life.reflector.last_sync_resource_version == "7"
        watch.send(refused_object(DELETED, pod("a", 8)))
        await settle()
        assert names(life.store) == {"b": "7"}
        assert life.reflector.health.undecodable == ()
        assert source.asked == ["list rv=0 limit=500", "watch rv=5"]


async def test_and_among_initial_events() -> None:
    source = Scripted(
        Watch(refused_object(ADDED, pod("a", 3)), added(pod("b", 4)), end_of_initial_events(5)),
        watch_list=True,
    )
    async with reflecting(source) as life:
        assert names(life.store) == {"a": "3", "b": "4"}
        assert life.reflector.health.undecodable == ("default/a",)
        assert len(life.errors) == 1


async def test_once_it_can_be_read_it_is_an_object_like_any_other() -> None:
    source = Scripted(Page(rv=5, undecodable=[pod("a", 4)]), watch := Watch())
    async with reflecting(source) as life:
        watch.send(modified(pod("a", 6)))
        await settle()
        assert life.store["default/a"].resource_version == "6"
        assert life.reflector.health.undecodable == ()


async def test_a_relist_does_not_take_it_for_vanished() -> None:
    source = Scripted(
        Page(pod("a", 3), rv=5), watch := Watch(), Page(rv=9, undecodable=[pod("a", 3)]), Watch()
    )
    async with reflecting(source) as life:
        watch.fail(FrameSyntaxError("no JSON", 12, "x"))
        await until(10)
        assert names(life.store) == {"a": "3"}
        assert life.sets[1].vanished == 0


async def test_an_object_of_another_kind_is_kept_raw_too() -> None:
    source = Scripted(Page(pod("a", 3), pod("odd", 4, kind="Gizmo"), rv=5), watch := Watch())
    async with reflecting(source) as life:
        assert isinstance(life.store.known("default/odd"), Undecodable)
        assert "it is a Gizmo, where a Pod was expected" in str(life.errors[0])
        watch.send(modified(pod("a", 6, kind="Gizmo")))
        await settle()
        assert set(life.reflector.health.undecodable) == {"default/odd", "default/a"}
        assert source.asked == ["list rv=0 limit=500", "watch rv=5"]


async def test_where_no_kind_is_expected_any_will_do() -> None:
    source = Scripted(Page(pod("a", 3, kind="Gizmo"), rv=5, kind="GizmoList"), Watch())
    async with reflecting(source, kind="") as life:
        assert [obj.kind for obj in life.store.list()] == ["Gizmo"]
        assert life.errors == []


@pytest.mark.clause("B9")
@pytest.mark.parametrize("kind", ["Table", "GizmoList"])
async def test_a_list_of_something_else_is_refused_as_a_whole(kind: str) -> None:
    source = Scripted(Page(rv=5, kind=kind), Page(rv=5), Watch())
    async with reflecting(source) as life:
        assert len(life.sets) == 0
        assert kind in str(life.errors[0])
        assert "PodList" in str(life.errors[0])
        await until(10)
        assert source.asked_at[1:] == [(2, "list rv=0 limit=500"), (2, "watch rv=5")]


NAMELESS = Unstructured.from_dict({"kind": "Pod", "apiVersion": "v1", "metadata": {"uid": "x"}})


@pytest.mark.clause("H9", "E2")
@pytest.mark.parametrize(
    "error",
    [
        FrameSyntaxError("no JSON", 12, "x"),
        EnvelopeError("unknown type 'ODD'"),
        ObjectTooLarge(10, 20),
        RuntimeError("a decoder with a bug"),
    ],
    ids=lambda error: type(error).__name__,
)
async def test_a_stream_that_cannot_be_read_is_one_list_at_the_pace_of_rounds(
    error: Exception,
) -> None:
    source = Scripted(Page(pod("a", 3), rv=5), watch := Watch(), Page(pod("a", 8), rv=9), Watch())
    async with reflecting(source) as life:
        watch.send(modified(pod("a", 6)))
        watch.fail(error)
        await settle()
        assert names(life.store) == {"a": "6"}
        assert not watch.is_open
        assert life.setbacks[0].cause is Cause.UNREADABLE
        await until(10)
        assert source.asked_at[2:] == [(2, "list rv=6 NotOlderThan"), (2, "watch rv=9")]
        assert life.reflector.health.relists == {Cause.UNREADABLE: 1}
        assert len(life.errors) == 1


@pytest.mark.parametrize(
    "odd",
    [
        added(NAMELESS),
        modified(NAMELESS),
        deleted(NAMELESS),
        refused_object(ADDED, NAMELESS),
        Event(ADDED, b"[]", b"[]", ValueError("no object at all")),
    ],
    ids=["ADDED", "MODIFIED", "DELETED", "not decoded either", "no object at all"],
)
async def test_so_is_an_event_whose_key_cannot_be_read(odd: Event[Any]) -> None:
    source = Scripted(Page(rv=5), watch := Watch(), Page(pod("a", 8), rv=9), Watch())
    async with reflecting(source) as life:
        watch.send(odd)
        await until(10)
        assert source.asked_at[2:] == [(2, "list rv=5 NotOlderThan"), (2, "watch rv=9")]
        assert names(life.store) == {"a": "8"}
        assert len(life.errors) == 1


async def test_among_initial_events_too() -> None:
    source = Scripted(
        Watch(added(pod("a", 3)), added(NAMELESS), end_of_initial_events(5)),
        Page(pod("a", 8), rv=9),
        Watch(),
        watch_list=True,
    )
    async with reflecting(source) as life:
        assert len(life.store) == 0
        await until(10)
        assert source.asked_at[1:] == [(2, "list rv=- limit=500"), (2, "watch rv=9")]


async def test_a_list_with_such_an_object_counts_for_nothing_and_is_tried_again() -> None:
    source = Scripted(Page(pod("a", 3), NAMELESS, rv=5), Page(pod("a", 8), rv=9), Watch())
    async with reflecting(source) as life:
        assert len(life.store) == 0
        assert not life.reflector.synced
        await until(10)
        assert source.asked_at[1:] == [(2, "list rv=0 limit=500"), (2, "watch rv=9")]


@pytest.mark.clause("H9")
async def test_a_server_that_sends_nothing_else_is_asked_more_and_more_rarely() -> None:
    source = Scripted(*[ListDecodeError("this is no list") for _ in range(6)])
    async with reflecting(source) as life:
        await until(31)
        assert [at for at, _ in source.asked_at] == [0, 2, 6, 14, 30]
        assert not life.reflector.synced


@pytest.mark.clause("I2", "H12")
async def test_an_index_function_that_raises_is_reported_and_the_object_is_kept() -> None:
    def by_node(obj: Unstructured) -> list[str]:
        return [obj["spec"]["nodeName"]]

    store: Store[Unstructured] = Store(indexes={"node": by_node})
    placed = pod("placed", 3, spec={"nodeName": "n1"})
    source = Scripted(Page(placed, pod("floating", 4), rv=5), watch := Watch())
    async with reflecting(source, store) as life:
        assert names(life.store) == {"placed": "3", "floating": "4"}
        assert store.index_keys("node", "n1") == ["default/placed"]
        watch.send(modified(pod("placed", 6)))
        await settle()
        assert store.index_keys("node", "n1") == []
        assert names(life.store)["placed"] == "6"
        assert [type(error) for error in life.errors] == [IndexFunctionError] * 2
        assert "default/floating" in str(life.errors[0])


@pytest.mark.clause("J2")
async def test_its_changes_say_what_is_wrong_with_it() -> None:
    source = Scripted(Page(pod("a", 3), rv=5), watch := Watch())
    deltas: list[Any] = []
    async with Mirror(source, on_deltas=deltas.extend, rng=Still(), kind="Pod"):
        await settle()
        watch.send(refused_object(MODIFIED, pod("a", 6)), refused_object(DELETED, pod("a", 7)))
        await settle()
    assert [(delta.type, delta.key) for delta in deltas] == [
        (ADDED, "default/a"),
        (MODIFIED, "default/a"),
        (DELETED, "default/a"),
    ]
    assert deltas[0].error is None
    assert "no such field" in str(deltas[1].error)
    assert deltas[1].raw == pod("a", 6).raw
    assert deltas[1].old.resource_version == "3"
