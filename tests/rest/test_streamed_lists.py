"""A LIST is decoded while its body arrives, and no more of it is held than one read."""

from __future__ import annotations

import asyncio
import json
import tracemalloc
import zlib
from collections.abc import Awaitable, Callable, Iterator

import msgspec
import pytest

import listwatch.rest.request
from listwatch.api import APIError, Unstructured
from listwatch.rest.client import RESTClient
from listwatch.rest.config import ClientConfig
from listwatch.rest.errors import ConnectionLost, TransportTimeout
from listwatch.testing import HANG, MemoryBody, Pause, Reply, in_turn
from listwatch.wire import Encoding, ListDecodeError, ObjectTooLarge
from tests.rest.loopback import Loopback, Peer, authority, chunk
from tests.rest.scripted import PODS, client_of, pod, pod_list
from tests.wire.cbor_items import item

JSON = {"Content-Type": "application/json"}
MIB = 1 << 20


def in_halves(*items: object) -> tuple[bytes, bytes]:
    body = msgspec.json.encode(pod_list(*items))
    return body[: len(body) // 2], body[len(body) // 2 :]


# Without sockets


@pytest.mark.virtual_time
@pytest.mark.clause("C8", "J2")
async def test_each_object_is_shared_as_soon_as_it_has_come() -> None:
    first, second = in_halves(*(pod(f"p-{n}") for n in range(10)))
    body = MemoryBody(first)
    client, transport = client_of(in_turn(Reply(200, body, JSON)))
    seen: list[str] = []
    ours = Unstructured.from_dict(pod("ours"))

    def share(obj: Unstructured) -> Unstructured:
        seen.append(obj.name)
        return ours if obj.name == "p-7" else obj

    listing = asyncio.ensure_future(client.get(PODS).list(share=share))
    await asyncio.sleep(1)
    assert seen == [f"p-{n}" for n in range(4)]
    body.push(second)
    body.end()
    found = await listing
    assert seen == [f"p-{n}" for n in range(10)]
    assert [obj.name for obj in found] == [*seen[:7], "ours", *seen[8:]]
    assert found.items[7] is ours
    assert transport.open_responses == 0


@pytest.mark.virtual_time
@pytest.mark.clause("B9", "C8", "D7")
@pytest.mark.parametrize("encoding", [Encoding.JSON, Encoding.CBOR])
async def test_so_it_is_where_the_kind_comes_behind_the_objects_of_a_known_type(
    encoding: Encoding,
) -> None:
    names = [f"p-{number}" for number in range(10)]
    listed = {
        "items": [{"metadata": {"name": name}} for name in names],
        "kind": "PodList",
        "apiVersion": "v1",
        "metadata": {"resourceVersion": "9"},
    }
    whole = item(listed) if encoding is Encoding.CBOR else msgspec.json.encode(listed)
    body = MemoryBody(whole[: len(whole) // 2])
    client, _ = client_of(
        in_turn(Reply(200, body, {"Content-Type": str(encoding)})), encodings=(encoding,)
    )
    seen: list[Unstructured] = []

    def share(obj: Unstructured) -> Unstructured:
        seen.append(obj)
        return obj

    listing = asyncio.ensure_future(client.get(PODS).list(share=share))
    await asyncio.sleep(1)
    assert [obj.name for obj in seen] == names[: len(seen)]
    assert len(seen) >= 3
    body.push(whole[len(whole) // 2 :])
    body.end()
    found = await listing
    assert [obj.name for obj in found] == names
    assert {(obj.api_version, obj.kind) for obj in found} == {("v1", "Pod")}


@pytest.mark.virtual_time
@pytest.mark.clause("C8", "B8")
@pytest.mark.parametrize(
    ("parts", "raised"),
    [
        ((ConnectionLost("cut"),), ConnectionLost),
        ((Pause(31.0),), TransportTimeout),
        ((b"]]",), ListDecodeError),
        ((), ListDecodeError),
    ],
    ids=["cut", "silent", "damaged", "short"],
)
async def test_a_body_that_breaks_off_is_an_error_and_is_closed(
    parts: tuple[object, ...], raised: type[Exception]
) -> None:
    first, _ = in_halves(*(pod(f"p-{n}") for n in range(10)))
    body = MemoryBody(first, *parts)  # type: ignore[arg-type]
    if raised is ListDecodeError:
        body.end()
    client, transport = client_of(in_turn(Reply(200, body, JSON)))
    with pytest.raises(raised):
        await client.list(PODS)
    assert transport.open_responses == 0


@pytest.mark.virtual_time
@pytest.mark.clause("C8", "B8")
async def test_what_is_wrong_is_said_before_all_of_it_has_come() -> None:
    body = MemoryBody(b'{"kind":"Pod","items":[{"a":1},{"a":2},', HANG)
    client, transport = client_of(in_turn(Reply(200, body, JSON)))
    with pytest.raises(ListDecodeError, match="a Pod where a list was expected"):
        await client.list(PODS)
    assert body.closed
    assert transport.open_responses == 0


@pytest.mark.virtual_time
@pytest.mark.clause("A5")
async def test_a_status_with_200_is_its_error() -> None:
    expired = {"kind": "Status", "status": "Failure", "code": 410, "message": "too old"}
    client, _ = client_of(in_turn(Reply.json(expired)))
    with pytest.raises(APIError, match="too old") as caught:
        await client.list(PODS)
    assert caught.value.is_expired


@pytest.mark.virtual_time
@pytest.mark.clause("C5", "C8")
async def test_one_object_is_bounded_in_a_list_and_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    small, large = pod("small"), pod("large", spec="x" * 1000)
    size = len(json.dumps(large))
    for limit, max_frame in ((size - 1, 10), (10, size - 1)):
        monkeypatch.setattr(listwatch.rest.request, "_LARGEST", limit)
        client, transport = client_of(
            in_turn(Reply.json(pod_list(small, large)), Reply.json(large)), max_frame=max_frame
        )
        with pytest.raises(ListDecodeError, match=f"limit of {size - 1} bytes"):
            await client.list(PODS)
        with pytest.raises(ObjectTooLarge, match=f"limit of {size - 1} bytes"):
            await client.get(PODS, "large", namespace="a")
        assert transport.open_responses == 0


@pytest.mark.virtual_time
@pytest.mark.clause("C5", "H10")
async def test_what_is_too_large_for_a_watch_can_be_had_by_asking_for_it() -> None:
    large = pod("large", spec="x" * 1000)
    client, _ = client_of(in_turn(Reply.json(pod_list(large)), Reply.json(large)), max_frame=10)
    assert [found.name for found in await client.list(PODS)] == ["large"]
    assert (await client.get(PODS, "large", namespace="a")).name == "large"


# Over sockets


def many(count: int, size: int = 3000) -> Iterator[bytes]:
    """A list of pods in pieces of some 64 KiB."""
    spec = b'"spec":{"x":"' + b"y" * size + b'"}}'
    piece = b'{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"7"},"items":['
    for number in range(count):
        piece += b"," if number else b""
        piece += b'{"metadata":{"name":"web-%d","namespace":"x"},' % number + spec
        if len(piece) > 65536:
            yield piece
            piece = b""
    yield piece + b"]}\n"


def one_giant() -> Iterator[bytes]:
    """A list of one pod of 300 MB."""
    yield b'{"kind":"PodList","apiVersion":"v1","metadata":{},"items":[{"metadata":{"name":"'
    piece = b"x" * 65536
    for _ in range(300 * MIB // 65536):
        yield piece
    yield b'"}}]}'


def answering(
    pieces: Callable[[], Iterator[bytes]], *, gzip: bool
) -> Callable[[Peer], Awaitable[None]]:
    async def serve(peer: Peer) -> None:
        await peer.request()
        encoding = "Content-Encoding: gzip\r\n" if gzip else ""
        await peer.begin_chunked(headers=f"Content-Type: application/json\r\n{encoding}")
        packer = zlib.compressobj(level=1, wbits=31)
        for piece in pieces():
            data = packer.compress(piece) if gzip else piece
            if data:
                await peer.send(chunk(data))
        await peer.send((chunk(packer.flush()) if gzip else b"") + b"0\r\n\r\n")
        await peer.wait_gone()

    return serve


class Peak:
    """How much memory the inside of a `with` takes at most, in bytes."""

    bytes = 0

    def __enter__(self) -> Peak:
        tracemalloc.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.bytes = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()


@pytest.mark.clause("C8", "B10")
@pytest.mark.parametrize("tls", [False, True], ids=["plain", "tls"])
@pytest.mark.parametrize("gzip", [False, True], ids=["as it is", "gzip"])
async def test_30_mb_that_nobody_keeps_take_no_memory(gzip: bool, tls: bool) -> None:
    known = Unstructured.from_dict(pod("known"))
    pki = authority() if tls else None
    serve = answering(lambda: many(10_000), gzip=gzip)
    async with (
        Loopback(serve, ssl=pki.server if pki else None) as server,
        RESTClient(
            ClientConfig(server=server.url, ca_data=pki.ca_pem if pki else None), max_retries=0
        ) as client,
    ):
        with Peak() as peak:
            found = await client.get(PODS).list(share=lambda obj: known)
    assert len(found) == 10_000
    assert found.resource_version == "7"
    assert peak.bytes < 6 * MIB


@pytest.mark.clause("C8", "G4")
async def test_a_list_peaks_at_what_is_kept_of_it() -> None:
    async with (
        Loopback(answering(lambda: many(10_000), gzip=True)) as server,
        RESTClient(ClientConfig(server=server.url), max_retries=0) as client,
    ):
        with Peak() as peak:
            found = await client.list(PODS)
    kept = sum(len(obj.raw) for obj in found)
    assert kept > 30_000_000
    assert peak.bytes < kept + 10_000 * 300 + 4 * MIB


@pytest.mark.clause("B10", "C5", "C8")
@pytest.mark.parametrize("verb", ["list", "object"])
async def test_a_gzip_bomb_is_given_up_at_the_limit(verb: str) -> None:
    """300 MB in less than 2, of which 16 MiB are one object too many."""
    async with (
        Loopback(answering(one_giant, gzip=True)) as server,
        RESTClient(ClientConfig(server=server.url), max_retries=0) as client,
    ):
        asked = client.get(PODS).list if verb == "list" else client.get().path("/x").object
        with Peak() as peak, pytest.raises((ListDecodeError, ObjectTooLarge), match="16777216"):
            await asked()
        assert server.peers[0]
        await asyncio.wait_for(server.peers[0].gone.wait(), 30)
    assert peak.bytes < 60 * MIB


@pytest.mark.clause("B10", "C8")
async def test_a_packed_body_that_is_cut_is_a_lost_connection() -> None:
    packed = zlib.compressobj(wbits=31)
    data = b"".join(packed.compress(piece) for piece in many(1000)) + packed.flush()

    async def serve(peer: Peer) -> None:
        await peer.request()
        headers = "Content-Type: application/json\r\nContent-Encoding: gzip\r\n"
        await peer.answer(data[:-5], headers=headers)
        await peer.wait_gone()

    async with (
        Loopback(serve) as server,
        RESTClient(ClientConfig(server=server.url), max_retries=0) as client,
    ):
        with pytest.raises(ConnectionLost, match=r"cannot be unpacked: .* ends too early"):
            await client.list(PODS)
