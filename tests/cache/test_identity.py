"""What a store knows an object by."""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import pytest
from msgspec import Struct

from listwatch import FrozenDict, MalformedObject, PartialObjectMetadata, Unstructured
from listwatch.cache import Identity, Undecodable, identity_of
from listwatch.cache.identity import for_entries, read_identity
from listwatch.wire.models import decoder_for
from tests.support.models import KINDS

pytestmark = pytest.mark.clause("A3", "I1")

RAW = b'{"metadata":{"name":"web","namespace":"default","uid":"u1","resourceVersion":"7"}}'
NAMES = {"name": "web", "namespace": "default", "uid": "u1", "resourceVersion": "7"}


@dataclass
class Meta:
    name: str | None = "web"
    namespace: str | None = "default"
    uid: str | None = "u1"
    resource_version: str | None = "7"


@dataclass
class Model:
    metadata: Any


@pytest.mark.parametrize(
    "obj",
    [
        Unstructured.from_bytes(RAW),
        PartialObjectMetadata.from_bytes(RAW),
        Undecodable.of(RAW, "broken"),
        {"metadata": NAMES},
        FrozenDict(metadata=FrozenDict(NAMES)),
        Model(Meta()),
        Model(NAMES),
        SimpleNamespace(metadata=Meta()),
    ],
    ids=lambda obj: type(obj).__name__,
)
def test_the_identity_of_an_object_is_read_in_whatever_form_it_comes(obj: Any) -> None:
    assert identity_of(obj) == ("default/web", "u1", "7")


@pytest.mark.parametrize(
    "obj",
    [
        Unstructured.from_bytes(b'{"metadata":{"name":"node-1"}}'),
        PartialObjectMetadata.from_bytes(b'{"metadata":{"name":"node-1"}}'),
        {"metadata": {"name": "node-1", "namespace": None, "uid": None}},
        Model(Meta("node-1", None, None, None)),
    ],
    ids=lambda obj: type(obj).__name__,
)
def test_what_an_object_does_not_say_is_empty(obj: Any) -> None:
    assert identity_of(obj) == Identity("node-1", "", "")


@pytest.mark.parametrize(
    "obj",
    [
        {"metadata": {"name": "node-1", "uid": 7, "resourceVersion": 9}},
        Model(SimpleNamespace(name="node-1", namespace="", uid={}, resource_version=9)),
    ],
    ids=lambda obj: type(obj).__name__,
)
def test_a_uid_or_rv_that_is_no_text_says_nothing(obj: Any) -> None:
    # An Undecodable reads them so, too.
    assert identity_of(obj) == Identity("node-1", "", "")


@pytest.mark.parametrize(
    "obj",
    [
        Unstructured.from_bytes(b"{}"),
        PartialObjectMetadata(),
        {},
        {"metadata": None},
        {"metadata": {"name": 7}},
        Model(Meta(None)),
        Model(None),
        b"{}",
        None,
    ],
    ids=repr,
)
def test_an_object_without_a_name_has_no_identity(obj: Any) -> None:
    with pytest.raises(MalformedObject, match=r"metadata\.name"):
        identity_of(obj)


def test_a_function_of_ones_own_need_not_know_of_undecodable_objects() -> None:
    identify = for_entries(lambda obj: Identity(obj.upper(), "", ""))
    assert identify("a").key == "A"
    assert identify(Undecodable.of(RAW, "broken")).key == "default/web"


@pytest.mark.clause("D6")
@pytest.mark.parametrize("name", KINDS)
def test_everybodys_models_have_one(name: str) -> None:
    decode: Any = decoder_for(KINDS[name].type)
    for _ in range(2):  # the second is read as the first has shown
        assert identity_of(decode(RAW)) == ("default/web", "u1", "7")


@dataclass
class CamelMeta:
    name: str
    uid: str
    resourceVersion: str  # noqa: N815


@pytest.mark.clause("D6")
class TestATypeThatWasSeen:
    def test_may_show_less_in_another_object(self) -> None:
        class Loose:
            def __init__(self, **names: str) -> None:
                self.metadata = SimpleNamespace(**names)

        assert identity_of(Loose(name="a")) == ("a", "", "")
        whole = Loose(name="a", namespace="", uid="u", resourceVersion="7")
        assert [identity_of(whole) for _ in range(2)] == [("a", "u", "7")] * 2
        assert identity_of(Loose(name="b", resource_version="8")) == ("b", "", "8")
        assert identity_of(Loose(name="c", uid="u", resourceVersion="9")) == ("c", "u", "9")

    def test_may_lack_a_namespace(self) -> None:
        for _ in range(2):
            assert identity_of(Model(CamelMeta("n", "u", "7"))) == ("n", "u", "7")

    def test_may_have_no_name_in_another_object(self) -> None:
        class Own(Model):
            pass

        assert identity_of(Own(Meta())).key == "default/web"
        for nameless in (Own(Meta(name=None)), Own(None)):
            with pytest.raises(MalformedObject, match=r"an? Own without metadata\.name"):
                identity_of(nameless)

    def test_may_have_metadata_of_several_kinds(self) -> None:
        class Loosest(SimpleNamespace):
            pass

        for metadata in (NAMES, Meta(), NAMES, CamelMeta("web", "u1", "7")):
            assert identity_of(Loosest(metadata=metadata))[1:] == ("u1", "7")
        for _ in range(2):
            with pytest.raises(MalformedObject, match="without metadata"):
                identity_of(Loosest())
            assert identity_of(Loosest(metadata=NAMES)).key == "default/web"

    def test_is_read_by_its_attributes_alone(self) -> None:
        class Renamed(Struct, rename={"version": "resourceVersion"}):
            name: str
            namespace: str
            uid: str
            version: str

        class Counted:
            read = 0

            @property
            def metadata(self) -> Renamed:
                type(self).read += 1
                return Renamed("a", "", "u", "7")

        identity_of(Counted())
        Counted.read = 0
        assert read_identity(Counted()) == ("a", "u", "7")
        assert Counted.read == 1
