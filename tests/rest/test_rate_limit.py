from __future__ import annotations

import asyncio
import threading

import pytest

from listwatch.rest.rate_limit import TokenBucket

pytestmark = [pytest.mark.clause("B3"), pytest.mark.virtual_time]


async def times(bucket: TokenBucket, count: int) -> list[float]:
    """When each of so many requests, all asked for now, may be sent."""
    loop = asyncio.get_running_loop()
    begin = loop.time()

    async def one() -> float:
        await bucket.acquire()
        return round(loop.time() - begin, 6)

    return list(await asyncio.gather(*(one() for _ in range(count))))


async def test_a_burst_goes_at_once_and_the_rest_at_the_rate() -> None:
    assert await times(TokenBucket(qps=5, burst=3), 6) == [0, 0, 0, 0.2, 0.4, 0.6]


async def test_after_a_rest_the_burst_is_there_again_but_no_more_than_that() -> None:
    bucket = TokenBucket(qps=10, burst=2)
    await times(bucket, 4)
    await asyncio.sleep(3600)
    assert await times(bucket, 4) == [0, 0, 0.1, 0.2]


async def test_a_thousand_requests_keep_to_the_rate() -> None:
    assert max(await times(TokenBucket(qps=7, burst=1), 1000)) == pytest.approx(999 / 7)


async def test_who_asks_first_goes_first() -> None:
    bucket = TokenBucket(qps=1, burst=1)
    order: list[int] = []

    async def one(number: int) -> None:
        await bucket.acquire()
        order.append(number)

    await asyncio.gather(*(one(number) for number in range(20)))
    assert order == list(range(20))


async def test_a_caller_that_gives_up_uses_nothing_up() -> None:
    bucket = TokenBucket(qps=1, burst=1)
    await bucket.acquire()
    waiting = [asyncio.create_task(bucket.acquire()) for _ in range(5)]
    await asyncio.sleep(0.5)
    for task in waiting:
        task.cancel()
    await asyncio.wait(waiting)
    assert await times(bucket, 2) == [0.5, 1.5]


@pytest.mark.parametrize(("qps", "burst"), [(0, 1), (-1, 1), (float("nan"), 1), (1, 0)])
async def test_numbers_that_make_no_sense_are_refused(qps: float, burst: int) -> None:
    with pytest.raises(ValueError, match="must be"):
        TokenBucket(qps, burst)


async def test_it_may_be_used_from_several_event_loops() -> None:
    bucket = TokenBucket(qps=1e6, burst=1)

    def elsewhere() -> None:
        async def several() -> None:
            await asyncio.gather(*(bucket.acquire() for _ in range(3)))

        asyncio.run(several())

    await asyncio.gather(*(bucket.acquire() for _ in range(3)))
    thread = threading.Thread(target=elsewhere)
    thread.start()
    thread.join()
    await asyncio.gather(*(bucket.acquire() for _ in range(3)))
