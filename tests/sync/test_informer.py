"""Informers, their handlers and factories, and conditions, in threads."""

from __future__ import annotations

import queue
import threading
from typing import Any

import pytest

from listwatch import GroupVersionResource, ListWatch, NotFound
from listwatch.cache.until import NotMet
from listwatch.client import Client as AsyncClient
from listwatch.sync import Client, InformerFactory, until, until_with_sync

from .serving import LIMIT, Serving, Worker

_CONFIG_MAPS = GroupVersionResource.parse("v1/configmaps")


class Told:
    """A handler that puts what it is told where a test finds it."""

    def __init__(self) -> None:
        self.heard: queue.Queue[tuple[str, str]] = queue.Queue()

    def on_add(self, obj: Any, in_initial_list: bool) -> None:
        self.heard.put(("add", obj.name))

    def on_update(self, old: Any, new: Any) -> None:
        self.heard.put(("update", new.name))

    def on_delete(self, obj: Any) -> None:
        self.heard.put(("delete", obj.name))

    def next(self) -> tuple[str, str]:
        return self.heard.get(timeout=LIMIT)


@pytest.mark.clause("K1", "K3")
def test_handlers_are_told_what_changes(client: Client, serving: Serving) -> None:
    serving.load("a")
    told = Told()
    informer = client.informer("configmaps", namespaces=["default"])
    registration = informer.add_handler(told, name="told")
    with informer:
        informer.synced(timeout=LIMIT)
        registration.synced(timeout=LIMIT)
        assert (registration.name, registration.told, registration.failures) == ("told", 1, 0)
        assert informer.is_synced
        assert registration.is_synced
        client.patch("configmaps", "a", {"data": {"x": "1"}})
        client.delete("configmaps", "a")
        assert [told.next() for _ in range(3)] == [("add", "a"), ("update", "a"), ("delete", "a")]
        assert len(informer.store) == 0
        informer.fresh(within=5.0)
        assert informer.health.ready


@pytest.mark.clause("K1")
def test_a_plain_handler_may_make_blocking_calls(client: Client, serving: Serving) -> None:
    serving.load("a")
    found: queue.Queue[str] = queue.Queue()

    def added(obj: Any, in_initial_list: bool) -> None:
        found.put(client.get("configmaps", obj.name).key)

    with client.informer("configmaps") as informer:
        informer.add_handler(on_add=added)
        assert found.get(timeout=LIMIT) == "default/a"


def test_an_inline_handler_that_makes_one_is_told_so(client: Client, serving: Serving) -> None:
    serving.load("a")
    raised: queue.Queue[str] = queue.Queue()

    def added(obj: Any, in_initial_list: bool) -> None:
        try:
            client.get("configmaps", obj.name)
        except RuntimeError as error:
            raised.put(str(error))

    with client.informer("configmaps") as informer:
        informer.add_handler(on_add=added, inline=True)
        assert "would wait for itself" in raised.get(timeout=LIMIT)
        informer.synced(timeout=LIMIT)


@pytest.mark.clause("K5")
def test_a_removed_handler_is_told_nothing_more(client: Client) -> None:
    first, second = Told(), Told()
    with client.informer("configmaps") as informer:
        registration = informer.add_handler(first)
        informer.add_handler(second)
        client.create({"metadata": {"name": "a"}}, resource="configmaps")
        assert first.next() == second.next() == ("add", "a")
        informer.remove_handler(registration)
        registration.removed()
        registration.remove()
        client.create({"metadata": {"name": "b"}}, resource="configmaps")
        assert second.next() == ("add", "b")
        assert first.heard.empty()
        assert registration.queued == 0


@pytest.mark.clause("K5")
def test_a_handler_may_remove_itself_but_not_wait_for_its_own_end(client: Client) -> None:
    said: queue.Queue[str] = queue.Queue()

    def added(obj: Any, in_initial_list: bool) -> None:
        try:
            registration.removed()
        except RuntimeError as error:
            said.put(str(error))
        registration.remove()

    with client.informer("configmaps") as informer:
        registration = informer.add_handler(on_add=added)
        client.create({"metadata": {"name": "a"}}, resource="configmaps")
        assert "cannot wait for its own end" in said.get(timeout=LIMIT)
        registration.removed()


def test_run_goes_on_until_it_is_stopped(client: Client) -> None:
    told = Told()
    informer = client.informer("configmaps")
    informer.add_handler(told)
    running = Worker(informer.run)
    client.create({"metadata": {"name": "a"}}, resource="configmaps")
    assert told.next() == ("add", "a")
    informer.stop()
    running.result()


def test_a_handler_that_is_at_work_ends_with_its_informer(client: Client) -> None:
    began, go_on = threading.Event(), threading.Event()

    def added(obj: Any, in_initial_list: bool) -> None:
        began.set()
        assert go_on.wait(LIMIT)

    with client.informer("configmaps") as informer:
        registration = informer.add_handler(on_add=added)
        client.create({"metadata": {"name": "a"}}, resource="configmaps")
        assert began.wait(LIMIT)
        leaving = Worker(registration.removed)
        leaving.blocked()
        go_on.set()
        leaving.result()


# --- factory ---------------------------------------------------------------------------------


@pytest.mark.clause("K8")
def test_a_factory_shares_informers(client: Client, serving: Serving) -> None:
    serving.load("a")
    told = [Told(), Told()]
    factory = InformerFactory(client)
    for each in told:
        factory.informer("configmaps").add_handler(each)
    nodes = factory.informer("nodes")
    assert len(factory.informers) == 2
    with factory:
        factory.synced(timeout=LIMIT)
        assert [each.next() for each in told] == [("add", "a"), ("add", "a")]
        assert nodes.is_synced
    serving.until(lambda server: server.watches == 0)


def test_a_factory_runs_until_it_is_stopped(client: Client) -> None:
    told = Told()
    factory = InformerFactory(client)
    factory.informer("configmaps").add_handler(told)
    running = Worker(factory.run)
    client.create({"metadata": {"name": "a"}}, resource="configmaps")
    assert told.next() == ("add", "a")
    factory.stop()
    running.result()


# --- conditions ------------------------------------------------------------------------------


def config_maps(client: Client) -> Any:
    async def source(inner: AsyncClient) -> Any:
        return ListWatch.from_client(inner.rest, _CONFIG_MAPS, "default")

    return client.run(source)


@pytest.mark.clause("L3")
def test_a_condition_on_an_informer_is_waited_for(client: Client, serving: Serving) -> None:
    serving.load("a", x="1")
    with client.informer("configmaps") as informer:
        waiting = Worker(
            lambda: until_with_sync(
                informer, lambda change: change.object["data"]["x"] == "2", timeout=LIMIT
            )
        )
        waiting.blocked()
        client.patch("configmaps", "a", {"data": {"x": "2"}})
        change = waiting.result()
    assert change is not None
    assert change.key == "default/a"


@pytest.mark.clause("L3")
def test_a_condition_on_a_source_is_waited_for(client: Client, serving: Serving) -> None:
    serving.load("a", x="1")
    source = config_maps(client)
    change = until_with_sync(source, lambda change: change.key == "default/a", timeout=LIMIT)
    assert change is not None
    assert until_with_sync(source, lambda _: False, precondition=len, timeout=LIMIT) is None
    with pytest.raises(NotMet):
        until_with_sync(source, lambda _: False, timeout=0.1)


@pytest.mark.clause("L3")
def test_an_event_from_a_resource_version_on_is_waited_for(
    client: Client, serving: Serving
) -> None:
    serving.load("a")
    since = client.list("configmaps").resource_version
    client.delete("configmaps", "a")
    event = until(config_maps(client), since, lambda event: event.type == "DELETED", timeout=LIMIT)
    assert event.object.name == "a"
    with pytest.raises(NotFound):
        client.get("configmaps", "a")


def test_conditions_are_waited_for_without_a_client() -> None:
    def refuse(*_: Any) -> Any:
        raise ConnectionRefusedError("nobody is there")

    with pytest.raises(NotMet):
        until_with_sync(ListWatch(list=refuse, watch=refuse), lambda _: True, timeout=0.1)
