from __future__ import annotations

import asyncio
import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from listwatch.testing import Deadlock, VirtualTimeLoop, virtual_time


@pytest.fixture
def runner() -> Iterator[asyncio.Runner]:
    with asyncio.Runner(loop_factory=VirtualTimeLoop) as runner:
        yield runner


def _now() -> float:
    return asyncio.get_running_loop().time()


@pytest.mark.virtual_time
async def test_a_test_under_the_marker_runs_in_virtual_time() -> None:
    assert isinstance(asyncio.get_running_loop(), VirtualTimeLoop)


async def test_a_test_without_the_marker_does_not() -> None:
    assert not isinstance(asyncio.get_running_loop(), VirtualTimeLoop)


@pytest.mark.virtual_time
async def test_the_clock_jumps_exactly_to_the_next_timer() -> None:
    began = time.monotonic()
    assert _now() == 0.0
    await asyncio.sleep(0.1)
    assert _now() == 0.1
    await asyncio.sleep(86_400 * 30)
    assert _now() == 0.1 + 86_400 * 30
    assert time.monotonic() - began < 60


def test_the_clock_can_begin_anywhere() -> None:
    with asyncio.Runner(loop_factory=lambda: VirtualTimeLoop(start=1e6)) as runner:

        async def program() -> float:
            await asyncio.sleep(2)
            return _now()

        assert runner.run(program()) == 1e6 + 2


@pytest.mark.virtual_time
async def test_the_clock_stands_still_while_something_is_ready() -> None:
    for _ in range(1000):
        await asyncio.sleep(0)
    assert _now() == 0.0


@pytest.mark.virtual_time
async def test_timers_fire_in_the_order_of_their_times() -> None:
    fired: list[tuple[str, float]] = []

    async def sleeper(name: str, seconds: float) -> None:
        await asyncio.sleep(seconds)
        fired.append((name, _now()))

    async with asyncio.TaskGroup() as group:
        for name, seconds in (("c", 30), ("a", 10), ("b", 20), ("d", 30)):
            group.create_task(sleeper(name, seconds))
    assert fired == [("a", 10), ("b", 20), ("c", 30), ("d", 30)]


@pytest.mark.virtual_time
async def test_a_timeout_takes_no_real_time() -> None:
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(600):
            await asyncio.Event().wait()
    assert _now() == 600


@pytest.mark.virtual_time
async def test_a_cancelled_timer_does_not_move_the_clock() -> None:
    asyncio.get_running_loop().call_later(5, lambda: None).cancel()
    await asyncio.sleep(7)
    assert _now() == 7


def test_waiting_for_what_nobody_will_do_is_a_deadlock(runner: asyncio.Runner) -> None:
    async def waits_for_ever() -> None:
        await asyncio.sleep(3)
        await asyncio.Event().wait()

    with pytest.raises(Deadlock, match="nobody will do") as caught:
        runner.run(waits_for_ever())
    assert "at 3 s" in str(caught.value)
    assert "in test_waiting_for_what_nobody_will_do_is_a_deadlock.<locals>.waits_for_ever" in str(
        caught.value
    )


def test_the_message_of_a_deadlock_names_every_task(runner: asyncio.Runner) -> None:
    async def program() -> None:
        event = asyncio.Event()
        async with asyncio.TaskGroup() as group:
            group.create_task(event.wait(), name="first waiter")
            group.create_task(event.wait(), name="second waiter")

    with pytest.raises(Deadlock) as caught:
        runner.run(program())
    assert "first waiter waits at" in str(caught.value)
    assert "second waiter waits at" in str(caught.value)


@pytest.mark.virtual_time
async def test_a_call_in_an_executor_takes_no_virtual_time() -> None:
    release = threading.Event()

    def work() -> int:
        release.wait()
        return 7

    working = asyncio.create_task(asyncio.to_thread(work))
    await asyncio.sleep(0)
    threading.Timer(0.05, release.set).start()
    ticking = asyncio.create_task(asyncio.sleep(3600))  # no jump to it while the call is under way
    assert await working == 7
    assert _now() == 0.0
    ticking.cancel()


@pytest.mark.virtual_time
async def test_a_call_that_outlasts_a_timer_in_real_time_lets_it_fire() -> None:
    release = threading.Event()
    asyncio.get_running_loop().call_later(0.01, release.set)  # the call waits for this very timer
    await asyncio.to_thread(release.wait)
    assert _now() == 0.01


@pytest.mark.virtual_time
async def test_an_executor_that_failed_to_start_a_call_is_not_waited_for() -> None:
    loop = asyncio.get_running_loop()
    executor = ThreadPoolExecutor()
    executor.shutdown()
    with pytest.raises(RuntimeError, match="after shutdown"):
        loop.run_in_executor(executor, print)
    await asyncio.sleep(5)
    assert _now() == 5


@pytest.mark.virtual_time
async def test_a_thread_of_the_test_can_wake_the_loop() -> None:
    loop = asyncio.get_running_loop()
    assert isinstance(loop, VirtualTimeLoop)
    woken = asyncio.Event()
    thread = threading.Thread(target=lambda: loop.call_soon_threadsafe(woken.set))
    with loop.outside_work():
        thread.start()
        async with asyncio.timeout(3600):
            await woken.wait()
    thread.join()
    assert _now() == 0.0


@pytest.mark.virtual_time
async def test_a_thread_that_lives_is_given_time_before_a_deadlock(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(virtual_time, "_DEADLOCK_GRACE", 60.0)
    loop = asyncio.get_running_loop()
    woken = asyncio.Event()
    thread = threading.Timer(0.05, lambda: loop.call_soon_threadsafe(woken.set))
    thread.start()
    await woken.wait()
    thread.join()
    assert _now() == 0.0


@pytest.mark.virtual_time
async def test_while_a_socket_is_open_the_clock_runs_as_the_walls() -> None:
    ours, theirs = socket.socketpair()
    with theirs:
        reader, writer = await asyncio.open_connection(sock=ours)
        began = time.monotonic()
        await asyncio.sleep(0.05)
        assert time.monotonic() - began >= 0.05
        assert _now() == 0.05
        theirs.sendall(b"hello")
        assert await reader.readexactly(5) == b"hello"
        writer.close()
        await writer.wait_closed()
    before = _now()
    await asyncio.sleep(3600)  # and jumps again when it is closed
    assert _now() == before + 3600


@pytest.mark.virtual_time
async def test_a_server_and_its_client_work() -> None:
    async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(await reader.readline())
        writer.close()
        await writer.wait_closed()

    server = await asyncio.start_server(echo, "127.0.0.1", 0)
    async with server:
        reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
        writer.write(b"ping\n")
        assert await reader.read() == b"ping\n"
        writer.close()
        await writer.wait_closed()
