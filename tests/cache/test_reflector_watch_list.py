"""The initial set through a watch."""

from __future__ import annotations

import asyncio
import weakref

import pytest

from listwatch.api import Event, EventType
from listwatch.cache import (
    Cause,
    Identity,
    Liveness,
    ReflectorOptions,
    State,
    Store,
    WatchListGivenUp,
)
from listwatch.rest import ConnectionLost
from listwatch.rest.errors import ConnectionRefused
from listwatch.watch import EmptyWatch
from listwatch.wire import FrameSyntaxError

from .scripted import (
    Delayed,
    Page,
    Scripted,
    Watch,
    WithMetadata,
    added,
    bookmark,
    deleted,
    end_of_initial_events,
    error_event,
    failure,
    modified,
    names,
    pod,
    reflecting,
    refusal,
    settle,
    too_large,
    too_large_status,
    until,
)

pytestmark = pytest.mark.virtual_time


def whole(rv: int, *events: Event[object]) -> Watch:
    """A WatchList that has its marker."""
    return Watch(*events, end_of_initial_events(rv))


@pytest.mark.clause("H4", "H3")
async def test_the_set_comes_through_a_watch_which_goes_on_as_the_watch() -> None:
    source = Scripted(watch := whole(5, added(pod("a", 3)), added(pod("b", 4))), watch_list=True)
    async with reflecting(source) as life:
        assert source.asked == ["watch-list rv=-"]
        asked = source.requests[0].options
        assert (
            dict(asked.query())
            == {
                "watch": "True",
                "allowWatchBookmarks": "True",
                "sendInitialEvents": "True",
                "resourceVersionMatch": "NotOlderThan",
                "timeoutSeconds": "300",
            }
            or asked.resource_version_match == "NotOlderThan"
        )
        assert names(life.store) == {"a": "3", "b": "4"}
        assert life.reflector.last_sync_resource_version == "5"
        watch.send(modified(pod("a", 6)), deleted(pod("b", 7)))
        await settle()
        assert names(life.store) == {"a": "6"}
        assert source.asked == ["watch-list rv=-"]
        assert life.sets[0].via == "watch-list"
        assert str(life.sets[0]) == "listed 2 in 0.0 s"


@pytest.mark.clause("H4")
async def test_its_query_is_that_of_a_watch_list() -> None:
    source = Scripted(whole(5), watch_list=True)
    async with reflecting(source):
        assert sorted(name for name, _ in source.requests[0].options.query()) == [
            "allowWatchBookmarks",
            "resourceVersionMatch",
            "sendInitialEvents",
            "timeoutSeconds",
            "watch",
        ]


@pytest.mark.clause("H4", "H14", "J4")
async def test_nothing_is_in_the_store_before_the_marker() -> None:
    source = Scripted(watch := Watch(added(pod("a", 3))), watch_list=True)
    async with reflecting(source) as life:
        assert len(life.store) == 0
        assert not life.reflector.synced
        assert life.reflector.health.state is State.STREAMING
        watch.send(bookmark(4))  # without the annotation
        await settle()
        assert not life.reflector.synced
        watch.send(added(pod("b", 4)), end_of_initial_events(5))
        await settle()
        assert names(life.store) == {"a": "3", "b": "4"}
        assert life.reflector.synced
        assert life.reflector.health.state is State.WATCHING


@pytest.mark.clause("H4")
async def test_what_changes_during_the_initial_events_is_part_of_the_set() -> None:
    source = Scripted(
        Watch(
            added(pod("a", 3)),
            added(pod("b", 4)),
            modified(pod("a", 6)),
            deleted(pod("b", 7)),
            end_of_initial_events(7),
        ),
        watch_list=True,
    )
    async with reflecting(source) as life:
        assert names(life.store) == {"a": "6"}


@pytest.mark.clause("H4")
async def test_events_in_the_same_read_as_the_marker_are_not_lost() -> None:
    source = Scripted(
        whole_and_more := Watch(
            added(pod("a", 3)), end_of_initial_events(5), modified(pod("a", 6))
        ),
        watch_list=True,
    )
    async with reflecting(source) as life:
        assert names(life.store) == {"a": "6"}
        assert whole_and_more.is_open


@pytest.mark.clause("H4", "H6")
async def test_after_the_marker_each_event_moves_the_rv() -> None:
    source = Scripted(watch := whole(5), watch_list=True)
    async with reflecting(source) as life:
        watch.send(added(pod("a", 6)))
        await settle()
        assert life.reflector.last_sync_resource_version == "6"


class Thing:
    """An object whose life can be followed."""

    def __init__(self, name: str, rv: int) -> None:
        self.identity = Identity(name, f"uid-{name}", str(rv))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Thing) and other.identity == self.identity

    __hash__ = None  # type: ignore[assignment]


@pytest.mark.clause("H4", "J2")
async def test_a_set_on_its_way_in_holds_no_second_copy_of_what_is_there() -> None:
    store: Store[Thing] = Store(identify=lambda thing: thing.identity)
    source = Scripted(
        first := Watch(added(Thing("same", 1)), end_of_initial_events(5)),
        second := Watch(),
        watch_list=True,
    )
    async with reflecting(source, store, kind="", identify=lambda thing: thing.identity) as life:
        first.send(failure(410))
        await settle()
        again, other = Thing("same", 1), Thing("other", 2)
        same_lives, other_lives = weakref.ref(again), weakref.ref(other)
        second.send(added(again))
        second.send(added(other))
        second.send(added(Thing("last", 3)))
        del again, other
        await settle()
        assert not life.reflector.health.relists
        assert same_lives() is None
        assert other_lives() is not None


@pytest.mark.clause("H4", "J2")
async def test_a_relist_asks_from_the_last_rv_and_replaces_in_one_step() -> None:
    same = pod("same", 1)
    source = Scripted(
        first := whole(5, added(same), added(pod("gone", 2))),
        second := Watch(added(pod("same", 1))),
        watch_list=True,
    )
    async with reflecting(source) as life:
        first.send(failure(410))
        await settle()
        assert source.asked == ["watch-list rv=-", "watch-list rv=5"]
        assert names(life.store) == {"same": "1", "gone": "2"}
        second.send(added(pod("new", 8)), end_of_initial_events(9))
        await settle()
        assert names(life.store) == {"same": "1", "new": "8"}
        assert life.store.get("default/same") is same
        assert life.told[-1] == "watch expired, relisted: 1 new, 1 vanished"


@pytest.mark.clause("H4")
async def test_nothing_of_a_stream_without_its_marker_is_left() -> None:
    source = Scripted(
        first := Watch(added(pod("ghost", 3))), whole(9, added(pod("a", 8))), watch_list=True
    )
    async with reflecting(source) as life:
        first.end()
        await until(20)
        assert source.asked_at == [(0, "watch-list rv=-"), (2, "watch-list rv=-")]
        assert names(life.store) == {"a": "8"}


# It is not to be had


REFUSALS = [refusal(code) for code in (400, 404, 405, 406, 422)]


@pytest.mark.clause("H4", "H19")
@pytest.mark.parametrize("answer", REFUSALS, ids=repr)
async def test_a_server_without_watch_list_is_listed_at_once_and_it_is_said(
    answer: Exception,
) -> None:
    source = Scripted(answer, Page(pod("a", 3), rv=5), Watch(), watch_list=True)
    async with reflecting(source) as life:
        assert source.asked_at == [
            (0, "watch-list rv=-"),
            (0, "list rv=0 limit=500"),
            (0, "watch rv=5"),
        ]
        assert names(life.store) == {"a": "3"}
        assert str(answer) in life.reflector.health.watch_list
        assert [str(note) for note in life.notes if isinstance(note, WatchListGivenUp)] == [
            f"watch-list is given up for now, listing instead: {life.reflector.health.watch_list}"
        ]


@pytest.mark.clause("H4", "H19")
@pytest.mark.parametrize("answer", [refusal(410), too_large()], ids=["expired", "too large"])
async def test_a_server_that_cannot_tell_its_newest_state_has_no_watch_list(
    answer: Exception,
) -> None:
    source = Scripted(answer, Page(rv=5), Watch(), watch_list=True)
    async with reflecting(source) as life:
        assert source.asked_at[1:] == [(0, "list rv=- limit=500"), (0, "watch rv=5")]
        assert life.reflector.health.watch_list


@pytest.mark.clause("H4")
@pytest.mark.parametrize(
    "told", [failure(410), error_event(too_large_status())], ids=["expired", "too large"]
)
async def test_nor_has_one_that_says_so_in_the_stream(told: Event[object]) -> None:
    source = Scripted(Watch(added(pod("a", 3)), told), Page(rv=5), Watch(), watch_list=True)
    async with reflecting(source) as life:
        assert source.asked_at[1:] == [(0, "list rv=- limit=500"), (0, "watch rv=5")]
        assert len(life.store) == 0


@pytest.mark.clause("H4", "H9")
@pytest.mark.parametrize("answer", [refusal(410), too_large()], ids=["expired", "too large"])
async def test_at_another_rv_it_is_asked_for_the_newest_once(answer: Exception) -> None:
    source = Scripted(first := whole(5), answer, whole(9, added(pod("a", 8))), watch_list=True)
    async with reflecting(source) as life:
        first.send(failure(410))
        await settle()
        assert source.asked_at == [
            (0, "watch-list rv=-"),
            (0, "watch-list rv=5"),
            (0, "watch-list rv=-"),
        ]
        assert names(life.store) == {"a": "8"}
        assert not life.reflector.health.watch_list


@pytest.mark.clause("H4")
@pytest.mark.parametrize("code", [400, 403, 404, 500, 503])
async def test_an_error_event_among_the_initial_events_means_a_list(code: int) -> None:
    source = Scripted(Watch(failure(code)), Page(rv=5), Watch(), watch_list=True)
    async with reflecting(source):
        assert source.asked_at[1:] == [(0, "list rv=0 limit=500"), (0, "watch rv=5")]


@pytest.mark.clause("H4", "H9")
@pytest.mark.parametrize("seconds", [0, 20])
async def test_429_among_them_means_to_wait(seconds: int) -> None:
    source = Scripted(Watch(failure(429, retry_after=seconds)), whole(5), watch_list=True)
    async with reflecting(source) as life:
        await until(30)
        assert source.asked_at == [(0, "watch-list rv=-"), (max(seconds, 2), "watch-list rv=-")]
        assert life.reflector.synced


@pytest.mark.clause("H4")
@pytest.mark.parametrize(
    "answer",
    [
        refusal(401),
        refusal(403),
        refusal(429),
        ConnectionRefused("no"),
        ConnectionLost("no"),
        EmptyWatch(ConnectionLost("no")),
        TimeoutError("late"),
    ],
    ids=repr,
)
async def test_a_server_that_lets_nobody_in_is_asked_for_the_same_later(
    answer: Exception | EmptyWatch[object],
) -> None:
    source = Scripted(answer, answer, answer, whole(5), watch_list=True)
    async with reflecting(source) as life:
        await until(60)
        assert source.asked == ["watch-list rv=-"] * 4
        assert life.reflector.synced


@pytest.mark.clause("H4", "H19")
@pytest.mark.parametrize("clean", [True, False])
async def test_two_streams_without_a_marker_are_one_too_many(clean: bool) -> None:
    source = Scripted(
        one := Watch(added(pod("x", 1))),
        two := Watch(added(pod("y", 1))),
        Page(pod("a", 3), rv=5),
        Watch(),
        watch_list=True,
    )
    async with reflecting(source) as life:
        one.end() if clean else one.fail()
        two.end() if clean else two.fail()
        await until(20)
        assert source.asked_at == [
            (0, "watch-list rv=-"),
            (2, "watch-list rv=-"),
            (2, "list rv=- limit=500"),
            (2, "watch rv=5"),
        ]
        assert names(life.store) == {"a": "3"}
        assert life.reflector.health.watch_list


@pytest.mark.clause("H4", "H9")
async def test_a_stream_that_was_cut_is_asked_for_again_at_the_newest_state() -> None:
    source = Scripted(first := whole(5), second := Watch(), whole(9), watch_list=True)
    async with reflecting(source):
        first.send(failure(410))
        await settle()
        second.fail()
        await until(20)
        assert source.asked == ["watch-list rv=-", "watch-list rv=5", "watch-list rv=-"]


@pytest.mark.clause("H4", "F6")
async def test_a_source_that_has_none_is_not_asked_for_one() -> None:
    source = Scripted(Page(rv=5), Watch(), watch_list=False)
    async with reflecting(source) as life:
        assert source.asked == ["list rv=0 limit=500", "watch rv=5"]
        assert life.reflector.health.watch_list == ""


@pytest.mark.clause("H19")
async def test_whoever_prefers_to_list_lists() -> None:
    source = Scripted(Page(rv=5), Watch(), watch_list=True)
    async with reflecting(source, options=ReflectorOptions(watch_list=False)):
        assert source.asked == ["list rv=0 limit=500", "watch rv=5"]


@pytest.mark.clause("H10")
async def test_an_initial_stream_that_cannot_be_read_is_one_list_at_the_pace_of_rounds() -> None:
    source = Scripted(
        first := Watch(added(pod("ghost", 3))),
        Page(pod("a", 3), rv=5),
        watch := Watch(),
        whole(9),
        watch_list=True,
    )
    async with reflecting(source) as life:
        first.fail(FrameSyntaxError("no JSON", 12, b"x"))
        await until(20)
        assert source.asked_at[1:] == [(2, "list rv=- limit=500"), (2, "watch rv=5")]
        assert names(life.store) == {"a": "3"}
        # It says nothing against WatchList.
        assert life.reflector.health.watch_list == ""
        watch.send(failure(410))
        await settle()
        assert source.asked[-1] == "watch-list rv=5"


# What was learned is remembered


@pytest.mark.clause("H19")
async def test_it_is_not_tried_again_for_an_hour() -> None:
    source = Scripted(
        refusal(422),
        Page(rv=5),
        first := Watch(),
        Page(rv=6),
        second := Watch(),
        whole(7),
        watch_list=True,
    )
    options = ReflectorOptions(liveness=Liveness(idle=None), timeout_seconds=(9000, 9000))
    async with reflecting(source, options=options) as life:
        await until(3590)
        first.send(failure(503))
        await settle()
        assert source.asked[3] == "list rv=5 NotOlderThan"
        await until(3600)
        second.send(failure(410))
        await settle()
        assert source.asked[5] == "watch-list rv=6"
        assert life.reflector.health.watch_list == ""


# A marker that does not come


@pytest.mark.clause("H5", "H19")
async def test_silence_before_the_marker_gives_watch_list_up() -> None:
    source = Scripted(
        watch := Watch(added(pod("a", 3))), Page(pod("b", 4), rv=5), Watch(), watch_list=True
    )
    async with reflecting(source) as life:
        await until(20)
        watch.send(added(pod("b", 4)))
        await until(49.9)
        assert source.asked == ["watch-list rv=-"]
        await until(50)
        assert source.asked_at[1:] == [(50, "list rv=0 limit=500"), (50, "watch rv=5")]
        assert names(life.store) == {"b": "4"}
        assert "no end of the initial events" in life.reflector.health.watch_list
        assert watch.closed_at == 50


@pytest.mark.clause("H5")
async def test_silence_from_the_start_does_too() -> None:
    source = Scripted(Watch(), Page(rv=5), Watch(), watch_list=True)
    async with reflecting(source):
        await until(31)
        assert source.asked_at[1] == (30, "list rv=0 limit=500")


@pytest.mark.clause("H5")
@pytest.mark.parametrize(
    "odd",
    [
        added(pod("a", 4)),
        modified(pod("a", 4)),
        deleted(pod("a", 4)),
        deleted(pod("unknown", 4)),
        bookmark(4),
    ],
    ids=["a key again", "a change", "a deletion", "another deletion", "a bookmark"],
)
async def test_what_is_no_new_object_means_that_the_marker_is_due(odd: Event[object]) -> None:
    source = Scripted(watch := Watch(added(pod("a", 3))), Page(rv=5), Watch(), watch_list=True)
    async with reflecting(source):
        await until(10)
        watch.send(odd)
        for second in range(15, 40, 5):  # it is not silent
            await until(second)
            watch.send(bookmark(second))
        await until(39.9)
        assert source.asked == ["watch-list rv=-"]
        await until(40)
        assert source.asked[1] == "list rv=0 limit=500"


@pytest.mark.clause("H5", "E1")
async def test_time_in_which_nobody_read_does_not_count() -> None:
    free = asyncio.Event()
    source = Scripted(watch := Watch(), Page(rv=5), Watch(), watch_list=True)
    async with reflecting(source, ready=free.wait):
        await until(10)
        watch.send(added(pod("a", 3)), modified(pod("a", 4)))
        await until(500)
        assert source.asked == ["watch-list rv=-"]
        free.set()
        for second in range(505, 530, 5):
            await until(second)
            watch.send(bookmark(second))
        await until(529)
        assert source.asked == ["watch-list rv=-"]
        await until(530)
        assert source.asked[1] == "list rv=0 limit=500"


@pytest.mark.clause("H5")
async def test_a_large_set_may_take_any_time_while_it_comes() -> None:
    source = Scripted(watch := Watch(), watch_list=True)
    async with reflecting(source) as life:
        for number in range(20):
            await until(number * 29)
            watch.send(added(pod(f"p{number}", number + 1)))
        watch.send(end_of_initial_events(50))
        await settle()
        assert len(life.store) == 20
        assert source.asked == ["watch-list rv=-"]


@pytest.mark.clause("H5")
async def test_the_bound_is_settable() -> None:
    source = Scripted(Watch(), Page(rv=5), Watch(), watch_list=True)
    options = ReflectorOptions(liveness=Liveness(initial=7))
    async with reflecting(source, options=options):
        await until(10)
        assert source.asked_at[1] == (7, "list rv=0 limit=500")


@pytest.mark.clause("H5", "H4")
async def test_the_marker_in_time_is_in_time() -> None:
    source = Scripted(watch := Watch(), watch_list=True)
    async with reflecting(source) as life:
        await until(29.9)
        watch.send(end_of_initial_events(5))
        await until(100)
        assert source.asked == ["watch-list rv=-"]
        assert life.reflector.synced


# The two ways compared (H16)


@pytest.mark.clause("H16")
async def test_the_check_is_off_by_default() -> None:
    source = WithMetadata(whole(5, added(pod("a", 3))), watch_list=True)
    async with reflecting(source):
        await until(100)
        assert source.asked == ["watch-list rv=-"]


CHECKED = ReflectorOptions(consistency_check=True)


@pytest.mark.clause("H16")
async def test_the_check_compares_with_a_list_at_the_exact_rv() -> None:
    source = WithMetadata(whole(5, added(pod("a", 3))), Page(pod("a", 3), rv=5), watch_list=True)
    async with reflecting(source, options=CHECKED) as life:
        await until(10)
        assert source.asked[1].startswith("metadata rv=5 Exact")
        assert life.errors == []


@pytest.mark.clause("H16")
@pytest.mark.parametrize(
    "listed",
    [
        Page(rv=5),
        Page(pod("a", 4), rv=5),
        Page(pod("a", 3, uid="another"), rv=5),
        Page(pod("a", 3), pod("b", 4), rv=5),
    ],
    ids=["one is missing", "another state", "another object", "one more"],
)
async def test_a_difference_is_reported_with_its_keys(listed: Page) -> None:
    source = WithMetadata(whole(5, added(pod("a", 3))), listed, watch_list=True)
    async with reflecting(source, options=CHECKED) as life:
        await until(10)
        assert len(life.errors) == 1
        assert "default/" in str(life.errors[0])
        assert "resourceVersion 5" in str(life.errors[0])
        assert names(life.store) == {"a": "3"}


@pytest.mark.clause("H16")
async def test_changes_meanwhile_are_no_difference() -> None:
    source = WithMetadata(
        watch := whole(5, added(pod("a", 3))), Delayed(5, Page(pod("a", 3), rv=5)), watch_list=True
    )
    async with reflecting(source, options=CHECKED) as life:
        watch.send(modified(pod("a", 6)))
        await until(10)
        assert life.errors == []


@pytest.mark.clause("H16")
async def test_a_check_that_fails_is_reported_and_no_more() -> None:
    source = WithMetadata(whole(5), refusal(410), watch_list=True)
    async with reflecting(source, options=CHECKED) as life:
        await until(10)
        assert [type(error).__name__ for error in life.errors] == ["Expired"]
        assert source.open_watches == 1


@pytest.mark.clause("H4")
async def test_a_watch_list_that_expires_later_is_relisted_through_one() -> None:
    source = Scripted(first := whole(5), whole(9), watch_list=True)
    async with reflecting(source) as life:
        await until(100)
        first.send(Event(EventType.ERROR, failure(410).object))
        await settle()
        assert source.asked_at == [(0, "watch-list rv=-"), (100, "watch-list rv=5")]
        assert life.reflector.health.relists == {Cause.EXPIRED: 1}
