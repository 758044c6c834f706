"""Packed objects: compressed, or metadata alone, and read as any other."""

from __future__ import annotations

import copy
import gc
import json
import pickle
import threading
from typing import Any

import pytest
import zstandard
from backports import zstd as standard_zstd
from hypothesis import given
from hypothesis import strategies as st

from listwatch import (
    APIResource,
    CompactObject,
    GroupVersionResource,
    MalformedObject,
    MetadataObject,
    ObjectView,
    Unstructured,
    compact,
    decode_unstructured,
    freeze,
    identity_of,
    metadata_only,
)
from listwatch.cache import _compression
from listwatch.cache._compression import StandardZstd, Zlib, Zstandard, compression
from listwatch.cache._packed import Form, Packed, pack
from listwatch.cache._packer import Packer, dictionary_of
from listwatch.wire.decoders import reads_all, takes_type_meta

UID = "0c8f3f8e-1c5a-4d52-9f0b-0123456789ab"
PODS = APIResource(group="", version="v1", name="pods", kind="Pod", namespaced=True)


def pod(number: int = 0, namespace: str = "default", **spec: Any) -> bytes:
    value = {
        "kind": "Pod",
        "apiVersion": "v1",
        "metadata": {
            "name": f"web-{number}",
            "namespace": namespace,
            "uid": f"0c8f3f8e-1c5a-4d52-9f0b-{number:012x}",
            "resourceVersion": str(1000 + number),
            "labels": {"app": "web"},
            "managedFields": [{"manager": "kubelet", "fieldsV1": {"f:x": {}}}],
        },
        "spec": {
            "nodeName": f"node-{number % 7}",
            "text": "the same for all of them " * 20,
            **spec,
        },
    }
    return json.dumps(value, separators=(",", ":")).encode()


names = st.text(st.characters(codec="utf-8"), min_size=1, max_size=40)
uids = st.one_of(
    st.uuids().map(str),
    st.sampled_from(["", "u1", UID.upper(), UID.replace("-", ""), UID[:-2], f"{UID}00", "é"]),
    st.text(st.sampled_from("0123456789abcdef-"), min_size=34, max_size=38),
)
versions = st.one_of(
    st.integers(0, 2**70).map(str),
    st.sampled_from(["", "007", "-1", "1_0", "x", "１２", " 7", "9" * 5000]),
)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=10,
)


@st.composite
def objects(draw: st.DrawFn) -> dict[str, Any]:
    metadata = draw(
        st.fixed_dictionaries(
            {"name": names},
            optional={
                "namespace": names,
                "uid": uids,
                "resourceVersion": versions,
                "labels": st.dictionaries(st.text(max_size=5), st.text(max_size=5), max_size=2),
                "managedFields": st.none() | st.just([{"manager": "]"}]) | st.just([]),
                "generation": st.integers(0, 9),
            },
        )
    )
    order = draw(st.permutations([("kind", "Pod"), ("apiVersion", "v1"), ("metadata", metadata)]))
    rest = draw(st.dictionaries(st.sampled_from(["spec", "status", "x", 'q"']), values, max_size=3))
    both = [*order, *rest.items()]
    return dict(both if draw(st.booleans()) else reversed(both))


@pytest.mark.clause("A6", "A7")
class TestACompactObject:
    @given(st.lists(objects(), min_size=1, max_size=40), st.sampled_from(["zlib", "zstd"]))
    def test_gives_the_answers_of_an_unstructured(self, found: list[Any], algorithm: Any) -> None:
        keep = compact(algorithm)
        for value in found:
            raw = json.dumps(value).encode()
            obj, like = keep(raw), decode_unstructured(raw)
            assert (obj.raw, obj.kind, obj.api_version) == (raw, like.kind, like.api_version)
            assert (obj.name, obj.namespace, obj.uid) == (like.name, like.namespace, like.uid)
            assert (obj.resource_version, obj.key) == (like.resource_version, like.key)
            assert obj.identity == like.identity == identity_of(obj)
            assert (obj, hash(obj), repr(obj)) == (like, hash(like), repr(like))
            assert list(obj) == list(like)
            assert {name: obj[name] for name in obj} == freeze(value)
            assert (obj.get("spec"), obj.to_dict()) == (like.get("spec"), value)
            assert (obj.read("metadata", "name"), len(obj)) == (like.name, len(like))
            assert (obj.metadata, obj.group, obj.version) == (like.metadata, "", "v1")
            assert obj.same_content(like)
            assert like.same_content(obj)

    def test_pickles_as_the_unstructured_that_it_equals_and_copies_as_itself(self) -> None:
        obj = compact()(pod())
        again = pickle.loads(pickle.dumps(obj))
        assert type(again) is Unstructured
        assert (again, again.raw) == (obj, obj.raw)
        assert copy.copy(obj) is obj
        assert copy.deepcopy([obj])[0] is obj

    def test_is_told_what_it_is_where_it_does_not_say_it(self) -> None:
        obj = compact()(memoryview(b'{"metadata":{"name":"a"}}'), api_version="v1", kind="Pod")
        assert obj.raw == b'{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a"}}'

    def test_of_bytes_that_are_no_object_is_refused(self) -> None:
        with pytest.raises(MalformedObject):
            compact()(b'{"metadata":{"name":"a"}')

    def test_is_not_the_same_content_when_only_the_identity_is(self) -> None:
        keep = compact()
        one, other = keep(pod(1, x=1)), keep(pod(1, x=2))
        assert one == other
        assert not one.same_content(other)
        assert one.same_content(keep(pod(1, x=1)))

    @pytest.mark.parametrize("algorithm", ["zlib", "zstd"])
    def test_takes_a_tenth_once_there_is_a_dictionary(self, algorithm: Any) -> None:
        keep = compact(algorithm)
        found = [keep(pod(number, x=f"{number * 7919:x}")) for number in range(200)]
        assert [obj.raw for obj in found] == [
            pod(number, x=f"{number * 7919:x}") for number in range(200)
        ]
        assert len(found[-1].packed) < len(found[-1].raw) / 8
        assert len(found[-1].packed) < len(found[0].packed) / 2

    @pytest.mark.parametrize("algorithm", ["zlib", "zstd"])
    def test_is_read_by_many_threads_while_others_are_made(self, algorithm: Any) -> None:
        keep = compact(algorithm)
        found = [keep(pod(number)) for number in range(100)]
        wrong: list[int] = []

        def read() -> None:
            for _ in range(5):
                wrong.extend(n for n, obj in enumerate(found) if obj.raw != pod(n))

        def make() -> None:
            wrong.extend(n for n in range(300) if keep(pod(n, "other")).raw != pod(n, "other"))

        threads = [threading.Thread(target=work) for work in (read, read, read, make, make)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert wrong == []


class TestTheDecoder:
    def test_says_of_itself_what_the_layers_below_must_know(self) -> None:
        for decoder in (compact("zlib"), metadata_only()):
            assert reads_all(decoder)
            assert takes_type_meta(decoder)

    def test_is_equal_to_another_of_the_same_arguments(self) -> None:
        assert compact("zlib") == compact("zlib") != compact("zstd")
        assert metadata_only(compact="zlib") == metadata_only(compact="zlib") != metadata_only()
        assert metadata_only() == metadata_only() != metadata_only(managed_fields=True)
        assert metadata_only() != metadata_only().of(PODS) == metadata_only().of(PODS)
        assert len({compact(), compact(), metadata_only(), metadata_only()}) == 2
        assert compact() != 1
        assert metadata_only() != 1

    def test_prints_as_it_is_written(self) -> None:
        assert [repr(compact()), repr(compact("zlib"))] == ["compact()", "compact('zlib')"]
        assert repr(metadata_only()) == "metadata_only()"
        assert (
            repr(metadata_only(managed_fields=True, compact="zlib"))
            == "metadata_only(managed_fields=True, compact='zlib')"
        )


class TestByItsFront:
    """What is known to be one JSON object, as servers write it, is not looked through."""

    def test_a_compact_object_is_the_same(self) -> None:
        keep = compact()
        for number in range(40):
            found = keep.from_front(pod(number))
            assert found is not None
            assert found.same_content(keep(pod(number)))
            assert found.identity == keep(pod(number)).identity
        assert keep.from_front(b'{"metadata":{"name":"a"}}') is None

    def partial(self, metadata: bytes, rest: bytes = b"") -> bytes:
        front = b'{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":'
        names = b'"name":"a","namespace":"b","uid":"u","resourceVersion":"7"'
        return front + b"{%b,%b}%b}" % (names, metadata, rest)

    def test_metadata_alone_is_the_same(self) -> None:
        for labels in (b"", b'"labels":{"x":"]}"},'):
            raw = self.partial(labels + b'"managedFields":[{"manager":"m"}]')
            for keep in (metadata_only(), metadata_only().of(PODS), metadata_only(compact=True)):
                found = keep.from_front(raw)
                assert found is not None
                assert (found.raw, found.identity) == (keep(raw).raw, ("b/a", "u", "7"))

    @pytest.mark.parametrize(
        ("metadata", "rest"),
        [
            (b'"labels":{}', b""),
            (b'"managedFields":[{"a":"]"}]', b""),
            (b'"managedFields":[],"x":[]', b""),
            (b'"managedFields":[]', b',"spec":{}'),
            (b'"labels":{}', b',"x":{"a":1,"managedFields":[]}'),
            (b'"managed\\u0046ields":0,"managedFields":[]', b""),
            (b'"x":{"a":1,"managedFields":[]}', b""),
        ],
    )
    def test_whatever_leaves_a_doubt_is_looked_through(self, metadata: bytes, rest: bytes) -> None:
        assert metadata_only().from_front(self.partial(metadata, rest)) is None
        assert metadata_only()(self.partial(metadata, rest)).identity == ("b/a", "u", "7")

    def test_so_is_what_keeps_managed_fields(self) -> None:
        raw = self.partial(b'"managedFields":[]')
        assert metadata_only(managed_fields=True).from_front(raw) is None

    @pytest.mark.clause("H10")
    def test_so_is_another_resource_which_is_then_refused(self) -> None:
        raw = self.partial(b'"managedFields":[]').replace(b"PartialObjectMetadata", b"Node")
        keep = metadata_only().of(PODS)
        assert keep.from_front(raw) is None
        with pytest.raises(MalformedObject, match="it is a Node, where a Pod was expected"):
            keep(raw)


@pytest.mark.clause("B9", "I4")
class TestAnObjectOfMetadataOnly:
    @given(objects(), st.booleans(), st.sampled_from([False, "zlib", "zstd"]), st.booleans())
    def test_is_the_object_without_all_else(
        self, value: Any, managed_fields: bool, compact: Any, indent: bool
    ) -> None:
        raw = json.dumps(value, indent=1 if indent else None).encode()
        obj = metadata_only(managed_fields=managed_fields, compact=compact)(raw)
        metadata = dict(value["metadata"])
        if not managed_fields:
            metadata.pop("managedFields", None)
        assert obj.to_dict() == {"kind": "Pod", "apiVersion": "v1", "metadata": metadata}
        like = decode_unstructured(raw)
        assert (obj, hash(obj), obj.identity) == (like, hash(like), like.identity)
        assert obj.metadata.labels == like.metadata.labels
        assert (obj.get("spec"), "spec" in obj, obj.kind) == (None, False, "Pod")

    @pytest.mark.parametrize(
        "metadata",
        [
            b'{"managedFields":[{"a":"]"}],"name":"a"}',
            b'{"name":"a","managedFields":[{"a":"]"}]}',
            b'{"name":"a","managedFields":[],"x":[]}',
            b'{"name":"a","managed\\u0046ields":[]}',
            b'{"name":"a","managed\\u0046ields":[],"managedFields":[]}',
            b'{"name":"a","managedFields":null}',
            b'{ "name" : "a" , "managedFields" : [ {} ] }',
        ],
    )
    def test_has_no_managed_fields_wherever_they_stood(self, metadata: bytes) -> None:
        obj = metadata_only()(b'{"metadata":%b}' % metadata)
        expected = json.loads(metadata)
        del expected["managedFields"]
        assert obj.to_dict() == {"metadata": expected}

    @pytest.mark.parametrize(
        "raw", [b'{"metadata":{"name":1}}', b'{"metadata":[]}', b'{"metadata":{}', b"[]"]
    )
    def test_that_cannot_be_read_is_refused(self, raw: bytes) -> None:
        with pytest.raises(MalformedObject):
            metadata_only()(raw)

    @pytest.mark.parametrize("raw", [b"{}", b'{"metadata":null}', b'{"metadata":{}}'])
    def test_without_metadata_has_no_name(self, raw: bytes) -> None:
        assert metadata_only()(raw).identity == ("", "", "")

    def test_has_the_kind_of_its_resource_whatever_the_server_calls_it(self) -> None:
        keep = metadata_only().of(PODS)
        partial = b'{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1",%b}'
        metadata = b'"metadata":{"name":"a","resourceVersion":"7"}'
        obj = keep(partial % metadata)
        assert obj == keep(b'{"kind":"Pod","apiVersion":"v1",%b}' % metadata)
        assert obj == keep(
            b"{%b}" % metadata, api_version="meta.k8s.io/v1", kind="PartialObjectMetadata"
        )
        assert obj.raw == b'{"kind":"Pod","apiVersion":"v1",%b}' % metadata
        assert repr(obj) == "<Pod a rv=7>"

    @pytest.mark.clause("H10")
    def test_of_another_resource_is_refused(self) -> None:
        with pytest.raises(MalformedObject, match="it is a Node, where a Pod was expected"):
            metadata_only().of(PODS)(b'{"kind":"Node","apiVersion":"v1","metadata":{"name":"a"}}')

    def test_keeps_the_kind_that_it_came_with_where_no_other_is_known(self) -> None:
        keep = metadata_only().of(GroupVersionResource.parse("v1/pods"))
        obj = keep(b'{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{}}')
        assert (obj.kind, obj.api_version) == ("PartialObjectMetadata", "meta.k8s.io/v1")


@pytest.mark.parametrize(
    "engine",
    [Zlib(), Zstandard(zstandard), StandardZstd(standard_zstd)],
    ids=["zlib", "zstandard", "standard zstd"],
)
class TestACompression:
    @given(
        data=st.lists(st.binary(max_size=300), min_size=1, max_size=5),
        known=st.binary(max_size=200),
    )
    def test_gives_back_what_it_was_given(
        self, engine: Any, data: list[bytes], known: bytes
    ) -> None:
        codec = engine.codec(known if len(known) >= 8 else b"")
        packed = [codec.compress(piece) for piece in data]
        assert [codec.decompress(piece) for piece in packed] == data

    def test_is_the_better_the_more_is_known(self, engine: Any) -> None:
        without, with_ = engine.codec(b""), engine.codec(pod(1))
        assert len(with_.compress(pod(2))) < len(without.compress(pod(2))) / 2


class TestTheChoice:
    def test_is_zstd_where_it_is_there_and_zlib_where_not(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        assert isinstance(compression(), Zstandard)
        assert isinstance(compression("zlib"), Zlib)
        monkeypatch.setattr(_compression, "_zstd", lambda: None)
        assert isinstance(compression(), Zlib)
        with pytest.raises(ImportError, match=r"listwatch\[compact\]"):
            compact("zstd")

    def test_is_of_these_two(self) -> None:
        with pytest.raises(ValueError, match="not 'lzma'"):
            compact("lzma")  # type: ignore[arg-type]  # which is the point


class TestADictionary:
    def test_is_made_of_what_differs(self) -> None:
        alike = [pod(number) for number in range(20)]
        assert len(dictionary_of(alike, Zlib())) < 2 * len(alike[0])
        other = bytes(range(256)) * 4
        assert other in dictionary_of([*alike, other], Zlib())

    def test_is_no_larger_than_what_can_be_used_of_it(self) -> None:
        samples = [bytes([n]) + str(n * 7919**9).encode() * 900 for n in range(64)]
        assert len(dictionary_of(samples, Zlib())) <= Zlib.reach
        assert dictionary_of([], Zlib()) == b""

    def test_is_renewed_as_more_was_seen_and_the_old_ones_stay_in_use(self) -> None:
        packer = Packer(Packed, Zlib())
        found = [
            packer.pack("v1", "Pod", "default", f"web-{n}", UID, str(n), pod(n))
            for n in range(1100)
        ]
        assert [obj.raw for obj in found] == [pod(n) for n in range(1100)]
        assert len({id(obj.form) for obj in found}) == 4

    def test_of_namespaces_that_come_and_go_nothing_is_left(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("listwatch.cache._packer._MOST_FORMS", 5)
        packer = Packer(Packed, None)
        made = [packer.pack("v1", "Pod", f"n{n}", "a", UID, "1", b"{}") for n in range(12)]
        assert [obj.key for obj in made] == [f"n{n}/a" for n in range(12)]
        [family] = packer._families.values()
        assert len(family._forms) <= 5


@given(names, uids, versions, st.binary(max_size=9))
def test_the_head_gives_back_what_it_was_made_of(name: str, uid: str, rv: str, data: bytes) -> None:
    obj = Packed(pack(name, uid, rv, data), Form("v1", "Pod", "ns", lambda payload: payload))
    assert (obj.name, obj.uid, obj.resource_version, obj.raw) == (name, uid, rv, data)
    assert obj.identity == (f"ns/{name}", uid, rv)


def test_the_usual_head_is_26_bytes_and_the_name() -> None:
    assert len(pack("web-0", UID, "48230000", b"")) == 26 + 5


def test_the_collector_has_nothing_to_track_of_them() -> None:
    assert not any(map(gc.is_tracked, (compact()(pod()), metadata_only()(pod()))))


def test_both_kinds_of_object_are_views() -> None:
    assert issubclass(CompactObject, ObjectView)
    assert issubclass(MetadataObject, ObjectView)
