"""A list on its way in holds nothing that the store holds (C8, J2; property 25)."""

from __future__ import annotations

import asyncio
import gc
import tracemalloc
from collections.abc import Callable, Iterator
from typing import Any

import msgspec
import pytest

from listwatch import ListMeta, ListOptions, ObjectList, Unstructured
from listwatch.api import GroupVersionResource
from listwatch.cache import ListWatch, Mirror
from listwatch.cache._assembly import Assembly
from listwatch.cache.identity import identity_of
from listwatch.cache.resolving import ResolvingListWatch
from listwatch.rest import ClientConfig, RESTClient
from listwatch.rest.transport import HTTPRequest
from listwatch.testing import HANG, MemoryTransport, Reply
from listwatch.watch import EmptyWatch, Watch

from .pods import in_a_table, in_protobuf

PODS = GroupVersionResource.parse("v1/pods")
JSON = {"Content-Type": "application/json"}
COUNT, SIZE = 4000, 5000


def pod(number: int, rv: int, size: int = 0) -> Unstructured:
    metadata = {"name": f"p-{number}", "namespace": "d", "uid": f"u{number}"}
    return Unstructured.from_dict(
        {
            "kind": "Pod",
            "apiVersion": "v1",
            "metadata": {**metadata, "resourceVersion": str(rv)},
            "spec": {"x": "y" * size},
        }
    )


def body(rv: int, changed: int) -> list[bytes]:
    """A list in reads of 64 KiB, as servers send typed objects."""
    items = [pod(n, 50 if n < changed else 5, SIZE).to_dict() for n in range(COUNT)]
    for item in items:
        del item["kind"], item["apiVersion"]
    meta = {"resourceVersion": str(rv)}
    whole = {"kind": "PodList", "apiVersion": "v1", "metadata": meta, "items": items}
    data = msgspec.json.encode(whole)
    return [data[at : at + 65536] for at in range(0, len(data), 65536)]


EXPIRED = {"kind": "Status", "status": "Failure", "reason": "Expired", "code": 410}


@pytest.fixture
def traced() -> Iterator[None]:
    gc.collect()
    yield
    tracemalloc.stop()


@pytest.mark.virtual_time
@pytest.mark.clause("C8", "G4", "H14", "J2")
async def test_a_list_and_a_relist_in_one_body_peak_at_what_is_kept(traced: None) -> None:
    lists = iter([Reply(200, body(10, 0), JSON), Reply(200, body(60, COUNT // 50), JSON)])
    go_on = asyncio.Event()
    watches = 0

    async def answer(request: HTTPRequest) -> Reply:
        nonlocal watches
        if "watch" not in dict(request.query):
            return next(lists)
        watches += 1
        if watches > 1:
            return Reply(200, [HANG], JSON)
        await go_on.wait()
        return Reply.json(EXPIRED, status=410)

    sets = asyncio.Queue[None]()
    client = RESTClient(ClientConfig(server="http://x"), transport=MemoryTransport(answer))
    source = ListWatch.from_client(client, PODS)
    source.supports_watch_list = False
    async with client, Mirror(source, on_set=lambda: sets.put_nowait(None)) as mirror:
        tracemalloc.start()  # the bodies were there before: they are the server's affair
        await sets.get()
        first, peak = tracemalloc.get_traced_memory()
        assert first > COUNT * SIZE
        assert peak < 1.1 * first
        before = {obj.key: obj for obj in mirror.store.list()}
        gc.collect()
        kept = tracemalloc.get_traced_memory()[0]
        tracemalloc.reset_peak()
        go_on.set()
        await sets.get()
        peak = tracemalloc.get_traced_memory()[1]
        assert peak < 1.1 * kept
        after = {key: mirror.store.known(key) for key in before}
        changed = {key for key, obj in after.items() if obj is not before[key]}
        assert changed == {f"d/p-{number}" for number in range(COUNT // 50)}


@pytest.mark.clause("J2")
def test_only_the_same_state_of_the_same_object_is_shared() -> None:
    known = pod(1, 5)
    assembly: Assembly[Unstructured] = Assembly({known.key: known}.get, identity_of)
    same, newer, other = pod(1, 5), pod(1, 6), pod(2, 5)
    recreated = Unstructured.from_dict(
        {**known.to_dict(), "metadata": {**known.to_dict()["metadata"], "uid": "other"}}
    )
    otherwise = pod(1, 5, size=1)
    assert assembly.share(same) is known
    for obj in (newer, other, recreated, otherwise):
        assert assembly.share(obj) is obj
    assert len(assembly) == 0
    for obj in (known, other):
        assembly.put(assembly.share(obj))
    assert list(assembly.objects) == [known, other]


@pytest.mark.clause("H18", "J2")
@pytest.mark.parametrize("make_pod", [in_protobuf, in_a_table])
def test_nor_is_another_content_of_the_same_state(make_pod: Callable[..., Any]) -> None:
    known = make_pod("d/a", 5, node="n1")
    assembly: Assembly[Any] = Assembly({"d/a": known}.get, identity_of)
    assert assembly.share(make_pod("d/a", 5, node="n1")) is known
    other = make_pod("d/a", 5, node="n2")
    assert assembly.share(other) is other


async def no_watch(options: ListOptions) -> Watch[str]:
    return EmptyWatch()


async def given(options: ListOptions) -> ObjectList[str]:
    return ObjectList(["a"], ListMeta(resource_version=options.resource_version))


async def given_shared(options: ListOptions, share: Callable[[str], str]) -> ObjectList[str]:
    found = await given(options)
    return ObjectList([share(item) for item in found.items], found.metadata)


@pytest.mark.clause("F1", "F2", "C8")
async def test_a_list_is_shared_by_the_function_for_it_else_not_at_all() -> None:
    options = ListOptions(limit=5)
    without = ListWatch(alist=given, awatch=no_watch)
    assert (await without.alist_shared(options, str.upper)).items == ["a"]
    seen: list[ListOptions] = []

    async def ashared(options: ListOptions, share: Callable[[str], str]) -> ObjectList[str]:
        seen.append(options)
        return await given_shared(options, share)

    for disable_chunking in (False, True):
        source = ListWatch(
            alist=given, awatch=no_watch, ashared=ashared, disable_chunking=disable_chunking
        )
        assert (await source.alist_shared(options, str.upper)).items == ["A"]
        assert (await source.alist(options)).items == ["a"]

        async def find(afresh: bool, source: ListWatch[str] = source) -> tuple[ListWatch[str], str]:
            return source, "example.com/v1/things"

        resolving = ResolvingListWatch(find)
        assert (await resolving.alist_shared(options, str.upper)).items == ["A"]
    assert seen == [options] * 2 + [options.replace(limit=None)] * 2


@pytest.mark.clause("F3", "C8")
async def test_one_from_a_client_shares_with_its_own_options() -> None:
    answer = {"kind": "PodList", "apiVersion": "v1", "items": [pod(1, 5).to_dict()]}
    transport = MemoryTransport(lambda request: Reply.json(answer))
    ours = pod(1, 5)
    async with RESTClient(ClientConfig(server="http://x"), transport=transport) as client:
        source = ListWatch.from_client(client, PODS, "d", label_selector="a=b")
        found = await source.alist_shared(ListOptions(limit=5), lambda obj: ours)
    assert found.items[0] is ours
    assert transport.requests[0].path == "/api/v1/namespaces/d/pods"
    assert transport.requests[0].query == {"labelSelector": "a=b", "limit": "5"}
