"""Jobs that say how long they stay when they are over (`ttlSecondsAfterFinished`)."""

from __future__ import annotations

from collections.abc import Hashable
from datetime import datetime
from typing import ClassVar, cast

from ..storage.log import Key, Write
from .controller import Controller
from .owners import is_dying
from .pods import condition_of

__all__ = ["FinishedJobs"]

_STORAGE = "batch/jobs"
_DELAY = 0.01


class FinishedJobs(Controller):
    """Deletes a Job, with its pods, so many seconds after its end."""

    name: ClassVar[str] = "ttl-after-finished"
    watched: ClassVar[frozenset[str] | None] = frozenset({_STORAGE})
    storage: ClassVar[str] = _STORAGE

    def observe(self, write: Write) -> None:
        if "ttlSecondsAfterFinished" in (write.new.value.get("spec") or {}):
            self.plan(write.new.key, _DELAY)

    def sync(self, item: Hashable) -> None:
        key = cast("Key", item)
        job = self.client.get(_STORAGE, key)
        if job is None or is_dying(job.metadata):
            return
        ttl = (job.value.get("spec") or {}).get("ttlSecondsAfterFinished")
        ends = [
            found["lastTransitionTime"]
            for kind in ("Complete", "Failed")
            if (found := condition_of(job.value, kind)) is not None and found["status"] == "True"
        ]
        if ttl is None or not ends:
            return
        passed = (self.client.now - datetime.fromisoformat(ends[0])).total_seconds()
        if passed < ttl:
            self.plan(key, ttl - passed)
        else:
            self.client.delete(_STORAGE, job, policy="Foreground")
