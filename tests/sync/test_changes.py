"""`client.watch` in threads: iterating, leaving, back-pressure, Ctrl-C."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import threading
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from listwatch import (
    Delta,
    Event,
    EventType,
    ListOptions,
    MirrorStopped,
    ObjectList,
    Unstructured,
)
from listwatch.api import Forbidden, ListMeta
from listwatch.cache import Changes as AsyncChanges
from listwatch.cache import ListWatch
from listwatch.sync import Changes, Client

from .serving import Serving, Worker, blocked, config_map


def told(delta: Delta[Any]) -> str:
    return f"{delta.type} {delta.key.removeprefix('default/')}"


def test_what_is_there_comes_first_and_then_what_happens(client: Client, serving: Serving) -> None:
    serving.load("a", "b")
    seen = []
    with client.watch("configmaps", namespace="default") as changes:
        for change in changes:
            seen.append(told(change))
            match len(seen):
                case 2:
                    client.create({"metadata": {"name": "c"}}, resource="configmaps")
                case 3:
                    client.patch("configmaps", "a", {"data": {"x": "1"}})
                case 4:
                    client.delete("configmaps", "b")
                case 5:
                    break
        assert sorted(seen[:2]) == ["ADDED a", "ADDED b"]
        assert seen[2:] == ["ADDED c", "MODIFIED a", "DELETED b"]
        assert sorted(changes.store.keys()) == ["default/a", "default/c"]
        assert changes.health.ready


def test_what_goes_wrong_in_between_comes_as_what_has_changed(
    client: Client, serving: Serving
) -> None:
    serving.load("a", "b")
    serving.do(lambda server: server.faults.add("watch configmaps: cut after 3 events, once"))
    with client.watch("configmaps") as changes:
        events = iter(changes)
        seen = [told(next(events)) for _ in range(2)]
        for name in ("c", "d"):
            client.create({"metadata": {"name": name}}, resource="configmaps")
        serving.do(lambda server: server.compact())
        serving.do(lambda server: server.restart())
        seen += [told(next(events)) for _ in range(2)]
    assert sorted(seen) == ["ADDED a", "ADDED b", "ADDED c", "ADDED d"]


def test_what_was_left_in_the_middle_is_gone_on_with(client: Client, serving: Serving) -> None:
    serving.load("a", "b", "c")
    seen = []
    with client.watch("configmaps") as changes:
        for change in changes:
            seen.append(change.key)
            break
        seen += [change.key for change in next(changes.batches())]
        client.create({"metadata": {"name": "d"}}, resource="configmaps")
        seen.append(next(iter(changes)).key)
    assert sorted(seen[:3]) == ["default/a", "default/b", "default/c"]
    assert seen[3:] == ["default/d"]


def test_batches_are_what_arrives_together(client: Client, serving: Serving) -> None:
    serving.load("a", "b", "c")
    with client.watch("configmaps") as changes:
        batch = next(changes.batches())
    assert sorted(change.key for change in batch) == ["default/a", "default/b", "default/c"]


# --- leaving it ------------------------------------------------------------------------------


def test_leaving_the_with_ends_the_watch_on_the_server(client: Client, serving: Serving) -> None:
    serving.load("a")
    with client.watch("configmaps") as changes:
        next(iter(changes))
        serving.until(lambda server: server.watches == 1)
    serving.until(lambda server: server.watches == 0)
    with pytest.raises(MirrorStopped):
        next(iter(changes))


def test_a_bare_for_starts_and_stops_it(client: Client, serving: Serving) -> None:
    serving.load("a")
    changes = client.watch("configmaps")
    for change in changes:
        assert told(change) == "ADDED a"
        break
    gc.collect()  # where counting references does not do
    assert str(changes.health.state) == "stopped"
    serving.until(lambda server: server.watches == 0)
    with pytest.raises(MirrorStopped):
        next(iter(changes))


def test_an_exception_inside_is_the_one_that_comes_out(client: Client, serving: Serving) -> None:
    serving.load("a")
    with pytest.raises(KeyError), client.watch("configmaps") as changes:  # noqa: PT012
        for change in changes:
            raise KeyError(change.key)


def test_stop_wakes_the_consumer_from_another_thread(client: Client) -> None:
    changes = client.watch("configmaps")
    consumer = Worker(lambda: list(changes))
    consumer.blocked()
    changes.stop()
    changes.stop()
    assert consumer.result() == []


def test_closing_the_client_ends_the_iteration(serving: Serving) -> None:
    with serving.client() as client:
        changes = client.watch("configmaps")
        consumer = Worker(lambda: list(changes))
        serving.until(lambda server: server.watches == 1)
        consumer.blocked()
    assert consumer.result() == []


def test_it_has_one_consumer(client: Client) -> None:
    with client.watch("configmaps") as changes:
        consumer = Worker(lambda: list(changes))
        consumer.blocked()
        with pytest.raises(RuntimeError, match="they have one consumer"):
            next(iter(changes))
        changes.stop()
        assert consumer.result() == []


def test_fail_fast_comes_out_of_the_iteration(client: Client, serving: Serving) -> None:
    serving.do(lambda server: server.faults.add("any configmaps: answer 403"))
    with pytest.raises(Forbidden):
        list(client.watch("configmaps", fail_fast=True))


def test_leaving_by_an_iterator_that_the_loop_collects_only_stops_it(
    client: Client, serving: Serving
) -> None:
    serving.load("a")
    changes = client.watch("configmaps")
    holding = [iter(changes)]
    next(holding[0])
    client.run(_forgetting(holding))
    serving.until(lambda server: server.watches == 0)


def _forgetting(holding: list[Any]) -> Callable[[object], Any]:
    async def forget(_: object) -> None:
        with pytest.raises(RuntimeError, match="would wait for itself"):
            holding.pop().close()

    return forget


# --- back-pressure ---------------------------------------------------------------------------


class Supply:
    """A set without objects, and a watch that counts the batches which are asked of it."""

    def __init__(self) -> None:
        self.asked = 0

    async def list(self, options: ListOptions) -> ObjectList[Unstructured]:
        return ObjectList([], ListMeta(resource_version="1"), "ConfigMapList", "v1", [])

    async def watch(self, options: ListOptions) -> Supply:
        return self

    async def batches(self) -> AsyncIterator[list[Event[Unstructured]]]:
        while self.asked < 1000:
            self.asked += 1
            obj = config_map(f"n{self.asked}")
            obj["metadata"] |= {"uid": str(self.asked), "resourceVersion": str(self.asked + 1)}
            yield [Event(EventType.ADDED, Unstructured.from_dict(obj))]
        await asyncio.Event().wait()

    def stop(self) -> None:
        pass

    async def __aenter__(self) -> Supply:
        return self

    async def __aexit__(self, *exc: object) -> None:
        pass


def test_what_is_not_taken_is_not_read(client: Client) -> None:
    supply = Supply()
    source: ListWatch[Unstructured] = ListWatch(
        alist=supply.list, awatch=supply.watch, supports_watch_list=False
    )

    async def make(_: object) -> AsyncChanges[Unstructured]:
        return AsyncChanges(source)

    async def turn(_: object) -> None:
        for _ in range(1000):
            await asyncio.sleep(0)

    with Changes(client, client.run(make)) as changes:
        events = iter(changes)
        for number in range(1, 20):
            assert next(events).key == f"default/n{number}"
            client.run(turn)
            assert supply.asked <= number + 2  # one at hand, one that waits for its turn


# --- Ctrl-C ----------------------------------------------------------------------------------


class Interrupter:
    """Sends this process what Ctrl-C sends, once the main thread waits for the background loop.
    Where it is sent to a thread, it does not wake the main thread, which must find it by itself; so
    it is with one that comes right before that goes to sleep.
    """

    def __init__(self, *, to_thread: bool = False) -> None:
        self._to_thread = to_thread
        self._thread = threading.Thread(target=self._run, name="interrupter")

    def _run(self) -> None:
        blocked(threading.main_thread())
        if self._to_thread:
            signal.pthread_kill(threading.get_ident(), signal.SIGINT)
        else:
            os.kill(os.getpid(), signal.SIGINT)

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(self, *exc: object) -> None:
        self._thread.join()


def test_ctrl_c_comes_out_of_the_wait_for_the_next_change(client: Client, serving: Serving) -> None:
    serving.load("a")
    with pytest.raises(KeyboardInterrupt), client.watch("configmaps") as changes:  # noqa: PT012
        events = iter(changes)
        next(events)
        with Interrupter():
            next(events)
    serving.until(lambda server: server.watches == 0)


def test_who_catches_it_may_go_on_and_has_lost_nothing(client: Client, serving: Serving) -> None:
    serving.load("a")
    with client.watch("configmaps") as changes:
        seen = [next(iter(changes)).key]
        with pytest.raises(KeyboardInterrupt), Interrupter():
            next(iter(changes))
        client.create({"metadata": {"name": "b"}}, resource="configmaps")
        client.create({"metadata": {"name": "c"}}, resource="configmaps")
        events = iter(changes)
        seen += [next(events).key for _ in range(2)]
    assert seen == ["default/a", "default/b", "default/c"]


def test_ctrl_c_that_wakes_nobody_is_found(client: Client, serving: Serving) -> None:
    serving.do(lambda server: server.faults.add("any configmaps: hang"))
    with pytest.raises(KeyboardInterrupt), Interrupter(to_thread=True):
        client.get("configmaps", "a")


def test_ctrl_c_comes_out_of_a_bare_for(client: Client, serving: Serving) -> None:
    with pytest.raises(KeyboardInterrupt), Interrupter():
        list(client.watch("configmaps"))
    serving.until(lambda server: server.watches == 0)


@pytest.mark.parametrize(
    "waiting",
    [
        lambda client: client.get("configmaps", "a"),
        lambda client: client.list("configmaps"),
        lambda client: client.mirror("configmaps").__enter__().synced(),
        lambda client: client.mirror("configmaps").__enter__().at_least("99999"),
        lambda client: client.mirror("configmaps").__enter__().fresh(within=1, timeout=None),
        lambda client: client.informer("configmaps").run(),
    ],
    ids=["get", "list", "synced", "at_least", "fresh", "run"],
)
def test_ctrl_c_comes_out_of_every_call_that_waits(
    client: Client, serving: Serving, waiting: Callable[[Client], object]
) -> None:
    serving.do(lambda server: server.faults.add("any configmaps: hang"))
    client.list("nodes")
    with pytest.raises(KeyboardInterrupt), Interrupter():
        waiting(client)
    assert len(client.list("nodes")) == 0  # and the client goes on
