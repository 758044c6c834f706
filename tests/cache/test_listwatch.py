"""Four functions, and the way from any of them to any other."""

from __future__ import annotations

import asyncio
import queue
import threading
from collections.abc import Callable, Iterator
from typing import Any, assert_type

import pytest

from listwatch import (
    ClientConfig,
    Event,
    EventType,
    GroupVersionResource,
    ListMeta,
    ListOptions,
    ListWatch,
    ObjectList,
    PartialObjectMetadata,
    RESTClient,
    TooManyRequests,
    decode_dict,
    supports_watch_list,
)
from listwatch.cache import AsyncListerWatcher, BlockingWatch, ListerWatcher
from listwatch.rest import ConnectionLost
from listwatch.testing import MemoryTransport, Reply
from listwatch.watch import EmptyWatch, StreamWatcher, Watch, broken_by

PODS = GroupVersionResource.parse("v1/pods")
EVENT = b'{"type":"ADDED","object":{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a"}}}\n'


def listed(*items: str) -> ObjectList[str]:
    return ObjectList(list(items), ListMeta())


class QueueWatch:
    """A blocking watch that is fed by the test. `close` wakes its reader, as F1 asks."""

    def __init__(self, *names: str) -> None:
        self.events: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self.reading = threading.Event()
        self.closings = 0
        for name in names:
            self.events.put(name)

    def __iter__(self) -> Iterator[Event[str]]:
        self.reading.set()
        while (name := self.events.get()) is not None:
            yield Event(EventType.ADDED, name)

    def close(self) -> None:
        self.closings += 1
        self.events.put(None)


class OneRead:
    """A Decoder of one batch."""

    def __init__(self, *names: str) -> None:
        self.batches = [[Event(EventType.ADDED, name) for name in names], []]

    async def decode(self) -> list[Event[str]]:
        return self.batches.pop(0)

    def close(self) -> None:
        pass


async def no_watch(options: ListOptions) -> Watch[str]:
    return EmptyWatch()


def no_list(options: ListOptions) -> ObjectList[str]:
    return listed()


@pytest.mark.clause("F1")
@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, "list or alist and watch or awatch"),
        ({"list": no_list}, "watch or awatch"),
        ({"awatch": no_watch}, "list or alist"),
    ],
)
def test_one_of_each_pair_is_needed(given: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        ListWatch(**given)


@pytest.mark.clause("F1")
async def test_an_async_caller_gets_the_async_function_where_there_are_both() -> None:
    async def alist(options: ListOptions) -> ObjectList[str]:
        return listed("async")

    async def awatch(options: ListOptions) -> Watch[str]:
        return StreamWatcher(OneRead("async"))

    source = ListWatch(
        list=lambda _: listed("blocking"),
        watch=lambda _: QueueWatch("blocking"),
        alist=alist,
        awatch=awatch,
    )
    assert (await source.alist(ListOptions())).items == ["async"]
    assert [event.object async for event in await source.awatch(ListOptions())] == ["async"]


@pytest.mark.clause("F1")
def test_a_blocking_caller_gets_the_blocking_function_where_there_are_both() -> None:
    async def alist(options: ListOptions) -> ObjectList[str]:
        raise AssertionError

    source = ListWatch(
        list=lambda _: listed("blocking"),
        watch=lambda _: QueueWatch("blocking"),
        alist=alist,
        awatch=no_watch,
    )
    assert source.list(ListOptions()).items == ["blocking"]
    assert next(iter(source.watch(ListOptions()))).object == "blocking"


@pytest.mark.clause("F1")
async def test_an_async_caller_runs_the_blocking_list_in_a_thread() -> None:
    seen: list[threading.Thread] = []

    def blocking(options: ListOptions) -> ObjectList[str]:
        seen.append(threading.current_thread())
        return listed(options.resource_version)

    source = ListWatch(list=blocking, awatch=no_watch)
    assert (await source.alist(ListOptions(resource_version="7"))).items == ["7"]
    assert seen != [threading.main_thread()]


@pytest.mark.clause("F1")
def test_a_blocking_caller_runs_the_async_functions() -> None:
    async def alist(options: ListOptions) -> ObjectList[str]:
        await asyncio.sleep(0)
        return listed(options.resource_version)

    async def awatch(options: ListOptions) -> Watch[str]:
        return StreamWatcher(OneRead("a", "b"))

    source = ListWatch(alist=alist, awatch=awatch)
    assert source.list(ListOptions(resource_version="7")).items == ["7"]
    assert [event.object for event in source.watch(ListOptions())] == ["a", "b"]


@pytest.mark.clause("F1")
async def test_a_blocking_call_inside_a_running_loop_is_refused_in_words() -> None:
    async def alist(options: ListOptions) -> ObjectList[str]:
        raise AssertionError

    source = ListWatch(alist=alist, awatch=no_watch)
    with pytest.raises(RuntimeError, match="use alist"):
        source.list(ListOptions())
    with pytest.raises(RuntimeError, match="awatch"):
        source.watch(ListOptions())


@pytest.mark.clause("F1", "E1")
async def test_a_blocking_watch_gives_its_events_to_an_async_caller() -> None:
    blocking = QueueWatch("a", "b")
    watch = await ListWatch(list=no_list, watch=lambda _: blocking).awatch(ListOptions())
    seen = []
    async with watch:
        async for event in watch:
            seen.append(event.object)
            if len(seen) == 2:
                break
    assert seen == ["a", "b"]
    assert blocking.closings == 1


@pytest.mark.clause("F1", "E3")
async def test_stopping_a_blocking_watch_wakes_its_reader() -> None:
    blocking = QueueWatch()
    watch = await ListWatch(list=no_list, watch=lambda _: blocking).awatch(ListOptions())

    async def read() -> list[Event[str]]:
        return [event async for event in watch]

    reader = asyncio.create_task(read())
    await asyncio.to_thread(blocking.reading.wait)
    watch.stop()
    assert await reader == []


@pytest.mark.clause("F1", "E2")
async def test_what_a_blocking_watch_raises_ends_the_watch_like_any_other_fault() -> None:
    class Broken(QueueWatch):
        def __iter__(self) -> Iterator[Event[str]]:
            raise ZeroDivisionError("bug")

    watch = await ListWatch(list=no_list, watch=lambda _: Broken()).awatch(ListOptions())
    [error] = [event async for event in watch]
    assert error.type is EventType.ERROR


@pytest.mark.clause("F1", "E3")
def test_an_async_watch_can_be_closed_under_a_blocking_reader() -> None:
    waits = threading.Event()

    class Waits(OneRead):
        async def decode(self) -> list[Event[str]]:
            waits.set()
            await asyncio.Event().wait()
            raise AssertionError

    async def awatch(options: ListOptions) -> Watch[str]:
        return StreamWatcher(Waits())

    watch = ListWatch(list=no_list, awatch=awatch).watch(ListOptions())
    seen: list[Event[str]] = []
    reader = threading.Thread(target=lambda: seen.extend(watch))
    reader.start()
    waits.wait()
    watch.close()
    watch.close()
    reader.join()
    assert seen == []
    assert list(watch) == []


@pytest.mark.clause("F1")
def test_a_blocking_watch_that_cannot_be_opened_raises_and_leaves_nothing() -> None:
    async def awatch(options: ListOptions) -> Watch[str]:
        raise ConnectionRefusedError

    with pytest.raises(ConnectionRefusedError):
        ListWatch(list=no_list, awatch=awatch).watch(ListOptions())


@pytest.mark.clause("F2")
async def test_disable_chunking_keeps_the_limit_out() -> None:
    seen: list[ListOptions] = []

    def blocking(options: ListOptions) -> ObjectList[str]:
        seen.append(options)
        return listed()

    options = ListOptions(limit=500, label_selector="a=b")
    for disable_chunking in (True, False):
        source = ListWatch(list=blocking, awatch=no_watch, disable_chunking=disable_chunking)
        source.list(options)
        await source.alist(options)
    assert seen == [options.replace(limit=None)] * 2 + [options] * 2


def answer(request: Any) -> Reply:
    if dict(request.query).get("watch"):
        return Reply(headers={"Content-Type": "application/json"}, body=[EVENT])
    return Reply.json(
        {
            "kind": "PodList",
            "apiVersion": "v1",
            "metadata": {},
            "items": [{"metadata": {"name": "a"}}],
        }
    )


@pytest.mark.clause("F3")
async def test_one_from_a_client_lists_and_watches_its_resource() -> None:
    transport = MemoryTransport(answer)
    async with RESTClient(ClientConfig(server="http://server"), transport=transport) as client:
        source = ListWatch.from_client(client, PODS, "default", "spec.nodeName=n")
        assert [pod.name for pod in await source.alist(ListOptions(limit=5))] == ["a"]
        async with await source.awatch(ListOptions(resource_version="7")) as watch:
            assert [event.object.name async for event in watch] == ["a"]
    asked = [(request.path, request.query) for request in transport.requests]
    assert asked == [
        ("/api/v1/namespaces/default/pods", {"fieldSelector": "spec.nodeName=n", "limit": "5"}),
        (
            "/api/v1/namespaces/default/pods",
            {"fieldSelector": "spec.nodeName=n", "watch": "true", "resourceVersion": "7"},
        ),
    ]
    assert transport.open_responses == 0


@pytest.mark.clause("F3")
def test_one_from_a_client_serves_blocking_callers_too() -> None:
    transport = MemoryTransport(answer)
    client = RESTClient(ClientConfig(server="http://server"), transport=transport)
    source = ListWatch.from_client(client, PODS)
    assert [pod.name for pod in source.list(ListOptions())] == ["a"]
    assert [event.object.name for event in source.watch(ListOptions())] == ["a"]
    assert [request.path for request in transport.requests] == ["/api/v1/pods"] * 2


@pytest.mark.clause("F3", "A1")
async def test_the_modifier_sees_watch_set_and_changes_a_copy() -> None:
    seen: list[bool] = []

    def modify(options: ListOptions) -> ListOptions:
        seen.append(options.watch)
        return options.replace(label_selector="app=web")

    given = ListOptions(resource_version="7")
    transport = MemoryTransport(answer)
    async with RESTClient(ClientConfig(server="http://server"), transport=transport) as client:
        source = ListWatch.from_client_filtered(client, PODS, modify=modify)
        await source.alist(given)
        (await source.awatch(given)).stop()
    assert seen == [False, True]
    assert [request.query["labelSelector"] for request in transport.requests] == ["app=web"] * 2
    assert given == ListOptions(resource_version="7")


@pytest.mark.clause("F3")
async def test_a_getter_is_anything_whose_get_starts_a_request() -> None:
    transport = MemoryTransport(answer)
    async with RESTClient(ClientConfig(server="http://server"), transport=transport) as client:

        class Tracing:
            starts = 0

            def get(self) -> Any:
                self.starts += 1
                return client.get().header("X-Trace", "1")

        getter = Tracing()
        await ListWatch.from_client(getter, PODS).alist(ListOptions())
    assert getter.starts == 1
    assert transport.requests[0].headers["X-Trace"] == "1"


@pytest.mark.clause("F3", "D6")
async def test_one_from_a_client_has_the_selectors_and_the_decoder_that_it_is_given() -> None:
    transport = MemoryTransport(answer)
    async with RESTClient(ClientConfig(server="http://server"), transport=transport) as client:
        source = ListWatch.from_client(
            client, PODS, "default", "spec.nodeName=n", label_selector="a=b", decoder=decode_dict
        )
        assert_type(source, ListWatch[dict[str, Any]])
        assert [pod["metadata"]["name"] for pod in await source.alist(ListOptions())] == ["a"]
        async with await source.awatch(ListOptions()) as watch:
            assert [event.object["metadata"]["name"] async for event in watch] == ["a"]
    for request in transport.requests:
        assert request.query["fieldSelector"] == "spec.nodeName=n"
        assert request.query["labelSelector"] == "a=b"


@pytest.mark.clause("B4", "F3", "H9")
@pytest.mark.virtual_time
@pytest.mark.parametrize(
    ("given", "sent"), [({}, 1), ({"max_retries": 2}, 3), ({"max_retries": None}, 4)]
)
@pytest.mark.parametrize(
    "ask",
    [
        ListWatch.alist,
        lambda source, options: source.alist_shared(options, lambda obj: obj),
        ListWatch.awatch,
        ListWatch.alist_metadata,
    ],
)
async def test_one_from_a_client_sends_a_request_once_unless_it_is_told_otherwise(
    ask: Callable[..., Any], given: dict[str, Any], sent: int
) -> None:
    """There is one owner of repetition: whoever uses the ListWatch."""
    busy = Reply(429, b"", {"Retry-After": "1"})
    transport = MemoryTransport(lambda request: busy)
    config = ClientConfig(server="http://server")
    async with RESTClient(config, transport=transport, max_retries=3) as client:
        for source in (
            ListWatch.from_client(client, PODS, **given),
            ListWatch.from_client_filtered(client, PODS, **given),
        ):
            transport.requests.clear()
            with pytest.raises(TooManyRequests):
                await ask(source, ListOptions())
            assert len(transport.requests) == sent


@pytest.mark.clause("B5", "F3")
async def test_a_watch_from_a_client_that_cannot_be_opened_is_empty_and_says_why() -> None:
    lost = ConnectionLost("gone")
    transport = MemoryTransport(lambda request: lost)
    async with RESTClient(ClientConfig(server="http://server"), transport=transport) as client:
        async with await ListWatch.from_client(client, PODS).awatch(ListOptions()) as watch:
            assert [event async for event in watch] == []
        assert broken_by(watch) is lost
    assert len(transport.requests) == 1


@pytest.mark.clause("B9", "F3", "K11")
async def test_one_from_a_client_lists_metadata_alone() -> None:
    transport = MemoryTransport(answer)
    async with RESTClient(ClientConfig(server="http://server"), transport=transport) as client:
        source = ListWatch.from_client(client, PODS, "default", label_selector="a=b")
        [found] = await source.alist_metadata(ListOptions(limit=5))
    assert isinstance(found, PartialObjectMetadata)
    assert found.name == "a"
    [request] = transport.requests
    assert request.query == {"labelSelector": "a=b", "limit": "5"}
    assert request.headers["Accept"] == (
        "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1, application/json"
    )


@pytest.mark.clause("F1", "F2", "K11")
async def test_metadata_comes_by_the_function_for_it_else_with_the_whole_objects() -> None:
    seen: list[ListOptions] = []

    async def ametadata(options: ListOptions) -> ObjectList[PartialObjectMetadata]:
        seen.append(options)
        return ObjectList([PartialObjectMetadata()], ListMeta())

    options = ListOptions(limit=5)
    without = ListWatch(list=lambda options: listed("whole"), awatch=no_watch)
    assert (await without.alist_metadata(options)).items == ["whole"]
    for disable_chunking in (False, True):
        source = ListWatch(
            list=no_list, awatch=no_watch, ametadata=ametadata, disable_chunking=disable_chunking
        )
        assert (await source.alist_metadata(options)).items == [PartialObjectMetadata()]
    assert seen == [options, options.replace(limit=None)]


@pytest.mark.clause("F4")
def test_a_listwatch_is_what_each_protocol_asks_for() -> None:
    source: ListWatch[str] = ListWatch(list=no_list, awatch=no_watch)
    blocking: ListerWatcher[str] = source
    unblocking: AsyncListerWatcher[str] = source
    watch: BlockingWatch[str] = QueueWatch()
    watch.close()
    assert blocking is unblocking


@pytest.mark.clause("F6")
def test_a_source_may_say_that_it_does_not_support_watchlist() -> None:
    assert supports_watch_list(ListWatch(list=no_list, awatch=no_watch))
    assert not supports_watch_list(
        ListWatch(list=no_list, awatch=no_watch, supports_watch_list=False)
    )
    assert supports_watch_list(object())


@pytest.mark.clause("F1")
async def test_a_blocking_function_may_raise_stop_iteration() -> None:
    # asyncio cannot carry that out of a thread: whoever waited would wait for ever.
    def empty(options: ListOptions) -> ObjectList[str]:
        return next(iter(()))

    def no_stream(options: ListOptions) -> QueueWatch:
        return next(iter(()))

    source = ListWatch(list=empty, watch=no_stream)
    async with asyncio.timeout(10):
        with pytest.raises(RuntimeError, match="StopIteration"):
            await source.alist(ListOptions())
        with pytest.raises(RuntimeError, match="StopIteration"):
            await source.awatch(ListOptions())


@pytest.mark.clause("F1")
async def test_a_blocking_watch_that_is_opened_too_late_is_closed() -> None:
    opening, may_open, closed = threading.Event(), threading.Event(), threading.Event()

    class Late(QueueWatch):
        def close(self) -> None:
            super().close()
            closed.set()

    def watch(options: ListOptions) -> Late:
        opening.set()
        may_open.wait(10)
        return Late()

    source = ListWatch(list=no_list, watch=watch)
    task = asyncio.create_task(source.awatch(ListOptions()))
    await asyncio.to_thread(opening.wait, 10)
    task.cancel()
    await asyncio.wait([task])
    may_open.set()
    assert await asyncio.to_thread(closed.wait, 10)
