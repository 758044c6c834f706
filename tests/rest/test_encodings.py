"""Which encodings a request asks for, and what becomes of the answer (B9)."""

from __future__ import annotations

import contextlib
import sys

import pytest

from listwatch.api import (
    APIError,
    Event,
    EventType,
    Expired,
    Forbidden,
    InternalError,
    ListOptions,
    NotFound,
    TooManyRequests,
    Unauthorized,
)
from listwatch.cache import ListWatch, metadata_only
from listwatch.rest.client import RESTClient
from listwatch.rest.config import ClientConfig
from listwatch.rest.errors import InvalidRequest, UnexpectedContent
from listwatch.testing import Match, MemoryTransport, Recording, ReplayServer, Reply, in_turn
from listwatch.wire import Encoding, EncodingUnavailable, codecs_of
from listwatch.wire.media import CBOR, JSON, PROTOBUF
from listwatch.wire.protobuf_object import ProtobufObject, decode_protobuf
from tests.rest.scripted import PODS, WIDGETS, client_of
from tests.support.vectors import vector, vectors

pytestmark = pytest.mark.clause("B9")

LIST = Reply.json({"kind": "PodList", "apiVersion": "v1", "items": []})
FORM = "as=PartialObjectMetadata"


async def accepted(
    *encodings: Encoding, decoder: object = None, form: str = "", watch: bool = False
) -> list[str]:
    """The parts of the Accept header of a LIST or WATCH."""
    transport = MemoryTransport(lambda request: LIST)
    config = ClientConfig(server="https://server")
    async with RESTClient(config, transport=transport, encodings=encodings) as client:
        request = client.get(PODS).form(form)
        if decoder is not None:
            request = request.decoder(decoder)  # type: ignore[arg-type,assignment]
        if watch:
            (await request.watch()).stop()
        else:
            with contextlib.suppress(UnexpectedContent):  # what is asked for is all that counts
                await request.list()
    return transport.requests[0].headers["Accept"].split(", ")


async def test_json_is_what_is_asked_for_where_nothing_is_said() -> None:
    assert await accepted() == [JSON]
    assert await accepted(Encoding.JSON) == [JSON]


async def test_json_is_always_the_last_to_be_asked_for() -> None:
    assert await accepted(Encoding.CBOR) == [CBOR, JSON]
    assert await accepted(Encoding.JSON, Encoding.CBOR) == [CBOR, JSON]


async def test_whole_objects_come_in_protobuf_only_for_who_reads_it() -> None:
    assert await accepted(Encoding.PROTOBUF, Encoding.CBOR) == [CBOR, JSON]
    assert PROTOBUF in await accepted(Encoding.PROTOBUF, decoder=decode_protobuf)


async def test_a_decoder_that_reads_nothing_else_needs_no_word_to_the_client() -> None:
    assert (await accepted(decoder=decode_protobuf))[0] == PROTOBUF


async def test_metadata_is_asked_for_in_each_encoding_and_whole_objects_are_the_fallback() -> None:
    end = ";g=meta.k8s.io;v=v1"
    assert await accepted(
        Encoding.PROTOBUF, Encoding.CBOR, decoder=metadata_only(), form="PartialObjectMetadata"
    ) == [f"{each};{FORM}List{end}" for each in (PROTOBUF, CBOR, JSON)] + [JSON]
    assert await accepted(
        Encoding.PROTOBUF, decoder=metadata_only(), form="PartialObjectMetadata", watch=True
    ) == [f"{each};{FORM}{end}" for each in (PROTOBUF, JSON)] + [JSON]


def test_an_encoding_without_its_package_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delitem(sys.modules, "listwatch.wire.cbor_codec", raising=False)
    monkeypatch.setitem(sys.modules, "cbor2", None)
    for name in [name for name in sys.modules if name.startswith("listwatch.wire.cbor_")]:
        monkeypatch.delitem(sys.modules, name)
    with pytest.raises(EncodingUnavailable, match=r"pip install 'listwatch\[cbor\]'"):
        codecs_of([Encoding.CBOR])


def test_an_encoding_that_is_none_is_refused() -> None:
    with pytest.raises(ValueError, match=r"application/xml.*expected a list of Encoding\.JSON, "):
        codecs_of(["application/xml"])


def _serving(recording: Recording) -> ReplayServer:
    return ReplayServer([recording], match=Match.ORDER)


def _client(server: ReplayServer) -> RESTClient:
    encodings = (Encoding.PROTOBUF, Encoding.CBOR)
    return RESTClient(ClientConfig(server=server.url), max_retries=0, encodings=encodings)


ERRORS = [
    recording.name
    for recording in vectors()
    if recording.status >= 400
    and (recording.headers.get("Content-Type") or "").startswith((PROTOBUF, CBOR))
]


@pytest.mark.clause("A5")
@pytest.mark.parametrize("name", ERRORS)
async def test_an_error_is_the_same_in_every_encoding(name: str) -> None:
    recording = vector(name)
    async with _serving(recording) as server, _client(server) as client:
        with pytest.raises(APIError) as caught:
            await client.read("/")
    assert caught.value.code == recording.status
    assert caught.value.reason
    assert caught.value.message


def test_there_are_such_errors() -> None:
    assert len(ERRORS) >= 5


@pytest.mark.parametrize("name", ["5-list-pom-protobuf-CR", "5-cbor-list-CR"])
async def test_a_list_comes_in_the_encoding_of_the_answer(name: str) -> None:
    async with _serving(vector(name)) as server, _client(server) as client:
        source = ListWatch.from_client(client, WIDGETS, decoder=metadata_only())
        found = await source.alist(ListOptions())
    assert found.resource_version
    assert found.items
    assert all(item.name and item.uid and item.resource_version for item in found)


@pytest.mark.parametrize("name", ["5-watch-pom-protobuf-CR", "5-cbor-watch-accept-cbor"])
async def test_so_does_a_watch(name: str) -> None:
    async with _serving(vector(name)) as server, _client(server) as client:
        source = ListWatch.from_client(client, WIDGETS, decoder=metadata_only())
        async with await source.awatch(ListOptions()) as watch:
            events = [event async for event in watch]
    assert {event.type for event in events} <= set(EventType)
    assert events[0].object.resource_version


async def test_an_expired_watch_is_told_in_cbor() -> None:
    async with (
        _serving(vector("5-cbor-watch-expired")) as server,
        _client(server) as client,
        await client.watch(WIDGETS) as watch,
    ):
        events: list[Event[object]] = [event async for event in watch]  # type: ignore[misc]
    assert events[-1].type is EventType.ERROR
    assert events[-1].status is not None
    assert events[-1].status.reason == Expired.reason_word


async def test_one_whole_object_in_protobuf() -> None:
    async with _serving(vector("5-get-protobuf-CRD")) as server, _client(server) as client:
        found = await client.get(PODS, "x", namespace="y", decoder=decode_protobuf)
    assert isinstance(found, ProtobufObject)
    assert found.kind == "CustomResourceDefinition"
    assert found.name


async def test_an_answer_in_an_encoding_that_was_not_asked_for_is_an_error() -> None:
    recording = vector("5-list-pom-protobuf-CR")
    async with (
        _serving(recording) as server,
        RESTClient(ClientConfig(server=server.url)) as client,
    ):
        with pytest.raises(UnexpectedContent, match="protobuf"):
            await client.list(WIDGETS)


async def test_metadata_of_one_object_in_protobuf() -> None:
    """Also where the server sends the whole object."""
    for name in ("5-get-protobuf-CRD", "k-get-pods-protobuf"):
        async with _serving(vector(name)) as server, _client(server) as client:
            request = client.get(PODS, "x", namespace="y", decoder=metadata_only())
            found = await request.form("PartialObjectMetadata")
        assert found.name
        assert list(found) == ["kind", "apiVersion", "metadata"]


async def test_an_error_for_a_decoder_of_protobuf_is_read_by_a_client_that_was_told_nothing() -> (
    None
):
    async with (
        _serving(vector("k-get-pods-missing-protobuf")) as server,
        RESTClient(ClientConfig(server=server.url)) as client,
    ):
        with pytest.raises(NotFound, match="not found"):
            await client.get(PODS, "x", namespace="y", decoder=decode_protobuf)


async def test_a_decoder_of_what_no_server_writes_is_refused() -> None:
    class Other:
        reads = frozenset({"application/xml"})

        def __call__(self, raw: bytes) -> bytes:
            return raw

    transport = MemoryTransport(lambda request: LIST)
    async with RESTClient(ClientConfig(server="https://server"), transport=transport) as client:
        with pytest.raises(InvalidRequest, match="reads what no server has: 'application/xml'"):
            await client.get(PODS, "x", namespace="y", decoder=Other())


async def test_what_is_written_is_read_from_cbor() -> None:
    async with _serving(vector("k-cbor-create")) as server, _client(server) as client:
        made = await client.create(PODS, {"metadata": {"name": "a", "namespace": "b"}})
    assert made.name
    assert made.kind == "ConfigMap"


async def test_a_missing_object_is_told_in_cbor() -> None:
    async with _serving(vector("k-cbor-get-missing")) as server, _client(server) as client:
        with pytest.raises(NotFound, match="not found"):
            await client.get(PODS, "none", namespace="b")


@pytest.mark.clause("A5")
@pytest.mark.parametrize("encoding", [Encoding.PROTOBUF, Encoding.CBOR])
@pytest.mark.parametrize("body", [b"", b"garbage", b"k8s\0\xff\xff\xff"])
@pytest.mark.parametrize(
    ("code", "kind"),
    [
        (401, Unauthorized),
        (403, Forbidden),
        (410, Expired),
        (429, TooManyRequests),
        (500, InternalError),
    ],
)
async def test_an_error_whose_body_cannot_be_read_is_that_of_its_status(
    encoding: Encoding, body: bytes, code: int, kind: type[APIError]
) -> None:
    answer = Reply(code, body, {"Content-Type": str(encoding)})
    client, _ = client_of(in_turn(answer), encodings=(encoding,), max_retries=0)
    with pytest.raises(kind) as caught:
        await client.get(PODS).form("PartialObjectMetadata").decoder(metadata_only()).list()
    assert caught.value.code == code


@pytest.mark.parametrize("form", ["", "PartialObjectMetadata", "Table"])
async def test_a_decoder_of_what_objects_never_come_in_is_refused(form: str) -> None:
    """CBOR is made JSON before a decoder sees it, and tables come in JSON alone."""

    class Other:
        reads = frozenset({Encoding.PROTOBUF if form == "Table" else Encoding.CBOR})

        def __call__(self, raw: bytes) -> bytes:
            return raw

    client, transport = client_of(in_turn(LIST))
    with pytest.raises(InvalidRequest, match="never come in"):
        await client.get(PODS).form(form).decoder(Other()).list()
    assert transport.requests == []
