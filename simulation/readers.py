"""Who reads what is run: looks at it, and waits for it."""

from __future__ import annotations

import asyncio

from listwatch.testing.apiserver.core import APIServer

from .history import Call
from .recorder import Recorder
from .scenario import CallStep
from .subjects import Subject
from .watcher import Watcher

__all__ = ["Readers"]


class Readers:
    """The readers of one subject, and of its twin, if it has one."""

    def __init__(
        self, subject: Subject, twin: Subject | None, core: APIServer, recorder: Recorder
    ) -> None:
        self._subject = subject
        self._core = core
        self._recorder = recorder
        self.watchers: list[Watcher] = [
            *subject.watchers,
            *([] if twin is None else twin.watchers),
        ]

    def look(self) -> None:
        """Whatever can be seen, now."""
        for watcher in self.watchers:
            watcher.seen.looks.append(watcher.look())
        crowd = self._subject.crowd
        if crowd is not None:
            if crowd.audience.union is not None:
                crowd.audience.union.looks.append(crowd.shows.look())
            if not crowd.over:
                crowd.look()

    def look_at_last(self) -> None:
        """The same, where all must be well."""
        self.look()
        for watcher in self.watchers:
            watcher.seen.finals.append(watcher.seen.looks[-1])
        crowd = self._subject.crowd
        if crowd is not None:
            if crowd.audience.union is not None:
                crowd.audience.union.finals.append(crowd.audience.union.looks[-1])
            crowd.look(last=True)

    async def call(self, step: CallStep) -> None:
        """Wait for something, when its time has come."""
        subject, recorder = self._subject, self._recorder
        await asyncio.sleep(step.time)
        awaited = subject.awaited
        if any(mirror.store.resource_version == "" for mirror, _ in awaited):
            return
        began = recorder.now()
        rv = self._core.state.log.revision + step.ahead
        error = ""
        try:
            if step.what == "at_least":
                await subject.at_least(str(rv), step.timeout)
            else:
                await subject.fresh(step.within, step.timeout)
        except Exception as raised:
            error = type(raised).__name__
        number, now = recorder.step(), recorder.now()
        if error:  # it is the one that is behind that was waited for
            awaited = [min(awaited, key=lambda pair: pair[1].number())]
        for _, watcher in awaited:
            call = Call(
                number,
                step.what,
                began,
                now,
                not error,
                step.timeout,
                step.within,
                rv,
                watcher.number(),
                watcher.set(),
                error,
            )
            watcher.seen.calls.append(call)
        recorder.say("call", f"{step.what} {error or 'returned'}")
