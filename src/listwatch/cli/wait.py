"""`listwatch wait`: until objects are as they are wanted."""

from __future__ import annotations

import asyncio
import logging
import math
from collections.abc import Iterable, Sequence
from typing import Any

from listwatch.api import EventType, NotFound, Unstructured
from listwatch.cache import Delta, Reflector, ReflectorOptions
from listwatch.cache.until import until_with_sync
from listwatch.wire import decode_unstructured

from .asked import Access, Selection
from .failures import FAILED, OK, CommandError
from .goals import Created, Deleted, Goal
from .happenings import Happenings
from .notes import note
from .objects import reference
from .session import Session, connect
from .sink import Sink

__all__ = ["wait"]

_log = logging.getLogger("listwatch.cli")

_RETRIES = 3
"""As `get` has it: for the single requests."""
_LOOK_AGAIN = 1.0
"""Seconds after which the set is read again that did not show what a request for it alone did."""
_MOST_TOLD = 10
"""Objects named at the end: more would hide what matters."""


async def wait(
    selections: Sequence[Selection],
    access: Access,
    goal: Goal,
    sink: Sink,
    *,
    timeout: float,
) -> int:
    """Wait until all that is selected is as `goal` says, and print each that is; the exit code.

    After `timeout` seconds (0: after one look) it says how those are that are not, and gives 1.
    Raises `NotFound`, or `CommandError`, at once where there is nothing that could become so, and
    the error by which the server refuses the first set, where waiting would not mend it.
    """
    async with connect(access, max_retries=_RETRIES) as session:
        waits = [_Wait(session, selection, goal, sink) for selection in selections]
        if timeout == 0:
            for each in waits:
                await each.look()
        else:
            await _wait_for(waits, timeout, session.config.server)
    when = f"after {timeout:g} s" if timeout else "now"
    missing = [line for each in waits for line in each.missing()]
    for line in missing[:_MOST_TOLD]:
        note(f"not met {when}: {line}")
    if len(missing) > _MOST_TOLD:
        note(f"and {len(missing) - _MOST_TOLD} more")
    return FAILED if missing else OK


async def _wait_for(waits: Sequence[_Wait], timeout: float, server: str) -> None:
    """Wait until all have come to their end, or time is over."""
    limit = asyncio.timeout(None if timeout == math.inf else timeout)
    try:
        async with limit:
            with Happenings(server, on_listed=_nothing, tell_first=False) as news:
                try:
                    async with asyncio.TaskGroup() as group:
                        for each in waits:
                            group.create_task(each.wait(news))
                except BaseExceptionGroup as errors:
                    raise errors.exceptions[0] from None
    except TimeoutError:
        if not limit.expired():
            raise


class _Wait:
    """For one selection: a named object, or what is there at the beginning."""

    def __init__(self, session: Session, selection: Selection, goal: Goal, sink: Sink) -> None:
        self._session = session
        self._selection = selection
        self._goal = goal
        self._sink = sink
        self._waiting: dict[str, Unstructured] = {}
        """The last state of each that is not as it should be."""
        self._gone: set[str] = set()
        """Those of them that are not there any more."""
        self._is_synced = False
        self._is_empty = False
        self._is_over = False

    async def wait(self, news: Happenings) -> None:
        """Wait. For what it raises see the function of that name."""
        source = self._session.source(self._selection, decode_unstructured)
        while True:
            await until_with_sync(
                source,
                self._see,
                precondition=lambda store: self._begin(store.list()),
                name=self._selection.resource,
                options=ReflectorOptions(fail_fast=True),
                on_error=_told_already,
                on_note=news.take,
                on_progress=news.progress,
            )
            # A set may come from a cache that is behind: what it does not show is asked for once
            # more, consistently.
            if not self._is_empty or not await self._find(limit=1):
                break
            await asyncio.sleep(_LOOK_AGAIN)
        self._is_over = True

    async def look(self) -> None:
        """Look once."""
        self._is_over = self._begin(await self._find())
        for obj in tuple(self._waiting.values()):
            self._check(obj)
            self._is_over = not self._waiting

    def missing(self) -> Iterable[str]:
        """Those that are not as they should be, and how they are."""
        if self._is_over:
            return
        name = "/".join(filter(None, (self._selection.resource, self._selection.name)))
        if not self._is_synced:
            yield f"{name} could not be looked at"
        elif not self._waiting:
            yield f"{name} is not there"
        selecting = self._selection.label_selector or self._selection.field_selector
        for key, obj in self._waiting.items():
            where = f" in {obj.namespace}" if self._selection.all_namespaces else ""
            state = self._goal.state_of(obj.to_dict())
            if key in self._gone:
                state = "it is gone, or selected no more" if selecting else "it is gone"
            yield f"{reference(obj)}{where}: {state}"

    # The set, and what happens to it

    def _begin(self, there: Sequence[Unstructured]) -> bool:
        """The set is here; whether nothing more is waited for."""
        self._is_synced = True
        if self._goal == Created():
            for obj in there:
                self._met(obj)
            _log.info("%s: %d there", self._selection.resource, len(there))
            return bool(there)
        self._is_empty = not there
        self._waiting = {obj.key: obj for obj in there}
        _log.info("%s: waiting for %d", self._selection.resource, len(there))
        return not there

    def _see(self, delta: Delta[Unstructured]) -> bool:
        """A change; whether all is as it should be."""
        obj, gone = delta.object, delta.type is EventType.DELETED
        if self._goal == Created():
            if not gone:
                self._met(obj)
            return not gone
        if delta.key in self._waiting:
            if self._goal == Deleted() and (gone or delta.recreated):
                self._met(obj)
            elif gone:
                self._gone.add(delta.key)
            else:
                self._gone.discard(delta.key)
                self._check(obj)
        return not self._waiting

    def _check(self, obj: Unstructured) -> None:
        self._waiting[obj.key] = obj
        if self._goal.met_by(obj.to_dict()):
            self._met(obj)

    def _met(self, obj: Unstructured) -> None:
        self._waiting.pop(obj.key, None)
        self._sink.write(f"{reference(obj)} condition met\n".encode())

    async def _find(self, limit: int | None = None) -> Sequence[Unstructured]:
        """What there is, read consistently. Raises where that is nothing, and nothing could become
        of it.
        """
        resource = await self._session.resolve(self._selection.resource)
        namespace = self._selection.namespace_in(resource, self._session.config.namespace)
        request = self._session.rest.get(resource, namespace=namespace)
        if self._selection.name:
            try:
                return [await request.name(self._selection.name)]
            except NotFound as error:
                self._bear(error, error.message)
                return ()
        found = await request.list(self._selection.options().replace(limit=limit))
        if not found.items:
            where = f" in namespace {namespace}" if namespace else ""
            told = f"there are no such {resource.name}{where}"
            self._bear(CommandError(told), told)
        return found.items

    def _bear(self, absence: Exception, told: str) -> None:
        if self._goal == Deleted():
            note(f"{told}: nothing is waited for")
        elif self._goal != Created():
            raise absence


def _nothing() -> None:
    """Nobody waits for the first set."""


def _told_already(reflector: Reflector[Any], error: Exception) -> None:
    """Every error is in a note, too."""
