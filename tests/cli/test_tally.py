from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from listwatch.api import Event, EventType, Status, Unstructured
from listwatch.cli.tally import Look, Tally

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)


class Clock:
    seconds = 100.0

    def __call__(self) -> float:
        return self.seconds


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def tally(clock: Clock) -> Tally:
    return Tally(lambda: NOW, clock)


def pod(
    name: str = "web-0",
    *,
    phase: str = "Running",
    ready: bool = True,
    restarts: int = 0,
    state: dict[str, Any] | None = None,
    node: str = "worker-1",
    dying: bool = False,
    rv: str = "7",
) -> dict[str, Any]:
    metadata: dict[str, Any] = {
        "name": name,
        "namespace": "shop",
        "labels": {"app": name.partition("-")[0]},
        "resourceVersion": rv,
        "creationTimestamp": "2026-01-01T11:00:00Z",
    }
    if dying:
        metadata["deletionTimestamp"] = "2026-01-01T12:00:30Z"
    status = {
        "name": "c",
        "ready": ready,
        "restartCount": restarts,
        "state": state or {"running": {}},
    }
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": metadata,
        "spec": {"nodeName": node, "containers": [{"name": "c"}]},
        "status": {"phase": phase, "containerStatuses": [status]},
    }


def event(kind: str, value: dict[str, Any]) -> Event[Any]:
    raw = json.dumps(value).encode()
    return Event(EventType(kind), Unstructured.from_bytes(raw), raw)


def test_pods_come_change_and_go(tally: Tally) -> None:
    assert tally.text([event("ADDED", pod("a-1")), event("ADDED", pod("b-1"))]) == b""
    tally.text([event("MODIFIED", pod("a-1", dying=True)), event("DELETED", pod("b-1", rv="9"))])
    assert [found.name for found in tally.pods.values()] == ["a-1"]
    assert tally.looks() == {Look.ENDING: 1}
    assert tally.counts == {EventType.ADDED: 2, EventType.MODIFIED: 1, EventType.DELETED: 1}
    assert tally.resource_version == "9"
    assert tally.size == sum(
        len(json.dumps(found))
        for found in (pod("a-1"), pod("b-1"), pod("a-1", dying=True), pod("b-1", rv="9"))
    )


def test_an_app_keeps_its_place_when_it_has_no_pods_any_more(tally: Tally) -> None:
    tally.text([event("ADDED", pod("b-1")), event("ADDED", pod("a-1")), event("ADDED", pod("a-2"))])
    tally.text([event("DELETED", pod("b-1"))])
    apps = {key: [found.name for found in pods] for key, pods in tally.apps().items()}
    assert list(apps.items()) == [(("shop", "a"), ["a-1", "a-2"]), (("shop", "b"), [])]


@pytest.mark.parametrize(
    ("value", "look"),
    [
        (pod(), Look.READY),
        (pod(ready=False), Look.UNREADY),
        (pod(phase="Pending", state={"waiting": {"reason": "ContainerCreating"}}), Look.STARTING),
        (pod(state={"waiting": {"reason": "CrashLoopBackOff"}}, ready=False), Look.FAILING),
        (pod(state={"terminated": {"reason": "OOMKilled"}}, ready=False), Look.FAILING),
        (pod(phase="Succeeded", state={"terminated": {"reason": "Completed"}}), Look.DONE),
        (pod(dying=True), Look.ENDING),
    ],
)
def test_how_a_pod_looks(tally: Tally, value: dict[str, Any], look: Look) -> None:
    tally.text([event("ADDED", value)])
    assert tally.looks() == {look: 1}


@pytest.mark.parametrize(
    ("before", "after", "change"),
    [
        (None, pod(), "Running 1/1"),
        (None, pod(phase="Pending", state={"waiting": {"reason": "Pending"}}), "Pending"),
        (pod(node=""), pod(), "bound to worker-1"),
        (pod(ready=False), pod(), "0/1 → 1/1 ready"),
        (pod(), pod(dying=True), "Running → Terminating"),
        (pod(dying=True), pod(dying=True, ready=False), "1/1 → 0/1 ready"),
        (
            pod(ready=False, state={"waiting": {"reason": "CrashLoopBackOff"}}),
            pod(restarts=1),
            "CrashLoopBackOff → Running, 1/1, restart 1",
        ),
        (pod(), pod(rv="8"), "Running"),
    ],
)
def test_what_changed_is_said_in_a_few_words(
    tally: Tally, before: dict[str, Any] | None, after: dict[str, Any], change: str
) -> None:
    if before is not None:
        tally.text([event("ADDED", before)])
    tally.text([event("MODIFIED" if before else "ADDED", after)])
    assert tally.told[-1].change == change


def test_a_pod_that_is_gone_says_how_long_it_lived(tally: Tally) -> None:
    tally.text([event("DELETED", pod())])
    assert tally.told[-1].change == "gone after 60m"


def test_events_are_counted_by_the_second(tally: Tally, clock: Clock) -> None:
    for seconds, events in ((100.0, 3), (101.5, 2), (103.0, 4)):
        clock.seconds = seconds
        tally.text([event("MODIFIED", pod())] * events)
    clock.seconds = 104.0
    assert tally.rates(10) == [3, 2, 0, 4]
    assert tally.rates(2) == [0, 4]


def test_what_is_no_pod_is_counted_and_no_more(tally: Tally) -> None:
    status = Status.from_bytes(b'{"kind":"Status","code":410,"reason":"Expired"}')
    tally.text([Event(EventType.ERROR, status, b"{}")])
    tally.text([event("BOOKMARK", pod(rv="99"))])
    assert tally.counts == {EventType.ERROR: 1, EventType.BOOKMARK: 1}
    assert (tally.pods, len(tally.told), tally.resource_version) == ({}, 0, "99")
