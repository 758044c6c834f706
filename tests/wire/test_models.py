"""Decoders to everybody's types: which they are, what they make, and what they refuse."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import Enum
from typing import Any, Generic, Literal, TypedDict, TypeVar

import attrs
import kubernetes.client as official
import kubernetes_asyncio.client as official_asyncio
import lightkube.models.core_v1 as lightkube_models
import lightkube.resources.core_v1 as lightkube
import msgspec
import pydantic
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.data import make_dataset
from listwatch import (
    CompactObject,
    Event,
    MalformedObject,
    PartialObjectMetadata,
    Unstructured,
    decode_dict,
    decode_partial_metadata,
    decode_unstructured,
)
from listwatch.wire import WatchDecoder, decode_list
from listwatch.wire.decoders import reads_all, takes_type_meta
from listwatch.wire.models import decoder_for, is_no_decoder
from tests.support.models import FITTING, KINDS

pytestmark = pytest.mark.clause("D6")

T = TypeVar("T")

PODS = make_dataset("pods", 40, 0)
RAW_PODS = [PODS.watched(item) for item in PODS.items]

SECRET = b"cGFzc3dvcmQ="


def config_map(**more: Any) -> bytes:
    metadata = {"name": "a", "namespace": "default", "uid": "u", "resourceVersion": "7"}
    return json.dumps({"metadata": metadata, "data": {"x": "1"}, **more}).encode()


class Meta(msgspec.Struct):
    name: str


class Typed(msgspec.Struct, frozen=True, rename="camel"):
    metadata: Meta
    kind: str = ""
    api_version: str = ""


@dataclass(frozen=True)
class Plain:
    metadata: Meta
    kind: str | None = None
    apiVersion: str = ""  # noqa: N815


@attrs.frozen
class WithAttrs:
    metadata: Meta
    kind: str = ""
    apiVersion: str = ""  # noqa: N815


class Items(TypedDict, total=False):
    metadata: Meta
    kind: str
    apiVersion: str


class PodKind(Enum):
    POD = "Pod"


class Required(msgspec.Struct, rename="camel"):
    metadata: Meta
    kind: str
    api_version: str


class RequiredItems(TypedDict):
    metadata: Meta
    kind: str
    apiVersion: str


class OfOneKind(msgspec.Struct):
    metadata: Meta
    kind: Literal["Pod"]


class OfAnEnum(msgspec.Struct):
    metadata: Meta
    kind: PodKind | None = None


class Chosen(msgspec.Struct):
    data: dict[str, Literal["a", "b"]]


class Boxed(msgspec.Struct, Generic[T]):
    spec: T


class Model(pydantic.BaseModel):
    kind: str = ""
    metadata: dict[str, Any] = {}


class TestWhatItTakes:
    @pytest.mark.parametrize(
        ("type_", "decoder"),
        [
            (dict, decode_dict),
            (dict[str, Any], decode_dict),
            (Unstructured, decode_unstructured),
            (PartialObjectMetadata, decode_partial_metadata),
        ],
    )
    def test_our_own_types_have_our_own_decoders(self, type_: Any, decoder: Any) -> None:
        assert decoder_for(type_) == decoder

    @pytest.mark.parametrize("name", KINDS)
    def test_everybodys_models(self, name: str) -> None:
        kind = KINDS[name]
        obj = decoder_for(kind.type)(config_map(kind="ConfigMap", apiVersion="v1"))
        assert (kind.version(obj), kind.value(obj)) == ("7", "1")

    def test_generic_types(self) -> None:
        assert decoder_for(Boxed[int])(b'{"spec":7}') == Boxed(7)
        with pytest.raises(MalformedObject, match="Expected `int`"):
            decoder_for(Boxed[int])(b'{"spec":"x"}')

    def test_what_is_derived_from_models(self) -> None:
        class Own(official_asyncio.V1ConfigMap):  # type: ignore[misc]
            @property
            def x(self) -> str:
                return str(self.data["x"])

        class Mine(official.V1ConfigMap):  # type: ignore[misc]
            pass

        assert decoder_for(Own)(config_map()).x == "1"
        assert type(decoder_for(Mine)(config_map(new=1))) is Mine

    @pytest.mark.parametrize(
        "type_",
        [int, str, bytes, list, list[Meta], object, Any, None, 7, CompactObject, type, T],
        ids=repr,
    )
    def test_nothing_else(self, type_: Any) -> None:
        with pytest.raises(TypeError) as refused:
            decoder_for(type_)
        assert "decoder_for takes dict, Unstructured, " in str(refused.value)
        assert "any callable of your own from an object's bytes" in str(refused.value)

    def test_a_type_that_msgspec_cannot_decode_is_refused_at_once(self) -> None:
        class Odd(msgspec.Struct):
            value: dict[str, Any] | Meta

        with pytest.raises(TypeError):
            decoder_for(Odd)

    def test_no_package_is_imported_that_the_type_is_not_of(self) -> None:
        code = (
            "import sys; from msgspec import Struct\n"
            "from listwatch.wire.models import decoder_for\n"
            "class Obj(Struct): kind: str\n"
            'decoder_for(dict), decoder_for(Obj)(b\'{"kind":"Pod"}\')\n'
            "try: decoder_for(int)\n"
            "except TypeError: pass\n"
            "names = {'pydantic', 'kubernetes', 'kubernetes_asyncio', 'lightkube', 'attr'}\n"
            "print(sorted(names & set(sys.modules)))"
        )
        done = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        )
        assert done.stdout.strip() == "[]"

    def test_of_the_official_clients_nothing_is_started(self) -> None:
        before = set(threading.enumerate())
        decoder_for(official.V1Pod)(RAW_PODS[0])
        decoder_for(official_asyncio.V1Pod)(RAW_PODS[0])
        assert set(threading.enumerate()) == before  # no ApiClient, and so no pool of threads


@pytest.mark.parametrize("name", KINDS)
class TestADecoder:
    def test_equals_that_of_an_equal_type(self, name: str) -> None:
        one, other = (decoder_for(KINDS[name].type) for _ in range(2))
        assert one == other
        assert hash(one) == hash(other)
        assert one != decoder_for(Model)

    @given(data=st.data())
    def test_looks_at_every_byte(self, name: str, data: st.DataObject) -> None:
        decoder = decoder_for(KINDS[name].type)
        assert reads_all(decoder)
        raw = config_map(kind="ConfigMap", apiVersion="v1", unknown=[{"a": "b"}, 1.5, None])
        at = data.draw(st.integers(0, len(raw)))
        rest = data.draw(st.sampled_from([b"{}", b"x", b"]", b',"a":1}', raw]))
        for broken in (raw[: max(0, min(at, len(raw) - 1))], raw + rest, raw[:-1] + rest[:-1]):
            with pytest.raises(ValueError):  # noqa: PT011
                decoder(broken)

    def test_is_shown_by_its_type(self, name: str) -> None:
        if name not in ("Unstructured", "dict"):
            kind = KINDS[name].type
            assert repr(decoder_for(kind)) == f"decoder_for({kind.__qualname__})"


class TestWhatDoesNotFit:
    @pytest.mark.parametrize("name", FITTING)
    def test_is_refused_with_the_place_and_without_the_value(self, name: str) -> None:
        with pytest.raises(
            MalformedObject, match=r"^this does not fit \w+: .* at `\$\.data`$"
        ) as bad:
            decoder_for(KINDS[name].type)(config_map(data=SECRET.decode()))
        error: BaseException | None = bad.value
        while error is not None:  # nor does what it came of show more
            assert SECRET.decode() not in str(error)
            error = error.__cause__ or error.__context__

    @pytest.mark.clause("N4")
    @pytest.mark.parametrize(
        ("type_", "place"), [(OfOneKind, "kind"), (OfAnEnum, "kind"), (Chosen, "data[...]")]
    )
    def test_of_what_can_be_one_of_a_few_the_value_is_not_told_either(
        self, type_: Any, place: str
    ) -> None:
        secret = SECRET.decode()
        with pytest.raises(MalformedObject) as bad:
            decoder_for(type_)(config_map(kind=secret, data={"password": secret}))
        assert str(bad.value) == (
            f"this does not fit {type_.__qualname__}: Invalid enum value - at `$.{place}`"
        )

    def test_what_pydantic_found_is_told_as_one_line(self) -> None:
        class Strict(pydantic.BaseModel):
            a: int
            b: list[int]
            c: str
            d: str

        with pytest.raises(MalformedObject) as bad:
            decoder_for(Strict)(b'{"a":"x","b":[1,"y"]}')
        assert str(bad.value) == (
            f"this does not fit {Strict.__qualname__}: Input should be a valid integer, unable to"
            " parse string as an integer - at `$.a`; Input should be a valid integer, unable to"
            " parse string as an integer - at `$.b[1]`; Field required - at `$.c`; and 1 more"
        )

    @pytest.mark.parametrize(
        ("raw", "said"),
        [
            (b'{"metadata":{"name":5}}', "Expected `str`, got `int` - at `$.metadata.name`"),
            (b'{"metadata":[]}', "Expected `object`, got `array` - at `$.metadata`"),
            (b'{"metadata":{"labels":{"a":1}}}', "got `int` - at `$.metadata.labels.a`"),
            (b'{"metadata":{"finalizers":"x"}}', "got `str` - at `$.metadata.finalizers`"),
            (b'{"metadata":{"finalizers":["x",{}]}}', "at `$.metadata.finalizers[1]`"),
            (b'{"metadata":{"generation":true}}', "got `bool` - at `$.metadata.generation`"),
            (b'{"metadata":{"creationTimestamp":"then"}}', "at `$.metadata.creationTimestamp`"),
            (b'{"metadata":{"creationTimestamp":7}}', "Expected `datetime`, got `int`"),
            (b'{"spec":{}}', "Invalid value for `containers`, must not be `None` - at `$.spec`"),
            (b"[]", "Expected `object`, got `array`"),
            (b"{", "truncated"),
        ],
    )
    def test_asyncio_models_are_refused_as_exactly(self, raw: bytes, said: str) -> None:
        with pytest.raises(MalformedObject) as bad:
            decoder_for(official_asyncio.V1Pod)(raw)
        assert said in str(bad.value)

    def test_what_a_class_does_not_check_may_be_left_to_it(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        default = official_asyncio.Configuration()
        default.client_side_validation = False
        default.api_key["authorization"] = SECRET.decode()
        monkeypatch.setattr(official_asyncio.Configuration, "_default", default)
        pod = decoder_for(official_asyncio.V1Pod)(b'{"spec":{}}')
        assert pod.spec.containers is None
        # What all objects share does not have what their client signs in with.
        assert SECRET.decode() not in str(vars(pod.local_vars_configuration))

    @pytest.mark.parametrize("name", FITTING)
    def test_is_refused_where_it_is_nested_too_deep(self, name: str) -> None:
        with pytest.raises(MalformedObject):
            decoder_for(KINDS[name].type)(b'{"metadata":' + b"[" * 100_000)

    @pytest.mark.parametrize("type_", [lightkube.Pod, lightkube_models.Pod, Plain, WithAttrs])
    def test_null_counts_as_absent(self, type_: Any) -> None:
        obj = decoder_for(type_)(b'{"metadata":{"name":"a"},"kind":null,"status":null}')
        assert obj.metadata.name == "a"


class _Response:
    """As much of one as an ApiClient's deserializer reads."""

    def __init__(self, raw: bytes) -> None:
        self.data = raw.decode()


class TestTheOfficialModels:
    def test_are_what_their_own_client_makes(self) -> None:
        decode = decoder_for(official.V1Pod)
        for raw in RAW_PODS:
            assert decode(raw) == official.V1Pod.from_dict(json.loads(raw))

    def test_are_what_the_client_for_asyncio_makes(self) -> None:
        client: Any = object.__new__(official_asyncio.ApiClient)  # its constructor opens a session
        decode = decoder_for(official_asyncio.V1Pod)
        for raw in RAW_PODS:
            assert decode(raw) == client.deserialize(_Response(raw), "V1Pod")

    @pytest.mark.parametrize("package", [official, official_asyncio])
    def test_pass_over_what_they_do_not_know(self, package: Any) -> None:
        raw = config_map(brandNew={"a": 1}, metadata={"name": "a", "newToo": 7})
        found = decoder_for(package.V1ConfigMap)(raw)
        assert (found.metadata.name, found.data) == ("a", {"x": "1"})

    @pytest.mark.parametrize("package", [official, official_asyncio])
    def test_have_times_and_keep_secrets_as_they_were(self, package: Any) -> None:
        created = "2026-01-09T20:29:52Z"
        raw = config_map(
            data={"password": SECRET.decode()}, metadata={"creationTimestamp": created}
        )
        secret = decoder_for(package.V1Secret)(raw)
        assert secret.metadata.creation_timestamp == datetime(2026, 1, 9, 20, 29, 52, tzinfo=UTC)
        assert secret.data == {"password": SECRET.decode()}

    @pytest.mark.parametrize("package", [official, official_asyncio])
    def test_may_be_recursive(self, package: Any) -> None:
        schema = {"type": "object", "properties": {"a": {"items": {"type": "string"}}}}
        raw = json.dumps({"properties": {"spec": schema}}).encode()
        found = decoder_for(package.V1JSONSchemaProps)(raw)
        assert found.properties["spec"].properties["a"].items is not None

    def test_of_which_some_name_types_that_are_not_there_keep_those_as_they_came(self) -> None:
        raw = b'{"verbs":[],"subresource":"status","responseKind":{"kind":"Pod"}}'
        found = decoder_for(official_asyncio.V2APISubresourceDiscovery)(raw)
        assert found.response_kind == {"kind": "Pod"}


@pytest.mark.clause("D7")
class TestItemsOfATypedList:
    BODY = (
        b'{"kind":"PodList","apiVersion":"v1","metadata":{},'
        b'"items":[{"metadata":{"name":"a"}},{"kind":null,"metadata":{"name":"b"}}]}'
    )

    @pytest.mark.parametrize("type_", [Typed, Plain, WithAttrs, Items, lightkube.Pod, Model])
    def test_get_kind_and_version_where_their_type_has_them(self, type_: Any) -> None:
        items: list[Any] = decode_list(self.BODY, decoder_for(type_)).items
        if type_ is Items:
            assert [item["kind"] for item in items] == ["Pod", "Pod"]
        else:
            assert [item.kind for item in items] == ["Pod", "Pod"]

    @pytest.mark.parametrize(
        "type_", [Typed, Plain, WithAttrs, Items, Required, RequiredItems, OfOneKind, OfAnEnum]
    )
    def test_are_what_a_watch_brings(self, type_: Any) -> None:
        decoder = decoder_for(type_)
        pod = b'{"type":"ADDED","object":{"kind":"Pod","apiVersion":"v1","metadata":{"name":"%b"}}}'
        events = WatchDecoder(decoder).feed(pod % b"a" + b"\n" + pod % b"b" + b"\n")
        found = decode_list(self.BODY, decoder)
        assert found.undecodable == []
        assert found.items == [event.object for event in events if isinstance(event, Event)]

    def test_get_none_where_it_has_not(self) -> None:
        decoder = decoder_for(Meta)
        assert takes_type_meta(decoder)
        told: Any = decoder
        assert told(memoryview(b'{"name":"a"}'), api_version="v1", kind="Pod") == Meta("a")


def test_a_part_that_stays_json_keeps_no_more_than_its_object_alive() -> None:
    class Lazy(msgspec.Struct):
        spec: msgspec.Raw

    told: Any = decoder_for(Lazy)
    buffer = bytearray(b'{"spec":{"a":1}}')
    lazy = told(memoryview(buffer), api_version="v1", kind="Pod")
    buffer.clear()  # which it could not, were the part a view of it
    assert bytes(lazy.spec) == b'{"a":1}'


@pytest.mark.parametrize("name", KINDS)
def test_a_model_is_no_decoder_itself(name: str) -> None:
    made_of_bytes = ("Struct", "Struct, renamed", "dataclass", "attrs")
    assert is_no_decoder(KINDS[name].type) == (name not in made_of_bytes)
    assert not is_no_decoder(decoder_for(KINDS[name].type))
