"""What a consumer of a mirror was told, held against the rules of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from listwatch import EventType
from listwatch.api.rv import compare_resource_versions

__all__ = ["Seen", "identities"]

Identities = dict[str, tuple[str, str]]
"""uid and RV, by key."""


def identities(store: Any) -> Identities:
    """What a store holds, objects that cannot be decoded included."""
    found = {key: store.known(key) for key in store.keys()}  # noqa: SIM118  it is no mapping
    return {key: (obj.uid, obj.resource_version) for key, obj in found.items()}


class Seen:
    """Takes the deltas of a mirror (`on_deltas=seen`), and notes each that breaks a rule.

    - An object is added once, changed while it is there, and deleted once.
    - Each delta tells what was there before it.
    - No state is told twice, and within an epoch the RVs of a key rise.

    What the deltas add up to is `objects`: what a program that reads nothing else knows.
    """

    def __init__(self) -> None:
        self.objects: Identities = {}
        self.told: Counter[EventType] = Counter()
        self.problems: list[str] = []
        self.unseen_ends = 0
        """Deletions found by a relist."""
        self.epoch: Callable[[], int] = lambda: 0
        """Gives the epoch of the store, once there is a store."""
        self.on_delta: Callable[[Any], None] | None = None
        self._epoch = 0
        self._of_old: set[str] = set()  # keys that were last told of in an epoch that is over

    def __call__(self, deltas: Sequence[Any]) -> None:
        for delta in deltas:
            self._take(delta)

    @property
    def total(self) -> int:
        return self.told.total()

    def check(self, there: Mapping[str, tuple[str, str]]) -> None:
        """Raise AssertionError unless all rules were kept and what was told adds up to `there`."""
        if self.problems:
            raise AssertionError("; ".join(self.problems[:8]))
        assert_same(self.objects, there, "what was told", "what is there")

    def _take(self, delta: Any) -> None:
        self.told[delta.type] += 1
        key = delta.key
        now = (delta.object.uid, delta.object.resource_version)
        before = self.objects.get(key)
        old = None if delta.old is None else (delta.old.uid, delta.old.resource_version)
        if self.epoch() != self._epoch:
            self._epoch = self.epoch()
            self._of_old = set(self.objects)
        if old != before and not (delta.type is EventType.DELETED and delta.old is None):
            self._object(delta, f"says {old} was there before, but {before} was")
        match delta.type:
            case EventType.ADDED:
                if before is not None:
                    self._object(delta, "is there already")
                self.objects[key] = now
            case EventType.MODIFIED:
                if before is None:
                    self._object(delta, "was not there")
                elif key not in self._of_old and not _newer(now, before):
                    self._object(delta, f"is no newer than {before}")
                self.objects[key] = now
            case EventType.DELETED:
                if before is None:
                    self._object(delta, "was not there")
                elif before[0] != now[0]:
                    self._object(delta, f"had the uid {before[0]}")
                self.unseen_ends += delta.final_state_unknown
                self.objects.pop(key, None)
            case other:
                self._object(delta, f"is no change but {other}")
        self._of_old.discard(key)
        if self.on_delta is not None:
            self.on_delta(delta)

    def _object(self, delta: Any, why: str) -> None:
        obj = delta.object
        self.problems.append(f"{delta.type} {delta.key} {obj.uid} {obj.resource_version} {why}")


def assert_same(
    ours: Mapping[str, tuple[str, str]],
    theirs: Mapping[str, tuple[str, str]],
    what: str = "the store",
    than: str = "the server",
) -> None:
    """Raise AssertionError that names the first few keys in which two sets differ."""
    if ours == theirs:
        return
    lines = [*_differences(ours, theirs)]
    more = f" and {len(lines) - 8} more" if len(lines) > 8 else ""
    raise AssertionError(f"{what} differs from {than}: {'; '.join(lines[:8])}{more}")


def _differences(
    ours: Mapping[str, tuple[str, str]], theirs: Mapping[str, tuple[str, str]]
) -> Iterable[str]:
    for key in sorted({*ours, *theirs}):
        if ours.get(key) != theirs.get(key):
            yield f"{key} is {ours.get(key)}, not {theirs.get(key)}"


def _newer(now: tuple[str, str], before: tuple[str, str]) -> bool:
    order = compare_resource_versions(now[1], before[1])
    return order is None or order > 0
