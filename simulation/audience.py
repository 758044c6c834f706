"""The handlers of a run: they are told, take their time, raise, come and go."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from random import Random
from typing import Any

import msgspec

from listwatch.api import EventType
from listwatch.cache import Bounded, Changes, MirrorStopped, Tombstone, Unbounded

from .complaints import Disliked, Failure
from .crowd import HandlerStep
from .heard import Audience, Heard, Notice, Waiting
from .objects import Objects
from .recorder import Recorder
from .watcher import Watcher

__all__ = ["Crowd"]

_STALL = 60.0
_WHAT = {EventType.ADDED: "add", EventType.MODIFIED: "update", EventType.DELETED: "delete"}


class Crowd:
    """All who listen to one informer, or to one `Changes`."""

    def __init__(
        self,
        told_by: Any,
        audience: Audience,
        parts: Sequence[Watcher],
        union: Watcher | None,
        recorder: Recorder,
        objects: Objects,
        calm: float,
        note: Callable[[str, object], None],
    ) -> None:
        self.told_by = told_by
        self.audience = audience
        self.recorder = recorder
        self.objects = objects
        self.calm = calm
        self.note = note
        self.over = False
        self.late = 0
        """Notifications that began after the end."""
        self.shows = parts[0] if union is None else union
        self._parts = parts
        self._union = union
        self._listeners: list[_Listener] = []
        self._waits: list[asyncio.Task[None]] = []
        if union is not None:
            self._watch_union(union)

    # What is shown of several sources

    def _watch_union(self, union: Watcher) -> None:
        store = self.told_by.store
        apply = store.apply

        def noted(*args: Any, **kwargs: Any) -> Any:
            deltas = apply(*args, **kwargs)
            if deltas:
                union.on_deltas([self._as_told(delta) for delta in deltas])
            return deltas

        store.apply = noted
        union.observe(self.told_by)
        for part in self._parts:
            part.on_resync = lambda part=part: self._note_resync(union, part)

    def _as_told(self, delta: Any) -> Any:
        """A change of the union, with what a part knows of it: whether its set was replaced."""
        wrote = [part.seen.wrote for part in self._parts if part.seen.wrote]
        last = max(wrote, key=lambda each: each[-1].step)
        if last[-1].what != "replace":
            return delta
        if delta.type is EventType.ADDED and sum(w.what == "replace" for w in last) == 1:
            return msgspec.structs.replace(delta, initial=True)
        if delta.type is EventType.DELETED:
            return msgspec.structs.replace(delta, final_state_unknown=True)
        return delta

    def _note_resync(self, union: Watcher, part: Watcher) -> None:
        """Of what several parts have, the first of those that have the newest state tells."""
        batch = part.seen.resyncs[-1]
        shown = union.set()
        sets = [(each, each.set()) for each in self._parts]
        told = []
        for each in batch.deltas:
            key = each.state.key
            newest = max(states[key].rv for _, states in sets if key in states)
            owner = next(w for w, states in sets if key in states and states[key].rv == newest)
            if owner is part and key in shown and shown[key].readable:
                told.append(replace(each, state=shown[key], old=shown[key]))
        if told:
            union.seen.resyncs.append(replace(batch, deltas=tuple(told)))

    # Their life

    def add(self, step: HandlerStep, number: int) -> None:
        """One more comes, now."""
        listener = _Listener(self, step, f"h{number}")
        self._listeners.append(listener)
        self.audience.handlers.append(listener.heard)
        listener.join(started=bool(self._waits))

    def begun(self) -> None:
        """The informer has started."""
        self._waits.append(asyncio.ensure_future(self._wait()))
        for listener in self._listeners:
            listener.wait()

    async def _wait(self) -> None:
        try:
            await self.told_by.synced()
        except MirrorStopped:
            return
        self.audience.synced = self.recorder.step()

    def consume(self, step: HandlerStep) -> None:
        """The one consumer of a `Changes`."""
        listener = _Listener(self, step, "consumer")
        listener.heard.is_changes = True
        self._listeners.append(listener)
        self.audience.handlers.append(listener.heard)
        self._waits.append(asyncio.ensure_future(listener.consume(self.told_by)))

    def end(self) -> None:
        """The informer has ended."""
        self.over = True
        if isinstance(self.told_by, Changes):
            for wait in self._waits:
                wait.cancel()  # its consumer may sleep

    def count(self, failures: Sequence[Failure]) -> None:
        """What was logged of them."""
        for listener in self._listeners:
            heard = listener.heard
            heard.logged = [found.key for found in failures if found.handler == heard.name]
            if listener.registration is not None:
                heard.failures = listener.registration.failures

    def look(self, *, last: bool = False, since: int = 0) -> None:
        """How much waits for each; only for those that came `since` that step."""
        for listener in self._listeners:
            if listener.heard.added < since:
                continue
            registration = listener.registration
            if registration is None:
                continue
            found = Waiting(self.recorder.step(), self.recorder.now(), registration.queued)
            listener.heard.waiting.append(found)
            if last:
                listener.heard.finals.append((found, registration.is_synced))


class _Listener:
    def __init__(self, crowd: Crowd, step: HandlerStep, name: str) -> None:
        self.heard = Heard(
            name,
            step.inline,
            step.filter,
            step.queue,
            step.size,
            slow=_STALL if step.stalls else step.slow,
        )
        self.registration: Any = None
        self._crowd = crowd
        self._step = step
        self._rng = Random(f"{name} {step}")
        self._goes = False
        self._tasks: list[asyncio.Task[None]] = []

    def join(self, *, started: bool) -> None:
        crowd, step, heard = self._crowd, self._step, self.heard
        if started:
            heard.added, heard.time = crowd.recorder.step(), crowd.recorder.now()
            crowd.note("handler added", heard.name)
        functions: dict[str, Any] = (
            {"on_add": self._added, "on_update": self._updated, "on_delete": self._deleted}
            if step.inline
            else {
                "on_add": self._on_add,
                "on_update": self._on_update,
                "on_delete": self._on_delete,
            }
        )
        self.registration = crowd.told_by.add_handler(
            **functions,
            filter=self._matches if step.filter else None,
            inline=step.inline,
            queue=Unbounded() if step.queue == "unbounded" else Bounded(step.size, step.queue),  # type: ignore[arg-type]
            name=heard.name,
        )
        if started:
            self.wait()

    def wait(self) -> None:
        """Have somebody wait until it is synced."""
        self._tasks.append(asyncio.ensure_future(self._wait()))
        if self._step.removed is not None:
            delay = max(self._step.removed - self._crowd.recorder.now(), 0.0)
            asyncio.get_running_loop().call_later(delay, self._leave)

    async def _wait(self) -> None:
        try:
            await self.registration.synced()
        except MirrorStopped:
            return
        self.heard.synced = self._crowd.recorder.step()

    def _leave(self) -> None:
        if self._crowd.over:
            return
        self._crowd.note("handler removed", self.heard.name)
        match self._step.removed_how:
            case "itself":
                self._goes = True
            case "remove":
                self.heard.removed = self._crowd.recorder.step()
                self.registration.remove()
            case _:
                self._tasks.append(asyncio.ensure_future(self._see_off()))

    async def _see_off(self) -> None:
        self.heard.removed = self._crowd.recorder.step()
        await self.registration.removed()
        self.heard.gone = self._crowd.recorder.step()

    async def consume(self, changes: Any) -> None:
        """Read a `Changes` to its end."""
        try:
            async for delta in changes:
                obj, old = delta.object, delta.old
                notice = self._note(_WHAT[delta.type], obj, old, initial=delta.initial)
                notice.tombstone = delta.final_state_unknown
                await self._busy()
                notice.ended_step = self._crowd.recorder.step()
        except MirrorStopped:
            pass  # it is over

    # What it is told

    def _matches(self, obj: Any) -> bool:
        zone = self._crowd.objects.state_of(obj).serial % 3
        if self._step.filter == "raising":
            if zone == 2:
                raise Disliked("not this one")
            return zone == 0
        return zone != 1

    async def _on_add(self, obj: Any, initial: bool) -> None:
        with self._hearing("add", obj, initial=initial):
            await self._busy()

    async def _on_update(self, old: Any, new: Any) -> None:
        with self._hearing("update", new, old):
            await self._busy()

    async def _on_delete(self, obj: Any) -> None:
        with self._hearing("delete", obj):
            await self._busy()

    def _added(self, obj: Any, initial: bool) -> None:
        with self._hearing("add", obj, initial=initial):
            pass

    def _updated(self, old: Any, new: Any) -> None:
        with self._hearing("update", new, old):
            pass

    def _deleted(self, obj: Any) -> None:
        with self._hearing("delete", obj):
            pass

    @contextmanager
    def _hearing(
        self, what: str, obj: Any, old: Any = None, *, initial: bool = False
    ) -> Iterator[None]:
        notice = self._note(what, obj, old, initial=initial)
        try:
            yield
        except asyncio.CancelledError:
            self.heard.cut = True
            raise
        notice.ended_step = self._crowd.recorder.step()
        if self._rng.random() < self._step.raises:
            notice.raised = True
            self.heard.raised.append(notice.state.key)
            self._crowd.note("handler raises", self.heard.name)
            raise Disliked("not this one")

    def _note(self, what: str, obj: Any, old: Any, *, initial: bool) -> Notice:
        crowd, heard, registration = self._crowd, self.heard, self.registration
        recorder = crowd.recorder
        tombstone = isinstance(obj, Tombstone)
        if tombstone:
            obj = obj.object
        state = crowd.objects.state_of(obj)
        shown, indexed = crowd.shows.shown(state.key)
        if crowd.over and not self._step.after_the_end:
            crowd.late += 1
        notice = Notice(
            recorder.step(),
            recorder.now(),
            what,
            state,
            None if old is None else crowd.objects.state_of(old),
            tombstone,
            initial,
            shown,
            indexed,
            registration is not None and registration.is_synced,
            0 if registration is None else registration.queued,
        )
        heard.notices.append(notice)
        if recorder.lines is not None:
            marks = " (tombstone)" if tombstone else " (initial)" if initial else ""
            recorder.say(heard.name, f"{what} {state}{marks}, {notice.queued} wait")
        if heard.size and notice.queued >= heard.size:
            crowd.note("queue full", heard.name)
        if self._goes:
            self._goes = False
            heard.removed = recorder.step()
            registration.remove()
        return notice

    async def _busy(self) -> None:
        step = self._step
        if self._crowd.recorder.now() >= self._crowd.calm:
            return
        if step.stalls and self._rng.random() < step.stalls:
            self._crowd.note("handler stalls", self.heard.name)
            await asyncio.sleep(_STALL)
        elif step.slow:
            await asyncio.sleep(self._rng.uniform(0.0, step.slow))
