"""A server whose history went back (restored from a backup), and how that is noticed."""

from __future__ import annotations

import pytest

from listwatch.cache import Cause, Liveness, ReflectorOptions
from listwatch.rest import ConnectionLost
from listwatch.rest.errors import ConnectionRefused

from .scripted import (
    Page,
    Scripted,
    Watch,
    added,
    bookmark,
    deleted,
    end_of_initial_events,
    failure,
    modified,
    names,
    pod,
    reflecting,
    refusal,
    settle,
    until,
)

pytestmark = [pytest.mark.virtual_time, pytest.mark.clause("H18")]


async def test_nobody_looks_while_nothing_was_lost() -> None:
    source = Scripted(Page(rv=5), Watch())
    async with reflecting(source):
        await until(140)
        assert source.checked_at == []


@pytest.mark.parametrize(
    "loss", [ConnectionLost("cut"), TimeoutError("late"), EOFError("cut")], ids=repr
)
async def test_after_a_lost_connection_it_looks_when_it_watches_again(loss: Exception) -> None:
    source = Scripted(Page(rv=5), first := Watch(), Watch())
    async with reflecting(source):
        await until(50)
        first.fail(loss)
        await settle()
        assert source.asked_at[2:] == [(50, "watch rv=5")]
        assert source.checked_at == [50]


async def test_and_once_more_after_half_a_minute_without_a_sign() -> None:
    source = Scripted(Page(rv=5), first := Watch(), Watch())
    async with reflecting(source):
        await until(50)
        first.fail()
        await until(180)
        assert source.checked_at == [50, 80]


@pytest.mark.parametrize("event", [added(pod("a", 6)), bookmark(8)], ids=["event", "bookmark"])
async def test_but_not_where_something_came_meanwhile(event: object) -> None:
    source = Scripted(Page(rv=5), first := Watch(), second := Watch())
    async with reflecting(source):
        await until(50)
        first.fail()
        await until(60)
        second.send(event)  # type: ignore[arg-type]
        await until(180)
        assert source.checked_at == [50]


async def test_the_half_minute_is_settable() -> None:
    source = Scripted(Page(rv=5), first := Watch(), Watch())
    options = ReflectorOptions(liveness=Liveness(recheck=10))
    async with reflecting(source, options=options):
        await until(50)
        first.fail()
        await until(100)
        assert source.checked_at == [50, 60]


async def test_it_looks_after_a_time_without_a_server_too() -> None:
    source = Scripted(Page(rv=5), first := Watch(), *[ConnectionRefused("no")] * 3, Watch())
    async with reflecting(source):
        await until(50)
        first.fail()
        await until(90)
        assert source.asked[-1] == "watch rv=5"
        assert source.checked_at[0] == source.asked_at[-1][0]


async def test_a_server_that_ends_its_watches_before_their_time_may_be_shutting_down() -> None:
    source = Scripted(Page(rv=5), first := Watch(), Watch())
    async with reflecting(source):
        await until(50)
        first.end()
        await settle()
        assert source.checked_at == [50]


@pytest.mark.parametrize(("at", "suspected"), [(298.9, True), (299, False), (305, False)])
async def test_one_that_ends_them_in_time_is_not_suspected(at: float, suspected: bool) -> None:
    source = Scripted(Page(rv=5), first := Watch(), Watch())
    options = ReflectorOptions(liveness=Liveness(idle=None))
    async with reflecting(source, options=options):
        assert source.requests[1].options.timeout_seconds == 300
        await until(at)
        first.end()
        await until(320)
        assert source.asked_at[2:] == [(at, "watch rv=5")]
        assert source.checked_at == ([at] if suspected else [])


async def test_a_server_at_an_older_rv_has_another_history() -> None:
    source = Scripted(
        Page(pod("same", 3), pod("changed", 40), pod("gone", 45), rv=50),
        first := Watch(),
        second := Watch(),
        Page(pod("same", 3), pod("changed", 14), rv=20),
        third := Watch(),
        checks=[20],
    )
    async with reflecting(source) as life:
        await until(50)
        first.fail()
        await settle()
        assert source.asked_at[2:] == [
            (50, "watch rv=50"),
            (50, "list rv=- limit=500"),
            (50, "watch rv=20"),
        ]
        assert not second.is_open
        assert third.is_open
        assert names(life.store) == {"same": "3", "changed": "14"}
        assert life.reflector.last_sync_resource_version == "20"
        assert life.reflector.health.epoch == 1
        assert life.reflector.health.relists == {Cause.WENT_BACK: 1}
        assert life.sets[-1].new_epoch
        assert life.told[-1] == "the server's history went back, relisted: 1 changed, 1 vanished"


async def test_rvs_of_the_new_history_are_not_held_against_the_old_one() -> None:
    source = Scripted(
        Page(pod("a", 40), rv=50),
        first := Watch(),
        Watch(),
        Page(pod("a", 14), rv=20),
        third := Watch(),
        checks=[20],
    )
    async with reflecting(source) as life:
        await until(50)
        first.fail()
        await settle()
        third.send(modified(pod("a", 21)), added(pod("b", 22)), bookmark(30))
        await settle()
        assert names(life.store) == {"a": "21", "b": "22"}
        assert life.reflector.last_sync_resource_version == "30"
        assert life.reflector.health.late_writes == 0
        third.send(deleted(pod("a", 31)))
        await settle()
        assert names(life.store) == {"b": "22"}


async def test_through_a_watch_list_it_is_the_same() -> None:
    source = Scripted(
        first := Watch(added(pod("a", 40)), end_of_initial_events(50)),
        Watch(),
        Watch(added(pod("a", 14)), end_of_initial_events(20)),
        watch_list=True,
        checks=[20],
    )
    async with reflecting(source) as life:
        await until(50)
        first.fail()
        await settle()
        assert source.asked_at[1:] == [(50, "watch rv=50"), (50, "watch-list rv=-")]
        assert names(life.store) == {"a": "14"}
        assert life.reflector.health.epoch == 1


async def test_new_writes_may_pass_our_rv_while_the_list_is_on_its_way() -> None:
    source = Scripted(
        Page(pod("a", 40), rv=50),
        first := Watch(),
        Watch(),
        Page(pod("b", 55), rv=60),
        Watch(),
        checks=[49],
    )
    async with reflecting(source) as life:
        await until(50)
        first.fail()
        await settle()
        assert names(life.store) == {"b": "55"}
        assert life.reflector.health.epoch == 1


@pytest.mark.clause("H9")
async def test_a_look_that_fails_is_reported_and_made_again() -> None:
    source = Scripted(
        Page(rv=50),
        first := Watch(),
        Watch(),
        Page(rv=20),
        Watch(),
        checks=[ConnectionLost("cut"), 20],
    )
    async with reflecting(source) as life:
        await until(50)
        first.fail(ConnectionLost("cut, too"))
        await until(70)
        assert source.checked_at == [50]
        assert [str(error) for error in life.errors] == ["cut, too", "cut"]
        await until(81)
        assert source.checked_at == [50, 80]
        assert life.reflector.health.epoch == 1


async def test_it_looks_until_the_server_has_answered() -> None:
    lost = ConnectionLost("cut")
    source = Scripted(Page(rv=50), first := Watch(), Watch(), checks=[lost, lost, lost, 50])
    async with reflecting(source):
        await until(50)
        first.fail()
        await until(190)
        assert source.checked_at == [50, 80, 110, 140]


@pytest.mark.clause("H9")
async def test_a_look_that_is_refused_for_a_time_is_made_no_earlier() -> None:
    source = Scripted(Page(rv=50), first := Watch(), Watch(), checks=[refusal(429, retry_after=90)])
    async with reflecting(source):
        await until(50)
        first.fail()
        await until(139)
        assert source.checked_at == [50]


async def test_what_was_listed_meanwhile_needs_no_look() -> None:
    # The consistent list that comes after a cut is itself the look.
    source = Scripted(Page(rv=50), first := Watch(), ConnectionLost("cut"), Page(rv=60), Watch())
    async with reflecting(source):
        await until(10)
        first.send(failure(410))
        await until(100)
        assert source.asked[2:] == [
            "list rv=50 NotOlderThan",
            "list rv=- limit=500",
            "watch rv=60",
        ]
        assert source.checked_at == []


async def test_a_consistent_list_below_our_rv_is_another_history_whatever_it_was_made_for() -> None:
    source = Scripted(
        Page(pod("a", 40), rv=50),
        first := Watch(),
        refusal(410),
        Page(pod("a", 14), rv=20),
        Watch(),
    )
    async with reflecting(source) as life:
        await until(50)
        first.send(failure(410))
        await settle()
        assert names(life.store) == {"a": "14"}
        assert life.reflector.health.epoch == 1
        assert life.reflector.health.relists == {Cause.WENT_BACK: 1}


async def test_a_set_with_an_older_state_of_an_object_is_of_another_history() -> None:
    # New writes have passed our RV before anybody looked, but the objects show it.
    source = Scripted(
        Page(pod("a", 40), pod("b", 41), rv=50),
        first := Watch(),
        Page(pod("a", 15, uid="another"), pod("b", 55), rv=60),
        Watch(),
    )
    async with reflecting(source) as life:
        await until(50)
        first.send(failure(410))
        await settle()
        assert names(life.store) == {"a": "15", "b": "55"}
        assert life.reflector.health.epoch == 1
        assert life.reflector.health.relists == {Cause.WENT_BACK: 1}


async def test_rvs_that_cannot_be_compared_prove_nothing() -> None:
    source = Scripted(Page(rv="x9"), first := Watch(), Watch(), checks=["x2"])
    async with reflecting(source) as life:
        await until(50)
        first.fail()
        await until(70)
        assert source.asked[2:] == ["watch rv=x9"]
        assert life.reflector.health.epoch == 0


@pytest.mark.clause("H12")
async def test_the_error_handler_hears_of_it() -> None:
    source = Scripted(Page(rv=50), first := Watch(), Watch(), Page(rv=20), Watch(), checks=[20])
    async with reflecting(source) as life:
        await until(50)
        first.fail(ConnectionLost("cut"))
        await settle()
        assert len(life.errors) == 2
        assert "20" in str(life.errors[1])
        assert "50" in str(life.errors[1])


@pytest.mark.clause("K11")
async def test_a_look_that_finds_the_server_where_we_are_proves_the_store() -> None:
    source = Scripted(Page(rv=5), first := Watch(), Watch())
    async with reflecting(source) as life:
        await until(50)
        first.fail()
        await settle()
        assert life.reflector.consistent_at == 50
