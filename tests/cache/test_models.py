"""Models in a store: what is the same, what is of another kind, and where they are not as told."""

from __future__ import annotations

import json
from dataclasses import dataclass
from enum import Enum
from typing import Any

import pytest
from kubernetes.client import V1Pod
from msgspec import Struct, field

from listwatch import Event, EventType
from listwatch.cache import Store, Undecodable
from listwatch.wire.models import decoder_for
from tests.support.models import KINDS, Kind, StructMeta

from .scripted import Page, Scripted, Watch, pod, reflecting, settle

pytestmark = pytest.mark.clause("D6")


def raw(version: str, *, uid: str = "u1", x: str = "1") -> bytes:
    metadata = {"name": "a", "namespace": "default", "uid": uid, "resourceVersion": version}
    return json.dumps({"metadata": metadata, "data": {"x": x}}).encode()


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> Kind:
    return KINDS[request.param]


@pytest.fixture
def decode(kind: Kind) -> Any:
    return decoder_for(kind.type)


@pytest.mark.clause("J2")
class TestAReplacement:
    def test_leaves_what_has_the_same_uid_and_version(self, decode: Any) -> None:
        store: Store[Any] = Store()
        store.replace([decode(raw("7"))], "10")
        before = store["default/a"]
        assert store.replace([decode(raw("7"))], "11").deltas == []
        assert store["default/a"] is before

    def test_tells_what_has_another(self, decode: Any) -> None:
        store: Store[Any] = Store()
        store.replace([decode(raw("7"))], "10")
        [delta] = store.replace([decode(raw("8", x="2"))], "11").deltas
        assert (delta.type, delta.recreated) == (EventType.MODIFIED, False)
        [delta] = store.replace([decode(raw("8", uid="u2"))], "12").deltas
        assert (delta.type, delta.recreated) == (EventType.MODIFIED, True)
        assert store.replace([decode(raw("7", uid="u2"))], "13").deltas == []  # it is late
        assert store.late_writes == 1

    @pytest.mark.clause("H18")
    @pytest.mark.parametrize("version", ["7", "6"])
    def test_in_a_new_epoch_compares_contents(self, decode: Any, version: str) -> None:
        store: Store[Any] = Store()
        store.replace([decode(raw("7"))], "10")
        assert store.replace([decode(raw("7"))], "5", new_epoch=True).deltas == []
        [delta] = store.replace([decode(raw(version, x="2"))], "6", new_epoch=True).deltas
        assert delta.type is EventType.MODIFIED

    @pytest.mark.clause("I3")
    def test_of_one_that_was_changed_by_a_reader_is_told_by_what_it_is_now(
        self, kind: Kind, decode: Any
    ) -> None:
        """Whoever changes a model changes the store's: the next state still replaces it."""
        store: Store[Any] = Store()
        store.replace([decode(raw("7"))], "10")
        data = getattr(store["default/a"], "data", None)
        if type(data) is dict:
            data["x"] = "changed"
            assert kind.value(store["default/a"]) == "changed"
        store.apply([Event(EventType.MODIFIED, decode(raw("8", x="2")))])
        assert kind.value(store["default/a"]) == "2"


@pytest.mark.clause("J2", "H18")
def test_objects_that_cannot_be_compared_are_told_rather_than_a_set_refused() -> None:
    @dataclass(eq=False)
    class Broken:
        metadata: Any

        def __eq__(self, other: object) -> bool:
            raise RuntimeError("no comparing")

    metadata = {"name": "a", "resourceVersion": "7"}
    store: Store[Any] = Store()
    store.replace([Broken(metadata)], "10")
    [delta] = store.replace([Broken(metadata)], "5", new_epoch=True).deltas
    assert delta.type is EventType.MODIFIED


@pytest.mark.clause("H10")
@pytest.mark.virtual_time
async def test_a_model_of_another_kind_than_expected_is_contained() -> None:
    def model(name: str, rv: int, kind: str = "Pod") -> Any:
        return decoder_for(V1Pod)(pod(name, rv, kind=kind).raw)

    odd = pod("b", 7, kind="Gizmo").raw
    source = Scripted(Page(model("a", 3), model("odd", 4, "Gizmo"), rv=5), watch := Watch())
    async with reflecting(source) as life:
        watch.send(Event(EventType.ADDED, model("b", 7, "Gizmo"), odd))
        await settle()
        for key in ("default/odd", "default/b"):
            found: Any = life.store.known(key)
            assert isinstance(found, Undecodable)
            assert found.reason == "it is a Gizmo, where a Pod was expected"
        assert life.store.known("default/b").raw == odd
        assert type(life.store.known("default/a")) is V1Pod
        assert source.asked == ["list rv=0 limit=500", "watch rv=5"]


class PodKind(Enum):
    POD = "Pod"
    GIZMO = "Gizmo"


class OfAnEnum(Struct):
    metadata: StructMeta
    kind: PodKind


class OfItsOwn(Struct):
    metadata: StructMeta
    kind: dict[str, str] = field(name="data", default={})


@pytest.mark.clause("H10")
@pytest.mark.virtual_time
async def test_a_kind_may_be_an_enum_or_another_thing_of_that_name() -> None:
    of_enum, of_its_own = decoder_for(OfAnEnum), decoder_for(OfItsOwn)
    source = Scripted(
        Page(
            of_enum(pod("a", 3).raw),
            of_enum(pod("odd", 4, kind="Gizmo").raw),
            of_its_own(pod("b", 5, data={"x": "1"}).raw),
            rv=5,
        ),
        Watch(),
    )
    async with reflecting(source) as life:
        assert sorted(life.store.keys()) == ["default/a", "default/b", "default/odd"]
        assert life.reflector.health.undecodable == ("default/odd",)
        assert "it is a Gizmo, where a Pod was expected" in str(life.errors[0])
