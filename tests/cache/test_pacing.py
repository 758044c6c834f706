"""H9, sentence by sentence, as far as the Pacer holds it."""

from __future__ import annotations

import math
from bisect import bisect_right
from dataclasses import replace
from itertools import pairwise
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from listwatch.cache.pacing import Pacer, Pacing, RoundEnd

FAILED = RoundEnd()
QUIET = RoundEnd(clean=True, resumed=True)
"""A watch that ended cleanly without having brought anything."""
BUSY = RoundEnd(clean=True, resumed=True, progress=True)
RELIST = RoundEnd(clean=True, relist=True, progress=True)


class Fixed(Random):
    """Draws the same number each time."""

    def __init__(self, number: float) -> None:
        super().__init__()
        self.number = number

    def random(self) -> float:
        return self.number


def pacer_with(number: float = 0.0, **changes: Any) -> Pacer:
    return Pacer(Pacing(**changes), Fixed(number))


def pacer_at(d: float) -> Pacer:
    """One whose `d` has grown to this, with nothing requested."""
    pacer = pacer_with()
    while pacer.d < d:
        pacer.end_round(FAILED, 0.0)
    assert pacer.d == d
    return pacer


def round_of(pacer: Pacer, end: RoundEnd, *, lasts: float = 0.0, at: float = 1000.0) -> float:
    """Run one round, and say how long after its start the next may begin."""
    pacer.start_round(at)
    return pacer.end_round(end, at + lasts) - at


@pytest.mark.clause("H9")
class TestTheWait:
    def test_is_one_second_at_first(self) -> None:
        pacer = pacer_with()
        assert pacer.d == 1
        assert round_of(pacer, BUSY) == 1

    def test_is_counted_from_the_start_of_the_round_before(self) -> None:
        assert round_of(pacer_at(8), QUIET, lasts=3) == 16

    def test_of_a_watch_that_lived_long_is_none(self) -> None:
        assert round_of(pacer_at(4), QUIET, lasts=100) == 100

    def test_is_never_in_the_past(self) -> None:
        assert round_of(pacer_at(1), replace(QUIET, watched=3600), lasts=3600) == 3600

    @pytest.mark.parametrize(("number", "wait"), [(0.0, 16), (0.25, 20), (0.75, 28)])
    def test_is_d_times_a_random_number_in_1_to_2(self, number: float, wait: float) -> None:
        pacer = pacer_with(number)
        for _ in range(3):
            pacer.end_round(QUIET, 0.0)
        assert round_of(pacer, QUIET) == wait
        assert pacer.d == 16, "d itself is not random"

    def test_is_below_twice_d_for_every_number_that_random_can_draw(self) -> None:
        pacer = pacer_with(1 - 2**-53)
        assert pacer.end_round(BUSY, 0.0) < 2

    def test_doubles_with_each_round_without_progress_up_to_30_s(self) -> None:
        pacer = pacer_with()
        seen = []
        for _ in range(7):
            pacer.end_round(QUIET, 0.0)
            seen.append((pacer.d, pacer.at_cap))
        assert seen == [
            *((d, False) for d in (2, 4, 8, 16)),
            *((d, True) for d in (30, 30, 30)),
        ]

    def test_goes_up_to_15_s_while_the_connection_itself_fails(self) -> None:
        pacer = pacer_with()
        seen = []
        for _ in range(6):
            pacer.end_round(RoundEnd(unreachable=True), 0.0)
            seen.append((pacer.d, pacer.at_cap))
        assert seen == [
            *((d, False) for d in (2, 4, 8)),
            *((d, True) for d in (15, 15, 15)),
        ]
        pacer.end_round(FAILED, 0.0)
        assert (pacer.d, pacer.at_cap) == (30, True)
        pacer.end_round(RoundEnd(unreachable=True), 0.0)
        assert (pacer.d, pacer.at_cap) == (15, True)

    def test_doubles_with_each_round_that_ended_in_a_relist_whatever_it_brought(self) -> None:
        pacer = pacer_with()
        pacer.end_round(RELIST, 0.0)
        assert pacer.d == 2
        pacer.end_round(replace(RELIST, progress=False, watched=60), 0.0)
        assert pacer.d == 4

    @pytest.mark.parametrize(("watched", "d"), [(29.9, 16), (30, 4), (119.9, 4)])
    def test_halves_after_a_watch_without_progress_that_stayed_open_for_30_s(
        self, watched: float, d: float
    ) -> None:
        pacer = pacer_at(8)
        pacer.end_round(replace(QUIET, watched=watched), 0.0)
        assert pacer.d == d

    def test_is_never_halved_below_one_second(self) -> None:
        pacer = pacer_with()
        pacer.end_round(replace(QUIET, watched=60), 0.0)
        assert pacer.d == 1

    def test_is_one_second_again_after_a_watch_with_progress_that_is_resumed_at_its_rv(
        self,
    ) -> None:
        pacer = pacer_at(30)
        pacer.end_round(BUSY, 0.0)
        assert pacer.d == 1

    def test_stays_after_progress_that_is_neither_resumed_nor_relisted(self) -> None:
        pacer = pacer_at(8)
        pacer.end_round(replace(BUSY, resumed=False), 0.0)
        assert pacer.d == 8

    @pytest.mark.parametrize(
        "end", [FAILED, QUIET, BUSY, RELIST, RoundEnd(unreachable=True), RoundEnd(relist=True)]
    )
    def test_is_one_second_again_after_2_minutes_whatever_else_is_true(self, end: RoundEnd) -> None:
        pacer = pacer_at(30)
        pacer.end_round(replace(end, watched=120), 0.0)
        assert (pacer.d, pacer.at_cap) == (1, False)


@pytest.mark.clause("H9")
class TestAfterABadEnd:
    def test_up_to_a_second_more_keeps_reflectors_apart(self) -> None:
        pacer = pacer_with(0.5)
        assert round_of(pacer, replace(BUSY, clean=True), lasts=60) == 60
        assert round_of(pacer, replace(BUSY, clean=False), lasts=60) == 60.5
        assert round_of(pacer, replace(BUSY, clean=False)) == 1 * 1.5 + 0.5

    def test_it_goes_on_top_of_retry_after(self) -> None:
        assert round_of(pacer_with(0.5), replace(FAILED, retry_after=20.0)) == 20.5


@pytest.mark.clause("H9", "B4")
class TestRetryAfter:
    def test_is_a_floor_counted_from_the_end_of_the_round(self) -> None:
        assert round_of(pacer_at(1), replace(BUSY, retry_after=7.0), lasts=5) == 12

    def test_never_shortens_a_wait(self) -> None:
        assert round_of(pacer_at(8), replace(QUIET, retry_after=1.0)) == 16

    @pytest.mark.parametrize(("asked", "waited"), [(299.0, 299), (300.0, 300), (86400.0, 300)])
    def test_is_obeyed_up_to_300_s(self, asked: float, waited: float) -> None:
        assert round_of(pacer_at(1), replace(BUSY, retry_after=asked)) == waited

    def test_does_not_change_d(self) -> None:
        pacer = pacer_at(1)
        round_of(pacer, replace(BUSY, retry_after=300.0))
        assert pacer.d == 1


@pytest.mark.clause("H9")
class TestTheBudget:
    def test_is_10_requests_in_any_10_s(self) -> None:
        pacer = pacer_with()
        for number in range(10):
            assert pacer.request_at(number / 10) == number / 10
            pacer.requested(number / 10)
        assert pacer.request_at(0.95) == pytest.approx(10)
        pacer.requested(10.1)
        assert pacer.request_at(10.1) == pytest.approx(10.1)
        pacer.requested(10.1)
        assert pacer.request_at(10.1) == pytest.approx(10.2)

    def test_is_4_a_minute_while_d_is_at_its_cap(self) -> None:
        pacer = pacer_at(30)
        for _ in range(4):
            assert pacer.request_at(0.0) == 0
            pacer.requested(0.0)
        assert pacer.request_at(1.0) == pytest.approx(60)
        pacer.end_round(BUSY, 1.0)
        assert pacer.request_at(1.0) == 1

    def test_counts_at_the_cap_only_what_was_requested_there(self) -> None:
        """Else a server that has just come back would be asked a minute later."""
        pacer = pacer_with()
        for _ in range(6):
            pacer.requested(0.0)
        while not pacer.at_cap:
            pacer.end_round(QUIET, 0.0)
        assert pacer.request_at(1.0) == 1

    def test_remembers_what_was_requested_at_the_cap_before(self) -> None:
        pacer = pacer_at(30)
        for _ in range(4):
            pacer.requested(0.0)
        pacer.end_round(replace(QUIET, watched=30), 0.0)
        assert pacer.d == 15
        pacer.end_round(QUIET, 0.0)
        assert pacer.request_at(1.0) == pytest.approx(60)

    def test_may_put_off_the_next_round(self) -> None:
        pacer = pacer_with()
        for _ in range(10):
            pacer.requested(1000.0)
        assert round_of(pacer, BUSY) == pytest.approx(10)

    def test_holds_where_sums_of_floats_are_rounded(self) -> None:
        pacer = pacer_with(burst=1)
        for now in (0.1, 1 / 3, 1e6 + 0.1, 123456.789, 2**40 + 0.3):
            pacer.requested(now)
            assert pacer.request_at(now) - now > 10


numbers = st.floats(0, 1, exclude_max=True)
ends = st.builds(
    RoundEnd,
    progress=st.booleans(),
    relist=st.booleans(),
    watched=st.sampled_from([0, 5, 29, 30, 90, 120, 600]) | st.floats(0, 1000),
    resumed=st.booleans(),
    clean=st.booleans(),
    unreachable=st.booleans(),
    retry_after=st.none() | st.floats(0, 1000),
)
rounds = st.lists(st.tuples(st.integers(0, 12), st.floats(0, 40), ends), max_size=40)
"""Of each: its requests, the seconds between them, and its end."""


def most_in(times: list[float], window: float) -> int:
    """The most of them in any window, its ends included."""
    return max(
        (bisect_right(times, start + window) - index for index, start in enumerate(times)),
        default=0,
    )


@pytest.mark.clause("H9")
class TestWhateverHappens:
    @given(rounds, st.integers(0, 2**32))
    def test_the_budget_holds(self, script: list[tuple[int, float, RoundEnd]], seed: int) -> None:
        pacer = Pacer(Pacing(), Random(seed))
        now = 0.0
        times: list[float] = []
        at_cap: list[float] = []
        for requests, pause, end in script:
            pacer.start_round(now)
            for _ in range(requests):
                now = pacer.request_at(now)
                pacer.requested(now)
                times.append(now)
                if pacer.at_cap:
                    at_cap.append(now)
                now += pause
            now = pacer.end_round(end, now + end.watched)
        assert most_in(times, 9.999999) <= 10
        assert most_in(at_cap, 59.999999) <= 4
        assert all(late - early > 10 for early, late in zip(times, times[10:], strict=False))
        assert all(late - early > 60 for early, late in zip(at_cap, at_cap[4:], strict=False))

    @given(rounds, st.integers(0, 2**32))
    def test_the_next_round_starts_when_h9_says(
        self, script: list[tuple[int, float, RoundEnd]], seed: int
    ) -> None:
        pacer = Pacer(Pacing(), Random(seed))
        now = 0.0
        for _, lasts, end in script:
            start = now
            pacer.start_round(start)
            now += lasts
            following = pacer.end_round(end, now)
            assert 1 <= pacer.d <= (15 if end.unreachable else 30)
            asked = 0.0 if end.retry_after is None else min(end.retry_after, 300)
            least = max(now, start + pacer.d, now + asked)
            most = max(now, start + 2 * pacer.d, now + asked) + (0 if end.clean else 1)
            assert least <= following <= most
            now = following

    @given(rounds, st.integers(0, 2**32))
    def test_equal_seeds_give_equal_times(
        self, script: list[tuple[int, float, RoundEnd]], seed: int
    ) -> None:
        one, other = (Pacer(Pacing(), Random(seed)) for _ in range(2))
        for _, lasts, end in script:
            assert one.end_round(end, lasts) == other.end_round(end, lasts)

    @given(st.lists(ends.map(lambda end: replace(end, progress=False, watched=1.0)), min_size=20))
    def test_without_progress_it_is_4_a_minute_in_the_long_run(
        self, script: list[RoundEnd]
    ) -> None:
        """Property 17, for rounds as costly as they get."""
        pacer = Pacer(Pacing(), Random(0))
        now = 0.0
        times: list[float] = []
        for end in script:
            pacer.start_round(now)
            for _ in range(6):
                now = pacer.request_at(now)
                pacer.requested(now)
                times.append(now)
            now = pacer.end_round(end, now + 1)
        to_the_cap = 5 * 6  # five rounds double d from 1 s to its cap
        assert len(times) <= to_the_cap + 4 + 4 * (times[-1] - times[0]) / 60


@pytest.mark.clause("H9")
class TestAThousandReflectors:
    """Property 17: jitter spreads them, whatever they have in common."""

    @staticmethod
    def starts(end: RoundEnd, *, rounds: int = 1, lasts: float = 0.0) -> list[float]:
        found = []
        for seed in range(1000):
            pacer = Pacer(Pacing(), Random(seed))
            now = 0.0
            for _ in range(rounds):
                pacer.start_round(now)
                pacer.requested(now)
                now = pacer.end_round(end, now + lasts)
            found.append(now)
        return sorted(found)

    def test_that_lose_a_server_at_once_come_back_over_a_second(self) -> None:
        starts = self.starts(RoundEnd(progress=True, resumed=True, watched=300), lasts=300)
        assert most_in(starts, 0.1) < 150
        assert max(late - early for early, late in pairwise(starts)) < 0.05

    def test_that_find_it_gone_spread_further_with_each_round(self) -> None:
        crowds = [
            most_in(self.starts(RoundEnd(unreachable=True), rounds=rounds), 0.1)
            for rounds in (1, 2, 3, 4, 5)
        ]
        assert crowds[0] < 100
        assert crowds[-1] < 15
        assert crowds == sorted(crowds, reverse=True)

    def test_that_are_all_told_to_wait_as_long_do_not_return_together(self) -> None:
        starts = self.starts(RoundEnd(retry_after=60.0))
        assert starts[0] >= 60
        assert most_in(starts, 0.1) < 150


@pytest.mark.clause("H9")
class TestThePolicy:
    def test_is_a_value_that_many_may_share(self) -> None:
        assert Pacing() == Pacing()
        assert hash(Pacing(cap=60)) == hash(Pacing(cap=60.0))

    @pytest.mark.parametrize(
        ("given", "said"),
        [
            ({"first": 0}, "first must not be 0"),
            ({"first": -1}, "first must be 0 or more"),
            ({"first": math.nan}, "first"),
            ({"cap": math.inf}, "cap"),
            ({"burst": 0}, "burst must not be 0"),
            ({"slow_burst": 0}, "slow_burst"),
            ({"cap": 0.5}, r"cap \(0.5 s\) is below first \(1 s\)"),
            ({"unreachable_cap": 0.5}, "unreachable_cap"),
            ({"first": 40.0}, "below first"),
            ({"retry_after_cap": -1}, "retry_after_cap"),
            ({"spread": -0.1}, "spread"),
            ({"burst": 2.5}, "burst must be a whole number"),
            ({"slow_burst": 0.5}, "slow_burst must be a whole number"),
        ],
    )
    def test_refuses_what_makes_no_sense(self, given: dict[str, Any], said: str) -> None:
        with pytest.raises(ValueError, match=said):
            Pacing(**given)

    def test_changes_every_number(self) -> None:
        pacer = pacer_with(
            0.5,
            first=2.0,
            cap=5.0,
            unreachable_cap=3.0,
            spread=4.0,
            calm=10.0,
            settled=20.0,
            retry_after_cap=100.0,
        )
        assert round_of(pacer, QUIET) == 4 * 1.5
        assert round_of(pacer, QUIET) == 5 * 1.5
        assert round_of(pacer, RoundEnd(unreachable=True)) == 3 * 1.5 + 4 * 0.5
        assert round_of(pacer, replace(QUIET, watched=10)) == 2 * 1.5
        assert round_of(pacer, replace(QUIET, retry_after=500.0)) == 100
        pacer.end_round(replace(RELIST, watched=20), 0.0)
        assert pacer.d == 2
        assert repr(pacer) == "<Pacer d=2>"

    def test_changes_the_budget(self) -> None:
        pacer = pacer_with(burst=2, window=5.0, slow_burst=1, slow_window=7.0)
        pacer.requested(0.0)
        pacer.requested(1.0)
        assert pacer.request_at(2.0) == pytest.approx(5)
        while not pacer.at_cap:
            pacer.end_round(FAILED, 100.0)
        pacer.requested(100.0)
        assert pacer.request_at(100.0) == pytest.approx(107)
        assert repr(pacer) == "<Pacer d=30 at its cap>"
