from __future__ import annotations

import asyncio

import pytest

from listwatch.cli.live import live_screen
from listwatch.cli.sink import Sink

pytestmark = pytest.mark.virtual_time


class Terminal(Sink):
    def __init__(self) -> None:
        self.drawn: list[bytes] = []

    def draw(self, data: bytes) -> None:
        self.drawn.append(data)


async def test_it_is_drawn_ten_times_a_second_and_the_old_screen_comes_back() -> None:
    terminal = Terminal()
    async with live_screen(terminal, lambda width, height: [f"{width > 0} {height > 0}"]):
        await asyncio.sleep(0.95)
    assert terminal.drawn[0].startswith(b"\x1b[?1049h\x1b[?25l")
    assert len(terminal.drawn) == 12
    assert set(terminal.drawn[1:-1]) == {b"\x1b[HTrue True\x1b[K\x1b[J"}
    assert terminal.drawn[-1] == b"\x1b[?25h\x1b[?1049l"


async def test_the_old_screen_comes_back_after_ctrl_c_too() -> None:
    terminal = Terminal()

    async def show() -> None:
        async with live_screen(terminal, lambda width, height: []):
            await asyncio.sleep(100)

    task = asyncio.create_task(show())
    await asyncio.sleep(1)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert terminal.drawn[-1] == b"\x1b[?25h\x1b[?1049l"


async def test_what_goes_wrong_inside_is_raised_as_it_is() -> None:
    terminal = Terminal()

    async def show() -> None:
        async with live_screen(terminal, lambda width, height: []):
            await asyncio.sleep(1)
            raise LookupError("inside")

    with pytest.raises(LookupError, match="inside"):
        await show()
    assert terminal.drawn[-1] == b"\x1b[?25h\x1b[?1049l"


async def test_what_goes_wrong_with_drawing_ends_it() -> None:
    def broken(width: int, height: int) -> list[str]:
        raise BrokenPipeError

    async def show() -> None:
        async with live_screen(Terminal(), broken):
            await asyncio.sleep(100)

    with pytest.raises(BrokenPipeError):
        await show()
    assert asyncio.get_running_loop().time() < 1
