"""The checker is checked for what handlers and several sources are about: each property objects to
a history that breaks it, and no other does.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace as changed

import pytest

from simulation.heard import Audience, Heard, Waiting
from simulation.history import History, Note, Observed
from simulation.properties import judge
from simulation.states import State
from tests.simulation.audience_histories import (
    added_late,
    collapsing,
    filtered,
    from_the_start,
    heard_by,
    notice,
    of_two_sources,
)
from tests.simulation.histories import (
    A1,
    A2,
    A3,
    B1,
    B_AGAIN,
    B_GONE,
    apply,
    batch,
    look,
    pretend,
    replace,
    states,
    told,
)

SPOILT: list[tuple[str, Callable[[], History]]] = []

Spoil = Callable[[Heard], None]
SpoilTwo = Callable[[Audience, Observed], None]


def breaks(name: str, made: Callable[[], Heard]) -> Callable[[Spoil], Spoil]:
    """Register what spoils the history of a handler."""

    def register(spoil: Spoil) -> Spoil:
        def build() -> History:
            heard = made()
            spoil(heard)
            return heard_by(heard)

        build.__name__ = spoil.__name__
        SPOILT.append((name, build))
        return spoil

    return register


def breaks_two(name: str) -> Callable[[SpoilTwo], SpoilTwo]:
    """Register what spoils the history of two sources."""

    def register(spoil: SpoilTwo) -> SpoilTwo:
        def build() -> History:
            history = of_two_sources()
            assert history.audience is not None
            assert history.audience.union is not None
            spoil(history.audience, history.audience.union)
            return history

        build.__name__ = spoil.__name__
        SPOILT.append((name, build))
        return spoil

    return register


def relisted() -> History:
    """Of the first set `b` has vanished when it is listed again."""
    heard = from_the_start()
    del heard.notices[2:]
    heard.notices.append(notice(43, "delete", B1, tombstone=True))
    history = heard_by(heard)
    seen = history.mirrors[0]
    del seen.batches[1:], seen.wrote[1:], seen.looks[:], seen.finals[:]
    pretend(history.truth, 11, states(A1))
    gone = told("DELETED", B1, B1, final_state_unknown=True)
    seen.wrote.append(replace(41, 11, states(A1, B1), states(A1), rv_before=6))
    seen.batches.append(batch(42, 11, [gone], states(A1)))
    seen.notes.append(Note(44, 44.0, "listed", "internal error"))
    return history


def breaks_relist(spoil: Spoil) -> Spoil:
    """Register what spoils that."""

    def build() -> History:
        history = relisted()
        assert history.audience is not None
        spoil(history.audience.handlers[0])
        return history

    build.__name__ = spoil.__name__
    SPOILT.append(("exact_diff", build))
    return spoil


# 6 and 10: what is told


@breaks_relist
def a_handler_is_not_told_of_what_has_vanished(heard: Heard) -> None:
    del heard.notices[2]


@breaks_relist
def what_has_vanished_is_told_without_a_tombstone(heard: Heard) -> None:
    heard.notices[2].tombstone = False


@breaks_relist
def another_object_is_told_to_have_vanished(heard: Heard) -> None:
    heard.notices[2] = notice(43, "delete", A1, tombstone=True, shown=A1)


@breaks("late_handlers", added_late)
def a_late_handler_does_not_see_all_of_the_set(heard: Heard) -> None:
    heard.queue, heard.size, heard.synced = "block", 9, None
    del heard.notices[0]
    for each in heard.notices:
        each.synced = False


@breaks("late_handlers", added_late)
def a_late_handler_misses_a_change(heard: Heard) -> None:
    heard.queue, heard.size = "block", 9
    del heard.notices[3]


@breaks("late_handlers", added_late)
def the_last_change_is_not_told(heard: Heard) -> None:
    del heard.notices[4]


@breaks("late_handlers", added_late)
def a_late_handler_is_told_a_change_twice(heard: Heard) -> None:
    heard.queue, heard.size = "block", 9
    heard.notices.append(notice(54, "add", B_AGAIN))


@breaks("late_handlers", added_late)
def the_set_is_not_told_as_the_initial_one(heard: Heard) -> None:
    heard.notices[0].initial = False


@breaks("late_handlers", from_the_start)
def an_update_comes_from_another_state(heard: Heard) -> None:
    heard.notices[4] = notice(43, "update", A3, A1)


# 11: synced


@breaks("synced_means_handled", from_the_start)
def a_handler_is_synced_before_it_was_told(heard: Heard) -> None:
    heard.synced = 7


@breaks("synced_means_handled", from_the_start)
def a_handler_is_synced_in_the_middle_of_the_last(heard: Heard) -> None:
    heard.notices[1].ended_step = 11


@breaks("synced_means_handled", from_the_start)
def a_handler_counts_as_synced_before_it_was_told(heard: Heard) -> None:
    heard.notices[1].synced = True


@breaks("synced_means_handled", from_the_start)
def a_handler_is_never_synced(heard: Heard) -> None:
    heard.finals = [(Waiting(61, 60.0, 0), False)]


@breaks("synced_means_handled", collapsing)
def one_with_a_full_queue_is_synced_before_it_was_told(heard: Heard) -> None:
    heard.synced = 7


@breaks_two("synced_means_handled")
def a_handler_is_synced_when_one_of_two_sources_is(audience: Audience, union: Observed) -> None:
    two = audience.parts[1]
    two.wrote.clear(), two.notes.clear(), two.finals.clear()
    two.looks = [changed(each, synced=False) for each in two.looks]
    union.looks[:] = [changed(each, synced=False) for each in union.looks]
    heard = from_the_start()
    for each in heard.notices:
        each.initial = each.synced = False
    heard.notices[0].initial = heard.notices[1].initial = True
    heard.finals.clear()
    audience.handlers.append(heard)


# 22: islands


@breaks("handlers_are_islands", from_the_start)
def an_error_of_a_handler_is_not_logged(heard: Heard) -> None:
    heard.raised = ["ns/a"]


@breaks("handlers_are_islands", from_the_start)
def an_error_is_logged_with_another_key(heard: Heard) -> None:
    heard.raised, heard.logged, heard.failures = ["ns/a"], ["ns/b"], 1


@breaks("handlers_are_islands", from_the_start)
def an_error_is_not_counted(heard: Heard) -> None:
    heard.raised, heard.logged = ["ns/a"], ["ns/a"]


@breaks("handlers_are_islands", from_the_start)
def a_quick_handler_waits_for_somebody(heard: Heard) -> None:
    heard.notices[4].time += 5.0


# The informer's own: K4, K5, K7, K9


@breaks("collapsed_queues", collapsing)
def an_update_comes_from_a_state_that_was_not_told(heard: Heard) -> None:
    heard.notices[2].old = A2


@breaks("collapsed_queues", collapsing)
def an_object_is_added_twice(heard: Heard) -> None:
    heard.notices[3] = notice(56, "add", B_AGAIN)


@breaks("collapsed_queues", collapsing)
def an_object_is_deleted_that_was_not_told(heard: Heard) -> None:
    heard.notices.insert(0, notice(6, "delete", A1, shown=A1))


@breaks("collapsed_queues", collapsing)
def the_newest_state_is_left_out(heard: Heard) -> None:
    heard.notices[2] = notice(55, "update", A2, A1, shown=A3, queued=1)


@breaks("collapsed_queues", collapsing)
def the_states_come_in_another_order(heard: Heard) -> None:
    heard.notices[2:3] = [
        notice(54, "update", A3, A1),
        notice(55, "update", A2, A3, shown=A3),
        notice(55, "update", A3, A2),
    ]


@breaks("removal", from_the_start)
def a_removed_handler_is_told_more(heard: Heard) -> None:
    heard.removed = 50


@breaks("removal", from_the_start)
def a_handler_is_gone_in_the_middle_of_a_notification(heard: Heard) -> None:
    heard.removed, heard.gone = 54, 55
    heard.notices[5].ended_step = 56


@breaks("filters", filtered)
def what_begins_to_match_is_told_as_an_update(heard: Heard) -> None:
    heard.notices[1] = notice(23, "update", A2, A1)


@breaks("filters", filtered)
def a_state_is_told_that_does_not_match(heard: Heard) -> None:
    heard.notices.insert(0, notice(6, "add", A1, initial=True))


@breaks("filters", filtered)
def what_matches_is_not_told(heard: Heard) -> None:
    del heard.notices[4]


@breaks_two("merged_sources")
def an_object_of_a_source_is_not_shown(audience: Audience, union: Observed) -> None:
    union.looks[1] = look(33, 8, {})


@breaks_two("merged_sources")
def an_object_is_shown_that_no_source_has(audience: Audience, union: Observed) -> None:
    union.looks[1] = look(33, 8, states(A2, B1))


@breaks_two("merged_sources")
def an_older_state_is_shown_than_a_source_has(audience: Audience, union: Observed) -> None:
    union.looks[1] = look(33, 8, states(A1))


@breaks_two("merged_sources")
def a_newer_state_is_shown_and_no_source_is_behind(audience: Audience, union: Observed) -> None:
    union.looks[1] = look(33, 8, states(A2._replace(rv=8)))


@breaks_two("merged_sources")
def it_is_synced_when_one_of_two_sources_is(audience: Audience, union: Observed) -> None:
    two = audience.parts[1]
    two.looks[0] = changed(two.looks[0], synced=False)


@breaks_two("merged_sources")
def it_waits_for_an_optional_source(audience: Audience, union: Observed) -> None:
    audience.optional = frozenset({"two"})
    union.looks[0] = changed(union.looks[0], synced=False)


# What other properties say of handlers, and of several sources


@breaks("store_first", from_the_start)
def the_store_shows_less_than_a_handler_is_told(heard: Heard) -> None:
    heard.notices[2].shown = A1


@breaks("store_first", from_the_start)
def the_store_still_has_what_a_handler_is_told_to_be_gone(heard: Heard) -> None:
    heard.notices[3].shown = B1


@breaks("store_first", from_the_start)
def the_index_does_not_fit_when_a_handler_is_told(heard: Heard) -> None:
    heard.notices[2].indexed = False


@breaks("bounded_memory", from_the_start)
def a_queue_is_not_measured(heard: Heard) -> None:
    heard.notices[0].queued = 0


@breaks("bounded_memory", from_the_start)
def a_removed_handler_keeps_its_queue(heard: Heard) -> None:
    heard.removed = 54
    heard.waiting = [Waiting(58, 58.0, 3)]


@breaks("bounded_memory", collapsing)
def more_waits_than_there_are_objects(heard: Heard) -> None:
    heard.notices[0].queued = 7


@breaks("bounded_memory", collapsing)
def a_full_queue_blocks_nobody(heard: Heard) -> None:
    heard.queue, heard.notices, heard.finals, heard.synced = "block", [], [], None


@breaks("one_transform", from_the_start)
def a_handler_is_told_what_was_transformed_once_more(heard: Heard) -> None:
    heard.notices[2].state = A2._replace(times=1)


@breaks_two("convergence")
def an_object_of_one_source_is_lacking_in_the_end(audience: Audience, union: Observed) -> None:
    union.finals = [look(60, 10, states(A3))]


@breaks_two("exact_diff")
def what_is_told_of_two_sources_does_not_add_up(audience: Audience, union: Observed) -> None:
    union.batches[3] = batch(42, 9, [told("MODIFIED", A3, A1)], states(A3))


@breaks_two("no_resurrection")
def an_object_comes_back_from_the_source_that_is_behind(
    audience: Audience, union: Observed
) -> None:
    late = State("ns/b", "uid-b", 7, 2)
    truth = audience.parts[0].truth
    assert truth is not None
    truth._know(late)
    union.batches[4:] = [
        batch(52, 7, [told("ADDED", late)], states(A3, late)),
        batch(54, 8, [told("DELETED", B_GONE._replace(rv=9), late)], states(A3)),
    ]
    truth._know(B_GONE._replace(rv=9))


@breaks_two("no_repeat")
def a_change_of_two_sources_is_told_twice(audience: Audience, union: Observed) -> None:
    other = A3._replace(content=7)
    union.batches.append(batch(62, 9, [told("MODIFIED", other, A3)], states(other, B_AGAIN)))


@breaks_two("order")
def a_state_is_told_that_no_source_had(audience: Audience, union: Observed) -> None:
    never = State("ns/a", "uid-a", 9, 77)
    union.batches[3:] = [batch(42, 9, [told("MODIFIED", never, A2)], states(never))]


@breaks_two("recreation_is_visible")
def a_change_passes_for_another_object(audience: Audience, union: Observed) -> None:
    again = told("MODIFIED", A3, A2, recreated=True)
    union.batches[3] = batch(42, 9, [again], states(A3))


def told_again_though_full() -> History:
    """A resync is told, where two wait of one that may."""
    heard = from_the_start(queue="block", size=1, slow=60.0)
    heard.notices[:3] = [
        notice(7, "add", A1, initial=True, synced=False),
        notice(26, "add", B1, initial=True, synced=False),
        notice(27, "update", A2, A1, synced=False),
        notice(28, "update", A2, A2, synced=False),
    ]
    heard.synced = 27
    history = heard_by(heard)
    again = [told("MODIFIED", A2, A2)]
    history.mirrors[0].resyncs.append(batch(25, 7, again, states(A2)))
    return history


SPOILT.append(("bounded_memory", told_again_though_full))


def told_again_in_part() -> History:
    """A resync that leaves an object out."""
    heard = from_the_start()
    heard.notices.insert(3, notice(26, "update", A2, A2))
    history = heard_by(heard)
    again = [told("MODIFIED", A2, A2)]
    history.mirrors[0].resyncs.append(batch(25, 7, again, states(A2, B1)))
    return history


SPOILT.append(("resyncs", told_again_in_part))


# The tests


@pytest.mark.parametrize(
    ("name", "build"), SPOILT, ids=[f"{name}-{build.__name__}" for name, build in SPOILT]
)
def test_one_property_objects_to_what_breaks_it(name: str, build: Callable[[], History]) -> None:
    objections = judge(build())

    assert [objection.name for objection in objections] == [name], "\n".join(map(str, objections))


@pytest.mark.parametrize("made", [from_the_start, added_late, filtered, collapsing])
def test_none_objects_to_a_handler_that_was_told_all(made: Callable[[], Heard]) -> None:
    assert judge(heard_by(made())) == []


@pytest.mark.parametrize("made", [relisted, of_two_sources])
def test_none_objects_to_a_clean_history(made: Callable[[], History]) -> None:
    assert judge(made()) == []


def test_none_objects_to_a_handler_that_was_removed_in_time() -> None:
    heard = from_the_start(removed=30)
    del heard.notices[3:]

    assert judge(heard_by(heard)) == []


def test_none_objects_to_a_resync() -> None:
    heard = from_the_start()
    heard.notices.insert(3, notice(26, "update", A2, A2, queued=1))
    heard.notices.insert(4, notice(27, "update", B1, B1))
    history = heard_by(heard)
    again = [told("MODIFIED", A2, A2), told("MODIFIED", B1, B1)]
    history.mirrors[0].resyncs.append(batch(25, 7, again, states(A2, B1)))

    assert judge(history) == []


def test_an_object_may_move_from_one_source_to_the_other_by_one_write() -> None:
    history = of_two_sources()
    audience = history.audience
    assert audience is not None
    assert audience.union is not None
    one, two = audience.parts
    assert one.truth is not None
    assert two.truth is not None
    one.truth.change(54, 54.0, "DELETED", A3._replace(rv=11), left=True)
    moved = State("ns/a", "uid-a", 11, 7)
    two.truth.change(54, 54.0, "ADDED", moved)
    history.truth.change(54, 54.0, "MODIFIED", moved)
    one.wrote.append(apply(55, 11, ("DELETED", A3._replace(rv=11)), rv_before=10))
    gone = batch(56, 11, [told("DELETED", A3._replace(rv=11), A3)], states(B_AGAIN))
    one.batches.append(gone)
    two.wrote.append(apply(57, 11, ("ADDED", moved), rv_before=6))
    came = batch(58, 11, [told("ADDED", moved)], states(moved))
    two.batches.append(came)
    audience.union.batches += [
        gone,
        batch(59, 11, [told("ADDED", moved)], states(B_AGAIN, moved)),
    ]
    for seen, shown in ((one, states(B_AGAIN)), (two, states(moved))):
        seen.looks[-1] = look(60, 11, shown)
        seen.finals = [seen.looks[-1]]
    audience.union.looks[-1] = look(60, 11, states(B_AGAIN, moved))
    audience.union.finals = [audience.union.looks[-1]]

    assert judge(history) == []
