"""`client.mirror` in threads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from listwatch import Delta, Forbidden, MirrorStopped, NotFresh, Unstructured
from listwatch.sync import Client

from .serving import Serving, Worker


def by_x(obj: Unstructured) -> list[str]:
    return [obj["data"]["x"]] if "x" in obj.get("data", {}) else []


def test_the_store_is_read_from_any_thread(client: Client, serving: Serving) -> None:
    serving.load("a", x="1")
    with client.mirror("configmaps", indexes={"x": by_x}) as mirror:
        mirror.synced(timeout=20)
        assert mirror.is_synced
        assert Worker(lambda: mirror.store["default/a"].name).result() == "a"
        assert [found.name for found in mirror.store.by_index("x", "1")] == ["a"]
        assert mirror.health.ready


@pytest.mark.clause("I3")
def test_one_reads_ones_own_writes(client: Client) -> None:
    with client.mirror("configmaps") as mirror:
        mirror.synced(timeout=20)
        for number in range(5):
            made = client.create({"metadata": {"name": f"n{number}"}}, resource="configmaps")
            mirror.at_least(made.resource_version, timeout=20)
            assert mirror.store[made.key].uid == made.uid


@pytest.mark.clause("K11")
def test_fresh_is_proven_or_refused(client: Client, serving: Serving) -> None:
    with client.mirror("configmaps") as mirror:
        mirror.synced(timeout=20)
        mirror.fresh(within=5.0)
        serving.do(lambda server: server.faults.add("any configmaps: hang"))
        serving.do(lambda server: server.restart())
        with pytest.raises(NotFresh):
            mirror.fresh(within=0.0, timeout=0.1)


def test_waiting_has_a_limit(client: Client, serving: Serving) -> None:
    serving.do(lambda server: server.faults.add("any configmaps: hang"))
    with client.mirror("configmaps") as mirror, pytest.raises(TimeoutError, match="not synced"):
        mirror.synced(timeout=0.1)


def test_fail_fast_is_raised_by_synced_and_by_the_with(client: Client, serving: Serving) -> None:
    serving.do(lambda server: server.faults.add("any configmaps: answer 403"))
    with pytest.raises(Forbidden), client.mirror("configmaps", fail_fast=True) as mirror:
        mirror.synced(timeout=20)
    with pytest.raises(Forbidden), client.mirror("configmaps", fail_fast=True) as mirror:  # noqa: PT012
        with pytest.raises(Forbidden):
            mirror.ended()
        serving.do(lambda server: server.faults.clear())


def test_changes_are_told_in_the_loops_thread(client: Client, serving: Serving) -> None:
    serving.load("a")
    seen: list[str] = []

    def look(deltas: Sequence[Delta[Any]]) -> None:
        seen.extend(delta.key for delta in deltas)

    with client.mirror("configmaps", on_deltas=look) as mirror:
        mirror.synced(timeout=20)
    assert seen == ["default/a"]


def test_after_it_was_left_it_keeps_what_it_has(client: Client, serving: Serving) -> None:
    serving.load("a")
    with client.mirror("configmaps") as mirror:
        mirror.synced(timeout=20)
    assert "default/a" in mirror.store
    assert str(mirror.health.state) == "stopped"
    with pytest.raises(MirrorStopped):
        mirror.at_least("99999")


def test_it_runs_once_and_entering_it_twice_does_it_no_harm(client: Client) -> None:
    with client.mirror("configmaps") as mirror:
        mirror.synced(timeout=20)
        with pytest.raises(RuntimeError, match="has run already"):
            mirror.__enter__()
        made = client.create({"metadata": {"name": "a"}}, resource="configmaps")
        mirror.at_least(made.resource_version, timeout=20)


def test_stop_ends_it_from_any_thread(client: Client) -> None:
    with client.mirror("configmaps") as mirror:
        waiting = Worker(mirror.ended)
        waiting.blocked()
        mirror.stop()
        waiting.result()
