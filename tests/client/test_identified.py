"""Decoders whose objects a store can tell apart."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from listwatch import (
    MalformedObject,
    decode_dict,
    decode_partial_metadata,
    decode_unstructured,
)
from listwatch.client.identified import identified

from .conftest import Bench, write

OBJECT = json.dumps(
    {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "a", "namespace": "default", "uid": "u", "resourceVersion": "7"},
        "data": {"x": "1"},
    }
).encode()


class WholeMeta(msgspec.Struct, rename="camel"):
    name: str
    namespace: str
    uid: str
    resource_version: str


class Whole(msgspec.Struct):
    metadata: WholeMeta
    data: dict[str, str]


class NameMeta(msgspec.Struct):
    name: str


class NameOnly(msgspec.Struct):
    metadata: NameMeta


class DataOnly(msgspec.Struct):
    data: dict[str, str]


def decoder_of(kind: type) -> Any:
    return msgspec.json.Decoder(kind).decode


@pytest.mark.parametrize("decoder", [decode_unstructured, decode_dict, decode_partial_metadata])
def test_our_own_decoders_are_left_as_they_are(decoder: Any) -> None:
    assert identified(decoder) is decoder


def test_a_type_that_shows_its_metadata_passes() -> None:
    decode = identified(decoder_of(Whole))
    assert [decode(OBJECT).data for _ in range(2)] == [{"x": "1"}] * 2


@pytest.mark.clause("H10")
@pytest.mark.parametrize(
    ("kind", "said"),
    [
        (DataOnly, "a DataOnly does not show name and namespace and uid and resourceVersion"),
        (NameOnly, "a NameOnly does not show name and namespace and uid and resourceVersion"),
    ],
)
def test_a_type_that_does_not_is_refused_each_time(kind: type, said: str) -> None:
    decode = identified(decoder_of(kind))
    for _ in range(2):
        with pytest.raises(MalformedObject, match=said):
            decode(OBJECT)


@pytest.mark.clause("H10")
@pytest.mark.virtual_time
async def test_a_mirror_of_such_a_type_says_what_is_wrong_with_it(bench: Bench) -> None:
    write(bench.core, "a", x="1")
    async with (
        bench.client() as client,
        client.mirror("configmaps", decoder=decoder_of(DataOnly)) as mirror,
    ):
        await mirror.synced(timeout=10)
        assert mirror.health.undecodable == ("default/a",)
        assert "a DataOnly does not show" in mirror.store.undecodable["default/a"].reason
