"""How long a watch may be silent."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from listwatch.cache.liveness import IdleClock, Liveness

pytestmark = pytest.mark.clause("E4")


def clock(now: float = 0.0, timeout_seconds: int = 420, **changes: Any) -> IdleClock:
    return IdleClock(Liveness(**changes), timeout_seconds, now)


class TestWithoutBookmarks:
    def test_150_s_of_silence_are_the_end(self) -> None:
        assert clock().deadline(last_read=20.0) == 170

    def test_the_number_can_be_set(self) -> None:
        assert clock(idle=40.0).deadline(last_read=20.0) == 60

    def test_none_means_10_s_after_the_server_should_have_ended_it(self) -> None:
        assert clock(idle=None, timeout_seconds=300).deadline(last_read=20.0) == 330

    def test_a_watch_is_silent_from_its_opening_on(self) -> None:
        assert clock(now=1000.0).deadline(last_read=3.0) == 1150

    def test_one_periodic_bookmark_says_nothing_yet(self) -> None:
        silent = clock()
        silent.bookmark(60.0)
        assert silent.limit == 150
        assert silent.deadline(last_read=60.0) == 210


class TestAfterTwoPeriodicBookmarks:
    @pytest.mark.parametrize("idle", [150.0, 500.0, None])
    def test_the_deadline_is_twice_their_interval(self, idle: float | None) -> None:
        silent = clock(idle=idle)
        silent.bookmark(60.0)
        silent.bookmark(110.0)
        assert silent.limit == 100
        assert silent.deadline(last_read=110.0) == 210
        assert silent.deadline(last_read=115.0) == 215

    @pytest.mark.parametrize("interval", [0.0, 1.0, 30.0, 37.5])
    def test_it_is_never_under_75_s(self, interval: float) -> None:
        silent = clock()
        silent.bookmark(60.0)
        silent.bookmark(60.0 + interval)
        assert silent.limit == 75

    def test_the_last_two_count(self) -> None:
        silent = clock()
        for now in (10.0, 70.0, 110.0):
            silent.bookmark(now)
        assert silent.limit == 80

    def test_the_least_can_be_set(self) -> None:
        silent = clock(shortest=5.0)
        silent.bookmark(1.0)
        silent.bookmark(2.0)
        assert silent.limit == 5


class TestAConsumerThatDoesNotRead:
    def test_has_no_deadline(self) -> None:
        silent = clock()
        silent.paused(10.0)
        assert silent.deadline(last_read=10.0) == math.inf

    def test_finds_its_silence_where_it_left_it(self) -> None:
        silent = clock()
        silent.paused(30.0)
        silent.resumed(1030.0)
        assert silent.deadline(last_read=10.0) == 10 + 1000 + 150

    def test_starts_anew_with_what_it_reads_then(self) -> None:
        silent = clock()
        silent.paused(30.0)
        silent.resumed(1030.0)
        assert silent.deadline(last_read=1031.0) == 1181

    def test_may_have_been_away_when_bytes_came(self) -> None:
        silent = clock()
        silent.paused(30.0)
        silent.resumed(1030.0)
        assert silent.deadline(last_read=1000.0) == 1180

    def test_does_not_stretch_the_interval_of_bookmarks(self) -> None:
        silent = clock()
        silent.bookmark(60.0)
        silent.paused(60.0)
        silent.resumed(560.0)
        silent.bookmark(610.0)
        assert silent.limit == 100

    def test_has_got_a_bookmark_when_it_stopped_reading(self) -> None:
        silent = clock()
        for arrived in (60.0, 160.0):
            silent.paused(arrived)
            silent.bookmark(arrived + 39)
            silent.resumed(arrived + 40)
        assert silent.limit == 120

    def test_may_say_so_twice(self) -> None:
        silent = clock()
        silent.resumed(5.0)
        silent.paused(10.0)
        silent.paused(20.0)
        silent.resumed(30.0)
        silent.resumed(40.0)
        assert silent.deadline(last_read=10.0) == 180

    @given(st.lists(st.tuples(st.floats(0, 100), st.floats(0, 1000)), max_size=20))
    def test_never_loses_a_second_of_its_time_to_read(
        self, turns: list[tuple[float, float]]
    ) -> None:
        """Whatever it did before, it may wait for as long as any other."""
        silent = clock()
        now = 0.0
        for reads, works in turns:
            now += reads
            silent.paused(now)
            arrived = now
            now += works
            silent.resumed(now)
            assert silent.deadline(arrived) == pytest.approx(now + 150)


class TestThePolicy:
    def test_is_a_value_that_many_may_share(self) -> None:
        assert hash(Liveness()) == hash(Liveness(idle=150))
        assert (Liveness().initial, Liveness().recheck) == (30, 30)

    @pytest.mark.parametrize("name", ["idle", "shortest", "initial", "recheck"])
    @pytest.mark.parametrize("value", [0, -1.0, math.nan])
    def test_refuses_what_makes_no_sense(self, name: str, value: float) -> None:
        with pytest.raises(ValueError, match=f"{name} must be above 0"):
            Liveness(**{name: value})

    def test_has_no_way_to_turn_off_what_is_no_guess(self) -> None:
        with pytest.raises(ValueError, match="shortest"):
            Liveness(shortest=None)  # type: ignore[arg-type]
