"""What is cut from an object's bytes before anybody decodes them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from listwatch import MalformedObject, Unstructured, decode_list
from listwatch.cache.transforms import (
    drop_annotations,
    drop_managed_fields,
    keep_metadata,
    transformed,
)
from listwatch.wire import WatchDecoder, decode_dict, decode_unstructured

pytestmark = pytest.mark.clause("I4")

MANAGED = [{"manager": "kubectl", "fieldsV1": {"f:spec": {"f:x": {}}}}]
POD: dict[str, Any] = {
    "kind": "Pod",
    "apiVersion": "v1",
    "metadata": {
        "name": "web",
        "annotations": {"a": "1", "b": "2"},
        "managedFields": MANAGED,
        "uid": "u1",
    },
    "spec": {"nodeName": "node-1"},
}
TRANSFORMS = (drop_managed_fields, drop_annotations("a", "c"), keep_metadata)


def compact(value: object) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()


def without(value: Any, *path: str) -> Any:
    first, *rest = path
    if rest:
        return {**value, first: without(value[first], *rest)}
    return {name: item for name, item in value.items() if name != first}


@pytest.mark.parametrize("dump", [compact, lambda value: json.dumps(value, indent=1).encode()])
class TestEachDropsWhatItSays:
    def test_managed_fields(self, dump) -> None:
        assert json.loads(drop_managed_fields(dump(POD))) == without(
            POD, "metadata", "managedFields"
        )

    def test_named_annotations(self, dump) -> None:
        assert json.loads(drop_annotations("a", "c")(dump(POD))) == without(
            POD, "metadata", "annotations", "a"
        )

    def test_the_last_annotation_and_then_the_annotations(self, dump) -> None:
        assert json.loads(drop_annotations("a", "b")(dump(POD))) == without(
            POD, "metadata", "annotations"
        )

    def test_all_but_the_metadata(self, dump) -> None:
        assert json.loads(keep_metadata(dump(POD))) == without(POD, "spec")


@pytest.mark.parametrize(
    "metadata",
    [
        {"managedFields": MANAGED},
        {"managedFields": MANAGED, "name": "web"},
        {"name": "web", "managedFields": MANAGED},
        {"name": "web", "managedFields": MANAGED, "uid": "u1"},
        {"name": "web", "managedFields": []},
        {"name": "web", "managedFields": None},
        {"name": "web", "labels": {"managedFields": "yes"}, "managedFields": MANAGED},
    ],
)
def test_managed_fields_are_dropped_wherever_they_stand(metadata: dict[str, Any]) -> None:
    found = json.loads(drop_managed_fields(compact({"metadata": metadata, "spec": {}})))
    assert found == {"metadata": without(metadata, "managedFields"), "spec": {}}


@pytest.mark.parametrize(
    "value",
    [
        without(POD, "metadata", "managedFields"),
        {"metadata": {"name": "web"}, "spec": {"template": {"managedFields": MANAGED}}},
        {"metadata": {"name": "web", "annotations": {"last": compact(POD).decode()}}},
        {"metadata": None, "managedFields": MANAGED},
        {"metadata": [{"managedFields": MANAGED}]},
        {"managedFields": MANAGED},
        {},
    ],
    ids=lambda value: compact(value).decode()[:60],
)
def test_an_object_without_managed_fields_of_its_own_stays_the_same_bytes(value: object) -> None:
    raw = compact(value)
    assert drop_managed_fields(raw) is raw


@pytest.mark.parametrize(
    "value",
    [
        {"metadata": {"name": "a", "annotations": {"b": "2"}}},
        {"metadata": {"name": "a", "annotations": None}},
        {"metadata": {"annotations": "a"}},
        {"metadata": {"labels": {"a": "1"}}},
        {"annotations": {"a": "1"}},
    ],
    ids=str,
)
def test_an_object_without_those_annotations_stays_the_same_bytes(value: object) -> None:
    raw = compact(value)
    assert drop_annotations("a")(raw) is raw


def test_bare_metadata_stays_the_same_bytes() -> None:
    raw = compact(without(POD, "spec"))
    assert keep_metadata(raw) is raw


@pytest.mark.parametrize("transform", TRANSFORMS)
def test_a_transform_of_its_own_output_changes_nothing_more(transform) -> None:
    once = transform(compact(POD))
    assert once != compact(POD)
    assert transform(once) is once


@pytest.mark.parametrize("transform", TRANSFORMS)
@pytest.mark.parametrize("raw", [b'{"managedFields","a"', b'["managedFields","a"]'])
def test_bytes_that_are_no_object_are_refused(transform, raw: bytes) -> None:
    with pytest.raises(MalformedObject):
        transform(raw)


names = st.sampled_from(["name", "managedFields", "annotations", "metadata", "a", 'q"', "\\"])
values = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | names,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=4),
    max_leaves=12,
)
objects = st.dictionaries(names, values, max_size=4)


@given(objects, st.sampled_from([None, 1]))
def test_nothing_but_the_managed_fields_goes_whatever_the_object_is(
    value: dict[str, Any], indent: int | None
) -> None:
    expected = value
    if isinstance(value.get("metadata"), dict):
        expected = without(value, "metadata", "managedFields")
    for raw in (compact(value), json.dumps(value, indent=indent).encode()):
        assert json.loads(drop_managed_fields(raw)) == expected


@given(objects)
def test_nothing_but_the_named_annotations_goes_whatever_the_object_is(
    value: dict[str, Any],
) -> None:
    expected = value
    metadata = value.get("metadata")
    if isinstance(metadata, dict) and isinstance(metadata.get("annotations"), dict):
        left = without(metadata["annotations"], "a")
        if left:
            expected = {**value, "metadata": {**metadata, "annotations": left}}
        elif metadata["annotations"]:
            expected = without(value, "metadata", "annotations")
    assert json.loads(drop_annotations("a")(compact(value))) == expected


def test_transforms_run_in_their_order_before_the_decoder() -> None:
    seen: list[str] = []

    def one(raw: bytes) -> bytes:
        seen.append("one")
        return raw

    def two(raw: bytes) -> bytes:
        seen.append("two")
        return b'{"metadata":{"name":"other"}}'

    decoder = transformed(decode_unstructured, one, two)
    assert decoder(compact(POD)).name == "other"
    assert seen == ["one", "two"]


def test_without_transforms_the_decoder_stays_as_it_is() -> None:
    assert transformed(decode_dict) is decode_dict


@pytest.mark.clause("A7", "D7")
def test_a_list_and_a_watch_give_what_the_transform_left_after_one_run_each() -> None:
    runs: list[bytes] = []

    def counted(raw: bytes) -> bytes:
        runs.append(raw)
        return drop_managed_fields(raw)

    decoder = transformed(decode_unstructured, counted)
    body = compact({"kind": "PodList", "apiVersion": "v1", "metadata": {}, "items": [POD]})
    [listed] = decode_list(body, decoder).items
    [event] = WatchDecoder(decoder).feed(compact({"type": "ADDED", "object": POD}) + b"\n")
    assert listed.raw == event.object.raw  # type: ignore[union-attr]
    assert b"managedFields" not in listed.raw
    assert len(runs) == 2


@pytest.mark.clause("D6")
def test_a_transform_that_raises_fails_the_decoding_of_that_object_only() -> None:
    def fussy(raw: bytes) -> bytes:
        if b"bad" in raw:
            raise ValueError("not this one")
        return raw

    items = [{"metadata": {"name": "good"}}, {"metadata": {"name": "bad"}}]
    body = compact({"kind": "PodList", "apiVersion": "v1", "metadata": {}, "items": items})
    found = decode_list(body, transformed(decode_unstructured, fussy))
    assert [item.name for item in found] == ["good"]
    assert [error.key for error in found.undecodable] == ["bad"]


def test_what_is_left_is_an_object_like_any_other() -> None:
    left = Unstructured.from_bytes(keep_metadata(drop_managed_fields(compact(POD))))
    assert (left.kind, left.api_version, left.name, left.uid) == ("Pod", "v1", "web", "u1")


def test_it_is_refused_before_a_decoder_that_reads_no_json() -> None:
    class Other:
        reads = frozenset({"application/vnd.kubernetes.protobuf"})

        def __call__(self, raw: bytes) -> bytes:
            return raw

    with pytest.raises(TypeError, match=r"transforms work on JSON, which .*Other"):
        transformed(Other(), drop_managed_fields)
