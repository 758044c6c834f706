"""What is around every command: the event loop, a closed pipe, and the words for a failure."""

from __future__ import annotations

import asyncio
import traceback
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any

from .failures import OK, describe
from .interrupts import INTERRUPTED, Interrupts
from .notes import log_to_stderr, note
from .sink import Sink

__all__ = ["Plan", "carry_out"]


@dataclass(frozen=True)
class Plan:
    """What to do once the arguments are understood."""

    work: Callable[[Sink], Coroutine[Any, Any, int]]
    verbose: bool = False


def carry_out(understand: Callable[[], Plan | int], interrupts: Interrupts) -> int:
    """The exit code of the plan, or that of having none."""
    sink = Sink()
    verbose = False
    try:
        plan = understand()
        if isinstance(plan, int):
            sink.write(b"")  # is there anybody to read what the parser has printed?
            return plan
        verbose = plan.verbose
        with log_to_stderr(verbose=verbose):
            return _run(plan, sink, interrupts)
    except BrokenPipeError:
        code = OK  # whoever read has read enough
    except KeyboardInterrupt:
        return INTERRUPTED
    except Exception as error:
        text, code = describe(error)
        note(text)
        if verbose:
            traceback.print_exception(error)
    if interrupts.owned:
        sink.give_up()
    return code


def _run(plan: Plan, sink: Sink, interrupts: Interrupts) -> int:
    async def work() -> int:
        with interrupts.cancelling(unless=lambda: sink.writing):
            return await plan.work(sink)

    with asyncio.Runner() as runner:
        try:
            return runner.run(work())
        except asyncio.CancelledError:
            if not interrupts.interrupted:
                raise
            # The connections are closed. A thread that looks a name up may still hang for long, and
            # the runner would wait for it.
            interrupts.leave()
            raise KeyboardInterrupt from None
