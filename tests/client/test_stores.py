"""What a store keeps is its decoder's matter; all else is the same, whatever it keeps."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest
from msgspec import Struct

from listwatch import (
    CompactMetadataObject,
    CompactObject,
    Delta,
    EventType,
    MetadataObject,
    ObjectDecodeError,
    ReflectorOptions,
    Tombstone,
    Unstructured,
    compact,
    decode_unstructured,
    drop_annotations,
    drop_managed_fields,
    metadata_only,
    typed,
)
from listwatch.client import Client
from listwatch.rest.transport import HTTPRequest

from .conftest import Bench, config_map, erase, on_server, widget, widget_definition, write

pytestmark = pytest.mark.virtual_time


class Metadata(Struct, frozen=True, gc=False, rename="camel"):
    name: str
    namespace: str
    uid: str
    resource_version: str
    labels: dict[str, str] = {}


class ConfigMap(Struct, frozen=True, gc=False):
    metadata: Metadata
    data: dict[str, str] = {}


KINDS: dict[str, tuple[Any, type]] = {
    "default": (decode_unstructured, Unstructured),
    "typed": (typed(ConfigMap), ConfigMap),
    "typed, shared": (typed(ConfigMap, share=True), ConfigMap),
    "compact by zlib": (compact("zlib"), CompactObject),
    "compact by zstd": (compact("zstd"), CompactObject),
    "metadata only": (metadata_only(), MetadataObject),
    "metadata only, compact": (metadata_only(compact=True), CompactMetadataObject),
}
WHOLE = [name for name in KINDS if not name.startswith("metadata")]


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> tuple[Any, type]:
    return KINDS[request.param]


def by_first_letter(obj: Any) -> list[str]:
    return [obj.metadata.name[0]]


def shown(mirror: Any) -> dict[str, str]:
    return {key: obj.metadata.resource_version for key, obj in mirror.store.items()}


async def is_shown(bench: Bench, mirror: Any) -> bool:
    await asyncio.sleep(30)
    return shown(mirror) == on_server(bench.core)


@pytest.mark.clause("I1", "I2")
async def test_the_store_shows_what_the_server_has_and_indexes_follow(
    bench: Bench, client: Client, kind: tuple[Any, type]
) -> None:
    decoder, type_ = kind
    for name in ("a1", "a2", "b1"):
        write(bench.core, name, x="1")
    deltas: list[Delta[Any]] = []
    async with client.mirror(
        "cm", decoder=decoder, indexes={"letter": by_first_letter}, on_deltas=deltas.extend
    ) as mirror:
        await mirror.synced()
        assert await is_shown(bench, mirror)
        write(bench.core, "a1", x="2")
        write(bench.core, "c1")
        erase(bench.core, "b1")
        await asyncio.sleep(1)
        assert await is_shown(bench, mirror)
        assert {type(obj) for obj in mirror.store.list()} == {type_}
        assert sorted(mirror.store.index_values("letter")) == ["a", "c"]
        assert sorted(mirror.store.index_keys("letter", "a")) == ["default/a1", "default/a2"]
        assert [obj.metadata.name for obj in mirror.store.list("default")] == ["a1", "a2", "c1"]
        assert mirror.health.undecodable == ()
    changes = [(delta.type, delta.key, delta.old is not None) for delta in deltas[3:]]
    assert sorted(changes) == [
        (EventType.ADDED, "default/c1", False),
        (EventType.DELETED, "default/b1", True),
        (EventType.MODIFIED, "default/a1", True),
    ]


async def test_handlers_are_told_of_the_objects_and_their_states_before(
    bench: Bench, client: Client, kind: tuple[Any, type]
) -> None:
    decoder, type_ = kind
    told: list[tuple[str, Any, Any]] = []
    write(bench.core, "a", x="1")
    informer = client.informer("cm", decoder=decoder)
    informer.add_handler(
        on_add=lambda obj, initial: told.append(("add", obj, None)),
        on_update=lambda old, new: told.append(("update", new, old)),
        on_delete=lambda obj: told.append(("delete", obj, None)),
        inline=True,
    )
    async with informer:
        await informer.synced()
        write(bench.core, "a", x="2")
        await asyncio.sleep(1)
        erase(bench.core, "a")
        await asyncio.sleep(1)
    assert [what for what, _, _ in told] == ["add", "update", "delete"]
    (_, first, _), (_, second, before), (_, last, _) = told
    assert before is first
    assert not isinstance(last, Tombstone)
    assert {type(obj) for obj in (first, second, last)} == {type_}
    versions = [obj.metadata.resource_version for obj in (first, second, last)]
    assert versions == sorted(set(versions), key=int)


@pytest.mark.clause("J2", "H14")
async def test_a_relist_keeps_the_objects_that_are_the_same_and_tells_the_rest(
    bench: Bench, client: Client, kind: tuple[Any, type]
) -> None:
    decoder, _ = kind
    for name in ("a", "b", "c"):
        write(bench.core, name, x="1")
    deltas: list[Delta[Any]] = []
    notes: list[str] = []
    async with client.mirror(
        "cm",
        decoder=decoder,
        on_deltas=deltas.extend,
        on_note=lambda note: notes.append(str(note)),
    ) as mirror:
        await mirror.synced()
        before = mirror.store["default/a"]
        bench.restart()
        write(bench.core, "b", x="2")
        erase(bench.core, "c")
        write(bench.core, "d")
        bench.core.compact()
        bench.restart()
        assert await is_shown(bench, mirror)
        assert mirror.store["default/a"] is before
    assert notes[-1] == "watch expired, relisted: 1 new, 1 changed, 1 vanished"
    changes = sorted((delta.key, str(delta.type)) for delta in deltas[3:])
    assert changes == [
        ("default/b", "MODIFIED"),
        ("default/c", "DELETED"),
        ("default/d", "ADDED"),
    ]


@pytest.mark.clause("H10")
async def test_what_a_type_does_not_fit_is_contained(bench: Bench, client: Client) -> None:
    class Strict(Struct):
        metadata: Metadata
        data: dict[str, int] = {}

    write(bench.core, "good")
    write(bench.core, "bad", x="no number")
    async with client.mirror("cm", decoder=typed(Strict)) as mirror:
        await mirror.synced()
        assert [obj.metadata.name for obj in mirror.store.list()] == ["good"]
        assert mirror.health.undecodable == ("default/bad",)
        with pytest.raises(ObjectDecodeError, match="does not fit Strict"):
            mirror.store["default/bad"]


@pytest.mark.clause("I4")
async def test_transforms_come_before_whatever_keeps_the_objects(
    bench: Bench, client: Client, kind: tuple[Any, type]
) -> None:
    decoder, _ = kind
    annotations = {"secret": "hidden", "b": "2"}
    obj = config_map("a")
    obj["metadata"]["annotations"] = annotations
    bench.load(obj)
    async with client.mirror(
        "cm", decoder=decoder, transforms=[drop_managed_fields, drop_annotations("secret")]
    ) as mirror:
        await mirror.synced()
        found: Any = mirror.store["default/a"]
        if not isinstance(found, ConfigMap):
            assert found.metadata.annotations == {"b": "2"}
            assert b"managedFields" not in found.raw
            assert b"hidden" not in found.raw


@pytest.mark.parametrize("name", WHOLE)
async def test_whole_objects_are_whole(bench: Bench, client: Client, name: str) -> None:
    decoder, _ = KINDS[name]
    write(bench.core, "a", x="1")
    async with client.mirror("cm", decoder=decoder) as mirror:
        await mirror.synced()
        found: Any = mirror.store["default/a"]
        data = found.data if isinstance(found, ConfigMap) else found["data"]
        assert data == {"x": "1"}


async def test_a_watch_takes_them_too(bench: Bench, client: Client, kind: tuple[Any, type]) -> None:
    decoder, type_ = kind
    write(bench.core, "a")
    async with client.watch("cm", decoder=decoder) as changes:
        async for change in changes:
            assert (change.key, type(change.object)) == ("default/a", type_)
            break


class Accepts:
    """Which forms were asked for."""

    def __init__(self, bench: Bench, monkeypatch: pytest.MonkeyPatch, *, understood: bool) -> None:
        self.seen: list[tuple[bool, str]] = []
        send = bench.transport.send

        async def listening(request: HTTPRequest) -> Any:
            accept = request.headers.get("Accept", "")
            if request.path.startswith(("/api/v1/", "/apis/example.com/v1/")):
                self.seen.append((("watch", "true") in request.query, accept))
            if not understood:
                request = _with_accept(request, "application/json")
            return await send(request)

        monkeypatch.setattr(bench.transport, "send", listening)


def _with_accept(request: HTTPRequest, accept: str) -> HTTPRequest:
    return replace(request, headers={**request.headers, "Accept": accept})


META = "g=meta.k8s.io;v=v1"
LIST = f"application/json;as=PartialObjectMetadataList;{META}, application/json"
WATCH = f"application/json;as=PartialObjectMetadata;{META}, application/json"


@pytest.mark.clause("B9")
class TestMetadataOnly:
    @pytest.mark.parametrize("understood", [True, False])
    @pytest.mark.parametrize("watch_list", [True, False])
    async def test_is_asked_for_and_whole_objects_do_as_well(
        self,
        bench: Bench,
        client: Client,
        monkeypatch: pytest.MonkeyPatch,
        understood: bool,
        watch_list: bool,
    ) -> None:
        accepts = Accepts(bench, monkeypatch, understood=understood)
        write(bench.core, "a", x="1")
        async with client.mirror(
            "cm",
            decoder=metadata_only(),
            options=ReflectorOptions(watch_list=watch_list),
        ) as mirror:
            await mirror.synced()
            write(bench.core, "b", x="1")
            await asyncio.sleep(1)
            assert await is_shown(bench, mirror)
            for obj in mirror.store.list():
                assert (obj.kind, obj.api_version) == ("ConfigMap", "v1")
                assert list(obj) == ["kind", "apiVersion", "metadata"]
            assert mirror.health.undecodable == ()
        assert {accept for watch, accept in accepts.seen if watch} == {WATCH}
        assert {accept for watch, accept in accepts.seen if not watch} == (
            set() if watch_list else {LIST}
        )

    async def test_is_asked_for_through_transforms_too(
        self, bench: Bench, client: Client, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        accepts = Accepts(bench, monkeypatch, understood=True)
        write(bench.core, "a", x="1")
        async with client.mirror(
            "cm",
            decoder=metadata_only(),
            transforms=[drop_annotations("x")],
        ) as mirror:
            await mirror.synced()
            assert await is_shown(bench, mirror)
        assert {accept for _, accept in accepts.seen} == {WATCH}

    async def test_is_asked_for_of_custom_resources(
        self, bench: Bench, client: Client, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        bench.load(widget_definition(), widget("a"))
        await asyncio.sleep(5)
        accepts = Accepts(bench, monkeypatch, understood=True)
        async with client.mirror("widgets", decoder=metadata_only()) as mirror:
            await mirror.synced(timeout=30)
            found = mirror.store["default/a"]
            assert (found.kind, found.api_version) == ("Widget", "example.com/v1")
        assert {accept for _, accept in accepts.seen} <= {LIST, WATCH}

    async def test_is_not_asked_for_by_anybody_else(
        self, bench: Bench, client: Client, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        accepts = Accepts(bench, monkeypatch, understood=True)
        async with client.mirror("cm", decoder=compact()) as mirror:
            await mirror.synced()
        assert {accept for _, accept in accepts.seen} == {"application/json"}


@pytest.mark.parametrize("name", [name for name in WHOLE if not name.startswith("typed")])
async def test_an_object_is_sent_back_as_what_it_is(
    bench: Bench, client: Client, name: str
) -> None:
    decoder, _ = KINDS[name]
    write(bench.core, "a", x="1")
    async with client.mirror("cm", decoder=decoder) as mirror:
        await mirror.synced()
        found: Any = mirror.store["default/a"]
        erase(bench.core, "a")
        fresh = found.edit()
        del fresh["metadata"]["resourceVersion"]
        made = await client.create(fresh)
        again = await client.replace(decoder(made.raw))
        assert again["data"] == {"x": "1"}
