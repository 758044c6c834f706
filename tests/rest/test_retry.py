from __future__ import annotations

import random

import pytest

from listwatch.rest.errors import (
    ConnectFailed,
    ConnectionLost,
    ConnectionRefused,
    TLSFailed,
    TransportError,
    TransportTimeout,
)
from listwatch.rest.retry import GiveUp, Outcome, RetryPolicy, SendAgain, parse_retry_after

ERROR, EMPTY = GiveUp.ERROR, GiveUp.EMPTY_WATCH


@pytest.mark.clause("B4")
@pytest.mark.parametrize("watch", [False, True])
@pytest.mark.parametrize(
    ("status", "retry_after", "decision"),
    [
        (429, "7", SendAgain(7)),
        (429, "0", SendAgain(0)),
        (500, "1", SendAgain(1)),
        (503, " 30 ", SendAgain(30)),
        (504, "1", SendAgain(1)),
        (599, "1", SendAgain(1)),
        (429, None, ERROR),
        (503, None, ERROR),
        (429, "", ERROR),
        (429, "1.5", ERROR),
        (429, "-1", ERROR),
        (429, "+1", ERROR),
        (429, "1s", ERROR),
        (429, "Wed, 21 Oct 2015 07:28:00 GMT", ERROR),
        (429, "9" * 5000, ERROR),
        (429, "\u0661", ERROR),
        (400, "1", ERROR),
        (403, "1", ERROR),
        (404, "1", ERROR),
        (409, "1", ERROR),
        (410, "1", ERROR),
        (301, "1", ERROR),
        (600, "1", ERROR),
    ],
)
def test_what_is_done_about_an_answer(
    status: int, retry_after: str | None, decision: SendAgain | GiveUp, watch: bool
) -> None:
    outcome = Outcome(attempt=0, watch=watch, status=status, retry_after=retry_after)
    assert RetryPolicy().decide(outcome) == decision


@pytest.mark.clause("B4")
@pytest.mark.parametrize("watch", [False, True])
def test_too_large_is_never_retried(watch: bool) -> None:
    outcome = Outcome(attempt=0, watch=watch, status=504, retry_after="1", too_large=True)
    assert RetryPolicy().decide(outcome) == ERROR


@pytest.mark.clause("B5")
@pytest.mark.parametrize(
    ("error", "on_a_watch", "when_used_up"),
    [
        (ConnectionLost, SendAgain(1), EMPTY),
        (TransportTimeout, SendAgain(1), EMPTY),
        (ConnectionRefused, ERROR, ERROR),
        (ConnectFailed, ERROR, ERROR),
        (TLSFailed, ERROR, ERROR),
        (TransportError, ERROR, ERROR),
    ],
)
def test_what_is_done_about_a_connection_that_ends_before_the_answer(
    error: type[TransportError], on_a_watch: SendAgain | GiveUp, when_used_up: GiveUp
) -> None:
    policy = RetryPolicy(max_retries=3)
    assert policy.decide(Outcome(attempt=0, watch=False, error=error("x"))) == ERROR
    assert policy.decide(Outcome(attempt=0, watch=True, error=error("x"))) == on_a_watch
    assert policy.decide(Outcome(attempt=2, watch=True, error=error("x"))) == on_a_watch
    assert policy.decide(Outcome(attempt=3, watch=True, error=error("x"))) == when_used_up


@pytest.mark.clause("B4")
@pytest.mark.parametrize("max_retries", [0, 1, 10])
def test_it_is_repeated_max_retries_times(max_retries: int) -> None:
    policy = RetryPolicy(max_retries)
    outcomes = (Outcome(attempt=n, status=429, retry_after="1") for n in range(max_retries + 1))
    decisions = [policy.decide(outcome) for outcome in outcomes]
    assert decisions == [SendAgain(1)] * max_retries + [ERROR]


@pytest.mark.clause("B4")
def test_ten_times_by_default() -> None:
    assert RetryPolicy().max_retries == 10


def test_a_negative_number_of_retries_is_refused() -> None:
    with pytest.raises(ValueError, match="max_retries"):
        RetryPolicy(-1)


@pytest.mark.clause("B4")
def test_the_wait_is_never_shorter_than_asked_and_is_spread_only_with_a_random_source() -> None:
    assert RetryPolicy().spread(5) == 5
    spread = RetryPolicy(rng=random.Random(1))
    waits = {spread.spread(5) for _ in range(1000)}
    assert len(waits) > 900
    assert min(waits) >= 5
    assert max(waits) < 5.5


@pytest.mark.clause("B4")
@pytest.mark.parametrize(("header", "seconds"), [("5", 5.0), ("0", 0.0), (None, None), ("x", None)])
def test_retry_after_is_whole_seconds_or_nothing(header: str | None, seconds: float | None) -> None:
    assert parse_retry_after(header) == seconds
