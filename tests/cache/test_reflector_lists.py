"""How a reflector lists."""

from __future__ import annotations

from typing import Any

import pytest

from listwatch.cache import Cause, ReflectorOptions, Store
from listwatch.rest import ConnectionLost
from listwatch.rest.errors import ConnectionRefused

from .scripted import (
    Delayed,
    Page,
    Scripted,
    Still,
    Watch,
    added,
    bookmark,
    deleted,
    failure,
    modified,
    names,
    pod,
    reflecting,
    refusal,
    settle,
    too_large,
    until,
)

pytestmark = pytest.mark.virtual_time


# Which RV


@pytest.mark.clause("H1", "H2", "H3")
async def test_the_first_list_takes_any_cached_state_and_the_watch_goes_on_from_it() -> None:
    source = Scripted(Page(pod("a", 3), pod("b", 4), rv=5), Watch())
    async with reflecting(source) as life:
        assert source.asked == ["list rv=0 limit=500", "watch rv=5"]
        assert names(life.store) == {"a": "3", "b": "4"}
        assert life.reflector.last_sync_resource_version == "5"


@pytest.mark.clause("H1", "H2", "H8")
async def test_a_relist_asks_for_no_older_state_than_the_last_that_was_seen() -> None:
    source = Scripted(Page(pod("a", 3), rv=5), watch := Watch(), Page(pod("a", 8), rv=9), Watch())
    async with reflecting(source) as life:
        watch.send(modified(pod("a", 8)))
        watch.send(failure(410))
        await settle()
        assert source.asked[2:] == ["list rv=8 NotOlderThan", "watch rv=9"]
        assert life.reflector.last_sync_resource_version == "9"


@pytest.mark.clause("H1", "H13")
async def test_a_bookmark_counts_as_seen() -> None:
    source = Scripted(Page(rv=5), watch := Watch(), Page(rv=70), Watch())
    async with reflecting(source):
        watch.send(bookmark(60))
        watch.send(failure(410))
        await settle()
        assert source.asked[2] == "list rv=60 NotOlderThan"


@pytest.mark.clause("H1", "H9")
@pytest.mark.parametrize("answer", [refusal(410), too_large()], ids=["expired", "too large"])
async def test_a_list_that_the_server_cannot_do_is_read_consistently_at_once(
    answer: Exception,
) -> None:
    source = Scripted(Page(rv=5), watch := Watch(), answer, Page(pod("a", 8), rv=9), Watch())
    async with reflecting(source) as life:
        await until(20)
        watch.send(failure(410))
        await settle()
        assert source.asked_at[2:] == [
            (20, "list rv=5 NotOlderThan"),
            (20, "list rv=- limit=500"),
            (20, "watch rv=9"),
        ]
        assert names(life.store) == {"a": "8"}


@pytest.mark.clause("H1", "H9")
async def test_but_once_a_round_and_the_next_round_is_consistent_too() -> None:
    source = Scripted(refusal(410), refusal(410), too_large(), Page(rv=9), Watch())
    async with reflecting(source):
        await until(20)
        assert source.asked_at == [
            (0, "list rv=0 limit=500"),
            (0, "list rv=- limit=500"),
            (2, "list rv=- limit=500"),
            (2, "list rv=- limit=500"),
            (2, "watch rv=9"),
        ]


@pytest.mark.clause("H1")
async def test_after_a_consistent_list_relists_are_cheap_again() -> None:
    source = Scripted(refusal(410), Page(rv=5), watch := Watch(), Page(rv=6), Watch())
    async with reflecting(source):
        watch.send(failure(410))
        await settle()
        assert source.asked[3] == "list rv=5 NotOlderThan"


# Pages


@pytest.mark.clause("H2", "G1")
async def test_the_pages_of_a_list_are_one_set_and_its_rv_is_that_of_the_first() -> None:
    source = Scripted(
        Page(pod("a", 3), rv=5, more="c1", remaining=1), Page(pod("b", 4), rv=7), Watch()
    )
    progress: list[tuple[int, int | None]] = []
    async with reflecting(source, on_progress=lambda *so_far: progress.append(so_far)) as life:
        assert source.asked == ["list rv=0 limit=500", "list continue=c1 limit=500", "watch rv=5"]
        assert names(life.store) == {"a": "3", "b": "4"}
        assert life.sets[0].count == 2
    assert progress == [(1, 1), (2, 0)]


@pytest.mark.clause("H14")
async def test_no_reader_sees_a_set_before_its_last_page() -> None:
    source = Scripted(
        Page(pod("a", 3), rv=5),
        watch := Watch(),
        Page(pod("b", 8), rv=9, more="c1"),
        Delayed(5, Page(pod("c", 9), rv=9)),
        Watch(),
    )
    options = ReflectorOptions(page_size=1)
    async with reflecting(source, options=options) as life:
        watch.send(failure(410))
        await settle()
        assert source.asked[-1] == "list continue=c1 limit=1"
        assert names(life.store) == {"a": "3"}
        assert life.store.resource_version == "5"
        await until(6)
        assert names(life.store) == {"b": "8", "c": "9"}


@pytest.mark.clause("H2")
async def test_a_server_that_paged_the_first_list_is_asked_for_pages_later() -> None:
    source = Scripted(
        Page(pod("a", 3), rv=5, more="c1"), Page(rv=5), watch := Watch(), Page(rv=9), Watch()
    )
    async with reflecting(source):
        watch.send(failure(410))
        await settle()
        assert source.asked[3] == "list rv=5 NotOlderThan limit=500"


@pytest.mark.clause("H2")
async def test_a_page_size_of_its_own_is_sent_with_each_list() -> None:
    source = Scripted(refusal(410), Page(rv=5), watch := Watch(), Page(rv=9), Watch())
    async with reflecting(source, options=ReflectorOptions(page_size=7)):
        watch.send(failure(410))
        await settle()
        assert [asked.split()[-1] for asked in source.asked if asked.startswith("list")] == [
            "limit=7"
        ] * 3


# A list that was cut


@pytest.mark.clause("H9")
async def test_a_cut_list_goes_on_from_the_page_it_had_reached() -> None:
    source = Scripted(
        Page(pod("a", 3), rv=5, more="c1"),
        ConnectionLost("cut"),
        Page(pod("b", 4), rv=5),
        Watch(),
    )
    async with reflecting(source) as life:
        await until(20)
        assert source.asked_at == [
            (0, "list rv=0 limit=500"),
            (0, "list continue=c1 limit=500"),
            (2, "list continue=c1 limit=500"),
            (2, "watch rv=5"),
        ]
        assert names(life.store) == {"a": "3", "b": "4"}


@pytest.mark.clause("H9")
@pytest.mark.parametrize(
    "answer",
    [TimeoutError("late"), refusal(429), refusal(500), refusal(503), ConnectionRefused("no")],
    ids=repr,
)
async def test_whatever_interrupted_it_the_pages_that_came_are_kept(answer: Exception) -> None:
    source = Scripted(
        Page(pod("a", 3), rv=5, more="c1"), answer, answer, Page(pod("b", 4), rv=5), Watch()
    )
    async with reflecting(source) as life:
        await until(20)
        assert source.asked[1:4] == ["list continue=c1 limit=500"] * 3
        assert names(life.store) == {"a": "3", "b": "4"}


@pytest.mark.clause("H9")
async def test_a_list_cut_on_its_first_page_is_read_consistently_and_in_pages() -> None:
    source = Scripted(Page(rv=5), watch := Watch(), ConnectionLost("cut"), Page(rv=9), Watch())
    async with reflecting(source):
        watch.send(failure(410))
        await until(20)
        assert source.asked_at[2:] == [
            (0, "list rv=5 NotOlderThan"),
            (2, "list rv=- limit=500"),
            (2, "watch rv=9"),
        ]


@pytest.mark.clause("H9", "G2")
async def test_a_continue_that_expired_meanwhile_begins_the_list_anew() -> None:
    source = Scripted(
        Page(pod("a", 3), rv=5, more="c1"),
        ConnectionLost("cut"),
        refusal(410),
        Page(pod("b", 8), rv=9),
        Watch(),
    )
    async with reflecting(source) as life:
        await until(20)
        assert source.asked[2:] == ["list continue=c1 limit=500", "list rv=0", "watch rv=9"]
        assert names(life.store) == {"b": "8"}


@pytest.mark.clause("H9", "H10")
async def test_pages_without_end_are_an_unreadable_list_and_not_gone_on_with() -> None:
    source = Scripted(
        Page(pod("a", 3), rv=5, more="c1"),
        Page(pod("b", 3), rv=5, more="c1"),
        Page(pod("a", 8), rv=9),
        Watch(),
    )
    async with reflecting(source) as life:
        await until(20)
        assert source.asked_at[2:] == [(2, "list rv=0 limit=500"), (2, "watch rv=9")]
        assert names(life.store) == {"a": "8"}
        assert life.setbacks[0].cause is Cause.UNREADABLE


@pytest.mark.clause("K11", "H18", "H9")
async def test_a_list_that_went_on_after_a_cut_is_no_consistent_one() -> None:
    # Its first page came out of a cache, which may be old.
    source = Scripted(
        Page(pod("a", 3), rv=5, more="c1"),
        ConnectionLost("cut"),
        Page(pod("b", 4), rv=5),
        Watch(),
        checks=[80],
    )
    async with reflecting(source) as life:
        await until(20)
        assert life.reflector.synced
        assert life.reflector.consistent_at == float("-inf")


@pytest.mark.clause("K11")
async def test_a_consistent_list_tells_when_it_began() -> None:
    source = Scripted(refusal(410), Delayed(3, Page(rv=5)), Watch())
    async with reflecting(source) as life:
        await until(20)
        assert life.reflector.consistent_at == 0


@pytest.mark.clause("H18")
async def test_a_cut_list_that_goes_on_cannot_begin_another_history() -> None:
    source = Scripted(
        Page(rv=50),
        watch := Watch(),
        Page(pod("a", 3), rv=20, more="c1"),  # an old replica answers
        ConnectionLost("cut"),
        Page(pod("b", 4), rv=20),
        Page(pod("c", 55), rv=60),
        Watch(),
    )
    async with reflecting(source, options=ReflectorOptions(page_size=2)) as life:
        watch.send(failure(410))
        await until(50)
        assert source.asked[-2] == "list rv=- limit=2"
        assert names(life.store) == {"c": "55"}


# What replaces what


@pytest.mark.clause("J2", "H14")
async def test_a_relist_keeps_what_is_the_same_and_counts_what_differs() -> None:
    same, gone = pod("same", 1), pod("gone", 2)
    source = Scripted(
        Page(same, gone, pod("changed", 3), rv=5),
        watch := Watch(),
        Page(pod("same", 1), pod("changed", 8), pod("new", 9), rv=9),
        Watch(),
    )
    async with reflecting(source) as life:
        watch.send(failure(410))
        await settle()
        assert names(life.store) == {"same": "1", "changed": "8", "new": "9"}
        assert life.store.get("default/same") is same
        relisted = life.sets[1]
        assert (relisted.count, relisted.added, relisted.changed, relisted.vanished) == (3, 1, 1, 1)
        assert relisted.cause is Cause.EXPIRED
        assert life.told[-1] == "watch expired, relisted: 1 new, 1 changed, 1 vanished"


@pytest.mark.clause("H1", "H18")
async def test_a_list_older_than_what_is_there_is_read_consistently_before_it_counts() -> None:
    source = Scripted(
        Page(pod("a", 48), rv=50),
        watch := Watch(),
        Page(pod("a", 3), rv=20),  # a cache that lags
        Page(pod("a", 48), pod("b", 55), rv=60),
        Watch(),
    )
    async with reflecting(source) as life:
        watch.send(failure(410))
        await settle()
        assert source.asked[2:] == [
            "list rv=50 NotOlderThan",
            "list rv=- limit=500",
            "watch rv=60",
        ]
        assert names(life.store) == {"a": "48", "b": "55"}


@pytest.mark.clause("H6", "H14")
async def test_what_a_watch_brought_is_on_top_of_the_list() -> None:
    source = Scripted(Page(pod("a", 3), pod("b", 4), rv=5), watch := Watch())
    store: Store[Any] = Store()
    async with reflecting(source, store, rng=Still()) as life:
        watch.send(modified(pod("a", 6)), deleted(pod("b", 7)), added(pod("c", 8)))
        await settle()
        assert names(life.store) == {"a": "6", "c": "8"}
        assert life.reflector.last_sync_resource_version == "8"


@pytest.mark.clause("K10")
async def test_how_long_it_took_is_counted_from_its_own_first_request() -> None:
    source = Scripted(
        refusal(500), Delayed(3, Page(rv=5)), watch := Watch(), Delayed(4, Page(rv=9)), Watch()
    )
    async with reflecting(source) as life:
        await until(50)
        watch.send(failure(410))
        await until(60)
        assert [note.seconds for note in life.sets] == [3, 4]


# A list that somebody wants


@pytest.mark.clause("K11")
async def test_whoever_wants_a_list_gets_a_consistent_one_at_once() -> None:
    source = Scripted(Page(rv=5), watch := Watch(), Page(pod("a", 8), rv=9), Watch())
    async with reflecting(source) as life:
        await until(50)
        life.reflector.relist(Cause.OUT_OF_DATE)
        await settle()
        assert source.asked_at[2:] == [(50, "list rv=- limit=500"), (50, "watch rv=9")]
        assert not watch.is_open
        assert life.reflector.health.relists == {Cause.OUT_OF_DATE: 1}


@pytest.mark.clause("K11", "H9")
async def test_or_as_soon_as_the_server_lets() -> None:
    source = Scripted(
        Page(rv=5),
        Watch(failure(429, retry_after=20)),
        second := Watch(),
        Page(pod("a", 8), rv=9),
        Watch(),
    )
    async with reflecting(source) as life:
        await until(10)
        life.reflector.relist(Cause.OUT_OF_DATE)
        await until(19)
        assert len(source.asked) == 2
        await until(21)
        assert source.asked_at[2:] == [
            (20, "watch rv=5"),
            (20, "list rv=- limit=500"),
            (20, "watch rv=9"),
        ]
        assert not second.is_open
        assert life.reflector.health.relists == {Cause.OUT_OF_DATE: 1}
