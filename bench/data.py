"""The objects and events that every side of a benchmark sees: seeded, and like a real cluster's.

    python -m bench.data              # sizes, and how much of it is managedFields
    python -m bench.data --show 2     # two objects

A data set is a cluster at one moment (`items`, all there at the resourceVersion `version`) and what
happens to it from then on (`events`). Pods are written as kube-apiserver writes built-in types:
members in the order of Go's structs, `kind` and `apiVersion` in events and not in lists. Widgets
are written as it writes custom resources: members in alphabetical order.
"""

from __future__ import annotations

import argparse
import bisect
import random
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import msgspec

from .cluster import pods, widgets, workloads

__all__ = ["DATA", "RESOURCES", "Dataset", "Kind", "Recorded", "checksum", "make_dataset"]

DATA = ("usual", "large", "pretty", "late", "status")
"""`large`: objects of 100 KB. `pretty`: a server that indents. `late`: metadata after spec and
status. `status`: every event is a kubelet's update of the status of a pod that runs.
"""

FIRST_VERSION = 48_230_000


@dataclass(frozen=True, slots=True)
class Kind:
    """A resource of the benchmark."""

    plural: str
    kind: str
    api_version: str
    path: str
    """Of its collection."""


RESOURCES = {
    "pods": Kind("pods", "Pod", "v1", "/api/v1/pods"),
    "widgets": Kind(
        "widgets", "Widget", widgets.API_VERSION, f"/apis/{widgets.API_VERSION}/widgets"
    ),
}


class Recorded(msgspec.Struct, frozen=True, gc=False):
    """An object as it was at one resourceVersion."""

    namespace: str
    name: str
    version: int
    metadata: bytes
    rest: bytes
    """The members after metadata, without the braces around them."""
    type: str = ""
    """What happened to it, in an event."""

    @property
    def crc(self) -> int:
        """What it adds to the checksum."""
        return zlib.crc32(f"{self.namespace}/{self.name} {self.version}".encode())


def checksum(recorded: Iterable[Recorded]) -> str:
    """What a player that has seen these must have come to."""
    return str(sum(found.crc for found in recorded) % 2**64)


@dataclass(frozen=True)
class Dataset:
    """A cluster, and what happens to it."""

    kind: Kind
    data: str
    version: int
    """The resourceVersion of the list; all events are later."""
    items: list[Recorded]
    """In the order of a list: by namespace and name."""
    events: list[Recorded] = field(default_factory=list)

    @cached_property
    def keys(self) -> list[tuple[str, str]]:
        """Of the items, in their order."""
        return [(found.namespace, found.name) for found in self.items]

    @property
    def last_version(self) -> int:
        return self.events[-1].version if self.events else self.version

    def at_the_end(self) -> Dataset:
        """The cluster after all events, to which nothing happens any more."""
        found = dict(zip(self.keys, self.items, strict=True))
        for event in self.events:
            key = (event.namespace, event.name)
            if event.type == "DELETED":
                del found[key]
            else:
                found[key] = event
        return Dataset(
            self.kind, self.data, self.last_version, [found[key] for key in sorted(found)]
        )

    def slice_of(self, namespace: str) -> slice:
        """Where in `items` a namespace is; all of it for ""."""
        if not namespace:
            return slice(0, len(self.items))
        start = bisect.bisect_left(self.keys, (namespace, ""))
        return slice(start, bisect.bisect_left(self.keys, (namespace + "\0", "")))

    def events_in(self, namespace: str) -> list[Recorded]:
        return [e for e in self.events if e.namespace == namespace] if namespace else self.events

    def listed(self, found: Recorded, *, metadata_only: bool = False) -> bytes:
        """The object as it stands in a list."""
        typed = self.kind.kind == "Pod" and not metadata_only
        return self._written(found, metadata_only, with_type=not typed)

    def watched(self, found: Recorded, *, metadata_only: bool = False) -> bytes:
        """The object as it stands in an event."""
        return self._written(found, metadata_only, with_type=True)

    def event(self, kind: bytes, obj: bytes) -> bytes:
        """A line of a watch: `kind` is the event's type."""
        line = b'{"type":"%b","object":%b}' % (kind, obj)
        return (msgspec.json.format(line, indent=2) if self.data == "pretty" else line) + b"\n"

    def _written(self, found: Recorded, metadata_only: bool, *, with_type: bool) -> bytes:
        head = b""
        if metadata_only:
            head = b'"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1",'
        elif with_type and self.kind.kind == "Pod":
            head = b'"kind":"Pod","apiVersion":"v1",'
        elif with_type:
            head = b'"apiVersion":"%b","kind":"%b",' % (
                self.kind.api_version.encode(),
                self.kind.kind.encode(),
            )
        metadata = b'"metadata":' + found.metadata
        if metadata_only:
            return b"{%b%b}" % (head, metadata)
        if self.data == "late":
            return b"{%b%b,%b}" % (head, found.rest, metadata)
        return b"{%b%b,%b}" % (head, metadata, found.rest)

    def page(
        self, part: slice, more: str, remaining: int, *, metadata_only: bool = False
    ) -> Iterator[bytes]:
        """The pieces of a list's body, in the sizes in which a server writes them."""
        if self.data == "pretty":
            whole = b"".join(self._page(part, more, remaining, metadata_only))
            yield msgspec.json.format(whole, indent=2) + b"\n"
            return
        yield from self._page(part, more, remaining, metadata_only)

    def _page(self, part: slice, more: str, remaining: int, metadata_only: bool) -> Iterator[bytes]:
        typed = self.kind.kind == "Pod" or metadata_only
        meta: dict[str, Any] = {"resourceVersion": str(self.version)}
        if more:
            meta |= {"continue": more}
            if remaining:
                meta |= {"remainingItemCount": remaining}
        elif not typed:
            meta["continue"] = ""
        version = "meta.k8s.io/v1" if metadata_only else self.kind.api_version
        kind = f"{'PartialObjectMetadata' if metadata_only else self.kind.kind}List"
        encoded = msgspec.json.encode(meta, order=None if typed else "sorted")
        if typed:
            yield b'{"kind":"%b","apiVersion":"%b","metadata":%b,"items":[' % (
                kind.encode(),
                version.encode(),
                encoded,
            )
        else:
            yield b'{"apiVersion":"%b","items":[' % version.encode()
        comma = b""
        for found in self.items[part]:
            yield comma + self.listed(found, metadata_only=metadata_only)
            comma = b","
        if typed:
            yield b"]}\n"
        else:
            yield b'],"kind":"%b","metadata":%b}\n' % (kind.encode(), encoded)


def make_dataset(
    resource: str = "pods",
    objects: int = 10_000,
    events: int = 20_000,
    *,
    data: str = "usual",
    seed: int = 7,
) -> Dataset:
    """The same for the same arguments, on every machine."""
    if data not in DATA:
        raise ValueError(f"no data {data!r}: there are {', '.join(DATA)}")
    rng = random.Random(f"{seed} {resource} {data == 'large'}")
    cluster = _Cluster(rng, resource, large=data == "large")
    cluster.fill(objects)
    items = sorted(cluster.recorded(), key=lambda found: (found.namespace, found.name))
    version = cluster.version
    kept = list(cluster.changes(events, only_status=data == "status"))
    return Dataset(RESOURCES[resource], data, version, items, kept)


class _Cluster:
    """Makes objects, and lets them live."""

    def __init__(self, rng: random.Random, resource: str, *, large: bool) -> None:
        self._rng = rng
        self._large = large
        self._pods = resource == "pods"
        self._writer: Any = pods.PodWriter() if self._pods else widgets.WidgetWriter()
        self.version = FIRST_VERSION
        self._clock = 0
        self._living: list[Any] = []
        """Those of which a status may change, or that may end."""
        self._moving: list[Any] = []
        """Those that begin, or end."""
        self._names: set[tuple[str, str]] = set()
        self._designs: list[Any] = []

    def fill(self, objects: int) -> None:
        rng = self._rng
        while len(self._living) + len(self._moving) < objects:
            left = objects - len(self._living) - len(self._moving)
            design = self._new_design()
            count = min(left, max(1, min(60, int(rng.paretovariate(0.9)))))
            for ordinal in range(count):
                made = self._born(design, ordinal, -rng.randint(60, 5_000_000), "running")
                if made is None:
                    continue
                made.restarts = rng.choice((0, 0, 0, 0, 1, 2, 17))
                made.changed = made.created + rng.randint(10, 50)
                if self._pods:
                    chances = ("running", "unready", "crashed", "pending", "creating")
                    made.state = rng.choices(chances, (90, 3, 3, 2, 2))[0]
                    if design.ends:
                        made.state = rng.choices(("done", "running"), (70, 30))[0]
                else:
                    made.state = rng.choices(("running", "unready", "pending"), (88, 8, 4))[0]
                moving = made.state in ("pending", "creating")
                (self._moving if moving else self._living).append(made)

    def recorded(self) -> Iterator[Recorded]:
        for made in (*self._living, *self._moving):
            yield self._record(made, "")

    def changes(self, count: int, *, only_status: bool) -> Iterator[Recorded]:
        """Status updates mostly; beside them objects that begin and end."""
        rng = self._rng
        for _ in range(count):
            self._clock += rng.random() < 0.02
            self.version += rng.choice((1, 1, 1, 2, 5))
            chance = 0.0 if only_status else rng.random()
            if chance > 0.72 and self._moving:
                yield self._move(self._moving.pop(rng.randrange(len(self._moving))))
            elif chance > 0.64 or not self._living:
                yield self._begin()
            elif chance > 0.58:
                at = rng.randrange(len(self._living))
                self._living[at], self._living[-1] = self._living[-1], self._living[at]
                made = self._living.pop()
                made.state = "ending"
                self._moving.append(made)
                yield self._touched(made, "MODIFIED")
            else:
                made = rng.choice(self._living)
                self._flap(made)
                yield self._touched(made, "MODIFIED")

    def _begin(self) -> Recorded:
        made = None
        while made is None:
            design = self._rng.choice(self._designs) if self._designs else self._new_design()
            made = self._born(design, self._rng.randint(100, 10_000), self._clock, "pending")
        self._moving.append(made)
        return self._touched(made, "ADDED")

    def _move(self, made: Any) -> Recorded:
        if made.state == "ending":
            self._names.discard(made.key)
            return self._touched(made, "DELETED")
        steps = {"pending": "scheduled", "scheduled": "creating"} if self._pods else {}
        made.state = steps.get(made.state, "running")
        (self._living if made.state == "running" else self._moving).append(made)
        return self._touched(made, "MODIFIED")

    def _flap(self, made: Any) -> None:
        if made.state == "running":
            made.state = self._rng.choice(("unready", "unready", "running"))
        elif made.state != "done":
            made.restarts += made.state == "crashed" or not self._pods
            made.state = "running"

    def _touched(self, made: Any, kind: str) -> Recorded:
        made.version = self.version
        made.changed = self._clock
        return self._record(made, kind)

    def _record(self, made: Any, kind: str) -> Recorded:
        namespace, name = made.key
        metadata, rest = self._writer.write(made)
        return Recorded(namespace, name, made.version, metadata, rest, kind)

    def _new_design(self) -> Any:
        make: Any = workloads.make_workload if self._pods else widgets.make_design
        names = workloads.NAMESPACES
        weights = range(1, len(names) + 1)
        namespace = self._rng.choices(names, weights)[0]
        design = make(self._rng, namespace, large=self._large)
        self._designs.append(design)
        return design

    def _born(self, design: Any, ordinal: int, at: int, state: str) -> Any:
        kind: Any = pods.Pod if self._pods else widgets.Widget
        self.version += self._rng.randint(1, 3)
        made = kind.born(self._rng, design, ordinal, at, state, self.version)
        if made.key in self._names:
            return None
        self._names.add(made.key)
        return made


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--objects", type=int, default=5000)
    parser.add_argument("--events", type=int, default=5000)
    parser.add_argument("--show", type=int, default=0, metavar="COUNT")
    given = parser.parse_args()
    for resource in RESOURCES:
        for data in DATA:
            divisor = 20 if data == "large" else 1
            made = make_dataset(
                resource, given.objects // divisor, given.events // divisor, data=data
            )
            objects = [made.listed(found) for found in made.items]
            events = [made.watched(found) for found in made.events]
            managed = sum(_managed_share(found) for found in objects)
            kinds = {
                t: sum(e.type == t for e in made.events) for t in ("ADDED", "MODIFIED", "DELETED")
            }
            size, told = sum(map(len, objects)), sum(map(len, events))
            print(
                f"{resource:<8} {data:<7} object {size / len(objects):>9,.0f} bytes,"
                f" {managed / size:.0%} managedFields;"
                f" event {told / len(events):>9,.0f} bytes; {kinds}"
            )
            for obj in objects[: given.show]:
                print(obj.decode())


def _managed_share(obj: bytes) -> int:
    value = msgspec.json.decode(obj)
    return len(msgspec.json.encode(value["metadata"].get("managedFields", [])))


if __name__ == "__main__":
    main()
