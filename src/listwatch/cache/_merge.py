"""Several mirrors' sets as one store (K9)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Generic, NamedTuple, TypeVar

import msgspec

from listwatch.api import Event, EventType, is_newer

from ._replacement import same_content
from .delta import Delta
from .identity import Identify, for_entries
from .store import Report, Store
from .undecodable import Undecodable

__all__ = ["Merge"]

T = TypeVar("T")

_MOST = 1000
"""Objects that are gone and remembered, beside as many as there are."""


class _Gone(NamedTuple):
    resource_version: str
    """Of its deletion."""
    last_state: bool
    """It is that of the last state that was seen, since nobody saw the end."""
    until: str
    """Who has passed this RV knows of it."""


class Merge(Generic[T]):
    """Keeps `store` the union of `parts`.

    An object may be in several parts, as where their selectors overlap: it is there while one of
    them has it, in the newest state that one of them has had. Where the one that had that state
    loses the object, and another still has an older one, it stays as it is until the other has
    caught up: no key goes back to an older RV (I3), but where the history of a part did (H18). Nor
    does an object come back that is gone: what a part that is behind has yet to learn of its life
    is left out. For that the RVs of deletions are kept, until every part has passed them.
    """

    def __init__(
        self,
        store: Store[T],
        parts: Mapping[str, Store[T]],
        identify: Identify,
        tell: Callable[[Sequence[Delta[T]]], None],
        report: Report,
    ) -> None:
        self._store = store
        self._parts = parts
        self._identify = for_entries(identify)
        self._tell = tell
        self._report = report
        self._epochs = {part: each.epoch for part, each in parts.items()}
        self._held: dict[str, None] = {}
        """What is shown in a state that no part has any more."""
        self._gone: dict[str, _Gone] = {}
        """What has gone, and when, as long as some part may be behind that."""

    def take(self, part: str, deltas: Sequence[Delta[T]]) -> None:
        """One part has changed so: change the union, and tell what that changed in it."""
        if deltas[0].resync:
            self._again(deltas)
            return
        others = [each for name, each in self._parts.items() if name != part]
        went_back = self._went_back(part)
        shown: dict[str, Any] = {}
        events: list[Event[Any]] = []
        for delta in deltas:
            key = delta.key
            known = shown[key] if key in shown else self._store.known(key)
            found = [entry for each in others if (entry := each.known(key)) is not None]
            if delta.type is EventType.DELETED and not went_back and others:
                self._note_end(delta, self._parts[part].resource_version)
            event = self._event(delta, known, found, went_back)
            if event is not None:
                events.append(event)
                shown[key] = None if event.type is EventType.DELETED else event.object
                self._held.pop(key, None)
        self._apply(
            events,
            initial=any(delta.initial for delta in deltas),
            unknown=any(delta.final_state_unknown for delta in deltas),
        )
        if self._gone:
            self._look_again(self._forget(), back=False)

    def has_set(self, part: str) -> None:
        """A whole set of that part has come, and been taken."""
        if not self._went_back(part):
            return
        self._epochs[part] = self._parts[part].epoch
        doubtful = {**self._held, **dict.fromkeys(self._gone)}
        self._held.clear()
        self._gone.clear()
        self._look_again(doubtful, back=True)

    def _went_back(self, part: str) -> bool:
        return self._parts[part].epoch != self._epochs[part]

    def _event(
        self, delta: Delta[T], known: Any, others: list[Any], went_back: bool
    ) -> Event[Any] | None:
        """What a change of one part is for the union; None where it is nothing."""
        new: Any = None if delta.type is EventType.DELETED else delta.object
        newest = self._newest([new, *others]) if others else new
        if newest is None:
            if known is None:
                return None
            if delta.final_state_unknown or (
                not went_back and self._is_newer(known, delta.object)
            ):  # the last state known is ours, not that part's
                return Event(EventType.DELETED, known, getattr(known, "raw", b""))
            return Event(EventType.DELETED, delta.object, delta.raw, delta.error)
        if newest is known:
            return None
        raw = delta.raw if newest is new else getattr(newest, "raw", b"")
        if known is None:
            if not went_back and self._is_over(delta.key, newest):
                return None
            return Event(EventType.ADDED, newest, raw)
        # A part that is alone with an object says how that is. Else the newest of them does.
        if others or delta.key in self._held:
            if not went_back and self._is_newer(known, newest):
                self._held[delta.key] = None
                return None
            # In another history the same RV may be another state.
            if self._same_state(newest, known) and (not went_back or same_content(newest, known)):
                return None
        return Event(EventType.MODIFIED, newest, raw)

    def _note_end(self, delta: Delta[T], at: str) -> None:
        version = self._version(delta.object)
        before = self._gone.pop(delta.key, None)
        if before is not None and is_newer(before.resource_version, version):
            self._gone[delta.key] = before
        elif version:
            unknown = delta.final_state_unknown
            self._gone[delta.key] = _Gone(version, unknown, at if unknown else version)

    def _is_over(self, key: str, state: Any) -> bool:
        """Whether a part that is behind tells of the life of an object that is gone."""
        gone = self._gone.get(key)
        if gone is None:
            return False
        version = self._version(state)
        if gone.last_state and gone.resource_version == version:
            return True
        # At the very RV it has moved from one part to the other.
        return is_newer(gone.resource_version, version)

    def _forget(self) -> list[str]:
        """What every part has passed. While one is behind for good, no more is kept than a few."""
        versions = [each.resource_version for each in self._parts.values()]
        spare = len(self._gone) - len(self._store) - _MOST
        passed: list[str] = []
        for number, (key, gone) in enumerate(self._gone.items()):
            # One without a set will begin who knows where.
            behind = any(not each or is_newer(gone.until, each) for each in versions)
            if behind and number >= spare:
                break  # those after it are newer, or nearly so
            passed.append(key)
        for key in passed:
            del self._gone[key]
        return passed

    def _look_again(self, keys: Iterable[str], *, back: bool) -> None:
        """What was decided by RVs that hold no more; what is shown only where history went back."""
        events: list[Event[Any]] = []
        for key in keys:
            known: Any = self._store.known(key)
            newest = self._newest(each.known(key) for each in self._parts.values())
            if known is None:
                if newest is not None:
                    events.append(Event(EventType.ADDED, newest, getattr(newest, "raw", b"")))
            elif not back:
                continue
            elif newest is None:
                events.append(Event(EventType.DELETED, known, getattr(known, "raw", b"")))
            elif not self._same_state(newest, known):
                events.append(Event(EventType.MODIFIED, newest, getattr(newest, "raw", b"")))
        self._apply(events, initial=False, unknown=True)

    def _again(self, deltas: Sequence[Delta[T]]) -> None:
        """A resync of one part. What several have is told of once, by the first that has it."""
        told: list[Delta[T]] = []
        for delta in deltas:
            known: Any = self._store.known(delta.key)
            if known is None or isinstance(known, Undecodable):
                continue
            newest = self._newest(each.known(delta.key) for each in self._parts.values())
            if newest is delta.object:
                told.append(msgspec.structs.replace(delta, object=known, old=known))
        if told:
            self._tell(told)

    def _apply(self, events: list[Event[Any]], *, initial: bool, unknown: bool) -> None:
        if not events:
            return
        changed = self._store.apply(events, moves_rv=False, trusted=True, report=self._report)
        # How it was found out the store cannot know.
        told = [
            msgspec.structs.replace(delta, initial=True)
            if initial and delta.type is EventType.ADDED
            else msgspec.structs.replace(delta, final_state_unknown=True)
            if unknown and delta.type is EventType.DELETED
            else delta
            for delta in changed
        ]
        if told:
            self._tell(told)

    def _newest(self, entries: Iterable[Any]) -> Any:
        newest: Any = None
        for entry in entries:
            if newest is None or (entry is not None and self._is_newer(entry, newest)):
                newest = entry
        return newest

    def _is_newer(self, one: Any, other: Any) -> bool:
        return is_newer(self._version(one), self._version(other))

    def _version(self, entry: Any) -> str:
        return self._identify(entry).resource_version

    def _same_state(self, one: Any, other: Any) -> bool:
        """Whether two parts have the same object in the same state."""
        identity = self._identify(one)
        same = identity == self._identify(other) and type(one) is type(other)
        return same and bool(identity.resource_version)
