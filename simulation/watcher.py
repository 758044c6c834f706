"""Who looks at a mirror: turns what it shows and says into plain values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from listwatch.api import compare_resource_versions

from .history import Ask, Batch, Look, Note, Observed, Told, Wrote
from .objects import ZONE, Objects
from .recorder import Recorder
from .states import State, States

__all__ = ["Watcher"]


class Watcher:
    """Observes one mirror into an `Observed`. `attach` it before the mirror starts; `listen`, where
    the mirror is a part of something that is told of its changes.
    """

    def __init__(self, name: str, recorder: Recorder, objects: Objects, *, indexed: bool) -> None:
        self.seen = Observed(name, transformed=objects.transformed)
        self._recorder = recorder
        self._objects = objects
        self._indexed = indexed
        self._store: Any = None
        self._mirror: Any = None
        self.stopped = False
        self.late = 0
        """Deltas told after the stop."""
        self.on_ask: list[tuple[int, Callable[[], None]]] = []
        """What to do when so many requests have been sent."""
        self.on_resync: Callable[[], None] | None = None

    def attach(self, mirror: Any) -> None:
        """From now on every write of its store is noted."""
        self._mirror = mirror
        store = self._store = mirror.store
        for name in ("replace", "apply", "bookmark"):
            setattr(store, name, self._noting(name, getattr(store, name)))

    def listen(self, mirror: Any) -> None:
        """The same, and hear what the mirror tells, before anybody else does."""
        self.attach(mirror)
        inner = mirror._target._on_deltas

        def on_deltas(deltas: Sequence[Any]) -> None:
            self.on_deltas(deltas)
            inner(deltas)

        mirror._target._on_deltas = on_deltas
        mirror.reflector._journal._on_note = self.on_note

    def observe(self, informer: Any) -> None:
        """Look at what an informer shows of several sources."""
        self._mirror, self._store = informer, informer.store

    # What it is told

    def on_deltas(self, deltas: Sequence[Any]) -> None:
        """The mirror's handler."""
        recorder, store = self._recorder, self._store
        told = tuple(self._told(delta) for delta in deltas)
        if self.stopped:
            self.late += len(told)
        batch = Batch(
            recorder.step(), recorder.now(), told, _number(store), store.epoch, self.set()
        )
        if deltas[0].resync:
            self.seen.resyncs.append(batch)
            if self.on_resync is not None:
                self.on_resync()
            return
        self.seen.batches.append(batch)
        if recorder.lines is not None:
            for each in told:
                recorder.say(self.seen.name, f"tells {each.type} {each.state}")

    def on_note(self, note: Any) -> None:
        """The mirror's notes."""
        recorder = self._recorder
        kind = {
            "Listed": "listed",
            "Setback": "setback",
            "WatchListGivenUp": "given up",
            "Undecoded": "undecoded",
        }[type(note).__name__]
        cause = getattr(note, "cause", None)
        self.seen.notes.append(
            Note(
                recorder.step(),
                recorder.now(),
                kind,
                "" if cause is None else str(cause),
                str(note),
                getattr(note, "key", ""),
            )
        )
        recorder.say(self.seen.name, f"note: {note}")

    def on_error(self, _reflector: Any, error: Exception) -> None:
        """The mirror's error handler."""
        recorder = self._recorder
        self.seen.notes.append(
            Note(
                recorder.step(),
                recorder.now(),
                "error",
                type(error).__name__,
                str(error),
                getattr(error, "key", ""),
            )
        )

    def standing(self, ask: Ask) -> None:
        """Where the mirror stands as it sends a request."""
        store = self._store
        ask.store_rv = _number(store)
        ask.known_rv = ask.store_rv
        ask.epoch = store.epoch
        for number, act in self.on_ask:
            if len(self.seen.asks) + 1 == number:
                act()

    # What it shows

    def number(self) -> int:
        """The store's RV."""
        return _number(self._store)

    def set(self) -> States:
        """The store, now."""
        snapshot = self._store.snapshot()
        state_of = self._objects.state_of
        return {key: state_of(snapshot.known(key)) for key in snapshot.keys()}  # noqa: SIM118

    def look(self) -> Look:
        """All that a reader can see, now."""
        recorder, store = self._recorder, self._store
        health = self._mirror.health
        shown = self.set()
        look = Look(
            recorder.step(),
            recorder.now(),
            shown,
            _number(store),
            store.epoch,
            health.synced,
            str(health.state),
            health.last_byte_age,
            frozenset(health.undecodable),
            store.late_writes,
            self._index_is_right(shown),
        )
        recorder.say(self.seen.name, f"health: {health}")
        return look

    # The inside

    def _noting(self, what: str, write: Any) -> Callable[..., Any]:
        def noted(*args: Any, **kwargs: Any) -> Any:
            store, recorder = self._store, self._recorder
            rv_before = _number(store)
            before = self.set() if what == "replace" else {}
            events: tuple[tuple[str, State], ...] = ()
            if what == "apply":
                state_of = self._objects.state_of
                events = tuple((str(event.type), state_of(event.object)) for event in args[0])
            result = write(*args, **kwargs)
            self.seen.wrote.append(
                Wrote(
                    recorder.step(),
                    recorder.now(),
                    what,
                    int(args[0] or 0) if what == "bookmark" else _number(store),
                    rv_before,
                    store.epoch,
                    bool(kwargs.get("new_epoch", False)),
                    events,
                    before,
                    self.set() if what == "replace" else {},
                )
            )
            if what != "apply":
                recorder.say(self.seen.name, f"store: {what} at {_number(store)}")
            return result

        return noted

    def _told(self, delta: Any) -> Told:
        state_of = self._objects.state_of
        state = state_of(delta.object)
        return Told(
            str(delta.type),
            state,
            None if delta.old is None else state_of(delta.old),
            delta.final_state_unknown,
            delta.recreated,
            delta.initial,
            *self.shown(delta.key),
        )

    def shown(self, key: str) -> tuple[State | None, bool]:
        """What the store has under a key, and whether its index fits that."""
        entry = self._store.known(key)
        return (None if entry is None else self._objects.state_of(entry)), (
            self._is_indexed(key, entry)
        )

    def _is_indexed(self, key: str, entry: Any) -> bool:
        if not self._indexed:
            return True
        zone = None if entry is None else self._objects.zone_of(entry)
        found = [
            value
            for value in self._store.index_values(ZONE)
            if key in self._store.index_keys(ZONE, value)
        ]
        return found == ([] if zone is None else [zone])

    def _index_is_right(self, shown: States) -> bool:
        if not self._indexed:
            return True
        store = self._store
        found = {value: sorted(store.index_keys(ZONE, value)) for value in store.index_values(ZONE)}
        wanted: dict[str, list[str]] = {}
        for key in sorted(shown):
            zone = self._objects.zone_of(store.known(key))
            if zone is not None:
                wanted.setdefault(zone, []).append(key)
        return found == wanted


def _number(store: Any) -> int:
    text = store.resource_version
    return int(text) if compare_resource_versions(text, text) is not None else 0
