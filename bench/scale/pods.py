"""Pods of a size that one chooses, each its own, and index functions over them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from random import Random

from listwatch import Event, EventType, Unstructured

__all__ = ["BATCH", "Pods", "index_functions"]

BATCH = 32
"""Events a batch: what one read of 64 KiB holds of 2 KB pods."""

_LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789"


class Pods:
    """A cluster: 100 pods a namespace, 40 a node, 10 of each application."""

    def __init__(self, count: int, size: int) -> None:
        self.count = count
        self.namespaces = max(count // 100, 1)
        self.nodes = max(count // 40, 1)
        self.apps = max(count // 10, 1)
        self._size = size
        self._noise = "".join(Random(7).choices(_LETTERS, k=size + 4096))

    def raw(self, number: int, version: int) -> bytes:
        """The JSON of one of them, in one of its states."""
        uid = f"00000000-0000-4000-8000-{number:012}"
        labels = f'{{"app":"app-{number % self.apps}","zone":"zone-{number % 12}"}}'
        head = (
            f'{{"kind":"Pod","apiVersion":"v1","metadata":{{"name":"pod-{number:07}",'
            f'"namespace":"team-{number % self.namespaces}","uid":"{uid}",'
            f'"resourceVersion":"{version}","labels":{labels},"annotations":{{"note":"'
        )
        node = f"node-{number % self.nodes}"
        tail = f'"}}}},"spec":{{"nodeName":"{node}"}},"status":{{"phase":"Running"}}}}'
        start = number * 31 % 4096
        note = self._noise[start : start + max(self._size - len(head) - len(tail), 0)]
        return f"{head}{note}{tail}".encode()

    def one(self, number: int, version: int) -> Unstructured:
        return Unstructured.from_bytes(self.raw(number, version))

    def all(self) -> Iterable[Unstructured]:
        """Each at an RV of its own, from 1 on."""
        return (self.one(number, number + 1) for number in range(self.count))

    def key(self, number: int) -> str:
        return f"team-{number % self.namespaces}/pod-{number:07}"

    def batches(
        self, numbers: Iterable[int], first_version: int, kind: EventType = EventType.MODIFIED
    ) -> list[list[Event[Unstructured]]]:
        """Events of these, at one RV after the other, in batches."""
        events = [
            Event(kind, self.one(number, first_version + at)) for at, number in enumerate(numbers)
        ]
        return [events[start : start + BATCH] for start in range(0, len(events), BATCH)]


Function = Callable[[Unstructured], list[str]]


def index_functions(pods: Pods, count: int) -> dict[str, Function]:
    """Index functions of all sorts: few values, many, one for each object, one for all, none for
    most, two. They read the name only: what decoding costs is not the library's.
    """
    n = pods.count
    values = {
        "namespace": pods.namespaces,
        "node": pods.nodes,
        "app": pods.apps,
        "phase": 5,
        "uid": n,
        "zone": 12,
        "region": 4,
        "quality": 3,
        "owner": n // 10,
        "address": n,
        "account": n // 100,
        "image": 500,
        "priority": 4,
        "team": 50,
        "tier": 3,
        "scheduler": 1,
        "template": n // 12,
        "hour": n // 1000,
    }
    made = {name: _one_of(name, max(number, 1)) for name, number in values.items()}
    made["volumes"] = _two_of("volume", max(n // 5, 2))
    made["claim"] = _sometimes("claim", n)
    return dict(list(made.items())[:count])


def number_of(obj: Unstructured) -> int:
    return int(obj.name[4:])


def _one_of(name: str, count: int) -> Function:
    return lambda obj: [f"{name}-{number_of(obj) % count}"]


def _two_of(name: str, count: int) -> Function:
    return lambda obj: [f"{name}-{number_of(obj) % count}", f"{name}-{number_of(obj) % 7}"]


def _sometimes(name: str, count: int) -> Function:
    return lambda obj: [f"{name}-{number_of(obj)}"] if number_of(obj) % 4 == 0 else []
