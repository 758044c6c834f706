"""What a watch of pods has told so far: a picture of the cluster, kept by events alone."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from typing import Any

from listwatch.api import Event, EventType, Unstructured
from listwatch.api.cells.pods import pod_ready, pod_restarts, pod_status
from listwatch.api.cells.reading import Obj, at, text, time_at

from .durations import age_text

__all__ = ["Look", "Seen", "Tally", "Told"]

_KEPT = 200
"""Events: more than any terminal has lines."""
_STARTING = {"Pending", "ContainerCreating", "PodInitializing"}


class Look(Enum):
    """How a pod is, as one sign in one colour."""

    READY = ("ready", "■", "green")
    STARTING = ("starting", "□", "yellow")
    UNREADY = ("unready", "▣", "bright_yellow")
    FAILING = ("failing", "×", "bold red")
    ENDING = ("ending", "▒", "magenta")
    DONE = ("done", "✓", "blue")

    def __init__(self, words: str, sign: str, style: str) -> None:
        self.words = words
        self.sign = sign
        self.style = style


@dataclass(frozen=True, slots=True)
class Seen:
    """The last that was seen of a pod."""

    namespace: str
    name: str
    app: str
    status: str
    ready: str
    restarts: str
    node: str
    since: datetime | None
    """When it was created."""
    changed: float
    """When this was told, in seconds of the loop."""

    @property
    def look(self) -> Look:
        if self.status == "Terminating":
            return Look.ENDING
        if self.status in ("Completed", "Succeeded"):
            return Look.DONE
        if self.status == "Running":
            ready, _, total = self.ready.partition("/")
            return Look.READY if ready == total else Look.UNREADY
        if self.status in _STARTING or self.status.startswith("Init:"):
            return Look.STARTING
        return Look.FAILING


@dataclass(frozen=True, slots=True)
class Told:
    """One event, in words."""

    time: datetime
    type: EventType
    pod: Seen
    change: str


class Tally:
    """Takes the events of a watch of pods; prints nothing. `clock` is the time of day, `timer` that
    of the loop.
    """

    def __init__(self, clock: Callable[[], datetime], timer: Callable[[], float]) -> None:
        self._clock = clock
        self._timer = timer
        self.pods: dict[tuple[str, str], Seen] = {}
        self.counts: Counter[EventType] = Counter()
        self.size = 0
        """Bytes of all objects that came."""
        self.resource_version = ""
        """Of the newest event."""
        self.told: deque[Told] = deque(maxlen=_KEPT)
        """The latest events, the newest last."""
        self._seconds: Counter[int] = Counter()
        self._apps: set[tuple[str, str]] = set()
        self.began = timer()

    def text(self, events: Sequence[Event[Any]], /) -> bytes:
        """In the place of a printer: the events are counted, and nothing is to be printed."""
        for event in events:
            self._take(event)
        return b""

    def rates(self, seconds: int) -> list[int]:
        """Events in each of the last whole seconds."""
        now = int(self._timer() - self.began)
        return [self._seconds[at] for at in range(max(0, now - seconds), now)]

    def looks(self) -> Counter[Look]:
        return Counter(pod.look for pod in self.pods.values())

    def apps(self) -> dict[tuple[str, str], list[Seen]]:
        """The pods by namespace and app, in order; also the apps that have none any more."""
        found: dict[tuple[str, str], list[Seen]] = {key: [] for key in self._apps}
        for pod in self.pods.values():
            found[pod.namespace, pod.app].append(pod)
        return dict(sorted(found.items()))

    def _take(self, event: Event[Any]) -> None:
        self.counts[event.type] += 1
        self.size += len(event.raw)
        second = int(self._timer() - self.began)
        self._seconds[second] += 1
        self._seconds.pop(second - _KEPT, None)
        obj = event.object
        if not isinstance(obj, Unstructured):
            return
        self.resource_version = obj.resource_version or self.resource_version
        if event.type not in (EventType.ADDED, EventType.MODIFIED, EventType.DELETED):
            return
        now = self._clock()
        key = (obj.namespace, obj.name)
        before = self.pods.get(key)
        seen = _seen(obj, now, self._timer())
        if event.type is EventType.DELETED:
            self.pods.pop(key, None)
            change = "gone"
            if seen.since is not None:
                change += f" after {age_text((now - seen.since).total_seconds())}"
        else:
            self.pods[key] = seen
            self._apps.add((seen.namespace, seen.app))
            change = _change(before, seen)
        self.told.append(Told(now, event.type, seen, change))


def _seen(obj: Unstructured, now: datetime, moment: float) -> Seen:
    pod: Obj = obj.to_dict()
    labels = at(pod, "metadata", "labels") or {}
    app = labels.get("app") or labels.get("app.kubernetes.io/name") or obj.name
    return Seen(
        obj.namespace,
        obj.name,
        str(app),
        pod_status(pod, now),
        pod_ready(pod, now),
        pod_restarts(pod, now).partition(" ")[0],
        text(pod, "spec", "nodeName"),
        time_at(pod, "metadata", "creationTimestamp"),
        moment,
    )


def _change(before: Seen | None, now: Seen) -> str:
    """What is new, in a few words."""
    if before is None:
        return f"{now.status} {now.ready}" if now.status == "Running" else now.status
    changes = []
    if now.status != before.status:
        changes.append(f"{before.status} → {now.status}")
    elif now.node != before.node:
        changes.append(f"bound to {now.node}")
    if now.ready != before.ready and now.status in ("Running", "Terminating"):
        changes.append(now.ready if changes else f"{before.ready} → {now.ready} ready")
    if now.restarts != before.restarts:
        changes.append(f"restart {now.restarts}")
    return ", ".join(changes) or now.status
