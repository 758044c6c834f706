"""What a store knows an object by."""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import pytest

from listwatch import FrozenDict, MalformedObject, PartialObjectMetadata, Unstructured
from listwatch.cache import Identity, Undecodable, identity_of
from listwatch.cache.identity import for_entries

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
