"""Decoders whose objects a store can tell apart."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from listwatch import (
    MalformedObject,
    compact,
    decode_dict,
    decode_partial_metadata,
    decode_unstructured,
    metadata_only,
    typed,
)
from listwatch.client.identified import identified
from listwatch.wire.decoders import reads_all, reads_of, takes_type_meta

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


@pytest.mark.parametrize("decoder", [compact("zlib"), metadata_only()], ids=repr)
def test_decoders_that_say_that_they_are_sound_are_left_as_they_are(decoder: Any) -> None:
    assert identified(decoder) is decoder


def test_it_says_of_itself_what_the_decoder_says() -> None:
    def careless(raw: bytes) -> Whole:
        return decoder_of(Whole)(raw)

    one, other, none = (identified(each) for each in (decoder_of(Whole), typed(Whole), careless))
    assert [reads_all(each) for each in (one, other, none)] == [True, True, False]
    assert [takes_type_meta(each) for each in (one, other, none)] == [False, True, False]
    assert repr(other) == "typed(Whole)"
    told: Any = other
    assert told(OBJECT, api_version="v1", kind="ConfigMap").data == {"x": "1"}


@pytest.mark.clause("B9")
def test_what_comes_in_another_encoding_is_only_looked_at_as_decoded() -> None:
    class Binary:
        reads = ("application/cbor",)

        def __init__(self, **lacking: str) -> None:
            names = {"name": "a", "namespace": "", "uid": "u", "resource_version": "7"}
            self.made = Whole(WholeMeta(**(names | lacking)), {})

        def __call__(self, raw: bytes) -> Whole:
            return self.made

    whole = Binary()
    decode = identified(whole)
    assert reads_of(decode) == {"application/cbor"}
    assert decode(b"\xa0") is whole.made
    with pytest.raises(MalformedObject, match="does not show resourceVersion"):
        identified(Binary(resource_version=""))(b"\xa0")


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
