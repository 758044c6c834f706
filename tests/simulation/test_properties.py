"""The checker is checked: each property objects to a history that breaks it, and no other does."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace as changed

import pytest

from simulation.history import Ask, Call, Ending, History, Note, Observed, Wrote
from simulation.properties import PROPERTIES, judge
from simulation.states import State
from tests.simulation.histories import (
    A1,
    A2,
    A3,
    B1,
    B_AGAIN,
    B_GONE,
    OUTSIDE,
    apply,
    ask,
    batch,
    clean,
    look,
    pieces,
    pretend,
    replace,
    states,
    told,
)
from tests.simulation.test_audience_properties import SPOILT

Spoil = Callable[[History, Observed], None]

_SPOILT: list[tuple[str, Spoil]] = []

_ADDED = b'{"type":"ADDED","object":{"metadata":{"name":"a","namespace":"ns"}}}\n'
_BOOKMARK = b'{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"9"}}}\n'
_MARKER = (
    b'{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"6","annotations":'
    b'{"k8s.io/initial-events-end":"true"}}}}\n'
)


def breaks(name: str) -> Callable[[Spoil], Spoil]:
    def register(spoil: Spoil) -> Spoil:
        _SPOILT.append((name, spoil))
        return spoil

    return register


def only_the_first_set(seen: Observed) -> None:
    del seen.batches[1:], seen.wrote[1:], seen.looks[:], seen.finals[:]
    seen.wrote.append(bookmark(11, 6))


def bookmark(step: int, rv: int) -> Wrote:
    return changed(apply(step, rv, rv_before=rv), what="bookmark")


def failed(made: Ask, how: str, **changes: object) -> Ask:
    made.failure, made.failed, made.ended = how, made.time, made.time
    for name, value in changes.items():
        setattr(made, name, value)
    return made


# 1 to 9: what is told and shown


@breaks("convergence")
def the_store_lacks_an_object_in_the_end(history: History, seen: Observed) -> None:
    seen.finals = [look(60, 10, states(A3))]


@breaks("convergence")
def the_store_shows_an_older_state_in_the_end(history: History, seen: Observed) -> None:
    seen.finals = [look(60, 10, states(A2, B_AGAIN))]


@breaks("order")
def an_older_state_is_told_after_a_newer_one(history: History, seen: Observed) -> None:
    only_the_first_set(seen)
    newer, older = A2, State("ns/a", "uid-a", 9, 1)
    pretend(history.truth, 11, states(newer, B1))
    pretend(history.truth, 12, states(older, B1))
    seen.batches += [
        batch(42, 11, [told("MODIFIED", newer, A1)], states(newer, B1)),
        batch(43, 12, [told("MODIFIED", older, newer)], states(older, B1)),
    ]


@breaks("order")
def a_state_is_told_that_the_server_never_had(history: History, seen: Observed) -> None:
    only_the_first_set(seen)
    never = State("ns/a", "uid-a", 8, 77)
    pretend(history.truth, 11, states(never, B1), known=False)
    seen.batches.append(batch(42, 11, [told("MODIFIED", never, A1)], states(never, B1)))


@breaks("no_resurrection")
def a_deleted_object_comes_back(history: History, seen: Observed) -> None:
    only_the_first_set(seen)
    back = State("ns/b", "uid-b", 7, 2)
    pretend(history.truth, 11, states(A1))
    pretend(history.truth, 12, states(A1, back))
    seen.batches += [
        batch(42, 11, [told("DELETED", B_GONE, B1)], states(A1)),
        batch(43, 12, [told("ADDED", back)], states(A1, back)),
    ]


@breaks("no_resurrection")
def an_object_comes_back_that_a_relist_did_not_have(history: History, seen: Observed) -> None:
    only_the_first_set(seen)
    late = State("ns/b", "uid-b", 8, 2)
    pretend(history.truth, 11, states(A1))
    pretend(history.truth, 12, states(A1, late))
    gone = told("DELETED", B1, B1, final_state_unknown=True)
    seen.batches += [
        batch(42, 11, [gone], states(A1)),
        batch(43, 12, [told("ADDED", late)], states(A1, late)),
    ]


@breaks("no_resurrection")
def the_rv_of_a_key_falls(history: History, seen: Observed) -> None:
    only_the_first_set(seen)
    pretend(history.truth, 11, states(A2))
    pretend(history.truth, 12, states(A1))
    seen.looks = [look(43, 11, states(A2)), look(45, 12, states(A1))]


@breaks("no_repeat")
def a_change_is_told_twice(history: History, seen: Observed) -> None:
    other = State("ns/a", "uid-a", 9, 5, content=7)
    pretend(history.truth, 11, states(other, B_AGAIN))
    seen.batches.append(batch(62, 11, [told("MODIFIED", other, A3)], states(other, B_AGAIN)))


@breaks("no_repeat")
def a_watch_asks_for_what_it_has(history: History, seen: Observed) -> None:
    seen.asks[1].store_rv = 9


@breaks("no_repeat")
def events_come_late(history: History, seen: Observed) -> None:
    seen.looks[2] = changed(seen.looks[2], late_writes=1)
    seen.finals = [seen.looks[2]]


@breaks("no_silent_gap")
def an_event_is_missed_without_a_relist(history: History, seen: Observed) -> None:
    del seen.wrote[2]  # the deletion


@breaks("no_silent_gap")
def a_bookmark_passes_over_an_event(history: History, seen: Observed) -> None:
    seen.wrote[2] = changed(seen.wrote[2], what="bookmark", events=())


@breaks("no_silent_gap")
def a_relist_is_not_reported(history: History, seen: Observed) -> None:
    shown = seen.looks[2].set
    seen.wrote.append(replace(70, 10, shown, shown, rv_before=10))


@breaks("no_silent_gap")
def a_relist_is_reported_without_a_reason(history: History, seen: Observed) -> None:
    shown = seen.looks[2].set
    seen.wrote.append(replace(70, 10, shown, shown, rv_before=10))
    seen.notes.append(Note(71, 71.0, "listed"))


@breaks("exact_diff")
def nobody_is_told_what_has_vanished(history: History, seen: Observed) -> None:
    only_the_first_set(seen)
    pretend(history.truth, 11, states(A1))
    seen.wrote.append(replace(41, 11, states(A1, B1), states(A1), rv_before=6))
    seen.notes.append(Note(44, 44.0, "listed", "internal error"))


@breaks("exact_diff")
def an_object_is_told_of_that_did_not_change(history: History, seen: Observed) -> None:
    only_the_first_set(seen)
    same = states(A1, B1)
    seen.wrote.append(replace(41, 6, same, same, rv_before=6))
    other = changed_state(B1, content=7)
    seen.batches.append(batch(42, 6, [told("MODIFIED", other, B1)], states(A1, other)))
    seen.notes.append(Note(44, 44.0, "listed", "internal error"))


@breaks("exact_diff")
def a_tombstone_does_not_say_that_it_is_one(history: History, seen: Observed) -> None:
    only_the_first_set(seen)
    pretend(history.truth, 11, states(A1))
    seen.wrote.append(replace(41, 11, states(A1, B1), states(A1), rv_before=6))
    seen.batches.append(batch(42, 11, [told("DELETED", B1, B1)], states(A1)))
    seen.notes.append(Note(44, 44.0, "listed", "internal error"))


@breaks("exact_diff")
def a_change_is_told_of_an_object_that_was_not_there(history: History, seen: Observed) -> None:
    seen.batches[4] = batch(52, 10, [told("MODIFIED", B_AGAIN)], states(A3, B_AGAIN))


@breaks("recreation_is_visible")
def another_object_of_the_name_passes_for_an_update(history: History, seen: Observed) -> None:
    only_the_first_set(seen)
    pretend(history.truth, 11, states(A1, B_AGAIN))
    seen.batches.append(batch(42, 11, [told("MODIFIED", B_AGAIN, B1)], states(A1, B_AGAIN)))


@breaks("recreation_is_visible")
def an_update_passes_for_another_object(history: History, seen: Observed) -> None:
    again = told("MODIFIED", A2, A1, recreated=True)
    seen.batches[1] = batch(22, 7, [again], states(A2, B1))


@breaks("atomic_replace")
def a_reader_sees_a_mixture(history: History, seen: Observed) -> None:
    seen.looks[1] = look(33, 8, states(A1))


@breaks("atomic_replace")
def a_reader_sees_what_the_store_should_not_have_yet(history: History, seen: Observed) -> None:
    seen.looks.insert(0, look(3, 0, states(A1), synced=False))


@breaks("atomic_replace")
def synced_without_a_set(history: History, seen: Observed) -> None:
    seen.looks.insert(0, look(3, 0, {}))


@breaks("store_first")
def a_handler_is_told_before_the_store(history: History, seen: Observed) -> None:
    seen.batches[1] = batch(22, 7, [told("MODIFIED", A2, A1, shown=A1)], states(A2, B1))


@breaks("store_first")
def the_store_still_has_what_was_told_to_be_gone(history: History, seen: Observed) -> None:
    seen.batches[2] = batch(32, 8, [told("DELETED", B_GONE, B1, shown=B1)], states(A2))


@breaks("store_first")
def the_index_comes_after_the_handler(history: History, seen: Observed) -> None:
    seen.batches[1] = batch(22, 7, [told("MODIFIED", A2, A1, indexed=False)], states(A2, B1))


@breaks("store_first")
def the_index_does_not_fit_what_is_shown(history: History, seen: Observed) -> None:
    seen.looks[1] = changed(seen.looks[1], index_is_right=False)


# 12, 13, 20, 23, 26, 30, 31: what the store has


@breaks("bookmarks")
def a_bookmark_falls(history: History, seen: Observed) -> None:
    seen.wrote += [bookmark(61, 10), bookmark(62, 9)]


@breaks("bookmarks")
def an_event_is_older_than_a_bookmark(history: History, seen: Observed) -> None:
    only_the_first_set(seen)
    del seen.wrote[0], seen.batches[0]  # it has no set, so that no event can be missed
    seen.wrote += [bookmark(12, 9), apply(13, 9, ("MODIFIED", A2))]
    seen.batches.append(batch(14, 0, [told("ADDED", A1), told("DELETED", A1, A1)], {}))


@breaks("selection")
def an_object_stays_that_left_the_selection(history: History, seen: Observed) -> None:
    seen.looks[1] = look(33, 8, states(A2, OUTSIDE))


@breaks("bad_data_is_contained")
def an_object_that_cannot_be_decoded_is_not_named(history: History, seen: Observed) -> None:
    raw = changed_state(A2, readable=False)
    seen.looks[1] = look(33, 8, states(raw))
    seen.notes.append(Note(7, 7.0, "error", key="ns/a"))


@breaks("bad_data_is_contained")
def an_object_that_cannot_be_decoded_is_not_reported(history: History, seen: Observed) -> None:
    raw = changed_state(A2, readable=False)
    seen.looks[1] = look(33, 8, states(raw), undecodable=frozenset({"ns/a"}))


@breaks("bad_data_is_contained")
def a_watch_goes_on_after_a_frame_that_cannot_be_read(history: History, seen: Observed) -> None:
    failed(seen.asks[1], "unreadable")
    seen.asks.append(ask(9, "watch", "6", store_rv=6))


@breaks("bad_data_is_contained")
def one_bad_frame_costs_two_relists(history: History, seen: Observed) -> None:
    failed(seen.asks[1], "unreadable")
    shown = seen.looks[2].set
    for step in (70, 75):
        seen.wrote.append(replace(step, 10, shown, shown, rv_before=10))
        seen.notes.append(Note(step + 1, step + 1.0, "listed", "unreadable"))


@breaks("two_ways_one_set")
def a_list_and_a_watch_give_different_bytes(history: History, seen: Observed) -> None:
    twin = clean().mirrors[0]
    twin.name = "twin"
    shown = {key: changed_state(state, content=7) for key, state in twin.looks[2].set.items()}
    twin.looks[2] = changed(twin.looks[2], set=shown)
    history.mirrors.append(twin)


@breaks("one_transform")
def an_object_is_transformed_twice(history: History, seen: Observed) -> None:
    seen.looks[1] = look(33, 8, states(changed_state(A2, times=2)))


@breaks("one_transform")
def an_object_is_not_transformed(history: History, seen: Observed) -> None:
    seen.transformed = True


@breaks("nothing_left_behind")
def a_stream_that_was_cut_leaves_an_object(history: History, seen: Observed) -> None:
    del seen.asks[1]
    cut = ask(60, "watch-list", pieces=pieces((61.0, _ADDED)), ended=64.0, end="ConnectionLost")
    seen.asks.append(cut)
    seen.wrote.append(apply(62, 10, rv_before=10))


@breaks("history_may_go_back")
def an_older_set_begins_no_epoch(history: History, seen: Observed) -> None:
    era = history.truth.begin(55, 55.0, 8, states(A2), parent=history.truth.era)
    seen.asks += [failed(ask(56, "watch", "10"), "ConnectionLost"), ask(57, "list", answer_rv=8)]
    seen.asks[-2].status = 0
    seen.wrote.append(replace(58, 8, states(A3, B_AGAIN), era.base, rv_before=10))
    back = told("MODIFIED", A2, A3)
    gone = told("DELETED", B_AGAIN, B_AGAIN, final_state_unknown=True)
    seen.batches.append(batch(59, 8, [back, gone], era.base))
    seen.notes.append(Note(59, 59.0, "listed", "internal error"))
    seen.asks[1].ended = 55.0
    seen.looks[2:] = seen.finals = [look(60, 8, era.base)]


@breaks("history_may_go_back")
def a_history_that_went_back_is_not_noticed(history: History, seen: Observed) -> None:
    history.truth.begin(55, 55.0, 8, states(A2), parent=history.truth.era)
    seen.asks.append(ask(57, "watch", "10", store_rv=10))
    seen.asks[1].ended = 55.0


# 14 to 19: what is asked, and how often


@breaks("one_recovery")
def one_expired_answer_costs_two_relists(history: History, seen: Observed) -> None:
    failed(seen.asks[1], "expired", injected=True)
    shown = seen.looks[2].set
    for step in (70, 75):
        seen.wrote.append(replace(step, 10, shown, shown, rv_before=10))
        seen.notes.append(Note(step + 1, step + 1.0, "listed", "expired"))


@breaks("one_recovery")
def the_watch_expires_again_and_again(history: History, seen: Observed) -> None:
    for step in range(60, 160, 20):
        seen.asks.append(ask(step, "list", "10", ended=float(step), end="end"))
        seen.asks.append(failed(ask(step + 1, "watch", "10", store_rv=10), "expired"))


@breaks("fresh_when_told")
def a_read_is_not_consistent_after_an_rv_that_was_too_large(
    history: History, seen: Observed
) -> None:
    seen.asks.insert(0, failed(ask(1, "list", "9"), "too large"))


@breaks("throttled")
def a_watch_that_was_held_off_costs_a_relist(history: History, seen: Observed) -> None:
    seen.asks.append(failed(ask(60, "watch", "10", store_rv=10), "too many requests"))
    seen.asks.append(ask(65, "list", "10"))


@breaks("throttled")
def a_refused_connection_costs_a_relist(history: History, seen: Observed) -> None:
    refused = failed(ask(60, "watch", "10", store_rv=10), "ConnectionRefused")
    refused.status, refused.error = 0, "ConnectionRefused"
    seen.asks += [refused, ask(65, "list", "10")]


@breaks("throttled")
def a_watch_list_that_was_held_off_becomes_a_list(history: History, seen: Observed) -> None:
    seen.asks.append(failed(ask(60, "watch-list"), "too many requests", status=429))
    seen.asks.append(ask(65, "list"))


@breaks("throttled")
def retry_after_is_not_respected(history: History, seen: Observed) -> None:
    held_off = failed(ask(60, "watch", "10", store_rv=10), "too many requests", retry_after=30.0)
    seen.asks += [held_off, ask(65, "watch", "10", store_rv=10)]


@breaks("bounded_load")
def eleven_requests_in_ten_seconds(history: History, seen: Observed) -> None:
    for number in range(11):
        seen.asks.append(ask(60, "watch", "10", store_rv=10, time=60 + number * 0.5, ended=60.0))


@breaks("bounded_load")
def five_requests_a_minute_without_progress(history: History, seen: Observed) -> None:
    failing = [float(time) for time in range(60, 900, 13)]
    seen.asks += [
        failed(ask(60 + number, "list", "10", time=time, status=500), "InternalError")
        for number, time in enumerate(failing)
    ]
    seen.looks, seen.finals = [], []


@breaks("no_endless_start")
def the_marker_is_waited_for_without_end(history: History, seen: Observed) -> None:
    del seen.asks[1]
    waiting = ask(60, "watch-list", pieces=pieces((61.0, _ADDED)), ended=121.0, end="closed")
    seen.asks.append(waiting)
    history.until = 200.0


@breaks("no_endless_start")
def live_events_put_the_end_off(history: History, seen: Observed) -> None:
    del seen.asks[1]
    coming = pieces(*((60.0 + 10 * number, _ADDED) for number in range(10)))
    seen.asks.append(ask(60, "watch-list", pieces=coming, ended=155.0, end="closed"))
    history.until = 200.0


@breaks("no_frozen_cache")
def a_silent_watch_is_kept(history: History, seen: Observed) -> None:
    history.until = 500.0


@breaks("no_frozen_cache")
def a_watch_is_kept_whose_bookmarks_stay_away(history: History, seen: Observed) -> None:
    seen.asks[1].pieces = pieces((67.0, _BOOKMARK), (107.0, _BOOKMARK))
    history.until = 107.0 + 80.0 + 70.0


@breaks("no_frozen_cache")
def health_tells_another_age(history: History, seen: Observed) -> None:
    seen.looks[2] = changed(seen.looks[2], last_byte_age=3.0)


# 21, 25, 28, 32: those who wait, and the end


def called(what: str, **changes: object) -> Call:
    given: dict[str, object] = {
        "began": 61.0,
        "ended": 62.0,
        "returned": True,
        "timeout": 30.0,
        "store_rv": 10,
        "set": states(A3, B_AGAIN),
        **changes,
    }
    return Call(61, what, **given)  # type: ignore[arg-type]


@breaks("read_your_writes")
def at_least_returns_too_early(history: History, seen: Observed) -> None:
    seen.calls.append(called("at_least", rv=11))


@breaks("read_your_writes")
def at_least_times_out_too_late(history: History, seen: Observed) -> None:
    late = called("at_least", rv=11, ended=99.0, returned=False, error="TimeoutError")
    seen.calls.append(late)


@breaks("fresh_is_fresh")
def an_old_state_passes_for_fresh(history: History, seen: Observed) -> None:
    seen.calls.append(called("fresh", within=5.0, set=states(A2)))


@breaks("fresh_is_fresh")
def fresh_waits_past_its_timeout(history: History, seen: Observed) -> None:
    late = called("fresh", ended=99.0, returned=False, error="NotFresh")
    seen.calls.append(late)


def end(**changes: object) -> Ending:
    return Ending(70.0, **{"gone": 70.0, **changes})  # type: ignore[arg-type]


@breaks("clean_stop")
def a_stop_takes_long(history: History, seen: Observed) -> None:
    seen.ending = end(gone=75.0)


@breaks("clean_stop")
def a_task_is_left(history: History, seen: Observed) -> None:
    seen.ending = end(tasks=("reflector",))


@breaks("clean_stop")
def a_connection_is_left(history: History, seen: Observed) -> None:
    seen.ending = end(open_responses=1)


@breaks("clean_stop")
def a_warning_is_left(history: History, seen: Observed) -> None:
    seen.ending = end(complaints=("a coroutine was never awaited",))


@breaks("clean_stop")
def changes_are_told_after_the_stop(history: History, seen: Observed) -> None:
    seen.ending = end(late=2)


@breaks("bounded_memory")
def a_page_outlives_its_list(history: History, seen: Observed) -> None:
    seen.ending = end(objects=40, held=20)


def changed_state(state: State, **changes: object) -> State:
    return state._replace(**changes)  # type: ignore[arg-type]


# The tests


@pytest.mark.parametrize(
    ("name", "spoil"), _SPOILT, ids=[f"{name}-{spoil.__name__}" for name, spoil in _SPOILT]
)
def test_one_property_objects_to_what_breaks_it(name: str, spoil: Spoil) -> None:
    history = clean()
    spoil(history, history.mirrors[0])

    assert [objection.name for objection in judge(history)] == [name]


def test_none_objects_to_a_clean_history() -> None:
    history = clean()
    history.mirrors[0].ending = end()

    assert judge(history) == []


def test_none_objects_to_a_stream_that_has_its_marker() -> None:
    history = clean()
    seen = history.mirrors[0]
    seen.asks[:] = [ask(2, "watch-list", pieces=pieces((2.0, _ADDED), (4.0, _MARKER)))]

    assert judge(history) == []


def test_what_nobody_can_notice_is_not_objected_to() -> None:
    """New writes had passed the RV before the mirror was there again (H18)."""
    history = clean()
    seen = history.mirrors[0]
    seen.asks[1].ended = 55.0
    history.truth.begin(55, 55.0, 8, states(A2), parent=history.truth.era)
    history.truth.change(56, 56.0, "MODIFIED", State("ns/a", "uid-a", 12, 8))
    seen.asks += [ask(57, "watch", "10", store_rv=10)]

    assert judge(history) == []


def test_what_could_have_been_noticed_is_objected_to() -> None:
    history = clean()
    seen = history.mirrors[0]
    seen.asks[1].ended = 55.0
    history.truth.begin(55, 55.0, 8, states(A2), parent=history.truth.era)
    seen.asks += [
        ask(57, "watch", "10", store_rv=10),
        ask(58, "probe", store_rv=10, answer_rv=8, ended=58.0, end="end"),
    ]
    history.truth.change(59, 59.0, "MODIFIED", State("ns/a", "uid-a", 12, 8))

    assert [objection.name for objection in judge(history)] == ["history_may_go_back"]


def test_every_property_has_a_history_that_breaks_it() -> None:
    assert {name for name, _ in (*_SPOILT, *SPOILT)} == set(PROPERTIES)


def test_an_objection_is_the_sentence_and_what_was_seen() -> None:
    history = clean()
    the_store_lacks_an_object_in_the_end(history, history.mirrors[0])

    [objection] = judge(history)

    assert "once faults stop, the store equals the server's set" in str(objection)
    assert "lacks ns/b rv=10 #6" in str(objection)
