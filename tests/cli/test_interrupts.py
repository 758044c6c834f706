"""Ctrl-C, in the middle of whatever the event loop does."""

from __future__ import annotations

import asyncio
import selectors
import signal
import sys
import threading
from collections.abc import Iterator

import pytest

from listwatch.cli.interrupts import Interrupts
from tests.cli.test_process import SECONDS


@pytest.fixture
def python_s_own_handler() -> Iterator[None]:
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


class _Selector(selectors.DefaultSelector):
    """Says when the loop is about to sleep."""

    def __init__(self) -> None:
        super().__init__()
        self.sleeps = threading.Event()

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if timeout is None or timeout > 1:
            self.sleeps.set()
        return super().select(timeout)


@pytest.fixture
def threads_take_turns_when_one_waits() -> Iterator[None]:
    """And not before."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1000)
    yield
    sys.setswitchinterval(before)


@pytest.mark.usefixtures("python_s_own_handler", "threads_take_turns_when_one_waits")
def test_ctrl_c_wakes_a_loop_that_has_just_gone_to_sleep() -> None:
    """Python's handlers run where the main thread runs: a signal that another thread receives, or
    the main one between its last look and the system call, ends no wait.
    """
    selector = _Selector()

    def interrupt() -> None:
        assert selector.sleeps.wait(SECONDS)
        signal.pthread_kill(threading.get_ident(), signal.SIGINT)

    async def work(interrupts: Interrupts) -> bool:
        slept = asyncio.Event()  # to the end: something else woke the loop
        with interrupts.cancelling(unless=lambda: False):
            asyncio.get_running_loop().call_later(SECONDS, slept.set)
            with pytest.raises(asyncio.CancelledError):
                await asyncio.get_running_loop().create_future()
        return not slept.is_set()

    sender = threading.Thread(target=interrupt)
    with (
        Interrupts(owned=False) as interrupts,
        asyncio.Runner(loop_factory=lambda: asyncio.SelectorEventLoop(selector)) as runner,
    ):
        sender.start()
        assert runner.run(work(interrupts))
        sender.join()
        assert interrupts.interrupted


@pytest.mark.usefixtures("python_s_own_handler")
def test_what_wakes_the_loop_is_gone_afterwards() -> None:
    async def work(interrupts: Interrupts) -> None:
        with interrupts.cancelling(unless=lambda: False):
            assert _wakes() != -1

    with Interrupts(owned=False) as interrupts:
        asyncio.run(work(interrupts))
    assert _wakes() == -1
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def _wakes() -> int:
    """The descriptor that a signal is written to, or -1."""
    there = signal.set_wakeup_fd(-1)
    signal.set_wakeup_fd(there)
    return there
