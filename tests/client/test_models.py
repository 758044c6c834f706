"""Everybody's models through the whole of it: LIST, watch, relists, stores, handlers (D6).

What is kept is a type's matter; all else is the same, whatever the type.
"""

from __future__ import annotations

import asyncio
from typing import Any

import kubernetes.client as official
import kubernetes_asyncio.client as official_asyncio
import lightkube.resources.core_v1 as lightkube
import pydantic
import pytest

from listwatch import (
    Delta,
    EventType,
    InformerFactory,
    ObjectDecodeError,
    Tombstone,
    drop_annotations,
    identity_of,
    is_newer,
)
from listwatch.cache.reflector_options import ReflectorOptions
from listwatch.client import Client
from listwatch.wire.models import decoder_for
from tests.support.models import FITTING, KINDS, Kind

from .conftest import Bench, ask, config_map, erase, on_server, write
from .following import take

pytestmark = [pytest.mark.virtual_time, pytest.mark.clause("D6")]


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> Kind:
    return KINDS[request.param]


def decoder_of(kind: Kind) -> Any:
    return decoder_for(kind.type)


def shown(mirror: Any, kind: Kind) -> dict[str, str]:
    return {key: kind.version(obj) for key, obj in mirror.store.items()}


async def settled(bench: Bench, mirror: Any, kind: Kind) -> None:
    """The mirror had time to come to what the server has, and did."""
    await asyncio.sleep(30)
    assert shown(mirror, kind) == on_server(bench.core)


def spoilt(raw: bytes) -> bytes:
    """A transform after which hardly a model fits what has `spoilt` in its data. (The server would
    refuse such an object.)
    """
    return raw.replace(b'"data":{"spoilt":"1"}', b'"data":"a text"')


def changes(deltas: list[Delta[Any]]) -> list[tuple[str, str]]:
    return sorted((delta.key, str(delta.type)) for delta in deltas)


@pytest.mark.clause("I1", "I2")
async def test_a_store_shows_what_the_server_has_and_indexes_and_listers_follow(
    bench: Bench, client: Client, kind: Kind
) -> None:
    for name in ("a1", "a2", "b1"):
        write(bench.core, name, x="1")
    write(bench.core, "a3", "kube-system", x="1")
    deltas: list[Delta[Any]] = []
    async with client.mirror(
        "configmaps",
        decoder=decoder_of(kind),
        indexes={"x": lambda obj: [kind.value(obj)]},
        on_deltas=deltas.extend,
    ) as mirror:
        await mirror.synced()
        del deltas[:]
        write(bench.core, "a1", x="2")
        write(bench.core, "c1", x="2")
        erase(bench.core, "b1")
        await settled(bench, mirror, kind)
        assert changes(deltas) == [
            ("default/a1", "MODIFIED"),
            ("default/b1", "DELETED"),
            ("default/c1", "ADDED"),
        ]
        assert {type(obj) for obj in mirror.store.list()} == {kind.kept}
        assert sorted(mirror.store.index_keys("x", "2")) == ["default/a1", "default/c1"]
        assert len(mirror.store.list("default")) == 3
        assert len(mirror.store.list("kube-system")) == 1
        assert mirror.health.undecodable == ()


@pytest.mark.clause("H10")
async def test_so_it_does_where_the_first_set_is_a_list(
    bench: Bench, client: Client, kind: Kind
) -> None:
    for number in range(5):
        write(bench.core, f"a{number}", x="1")
    options = ReflectorOptions(watch_list=False)
    async with client.mirror("configmaps", decoder=decoder_of(kind), options=options) as mirror:
        await mirror.synced()
        assert mirror.health.undecodable == ()
        assert shown(mirror, kind) == on_server(bench.core)


@pytest.mark.clause("K1", "J1")
async def test_handlers_are_told_of_models_and_of_the_last_state_of_what_is_gone(
    bench: Bench, client: Client, kind: Kind
) -> None:
    told: list[tuple[str, Any, Any]] = []
    write(bench.core, "a", x="1")
    informer = client.informer("configmaps", decoder=decoder_of(kind))
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
    (_, first, _), (_, second, before), (_, last, _) = told
    assert [what for what, _, _ in told] == ["add", "update", "delete"]
    assert {type(obj) for obj in (first, second, last)} == {kind.kept}
    assert before is first
    assert [kind.value(obj) for obj in (first, second, last)] == ["1", "2", "2"]
    assert is_newer(kind.version(last), kind.version(second))  # its deletion has an RV of its own


@pytest.mark.clause("J2", "H14")
async def test_a_relist_tells_what_changed_and_nothing_else(
    bench: Bench, client: Client, kind: Kind
) -> None:
    for name in ("a", "b", "c"):
        write(bench.core, name, x="1")
    deltas: list[Delta[Any]] = []
    notes: list[str] = []
    async with client.mirror(
        "configmaps",
        decoder=decoder_of(kind),
        on_deltas=deltas.extend,
        on_note=lambda note: notes.append(str(note)),
    ) as mirror:
        await mirror.synced()
        before = mirror.store["default/a"]
        del deltas[:]
        bench.restart()
        write(bench.core, "b", x="2")
        erase(bench.core, "c")
        write(bench.core, "d")
        bench.core.compact()
        bench.restart()
        await settled(bench, mirror, kind)
        assert mirror.store["default/a"] is before
    assert notes[-1] == "watch expired, relisted: 1 new, 1 changed, 1 vanished"
    assert changes(deltas) == [
        ("default/b", "MODIFIED"),
        ("default/c", "DELETED"),
        ("default/d", "ADDED"),
    ]
    [gone] = [delta for delta in deltas if delta.type is EventType.DELETED]
    assert gone.final_state_unknown
    assert (type(gone.object), kind.value(gone.object)) == (kind.kept, "1")


@pytest.mark.clause("H18")
async def test_in_a_new_epoch_models_are_told_by_their_contents(
    bench: Bench, client: Client, kind: Kind
) -> None:
    for name in ("a", "b"):
        write(bench.core, name, x="1")
    backup = bench.core.backup()
    deltas: list[Delta[Any]] = []
    async with client.mirror(
        "configmaps", decoder=decoder_of(kind), on_deltas=deltas.extend
    ) as mirror:
        await mirror.synced()
        before = mirror.store["default/a"]
        for turn in range(5):
            write(bench.core, "b", x=str(turn))
        await asyncio.sleep(1)
        del deltas[:]
        bench.transport.service.restart("back", backup=backup)
        await asyncio.sleep(60)
        await settled(bench, mirror, kind)
        assert mirror.store.epoch == 1
        assert mirror.store["default/a"] is before
        assert kind.value(mirror.store["default/b"]) == "1"
    assert changes(deltas) == [("default/b", "MODIFIED")]


@pytest.mark.clause("H10")
@pytest.mark.parametrize("name", FITTING)
async def test_what_does_not_fit_is_contained_and_named_and_the_rest_goes_on(
    bench: Bench, client: Client, name: str
) -> None:
    kind = KINDS[name]
    for each in ("good", "listed", "watched", "gone"):
        write(bench.core, each, x="1")
    write(bench.core, "listed", spoilt="1")
    told: list[str] = []
    ends: list[Any] = []
    informer = client.informer(
        "configmaps",
        decoder=decoder_of(kind),
        transforms=[spoilt],
        on_error=lambda source, error: told.append(str(error)),
    )
    informer.add_handler(on_delete=ends.append, inline=True)
    async with informer:
        await informer.synced()
        write(bench.core, "watched", spoilt="1")
        write(bench.core, "gone", spoilt="1")
        await asyncio.sleep(1)
        assert set(informer.health.undecodable) == {
            f"default/{each}" for each in ("listed", "watched", "gone")
        }
        with pytest.raises(ObjectDecodeError, match=r"default/watched: .* does not fit .*\$\.data"):
            informer.store["default/watched"]
        erase(bench.core, "gone")
        write(bench.core, "listed", x="2")
        write(bench.core, "good", x="2")
        await asyncio.sleep(1)
        values = {key: kind.value(obj) for key, obj in informer.store.items()}
        assert values == {"default/good": "2", "default/listed": "2"}
        assert informer.health.undecodable == ("default/watched",)
    for each in ("listed", "watched", "gone"):
        assert any(f"default/{each}" in error for error in told)
    # Its end cannot be read, but a state before that could.
    [last] = ends
    assert isinstance(last, Tombstone)
    assert (type(last.object), kind.value(last.object)) == (kind.kept, "1")


@pytest.mark.clause("I4")
async def test_transforms_come_before_models(bench: Bench, client: Client, kind: Kind) -> None:
    obj = config_map("a", x="1")
    obj["metadata"]["annotations"] = {"secret": "hidden", "b": "2"}
    bench.load(obj)
    async with client.mirror(
        "configmaps", decoder=decoder_of(kind), transforms=[drop_annotations("secret")]
    ) as mirror:
        await mirror.synced()
        found: Any = mirror.store["default/a"]
        assert kind.value(found) == "1"
        if kind.whole:
            by_key = isinstance(found, dict) and not hasattr(found, "metadata")
            metadata = found["metadata"] if by_key else found.metadata
            assert (metadata["annotations"] if by_key else metadata.annotations) == {"b": "2"}


@pytest.mark.clause("K9")
async def test_several_sources_are_one_store(bench: Bench, client: Client, kind: Kind) -> None:
    write(bench.core, "a", "default", x="1")
    write(bench.core, "a", "kube-system", x="1")
    write(bench.core, "a", "kube-public", x="1")
    informer = client.informer(
        "configmaps", namespaces=["default", "kube-system"], decoder=decoder_of(kind)
    )
    async with informer:
        await informer.synced()
        write(bench.core, "a", "kube-system", x="2")
        await asyncio.sleep(1)
        values = {key: kind.value(obj) for key, obj in informer.store.items()}
    assert values == {"default/a": "1", "kube-system/a": "2"}


async def test_a_watch_and_a_list_and_a_get_take_models(
    bench: Bench, client: Client, kind: Kind
) -> None:
    write(bench.core, "a", x="1")
    [change] = await take(client.watch("configmaps", decoder=decoder_of(kind)), 1)
    found = await client.list("configmaps", decoder=decoder_of(kind))
    one = await client.get("configmaps", "a", namespace="default", decoder=decoder_of(kind))
    assert [kind.value(obj) for obj in (change.object, *found.items, one)] == ["1"] * 3
    assert found.undecodable == []


@pytest.mark.parametrize(
    "model",
    [official.V1Node, official_asyncio.V1Node, lightkube.Node],
    ids=lambda each: each.__module__,
)
async def test_what_has_no_namespace_has_none(bench: Bench, client: Client, model: Any) -> None:
    bench.load({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1"}})
    async with client.mirror("nodes", decoder=decoder_for(model)) as mirror:
        await mirror.synced()
        assert list(mirror.store.keys()) == ["n1"]
        assert type(mirror.store["n1"]) is model


async def test_informers_of_a_factory_are_shared_by_type(client: Client) -> None:
    factory = InformerFactory(client)
    first = factory.informer("configmaps", decoder=decoder_for(official.V1ConfigMap))
    again = factory.informer("configmaps", decoder=decoder_for(official.V1ConfigMap))
    assert first is again


class Nameless(pydantic.BaseModel):
    data: dict[str, str] = {}


class Versionless(pydantic.BaseModel):
    class Meta(pydantic.BaseModel):
        name: str
        namespace: str
        uid: str

    metadata: Meta


class Numbered(pydantic.BaseModel):
    class Meta(pydantic.BaseModel):
        name: str
        namespace: str
        uid: str
        resourceVersion: int  # noqa: N815

    metadata: Meta


@pytest.mark.clause("H10")
@pytest.mark.parametrize(
    ("model", "lacks"),
    [
        (Nameless, "name and namespace and uid and resourceVersion"),
        (Versionless, "resourceVersion"),
        (Numbered, "resourceVersion"),
    ],
)
async def test_a_model_that_lacks_what_a_store_needs_says_so(
    bench: Bench, client: Client, model: Any, lacks: str
) -> None:
    write(bench.core, "a", x="1")
    async with client.mirror("configmaps", decoder=decoder_for(model)) as mirror:
        await mirror.synced()
        said = mirror.store.undecodable["default/a"].reason
    assert f"a {model.__name__} does not show {lacks} in its metadata: a watch or mirror" in said
    assert "as text" in said


CLASSES = ("Struct", "Struct, renamed", "dataclass", "attrs")
"""They may make something of bytes themselves."""


@pytest.mark.parametrize("name", [name for name in KINDS if name not in CLASSES])
def test_a_model_in_the_place_of_its_decoder_is_refused(client: Client, name: str) -> None:
    model = KINDS[name].type
    for method in (client.mirror, client.watch, client.informer):
        with pytest.raises(TypeError, match=rf"decoder=decoder_for\({model.__qualname__}\)"):
            method("configmaps", decoder=model)


async def test_a_change_of_what_a_model_does_not_know_is_told_all_the_same(
    bench: Bench, client: Client
) -> None:
    write(bench.core, "a", x="1")
    deltas: list[Delta[Any]] = []
    async with client.mirror(
        "configmaps", decoder=decoder_for(KINDS["pydantic"].type), on_deltas=deltas.extend
    ) as mirror:
        await mirror.synced()
        path = "/api/v1/namespaces/default/configmaps/a"
        assert ask(bench.core, "PUT", path, {**config_map("a", x="1"), "immutable": False}) == 200
        await asyncio.sleep(1)
    assert [delta.type for delta in deltas] == [EventType.ADDED, EventType.MODIFIED]
    assert identity_of(deltas[1].old) != identity_of(deltas[1].object)
