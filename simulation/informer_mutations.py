# ruff: noqa: E501  # the texts of the library stand here as they stand there
"""Bugs, put into what stands between the mirrors and their handlers. See `mutations.py`."""

from __future__ import annotations

from .mutation import Mutation

__all__ = ["INFORMER_MUTATIONS"]

_TOLD = ("late_handlers", "exact_diff", "filters", "collapsed_queues")

INFORMER_MUTATIONS = (
    # cache/informer.py
    Mutation(
        "a late handler is not told what is there",
        "cache/informer.py",
        "        listener.put(self._present())\n",
        "",
        ("late_handlers",),
    ),
    Mutation(
        "a late handler does not hear of what cannot be decoded any more",
        "cache/informer.py",
        "        there = {**dict(self.store.items()), **dict(self._readable.last_known)}\n",
        "        there = dict(self.store.items())\n",
        ("late_handlers",),
    ),
    Mutation(
        "only one handler is told",
        "cache/informer.py",
        "        for listener in tuple(self._listeners):\n            # Who has",
        "        for listener in tuple(self._listeners)[:1]:\n            # Who has",
        ("late_handlers", "exact_diff"),
    ),
    Mutation(
        "synced when one source is",
        "cache/informer.py",
        "        if self._synced or not all(\n",
        "        if self._synced or not any(\n",
        ("merged_sources",),
    ),
    Mutation(
        "an optional source is waited for",
        "cache/informer.py",
        "            mirror.is_synced for part, mirror in self._mirrors.items() if part not in self._optional\n",
        "            mirror.is_synced for part, mirror in self._mirrors.items()\n",
        ("merged_sources",),
    ),
    Mutation(
        "handlers live on after the end",
        "cache/informer.py",
        "            await end(dict.fromkeys((*self._listeners, *self._at_work)))\n",
        "            pass\n",
        ("clean_stop",),
    ),
    Mutation(
        "a resync is told to those who have not caught up",
        "cache/informer.py",
        "            if not (told[0].resync and listener.blocks):\n",
        "            if True:\n",
        ("bounded_memory",),
    ),
    Mutation(
        "handlers do not hold back the reading",
        "cache/informer.py",
        "                await listener.room()\n",
        "                pass\n",
        ("bounded_memory",),
    ),
    # cache/_listener.py
    Mutation(
        "a handler that raises is told nothing more",
        "cache/_listener.py",
        "        self.failures += 1\n",
        "        self.failures += 1\n        self._enough = True\n",
        _TOLD,
    ),
    Mutation(
        "an error of a handler is not logged",
        "cache/_listener.py",
        '        _log.exception("handler %s failed on %s %s (%s)", self.name, delta.type, delta.key, where)\n',
        "        del where\n",
        ("handlers_are_islands",),
    ),
    Mutation(
        "a removed handler is told what waits for it",
        "cache/_listener.py",
        "        self._enough = True\n"
        "        if self._queue is not None:\n"
        "            self._queue.close(drop=True)\n",
        "        self._enough = False\n"
        "        if self._queue is not None:\n"
        "            self._queue.close(drop=False)\n",
        ("removal",),
    ),
    Mutation(
        "nobody waits for the last notification of a removed handler",
        "cache/_listener.py",
        "        if self._task is not None:\n            await asyncio.wait([self._task])\n",
        "",
        ("removal",),
    ),
    Mutation(
        "a handler is synced before it was told",
        "cache/_listener.py",
        "            self._queue.mark(self._is_synced)\n",
        "            self._is_synced()\n",
        ("synced_means_handled",),
    ),
    # cache/queues.py
    Mutation(
        "one news of many tells an update from a state that was not told",
        "cache/queues.py",
        "    known: Any = first.old\n",
        "    known: Any = last.old\n",
        ("collapsed_queues",),
    ),
    Mutation(
        "of many news the first is kept",
        "cache/queues.py",
        "        after = item if before is None else _joined(before, item)\n",
        "        after = item if before is None else before\n",
        ("collapsed_queues",),
    ),
    Mutation(
        "what came and went is told to be gone",
        "cache/queues.py",
        "        if last.type is EventType.DELETED:\n            return None\n",
        "        if last.type is EventType.DELETED:\n            return last\n",
        ("collapsed_queues",),
    ),
    Mutation(
        "a full queue is no shorter for being collapsed",
        "cache/queues.py",
        '            if self._policy.when_full == "block":\n',
        '            if self._policy.when_full == "collapse":\n                pass\n'
        "            elif True:\n",
        ("bounded_memory",),
    ),
    Mutation(
        "what is in hand is not counted",
        "cache/queues.py",
        " - self._marks + self.in_hand, 0)\n",
        " - self._marks, 0)\n",
        ("bounded_memory",),
    ),
    # cache/handlers.py
    Mutation(
        "what begins to match is told as an update",
        "cache/handlers.py",
        "        if before and now and not (delta.recreated and self.recreate_as_two):\n",
        "        if (before or now) and not (delta.recreated and self.recreate_as_two):\n",
        ("filters",),
    ),
    Mutation(
        "what stops to match is not deleted",
        "cache/handlers.py",
        "        if before:\n            # What",
        "        if before and now:\n            # What",
        ("filters", "collapsed_queues"),
    ),
    Mutation(
        "nobody can tell that the end of an object was not seen",
        "cache/handlers.py",
        "Tombstone(delta.key, new) if delta.final_state_unknown else new",
        "new",
        ("exact_diff",),
    ),
    Mutation(
        "another object of the name is an update where two were asked for",
        "cache/handlers.py",
        "        if before and now and not (delta.recreated and self.recreate_as_two):\n",
        "        if before and now:\n",
        ("exact_diff", "late_handlers"),
    ),
    # cache/_readable.py, cache/_told.py
    Mutation(
        "handlers are told what cannot be decoded",
        "cache/_readable.py",
        "        if not self._last and not _is_any_odd(deltas):\n",
        "        if True:\n",
        ("late_handlers", "exact_diff"),
    ),
    Mutation(
        "what cannot be decoded any more is forgotten",
        "cache/_readable.py",
        "            if known is not None:\n                self._last",
        "            if known is None:\n                self._last",
        ("late_handlers", "exact_diff"),
    ),
    Mutation(
        "a set counts before it is told",
        "cache/_told.py",
        "        self._tell(replaced.deltas)\n        self._on_replaced()\n",
        "        self._on_replaced()\n        self._tell(replaced.deltas)\n",
        ("synced_means_handled",),
    ),
    Mutation(
        "a resync leaves out the first",
        "cache/_told.py",
        "for key, obj in self._store.items()])\n",
        "for key, obj in self._store.items()[1:]])\n",
        ("resyncs",),
    ),
    # cache/_merge.py
    Mutation(
        "what one source loses is gone, whoever else has it",
        "cache/_merge.py",
        "        newest = self._newest([new, *others]) if others else new\n",
        "        newest = new\n",
        ("merged_sources",),
    ),
    Mutation(
        "a source that is behind takes an object back",
        "cache/_merge.py",
        "            if not went_back and self._is_newer(known, newest):\n",
        "            if went_back and self._is_newer(known, newest):\n",
        ("no_resurrection", "merged_sources", "no_repeat"),
    ),
    Mutation(
        "what two sources say is told twice",
        "cache/_merge.py",
        "            if self._same_state(newest, known) and (not went_back or same_content(newest, known)):\n",
        "            if False:\n",
        ("no_repeat", "exact_diff"),
    ),
    Mutation(
        "what vanished from one of several sources is told without a tombstone",
        "cache/_merge.py",
        "            if unknown and delta.type is EventType.DELETED\n",
        "            if False and delta.type is EventType.DELETED\n",
        ("exact_diff",),
    ),
    Mutation(
        "what has gone comes back from the source that is behind",
        "cache/_merge.py",
        "        gone = self._gone.get(key)\n        if gone is None:\n",
        "        gone = self._gone.get(key)\n        if True:\n",
        ("no_resurrection", "no_repeat"),
    ),
)
