"""Standard output: bytes out, and word of who reads them."""

from __future__ import annotations

import asyncio
import os
import select
import sys
from typing import IO

from .failures import CommandError

__all__ = ["OutputFailed", "Sink"]

_POLL_EVERY = 0.5
"""Seconds between two looks at whether the reader is still there: `| head` should end a quiet watch
soon, and a look costs a system call."""


class OutputFailed(CommandError):
    """What is printed cannot be written; the cause says why."""


class Sink:
    """Where data goes: standard output, as bytes.

    Writing raises `BrokenPipeError` once the reader of the pipe is gone, and `OutputFailed` where
    the data cannot be stored. While `writing` is set a write waits for the reader.
    """

    def __init__(self) -> None:
        self.writing = False
        # None if the program was started with a closed standard output.
        self._stream: IO[bytes] | None = getattr(sys.stdout, "buffer", None)

    @property
    def is_terminal(self) -> bool:
        """Whether a person watches."""
        return self._stream is not None and self._stream.isatty()

    def write(self, data: bytes) -> None:
        """Write all of it, and keep nothing back."""
        self.writing = True
        try:
            self.draw(data)
        finally:
            self.writing = False

    def draw(self, data: bytes) -> None:
        """Write to a terminal whose screen has to be put in order at the end: Ctrl-C must not end
        the program in the middle of it, so `writing` is not set.
        """
        if self._stream is None:
            return
        try:
            self._stream.write(data)
            self._stream.flush()
        except BrokenPipeError:
            raise
        except OSError as error:
            raise OutputFailed(f"the output cannot be written: {error.strerror}") from error

    async def unread(self) -> None:
        """Return when nobody can read any more: the other end of the pipe is closed.

        Without this, `listwatch watch | head -1` would go on until the next event. For anything but
        a pipe, and where the system cannot tell, it waits for ever.
        """
        descriptor = self._descriptor()
        if descriptor is None or not hasattr(select, "poll"):  # Windows has no poll
            await asyncio.get_running_loop().create_future()
            return
        looks = select.poll()
        looks.register(descriptor, 0)  # errors and hang-ups are told in any case
        gone = select.POLLERR | select.POLLHUP
        # There is nothing that would set an event: an event loop tells of a pipe that it can be
        # written, which is always, and not that its other end is closed.
        while not any(what & gone for _, what in looks.poll(0)):  # noqa: ASYNC110
            await asyncio.sleep(_POLL_EVERY)

    def give_up(self) -> None:
        """Let what could not be written be forgotten, so that the interpreter does not try again,
        and complain, when it ends."""
        descriptor = self._descriptor()
        if descriptor is not None:
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, descriptor)
            os.close(nowhere)

    def _descriptor(self) -> int | None:
        try:
            return self._stream.fileno() if self._stream is not None else None
        except OSError:  # a stand-in without a file, as in tests
            return None
