"""That a reflector keeps its pace; what the pace is, test_pacing says."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from listwatch.api import ListOptions
from listwatch.cache import Cause, Pacing, Reflector, ReflectorOptions, State, Store
from listwatch.rest import ConnectionLost
from listwatch.rest.errors import ConnectionRefused, TransportTimeout
from listwatch.testing import VirtualTimeLoop
from listwatch.wire import FrameSyntaxError, ListDecodeError

from .scripted import (
    Answer,
    Page,
    Scripted,
    Still,
    Watch,
    added,
    bookmark,
    end_of_initial_events,
    failure,
    pod,
    reflecting,
    refusal,
    settle,
    too_large,
    until,
)


@pytest.mark.virtual_time
@pytest.mark.clause("H9")
async def test_the_starts_of_rounds_are_spaced_and_further_each_time() -> None:
    source = Scripted(*[refusal(500)] * 8)
    async with reflecting(source):
        await until(120)
        assert [at for at, _ in source.asked_at] == [0, 2, 6, 14, 30, 60, 90, 120]


@pytest.mark.virtual_time
@pytest.mark.clause("H9")
async def test_while_nobody_is_reached_the_cap_is_lower() -> None:
    source = Scripted(*[ConnectionRefused("no")] * 7)
    async with reflecting(source):
        await until(200)
        assert [at for at, _ in source.asked_at][:6] == [0, 2, 6, 14, 29, 44]


@pytest.mark.virtual_time
@pytest.mark.clause("H9")
async def test_a_watch_that_lived_long_costs_no_wait() -> None:
    watches = [Watch(), Watch(), Watch()]
    source = Scripted(Page(rv=5), *watches)
    async with reflecting(source):
        for number, watch in enumerate(watches[:2]):
            await until(130 * (number + 1))
            watch.end()
        await settle()
        assert [at for at, _ in source.asked_at] == [0, 0, 130, 260]


@pytest.mark.virtual_time
@pytest.mark.clause("H9")
async def test_chance_spreads_the_starts() -> None:
    starts = set()
    for seed in range(20):
        source = Scripted(refusal(500), Page(rv=5), Watch())
        async with reflecting(source, rng=Random(seed)):
            await asyncio.sleep(10)
            first, second = source.requests[0].at, source.requests[1].at
            starts.add(round(second - first, 2))
            assert 2 <= second - first < 5  # d is 2; times 1 to 2; and 0 to 1 more
    assert len(starts) > 15


@pytest.mark.virtual_time
@pytest.mark.clause("H9")
async def test_what_the_server_asks_to_wait_is_a_floor() -> None:
    source = Scripted(
        refusal(429, retry_after=40), refusal(503, retry_after=9), Page(rv=5), Watch()
    )
    async with reflecting(source) as life:
        await until(100)
        assert [at for at, _ in source.asked_at] == [0, 40, 49, 49]
        assert [note.wait for note in life.setbacks] == [40, 9]


@pytest.mark.virtual_time
@pytest.mark.clause("H9")
async def test_up_to_five_minutes() -> None:
    source = Scripted(refusal(429, retry_after=4000), Page(rv=5), Watch())
    async with reflecting(source):
        await until(400)
        assert source.asked_at[1][0] == 300


@pytest.mark.virtual_time
@pytest.mark.clause("H9", "B4")
async def test_but_not_where_the_rv_is_too_large_since_waiting_does_not_help() -> None:
    source = Scripted(too_large(retry_after=60), Page(rv=5), Watch())
    async with reflecting(source):
        assert [at for at, _ in source.asked_at] == [0, 0, 0]


@pytest.mark.virtual_time
@pytest.mark.clause("H9")
async def test_a_watch_that_is_refused_for_a_time_waits_as_long() -> None:
    source = Scripted(Page(rv=5), refusal(429, retry_after=20), Watch())
    async with reflecting(source):
        await until(60)
        assert source.asked_at[1:] == [(0, "watch rv=5"), (20, "watch rv=5")]


@pytest.mark.virtual_time
@pytest.mark.clause("H9", "H17")
@pytest.mark.parametrize("seconds", [1, 100])
async def test_every_wait_ends_at_once_on_stop(seconds: float) -> None:
    source = Scripted(refusal(429, retry_after=250))
    async with reflecting(source) as life:
        await until(seconds)
        assert life.reflector.health.state is State.BACKING_OFF
        life.reflector.stop()
        assert life.task is not None
        await life.task
        assert asyncio.get_running_loop().time() == seconds
        assert life.reflector.health.state is State.STOPPED


@pytest.mark.virtual_time
@pytest.mark.clause("H9")
async def test_later_pages_are_not_counted() -> None:
    pages = [Page(pod(f"p{number}", 1), rv=5, more=f"c{number}") for number in range(40)]
    source = Scripted(*pages, Page(rv=5), Watch())
    async with reflecting(source) as life:
        await settle(400)
        assert len(source.asked) == 42
        assert source.requests[-1].at == 0
        assert life.reflector.health.requests == 2


@pytest.mark.virtual_time
@pytest.mark.clause("H9")
async def test_the_numbers_are_settable() -> None:
    source = Scripted(*[refusal(500)] * 6)
    options = ReflectorOptions(
        pacing=Pacing(first=5, cap=5, unreachable_cap=5, spread=0, slow_burst=9)
    )
    async with reflecting(source, options=options):
        await until(22)
        assert [at for at, _ in source.asked_at] == [0, 5, 10, 15, 20]


@pytest.mark.virtual_time
@pytest.mark.clause("H9")
async def test_where_no_round_makes_progress_four_requests_a_minute_are_the_most() -> None:
    # List, and a watch that fails for good: two requests a round.
    answers: list[Answer] = []
    for _ in range(100):
        answers += [Page(rv=5), refusal(500)]
    source = Scripted(*answers)
    async with reflecting(source):
        await until(1300)
        late = [request.at for request in source.requests if request.at >= 100]
        assert len(late) > 40
        for at in late:
            assert sum(at <= other < at + 60 for other in late) <= 4


@pytest.mark.virtual_time
@pytest.mark.clause("H8", "H9")
async def test_a_server_that_closes_at_once_is_not_flooded() -> None:
    def closed() -> Watch:
        watch = Watch()
        watch.end()
        return watch

    source = Scripted(Page(rv=5), *(closed() for _ in range(2)), *[ConnectionRefused("no")] * 50)
    async with reflecting(source):
        await until(600)
        assert len(source.requests) < 60


# Whatever a server answers

ENDS: list[Callable[[], Answer]] = [
    lambda: refusal(400),
    lambda: refusal(401),
    lambda: refusal(403),
    lambda: refusal(404),
    lambda: refusal(410),
    lambda: refusal(429),
    lambda: refusal(429, retry_after=3),
    lambda: refusal(500),
    lambda: too_large(),
    lambda: ConnectionRefused("no"),
    lambda: ConnectionLost("no"),
    lambda: TransportTimeout("late"),
    lambda: ListDecodeError("what"),
    lambda: KeyError("what"),
]

STREAMS: list[Callable[[int], list[object]]] = [
    lambda rv: [],
    lambda rv: [added(pod("a", rv))],
    lambda rv: [bookmark(rv)],
    lambda rv: [end_of_initial_events(rv)],
    lambda rv: [end_of_initial_events(rv), added(pod("b", rv + 1))],
    lambda rv: [failure(410)],
    lambda rv: [failure(429, retry_after=2)],
    lambda rv: [failure(500)],
    lambda rv: [end_of_initial_events(rv), failure(410)],
    lambda rv: [added(pod("a", rv)), failure(503)],
]

LASTS: list[Exception | None] = [None, ConnectionLost("cut"), FrameSyntaxError("no", 1, "x")]


class Arbitrary:
    """A server that answers as a list of numbers says, and the same from then on."""

    supports_watch_list = True

    def __init__(self, numbers: list[int]) -> None:
        self.numbers = numbers
        self.asked: list[float] = []
        self.first_pages: list[float] = []
        self.rv = 5

    def _next(self) -> int:
        number = self.numbers[len(self.asked) % len(self.numbers)]
        self.asked.append(asyncio.get_running_loop().time())
        return number

    async def alist(self, options: ListOptions) -> object:
        if not options.continue_:
            self.first_pages.append(asyncio.get_running_loop().time())
        number = self._next()
        self.rv += 1
        if number % 3:
            raise_or_not = ENDS[number % len(ENDS)]()
            assert isinstance(raise_or_not, Exception)
            raise raise_or_not
        more = f"c{len(self.asked)}" if number % 5 == 0 and not options.continue_ else ""
        rv = self.rv if number % 7 else 1
        return Page(pod("a", self.rv), rv=rv, more=more)

    async def awatch(self, options: ListOptions) -> object:
        self.first_pages.append(asyncio.get_running_loop().time())
        number = self._next()
        if number % 2:
            answer = ENDS[number % len(ENDS)]()
            assert isinstance(answer, Exception)
            raise answer
        self.rv += 2
        watch = Watch(*STREAMS[number % len(STREAMS)](self.rv))  # type: ignore[arg-type]
        last = LASTS[number % len(LASTS)]
        if last is None:
            watch.end()
        else:
            watch.fail(last)
        return watch.opened()


@pytest.mark.clause("H9")
@settings(max_examples=150, deadline=None)
@given(st.lists(st.integers(0, 2**16), min_size=1, max_size=12), st.integers(0, 99))
def test_whatever_a_server_answers_ten_requests_in_ten_seconds_are_the_most(
    numbers: list[int], seed: int
) -> None:
    async def run() -> Arbitrary:
        source = Arbitrary(numbers)
        reflector: Reflector[object] = Reflector(
            source,  # type: ignore[arg-type]
            Store(),
            kind="Pod",
            rng=Random(seed),
            on_error=lambda reflector, error: None,
        )
        task = asyncio.create_task(reflector.run())
        await asyncio.sleep(90)
        reflector.stop()
        await task
        return source

    with asyncio.Runner(loop_factory=VirtualTimeLoop) as runner:
        source = runner.run(run())
    times = source.first_pages
    for at in times:
        assert sum(at <= other < at + 10 for other in times) <= 10


@pytest.mark.virtual_time
@pytest.mark.clause("H9", "H1")
async def test_in_one_round_one_list_is_read_again_and_one_watch_list_falls() -> None:
    # WatchList refused, LIST too large, LIST again, watch expired, list, watch: one round.
    source = Scripted(
        refusal(422),
        too_large(),
        Page(rv=5),
        refusal(410),
        Page(rv=6),
        refusal(410),
        Page(rv=7),
        Watch(),
        watch_list=True,
    )
    async with reflecting(source, rng=Still()) as life:
        await until(20)
        assert source.asked_at == [
            (0, "watch-list rv=-"),
            (0, "list rv=0 limit=500"),
            (0, "list rv=- limit=500"),
            (0, "watch rv=5"),
            (0, "list rv=5 NotOlderThan"),
            (0, "watch rv=6"),
            (2, "list rv=- limit=500"),
            (2, "watch rv=7"),
        ]
        assert life.reflector.health.relists == {Cause.EXPIRED: 2}
