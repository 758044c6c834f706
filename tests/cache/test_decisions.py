"""What a reflector does next: the table, and the few rules that need a memory."""

from __future__ import annotations

import re

import pytest

from listwatch.cache import decisions
from listwatch.cache.causes import UNREACHED, Cause
from listwatch.cache.decisions import TABLE, Decisions, Next, Outcome, Phase, Step

WATCH = Step(Next.WATCH)
AGAIN = Step(Next.SET)
LIST_NOW = Step(Next.LIST, at_once=True, gives_up=True)


def decided(phase: Phase, cause: Cause, *, asked: str = "5") -> Step:
    return Decisions().decide(Outcome(phase=phase, cause=cause, asked=asked), 0.0)


# The table


@pytest.mark.parametrize("phase", Phase)
def test_each_phase_says_what_follows_each_cause(phase: Phase) -> None:
    assert set(TABLE[phase]) == set(Cause)


def test_there_is_no_other_phase_in_the_table() -> None:
    assert set(TABLE) == set(Phase)


PHASES = {
    "LIST": Phase.LIST,
    "WatchList, opening it": Phase.OPENING_WATCH_LIST,
    "WatchList, its stream": Phase.WATCH_LIST,
    "WATCH, opening it": Phase.OPENING_WATCH,
    "WATCH, its stream": Phase.WATCH,
}

CAUSES = {
    "expired": {Cause.EXPIRED},
    "RV too large": {Cause.TOO_LARGE},
    "cut": {Cause.LOST, Cause.TIMED_OUT},
    "no connection": set(UNREACHED),
    "not supported": {Cause.UNSUPPORTED},
    "bad request": {Cause.BAD_REQUEST},
    "not found": {Cause.NOT_FOUND},
    "unknown resource": {Cause.UNKNOWN},
    "401": {Cause.UNAUTHORIZED},
    "403": {Cause.FORBIDDEN},
    "429": {Cause.TOO_MANY},
    "a clean end": {Cause.CLEAN},
    "silent": {Cause.IDLE},
    "internal error": {Cause.INTERNAL},
    "unreadable": {Cause.UNREADABLE},
    "no end marker in time (H5)": {Cause.NO_MARKER},
    "history went back": {Cause.WENT_BACK},
    "older than what is there": {Cause.WENT_BACK},
    "served elsewhere": {Cause.MOVED},
    "out of date": {Cause.OUT_OF_DATE},
}

REST = ("anything else", "any other error event")
BY_MEMORY = ('at RV ""', "in a row", "no RV to go on from")
"""Rows that say when something else follows than usually: they have tests of their own."""


def documented() -> dict[Phase, dict[Cause, Step]]:
    """The table of the module's docstring."""
    assert decisions.__doc__ is not None
    found: dict[Phase, dict[Cause, Step]] = {phase: {} for phase in Phase}
    phase = Phase.LIST
    rest: dict[Phase, Step] = {}
    rows = re.findall(r"^\| *(.*?) *\| *(.*?) *\| *(.*?) *\|$", decisions.__doc__, re.MULTILINE)
    for what, how, following in rows[2:]:
        phase = PHASES[what] if what else phase
        if how.startswith("the same at") or any(word in how for word in BY_MEMORY):
            if how.startswith("the same at"):
                causes = CAUSES["expired"] | CAUSES["RV too large"]
                found[phase].update(dict.fromkeys(causes, step_of(following)))
            continue
        if how in REST:
            rest[phase] = step_of(following)
            continue
        for atom in re.split(r", or |, ", how):
            found[phase].update(dict.fromkeys(CAUSES[atom], step_of(following)))
    return {
        phase: {cause: steps.get(cause, rest[phase]) for cause in Cause}
        for phase, steps in found.items()
    }


def step_of(words: str) -> Step:
    words = re.split("; after|, else|while the budget", words)[0]
    if words.startswith("watch again"):
        what = Next.WATCH
    else:
        what = Next.LIST if words.startswith("LIST") else Next.SET
    return Step(
        what,
        at_once="at once" in words,
        consistent='at RV ""' in words,
        gives_up="remembered" in words,
    )


SAID_BY_MEMORY = {(Phase.WATCH, Cause.INTERNAL)}
"""Its row tells of the budget."""

NEVER = {
    # What cannot end so: the table has a row for it, the docstring is for people.
    Phase.LIST: {Cause.CLEAN, Cause.IDLE, Cause.NO_MARKER, Cause.OUT_OF_DATE},
    Phase.OPENING_WATCH_LIST: {Cause.IDLE, Cause.NO_MARKER, Cause.WENT_BACK, Cause.OUT_OF_DATE},
    Phase.WATCH_LIST: {Cause.IDLE, Cause.OUT_OF_DATE, Cause.REFUSED, Cause.UNREACHABLE, Cause.TLS},
    Phase.OPENING_WATCH: {Cause.IDLE, Cause.NO_MARKER, Cause.WENT_BACK, Cause.OUT_OF_DATE},
    Phase.WATCH: {Cause.NO_MARKER},
}


@pytest.mark.parametrize(
    ("phase", "cause"),
    [
        (phase, cause)
        for phase in Phase
        for cause in Cause
        if cause not in NEVER[phase] and (phase, cause) not in SAID_BY_MEMORY
    ],
)
def test_the_docstring_says_what_the_table_does(phase: Phase, cause: Cause) -> None:
    assert documented()[phase][cause] == TABLE[phase][cause]


# What the contract says, whatever the table looks like


@pytest.mark.clause("H1")
@pytest.mark.parametrize("cause", [Cause.EXPIRED, Cause.TOO_LARGE])
def test_a_list_that_is_too_old_or_too_new_is_read_again_at_once_and_consistently(
    cause: Cause,
) -> None:
    assert decided(Phase.LIST, cause) == Step(Next.SET, at_once=True, consistent=True)


@pytest.mark.clause("H4")
@pytest.mark.parametrize("cause", [Cause.UNSUPPORTED, Cause.BAD_REQUEST, Cause.NOT_FOUND])
def test_a_refused_watch_list_becomes_a_list_at_once_and_for_long(cause: Cause) -> None:
    assert decided(Phase.OPENING_WATCH_LIST, cause) == LIST_NOW


@pytest.mark.clause("H4")
@pytest.mark.parametrize(
    "cause",
    [Cause.UNAUTHORIZED, Cause.FORBIDDEN, Cause.TOO_MANY, Cause.UNKNOWN, *sorted(UNREACHED)],
)
def test_a_server_that_lets_nobody_in_says_nothing_against_watch_list(cause: Cause) -> None:
    memory = Decisions()
    for _ in range(5):
        step = memory.decide(Outcome(phase=Phase.OPENING_WATCH_LIST, cause=cause), 0.0)
        assert step == AGAIN


@pytest.mark.clause("H4")
@pytest.mark.parametrize("phase", [Phase.OPENING_WATCH_LIST, Phase.WATCH_LIST])
@pytest.mark.parametrize("cause", [Cause.EXPIRED, Cause.TOO_LARGE])
def test_a_watch_list_of_the_newest_state_that_is_too_old_is_nonsense(
    phase: Phase, cause: Cause
) -> None:
    now = Step(Next.LIST, at_once=True, consistent=True, gives_up=True)
    assert decided(phase, cause, asked="") == now
    assert decided(phase, cause, asked="5") == Step(Next.SET, at_once=True, consistent=True)


@pytest.mark.clause("H4")
@pytest.mark.parametrize("cause", [Cause.INTERNAL, Cause.SERVER, Cause.FORBIDDEN, Cause.NO_MARKER])
def test_an_initial_stream_that_ends_in_an_error_becomes_a_list(cause: Cause) -> None:
    assert decided(Phase.WATCH_LIST, cause) == LIST_NOW


@pytest.mark.clause("H4")
def test_but_for_429() -> None:
    assert decided(Phase.WATCH_LIST, Cause.TOO_MANY) == AGAIN


@pytest.mark.clause("H7")
@pytest.mark.parametrize("cause", [Cause.REFUSED, Cause.TOO_MANY])
def test_a_watch_that_is_kept_out_is_opened_again(cause: Cause) -> None:
    assert decided(Phase.OPENING_WATCH, cause) == WATCH


@pytest.mark.clause("H7")
@pytest.mark.parametrize(
    "cause", [Cause.FORBIDDEN, Cause.UNAUTHORIZED, Cause.SERVER, Cause.INTERNAL, Cause.NOT_FOUND]
)
def test_any_other_refusal_of_a_watch_is_a_list(cause: Cause) -> None:
    assert decided(Phase.OPENING_WATCH, cause) == AGAIN


@pytest.mark.clause("H8")
@pytest.mark.parametrize("phase", [Phase.OPENING_WATCH, Phase.WATCH])
def test_an_expired_watch_is_a_list_at_once(phase: Phase) -> None:
    assert decided(phase, Cause.EXPIRED) == Step(Next.SET, at_once=True)


@pytest.mark.clause("H8", "E4")
@pytest.mark.parametrize(
    "cause", [Cause.CLEAN, Cause.LOST, Cause.TIMED_OUT, Cause.IDLE, Cause.TOO_MANY]
)
def test_a_watch_that_just_ended_goes_on(cause: Cause) -> None:
    assert decided(Phase.WATCH, cause) == WATCH


@pytest.mark.clause("H8")
@pytest.mark.parametrize("cause", [Cause.SERVER, Cause.INTERNAL, Cause.FORBIDDEN])
def test_another_error_in_a_watch_is_a_list(cause: Cause) -> None:
    assert decided(Phase.WATCH, cause) == AGAIN


@pytest.mark.clause("H10")
def test_what_cannot_be_read_forces_a_list_at_the_pace_of_rounds() -> None:
    for phase in (Phase.LIST, Phase.WATCH_LIST, Phase.OPENING_WATCH, Phase.WATCH):
        step = decided(phase, Cause.UNREADABLE)
        assert step.next is not Next.WATCH, phase
        assert not step.at_once, phase
        assert not step.gives_up, phase


@pytest.mark.clause("H18")
def test_another_history_is_read_consistently() -> None:
    for phase in (Phase.LIST, Phase.WATCH_LIST, Phase.WATCH):
        assert decided(phase, Cause.WENT_BACK).consistent, phase


@pytest.mark.clause("H9")
@pytest.mark.parametrize("phase", Phase)
@pytest.mark.parametrize("cause", Cause)
def test_nothing_is_at_once_where_the_server_asked_to_wait(phase: Phase, cause: Cause) -> None:
    outcome = Outcome(phase=phase, cause=cause, asked="5", retry_after=1.0)
    assert not Decisions().decide(outcome, 0.0).at_once


@pytest.mark.clause("H6", "H8")
@pytest.mark.parametrize("phase", [Phase.OPENING_WATCH, Phase.WATCH])
@pytest.mark.parametrize("cause", Cause)
def test_where_there_is_no_rv_to_go_on_from_no_watch_follows(phase: Phase, cause: Cause) -> None:
    # It would begin at some newer state, and nobody would ever hear what was deleted before.
    outcome = Outcome(phase=phase, cause=cause, resumable=False)
    memory = Decisions(internal_error_budget=60)
    assert memory.decide(outcome, 0.0).next is not Next.WATCH


# The memory


def end(
    cause: Cause,
    phase: Phase = Phase.WATCH,
    *,
    watched: float = 10.0,
    events: bool = False,
    **more: object,
) -> Outcome:
    return Outcome(phase=phase, cause=cause, asked="5", watched=watched, events=events, **more)  # type: ignore[arg-type]


@pytest.mark.clause("H9")
def test_a_round_has_one_consistent_read() -> None:
    memory = Decisions()
    expired = end(Cause.EXPIRED, Phase.LIST)
    assert memory.decide(expired, 0).at_once
    second = memory.decide(expired, 0)
    assert (second.at_once, second.consistent) == (False, True)
    memory.start_round()
    assert memory.decide(expired, 0).at_once


@pytest.mark.clause("H9")
def test_a_round_has_one_list_after_an_expired_watch() -> None:
    memory = Decisions()
    expired = end(Cause.EXPIRED)
    assert memory.decide(expired, 0) == Step(Next.SET, at_once=True)
    assert not memory.decide(expired, 0).at_once
    memory.start_round()
    assert memory.decide(expired, 0).at_once


@pytest.mark.clause("H9", "H1")
def test_the_list_after_an_expired_watch_may_be_read_again_consistently() -> None:
    memory = Decisions()
    assert memory.decide(end(Cause.EXPIRED), 0).at_once
    assert memory.decide(end(Cause.EXPIRED, Phase.LIST), 0).at_once
    assert not memory.decide(end(Cause.EXPIRED), 0).at_once
    assert not memory.decide(end(Cause.EXPIRED, Phase.LIST), 0).at_once


@pytest.mark.clause("H4")
@pytest.mark.parametrize("cause", [Cause.CLEAN, Cause.LOST, Cause.TIMED_OUT])
def test_two_initial_streams_without_a_marker_are_enough(cause: Cause) -> None:
    memory = Decisions()
    cut = end(cause, Phase.WATCH_LIST)
    assert memory.decide(cut, 0) == Step(Next.SET, consistent=True)
    memory.start_round()
    second = memory.decide(cut, 0)
    assert (second.next, second.at_once, second.gives_up) == (Next.LIST, True, True)
    # When it is tried again, an hour later, it is two again.
    assert memory.decide(cut, 3600).next is Next.SET


@pytest.mark.clause("H4")
def test_a_whole_set_in_between_starts_the_count_of_streams_again() -> None:
    memory = Decisions()
    cut = end(Cause.LOST, Phase.WATCH_LIST)
    for _ in range(4):
        assert memory.decide(cut, 0).next is Next.SET
        memory.synced()


@pytest.mark.clause("H8")
@pytest.mark.parametrize("cause", [Cause.CLEAN, Cause.LOST, Cause.TIMED_OUT])
def test_the_third_very_short_watch_in_a_row_is_a_list_and_each_one_after_it(cause: Cause) -> None:
    memory = Decisions()
    short = end(cause, watched=0.9)
    assert [memory.decide(short, 0) for _ in range(5)] == [WATCH, WATCH, AGAIN, AGAIN, AGAIN]


@pytest.mark.clause("H8")
@pytest.mark.parametrize(
    "other",
    [end(Cause.CLEAN, watched=1.0), end(Cause.CLEAN, watched=0.1, events=True)],
    ids=["one that lasted a second", "one with an event"],
)
def test_another_watch_in_between_starts_that_count_again(other: Outcome) -> None:
    memory = Decisions()
    short = end(Cause.CLEAN, watched=0.9)
    ends = [short, short, other, short, short]
    assert [memory.decide(one, 0) for one in ends] == [WATCH] * 5
    assert memory.decide(short, 0) == AGAIN


@pytest.mark.clause("H8", "H7")
def test_429_is_never_a_list_however_short_its_watches() -> None:
    memory = Decisions()
    short = end(Cause.TOO_MANY, watched=0.0)
    assert [memory.decide(short, 0) for _ in range(5)] == [WATCH] * 5


@pytest.mark.clause("H8")
def test_internal_errors_have_no_budget_unless_one_is_given() -> None:
    assert Decisions().decide(end(Cause.INTERNAL), 0) == AGAIN


@pytest.mark.clause("H8")
def test_internal_errors_are_borne_for_as_long_as_the_budget_says() -> None:
    memory = Decisions(internal_error_budget=60)
    steps = [memory.decide(end(Cause.INTERNAL), now) for now in (0, 30, 59, 61)]
    assert steps == [WATCH, WATCH, WATCH, AGAIN]
    # The list came, and it begins anew.
    assert memory.decide(end(Cause.INTERNAL), 62) == WATCH


@pytest.mark.clause("H8")
@pytest.mark.parametrize(
    "between",
    [end(Cause.CLEAN), end(Cause.INTERNAL, progress=True)],
    ids=["a clean end", "an event before the error"],
)
def test_the_budget_begins_anew_after_a_watch_that_did_some_good(between: Outcome) -> None:
    memory = Decisions(internal_error_budget=60)
    assert memory.decide(end(Cause.INTERNAL), 0) == WATCH
    memory.decide(between, 50)
    assert memory.decide(end(Cause.INTERNAL), 100) == WATCH
