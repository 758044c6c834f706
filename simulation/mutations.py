# ruff: noqa: E501  # the texts of the library stand here as they stand there
"""Bugs, put into the mirror on purpose: a simulation that finds none of them proves nothing.

Each is one substitution. Its `old` text must be in the file exactly once, which a test holds.
"""

from __future__ import annotations

from .informer_mutations import INFORMER_MUTATIONS
from .mutation import Mutation

__all__ = ["MUTATIONS", "Mutation"]


MUTATIONS = (
    Mutation(
        "a watch is resumed one RV too early",
        "cache/reflector.py",
        "        options = ListOptions(resource_version=self.target.resource_version)\n"
        "        return await self._open(Phase.OPENING_WATCH, options)",
        "        rv = self.target.resource_version\n"
        "        options = ListOptions(resource_version=str(int(rv) - 1) if rv else rv)\n"
        "        return await self._open(Phase.OPENING_WATCH, options)",
        ("no_repeat",),
    ),
    Mutation(
        "a watch is resumed one RV too late",
        "cache/reflector.py",
        "        options = ListOptions(resource_version=self.target.resource_version)\n"
        "        return await self._open(Phase.OPENING_WATCH, options)",
        "        rv = self.target.resource_version\n"
        "        options = ListOptions(resource_version=str(int(rv) + 1) if rv else rv)\n"
        "        return await self._open(Phase.OPENING_WATCH, options)",
        ("no_silent_gap", "convergence"),
    ),
    Mutation(
        "an initial stream that is cut is taken for whole",
        "cache/reflector.py",
        "        cause, broken = stream.end\n",
        "        cause, broken = stream.end\n"
        "        if stream.verdict is None and broken is not None and stream.initial is not None:\n"
        "            rv = self.target.resource_version or '1'\n"
        "            self._sets.replace(stream.initial, rv, '', 'watch-list')\n",
        ("atomic_replace", "nothing_left_behind", "history_may_go_back"),
    ),
    Mutation(
        "initial events go straight into the store",
        "cache/_intake.py",
        "                new = assembly.put(self._readable(event).object)\n",
        "                new = assembly.put(self._readable(event).object)\n"
        "                self._target.apply([self._readable(event)], moves_rv=False)\n",
        ("atomic_replace", "nothing_left_behind", "exact_diff", "no_silent_gap"),
    ),
    Mutation(
        "a relist forgets nothing: vanished keys stay",
        "cache/_replacement.py",
        "        for key in self.left:\n            del objects[key]\n",
        "        self.left = {}\n",
        ("atomic_replace", "exact_diff", "convergence"),
    ),
    Mutation(
        "what vanished is not told",
        "cache/store.py",
        "        self._is_filled = True\n",
        "        self._is_filled = True\n"
        "        outcome.deltas[:] = [d for d in outcome.deltas if not d.final_state_unknown]\n",
        ("exact_diff",),
    ),
    Mutation(
        "a relist tells of what did not change",
        "cache/_replacement.py",
        "            return type(old) is Undecodable and type(item) is not Undecodable\n",
        "            return True\n",
        ("exact_diff",),
    ),
    Mutation(
        "any bookmark ends the initial events",
        "cache/reflector.py",
        "            if event.type is EventType.BOOKMARK and event.is_initial_events_end:\n",
        "            if event.type is EventType.BOOKMARK or event.type is EventType.MODIFIED:\n",
        ("atomic_replace", "nothing_left_behind", "no_silent_gap"),
    ),
    Mutation(
        "the missing marker is waited for without end",
        "cache/_stream.py",
        "        due = self._resumed + self._liveness.initial\n",
        "        due = self._resumed + 100000.0\n",
        ("no_endless_start", "convergence"),
    ),
    Mutation(
        "a silent watch is kept",
        "cache/_stream.py",
        "            return self._clock.deadline(self.last_byte_at)\n",
        "            return self._clock.deadline(self.last_byte_at) + 100000.0\n",
        ("no_frozen_cache", "convergence"),
    ),
    Mutation(
        "429 for a watch costs a relist",
        "cache/decisions.py",
        "        **dict.fromkeys((*UNREACHED, Cause.TOO_MANY, Cause.CLEAN), _WATCH),\n",
        "        **dict.fromkeys((*UNREACHED, Cause.CLEAN), _WATCH),\n",
        ("throttled",),
    ),
    Mutation(
        "a refused connection costs a relist",
        "cache/decisions.py",
        "        **dict.fromkeys((*UNREACHED, Cause.TOO_MANY, Cause.CLEAN), _WATCH),\n",
        "        **dict.fromkeys((Cause.TOO_MANY, Cause.CLEAN), _WATCH),\n",
        ("throttled",),
    ),
    Mutation(
        "Retry-After is ignored",
        "cache/pacing.py",
        "            start = max(start, now + min(end.retry_after, pacing.retry_after_cap))\n",
        "            pass\n",
        ("throttled",),
    ),
    Mutation(
        "Retry-After is ignored where the next step is at once",
        "cache/decisions.py",
        "        if step.at_once and outcome.retry_after is not None:\n",
        "        if step.at_once and outcome.retry_after is not None and False:\n",
        ("throttled",),
    ),
    Mutation(
        "nothing paces the rounds",
        "cache/_course.py",
        "        return self._pacer.end_round(end, self._now())\n",
        "        self._pacer.end_round(end, self._now())\n        return self._now() + 0.01\n",
        ("bounded_load", "throttled"),
    ),
    Mutation(
        "there is no budget, and the wait never grows",
        "cache/pacing.py",
        "        at = max(now, self._requests.freed_at)\n"
        "        return max(at, self._slow_requests.freed_at) if self.at_cap else at\n",
        "        self._d = self._pacing.first\n        return now\n",
        ("bounded_load",),
    ),
    Mutation(
        "the wait never grows",
        "cache/pacing.py",
        "        self._d = min(self._next_d(end), self._cap)\n",
        "        self._d = pacing.first\n",
        ("bounded_load",),
    ),
    Mutation(
        "no epoch begins where history went back",
        "cache/_sets.py",
        "            assembly.objects, resource_version, new_epoch=went_back, report=self._journal.fail\n",
        "            assembly.objects, resource_version, new_epoch=False, report=self._journal.fail\n",
        ("history_may_go_back", "convergence", "atomic_replace"),
    ),
    Mutation(
        "history is not checked after a lost connection",
        "cache/reflector.py",
        "            stream.spawn(self._history.check(stream))\n",
        "            pass\n",
        ("history_may_go_back", "convergence"),
    ),
    Mutation(
        "a check that finds older history is ignored",
        "cache/_history.py",
        "            stream.stop(Cause.WENT_BACK, HistoryIsBehind(ours, page.resource_version))\n",
        "            pass\n",
        ("history_may_go_back", "convergence"),
    ),
    Mutation(
        "a list has the RV of its last page",
        "cache/pager.py",
        "        if self._number == 1:\n            self.resource_version = found.resource_version\n",
        "        self.resource_version = str(int(found.resource_version or 0) + self._number - 1)\n",
        ("atomic_replace", "no_silent_gap", "convergence", "history_may_go_back"),
    ),
    Mutation(
        "the first page is the whole list",
        "cache/pager.py",
        "        while self.continue_:\n            yield await self._next()\n",
        "        while False:\n            yield await self._next()\n",
        ("atomic_replace", "convergence"),
    ),
    Mutation(
        "after an expired page the pages before are kept",
        "cache/_intake.py",
        "        if page.restarted:\n            assembly.clear()\n",
        "        if page.restarted:\n            pass\n",
        ("atomic_replace", "convergence"),
    ),
    Mutation(
        "an event that cannot be decoded is dropped",
        "cache/_intake.py",
        "                    changes.append(self._readable(event))\n",
        "                    if event.error is None:\n"
        "                        changes.append(self._readable(event))\n",
        ("no_silent_gap", "atomic_replace", "convergence"),
    ),
    Mutation(
        "an object of a list that cannot be decoded is dropped",
        "cache/_intake.py",
        "            assembly.put(self._kept_raw(problem.raw, problem))\n",
        "            pass\n",
        ("atomic_replace", "convergence"),
    ),
    Mutation(
        "an object that cannot be decoded is not reported",
        "cache/_journal.py",
        "        self.fail(found.error)\n",
        "",
        ("bad_data_is_contained",),
    ),
    Mutation(
        "a frame that cannot be read is passed over",
        "cache/decisions.py",
        "        **dict.fromkeys((*_CUT, Cause.CLEAN, Cause.IDLE, Cause.TOO_MANY), _WATCH),\n",
        "        **dict.fromkeys(\n"
        "            (*_CUT, Cause.CLEAN, Cause.IDLE, Cause.TOO_MANY, Cause.UNREADABLE), _WATCH\n"
        "        ),\n",
        ("bad_data_is_contained",),
    ),
    Mutation(
        "a watch that expired is opened again",
        "cache/decisions.py",
        "        **dict.fromkeys((*_CUT, Cause.CLEAN, Cause.IDLE, Cause.TOO_MANY), _WATCH),\n"
        "        Cause.EXPIRED: _SET_NOW,\n",
        "        **dict.fromkeys((*_CUT, Cause.CLEAN, Cause.IDLE, Cause.TOO_MANY), _WATCH),\n"
        "        Cause.EXPIRED: _WATCH,\n",
        ("one_recovery", "convergence"),
    ),
    Mutation(
        "after an RV that was too large the same is asked again",
        "cache/_course.py",
        "        self.consistent = self.consistent or step.consistent\n",
        "        pass\n",
        ("fresh_when_told", "convergence", "history_may_go_back"),
    ),
    Mutation(
        "handlers are told before the store is written",
        "cache/_told.py",
        "        self._tell(self._store.apply(events, moves_rv=moves_rv, report=report))\n",
        "        state = self._store._state\n"
        "        before = dict(state.objects), state.resource_version, dict(state.undecodable)\n"
        "        deltas = self._store.apply(events, moves_rv=moves_rv, report=report)\n"
        "        after = dict(state.objects), state.resource_version, dict(state.undecodable)\n"
        "        state.objects, state.resource_version, state.undecodable = before\n"
        "        self._tell(deltas)\n"
        "        state.objects, state.resource_version, state.undecodable = after\n",
        ("store_first", "exact_diff", "atomic_replace"),
    ),
    Mutation(
        "an object made anew passes for an update",
        "cache/_replacement.py",
        "        recreated = bool(uid and old_uid and uid != old_uid)\n",
        "        recreated = False\n",
        ("recreation_is_visible",),
    ),
    Mutation(
        "a transform is applied twice",
        "cache/transforms.py",
        "        for step in self._steps:\n            data = step(data)",
        "        for step in (*self._steps, *self._steps):\n            data = step(data)",
        ("one_transform",),
    ),
    Mutation(
        "at_least returns one RV too early",
        "cache/_arrivals.py",
        "    return compare_resource_versions(version, wanted) in (0, 1)\n",
        "    return compare_resource_versions(version, str(int(wanted) - 1)) in (0, 1)\n",
        ("read_your_writes",),
    ),
    Mutation(
        "fresh believes the store",
        "cache/freshness.py",
        "                while self.proven_at < asked - within:\n",
        "                while self.proven_at < asked - within and not self._store.resource_version:\n",
        ("fresh_is_fresh",),
    ),
    Mutation(
        "synced before the set is there",
        "cache/_journal.py",
        "        self.synced = False\n",
        "        self.synced = True\n",
        ("atomic_replace",),
    ),
    Mutation(
        "a task is forgotten when a silent watch is replaced",
        "cache/_silence.py",
        "        silent.successor = opened\n        silent.stop(Cause.IDLE)\n",
        "        silent.successor = opened\n        silent.stop(Cause.IDLE)\n"
        "        import asyncio as other\n"
        "        self._forgotten = other.create_task(other.sleep(100000.0), name='forgotten')\n",
        ("clean_stop",),
    ),
    Mutation(
        "a stop waits for the server",
        "cache/reflector.py",
        "        self._stopped = True\n",
        "        self._stopped = True\n        if self._stream is None:\n            return\n",
        ("clean_stop",),
    ),
    Mutation(
        "pages are kept",
        "cache/_sets.py",
        "                    self._intake.page(assembly, page)\n",
        "                    self._intake.page(assembly, page)\n"
        "                    self._pages = [*getattr(self, '_pages', []), page]\n",
        ("bounded_memory",),
    ),
    *INFORMER_MUTATIONS,
)
