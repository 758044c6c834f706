"""Members are cut out of an object's bytes, whatever these look like: the reading of what is left
is that of the object, without what was to go.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from msgspec import Struct

from listwatch import (
    APIResource,
    MalformedObject,
    Unstructured,
    decode_unstructured,
    metadata_only,
    typed,
)
from listwatch.cache._cuts import Cuts
from listwatch.cache.transforms import (
    drop_annotations,
    drop_managed_fields,
    keep_metadata,
    transformed,
)
from listwatch.wire.decoders import reads_all, takes_type_meta

pytestmark = pytest.mark.clause("I4")

MANAGED = b'[{"manager":"kubelet","fieldsV1":{"f:status":{"k:{\\"type\\":\\"Ready\\"}":{}}}}]'
NAMES = ("metadata", "managedFields", "annotations", "a", "b", "name", "uid", "kind", "spec")

# JSON as text, so that names can come twice, be spelled in other ways, and stand between spaces.


def spelled(name: str, how: int) -> str:
    """A name, with the letter at `how` as an escape."""
    if how < len(name):
        return f'"{name[:how]}\\u{ord(name[how]):04x}{name[how + 1 :]}"'
    return json.dumps(name)


space = st.sampled_from(["", "", "", " ", "\n  "])
name = st.builds(spelled, st.sampled_from(NAMES), st.sampled_from([99, 99, 99, 0, 3]))
looks_like = st.sampled_from(
    [
        '"managedFields":[',
        ',"managedFields":[]',
        '{"annotations":{"a":1}}',
        "]}",
        '],"',
        '"',
        "\\",
        "0",
    ]
)
scalar = st.one_of(
    st.sampled_from(["null", "0", "true", '"x"', '"a"', '"managedFields"']),
    looks_like.map(json.dumps),
)
plain = st.sampled_from([MANAGED.decode(), "[]", '{"a":"1","b":"2"}', '{"a":"]}"}', "{}", "[1]"])


def an_object(value: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    member = st.builds("{}{}{}:{}{}{}".format, space, name, space, space, value, space)
    return st.lists(member, max_size=5).map(lambda members: "{" + ",".join(members) + "}")


def a_list(value: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.lists(value, max_size=3).map(lambda items: "[" + ",".join(items) + "]")


values = st.recursive(scalar | plain, lambda inner: an_object(inner) | a_list(inner), max_leaves=12)
objects = st.one_of(
    an_object(values),
    st.builds(
        '{{"kind":"Pod","apiVersion":"v1","metadata":{},"spec":{}}}'.format,
        an_object(values),
        values,
    ),
    st.builds('{{"spec":{},"metadata":{}}}'.format, values, an_object(values)),
)

CUTS = [
    Cuts(managed_fields=True),
    Cuts(annotations=frozenset("a")),
    Cuts(managed_fields=True, annotations=frozenset("ab")),
]


def expected(value: Any, cuts: Cuts) -> Any:
    metadata = value.get("metadata")
    if not isinstance(metadata, dict):
        return value
    metadata = dict(metadata)
    if cuts.managed_fields:
        metadata.pop("managedFields", None)
    annotations = metadata.get("annotations")
    if isinstance(annotations, dict) and cuts.annotations & annotations.keys():
        left = {name: text for name, text in annotations.items() if name not in cuts.annotations}
        metadata["annotations"] = left
        if not left:
            del metadata["annotations"]
    return {**value, "metadata": metadata}


@given(objects, st.sampled_from(CUTS))
@example('{"metadata":{"managedFields":[{"a":"]}"}],"name":"x"}}', CUTS[0])
@example('{"metadata":{"managedFields":[[1],[2]]}}', CUTS[0])
@example('{"spec":{"managedFields":[]},"metadata":{"managedFields":[]}}', CUTS[0])
@example('{"spec":{"managedFields":[]},"metadata":{"managed\\u0046ields":[]}}', CUTS[0])
@example('{"metadata":{"managed\\u0046ields":[],"managedFields":[]}}', CUTS[0])
@example('{"metadata":{"managedFields":[],"managed\\u0046ields":[]}}', CUTS[0])
@example('{"metadata":{"managedFields":[]},"metadata":{"managedFields":[]}}', CUTS[0])
@example('{"metadata":{"managedFields":[],"managedFields":0}}', CUTS[0])
@example('{"metadata":{"annotations":{"a":"1"}},"metadata":{"annotations":{"a":"1"}}}', CUTS[1])
@example('{"spec":{"annotations":{"a":"1"}},"metadata":{"annotations":{"a":"1"}}}', CUTS[1])
@example('{"metadata":{"annotations":{"\\u0061":"1","b":"2"}}}', CUTS[1])
def test_what_is_left_reads_as_the_object_without_what_was_to_go(text: str, cuts: Cuts) -> None:
    left = cuts(text.encode())
    assert json.loads(left) == expected(json.loads(text), cuts)


@given(objects, st.sampled_from(CUTS))
def test_a_cut_and_the_decoding_in_one_look_are_the_two_of_them(text: str, cuts: Cuts) -> None:
    raw = text.encode()
    try:
        known = decode_unstructured(raw)
    except MalformedObject:
        assume(False)
    left = decode_unstructured(cuts(raw))
    both = transformed(decode_unstructured, cuts)(raw)
    assert both.raw == left.raw
    assert (both.api_version, both.kind, both.identity) == (
        known.api_version,
        known.kind,
        known.identity,
    )


@given(objects, st.sampled_from(CUTS), st.data())
def test_bytes_that_are_no_object_are_refused_by_the_cut_or_the_decoder(
    text: str, cuts: Cuts, data: st.DataObject
) -> None:
    raw = text.encode()
    cut = data.draw(st.integers(0, len(raw) - 1))
    broken = data.draw(st.sampled_from([raw[:cut], raw + b"}", raw + b',"x":1', raw + b"{}"]))
    with pytest.raises(MalformedObject):
        transformed(decode_unstructured, cuts)(broken)


@pytest.mark.parametrize("cuts", CUTS, ids=repr)
def test_the_usual_layouts_are_never_taken_apart(
    cuts: Cuts, monkeypatch: pytest.MonkeyPatch
) -> None:
    metadata = {
        "annotations": {"a": '{"x":"]}"}', "b": "<p>", "c": "3"},
        "managedFields": json.loads(MANAGED),
        "name": "web",
        "namespace": "default",
    }
    typed = {name: metadata[name] for name in reversed(metadata)}
    layouts = [
        {"kind": "Pod", "apiVersion": "v1", "metadata": typed, "spec": {"x": metadata}},
        {"apiVersion": "x/v1", "kind": "Widget", "metadata": metadata, "spec": {}},
        {"kind": "Pod", "spec": {}, "metadata": typed},
    ]
    monkeypatch.delattr(Cuts, "_apart")
    for layout in layouts:
        for raw in (
            json.dumps(layout, separators=(",", ":")).encode(),
            json.dumps(layout, indent=2).encode(),
            json.dumps(layout, separators=(",", ":")).replace("<", "\\u003c").encode(),
        ):
            assert json.loads(cuts(raw)) == expected(layout, cuts)


def test_our_transforms_and_the_default_decoder_become_one() -> None:
    decoder = transformed(decode_unstructured, drop_annotations("a"), drop_managed_fields)
    whole: Any = decoder
    assert whole.cuts == Cuts(managed_fields=True, annotations=frozenset("a"))
    found = decoder(b'{"metadata":{"name":"x","annotations":{"a":"1"},"managedFields":[]}}')
    assert found.raw == b'{"metadata":{"name":"x"}}'


def test_items_of_a_typed_list_are_told_what_they_are() -> None:
    decoder: Any = transformed(decode_unstructured, drop_managed_fields)
    raw = b'{"metadata":{"name":"x","managedFields":[]}}'
    found = decoder(memoryview(raw), api_version="v1", kind="Pod")
    assert isinstance(found, Unstructured)
    assert found.raw == b'{"kind":"Pod","apiVersion":"v1","metadata":{"name":"x"}}'


def test_cuts_of_the_same_are_equal() -> None:
    assert drop_annotations("a", "b") == drop_annotations("b", "a")
    assert len({drop_annotations("a"), drop_annotations("a"), drop_annotations("b")}) == 2
    assert drop_annotations("a") != "a"
    assert (
        repr(Cuts(managed_fields=True, annotations=frozenset("a"))) == "<without managedFields, a>"
    )


def test_a_decoder_with_our_transforms_says_what_it_says_without() -> None:
    ours: Any = transformed(typed(Named), drop_managed_fields, keep_metadata)
    assert (reads_all(ours), takes_type_meta(ours)) == (True, True)
    raw = b'{"metadata":{"name":"x","uid":"u","managedFields":[]},"spec":{}}'
    assert ours(memoryview(raw), api_version="v1", kind="Pod").metadata.uid == "u"
    somebodys: Any = transformed(typed(Named), bytes)
    assert (reads_all(somebodys), takes_type_meta(somebodys)) == (False, False)
    assert ours.asks_for == ""


class NamedMeta(Struct, rename="camel"):
    name: str
    uid: str = ""
    resource_version: str = ""


class Named(Struct):
    metadata: NamedMeta


def test_what_a_decoder_asks_for_and_is_of_goes_through_the_transforms() -> None:
    decoder: Any = transformed(metadata_only(), drop_annotations("a"))
    assert decoder.asks_for == "PartialObjectMetadata"
    pods = APIResource(group="", version="v1", name="pods", kind="Pod", namespaced=True)
    found = decoder.of(pods)(b'{"metadata":{"name":"x","annotations":{"a":"1"}}}')
    assert found.raw == b'{"kind":"Pod","apiVersion":"v1","metadata":{"name":"x"}}'
