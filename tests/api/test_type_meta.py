"""Kind and apiVersion for objects that came without them."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from listwatch.api import MalformedObject, Unstructured, with_type_meta

pytestmark = pytest.mark.clause("A7", "D7")

BOTH = b'"kind":"Pod","apiVersion":"v1"'

type_texts = st.sampled_from(["", "v1", "apps/v1", "Pod", 'quo"te', "ü", "\u2028"])
heads = st.none() | type_texts
bodies = st.dictionaries(
    st.sampled_from(["kind", "apiVersion", "data", "spec", "kindly", ""]) | st.text(max_size=3),
    st.none() | st.text(max_size=3) | st.lists(st.integers(0, 9), max_size=2),
)


def expected(value: dict[str, Any], api_version: str, kind: str) -> dict[str, Any]:
    result = dict(value)
    if kind and not value.get("kind"):
        result["kind"] = kind
    if api_version and not value.get("apiVersion"):
        result["apiVersion"] = api_version
    return result


@given(
    body=bodies,
    front=st.dictionaries(st.sampled_from(["kind", "apiVersion"]), heads),
    front_first=st.booleans(),
    api_version=type_texts,
    kind=type_texts,
    indent=st.sampled_from([None, 2]),
    space=st.sampled_from(["", " ", "\r\n\t"]),
)
def test_it_is_what_json_would_make_of_it(
    body: dict[str, Any],
    front: dict[str, Any],
    front_first: bool,
    api_version: str,
    kind: str,
    indent: int | None,
    space: str,
) -> None:
    rest = {key: value for key, value in body.items() if key not in ("kind", "apiVersion")}
    value = {**front, **rest} if front_first else {**rest, **front}
    raw = (space + json.dumps(value, indent=indent, ensure_ascii=False) + space).encode()
    pairs = json.loads(with_type_meta(raw, api_version, kind), object_pairs_hook=list)
    assert len({key for key, _ in pairs}) == len(pairs), "a key came twice"
    assert json.loads(with_type_meta(raw, api_version, kind)) == expected(value, api_version, kind)
    obj = Unstructured.from_bytes(raw, api_version=api_version, kind=kind)
    assert obj.to_dict() == expected(value, api_version, kind)
    assert obj.kind == (value.get("kind") or kind)
    assert obj.api_version == (value.get("apiVersion") or api_version)


@pytest.mark.parametrize(
    ("raw", "result"),
    [
        (b"{}", b"{" + BOTH + b"}"),
        (b" { } ", b"{" + BOTH + b" } "),
        (b'{"spec":1}', b"{" + BOTH + b',"spec":1}'),
        (b'\n{\n "spec":1}', b"{" + BOTH + b',\n "spec":1}'),
        (b'{"kind":"A"}', b'{"apiVersion":"v1","kind":"A"}'),
        (b'{"apiVersion":"v2","x":[1, 2.50]}', b'{"kind":"Pod","apiVersion":"v2","x":[1, 2.50]}'),
        (b'{"kind":null,"x":[1, 2.50]}', b"{" + BOTH + b',"x":[1, 2.50]}'),
        (b'{"x":1,"apiVersion":"","kind":""}', b"{" + BOTH + b',"x":1}'),
        (b'{"\\u006bind":null}', b"{" + BOTH + b"}"),
        (b'{"spec":{"kind":"X"}}', b"{" + BOTH + b',"spec":{"kind":"X"}}'),
    ],
)
def test_what_is_lacking_comes_in_front_and_the_rest_stays_as_it_was(
    raw: bytes, result: bytes
) -> None:
    assert with_type_meta(raw, "v1", "Pod") == result


@pytest.mark.parametrize(
    "raw",
    [
        b"{" + BOTH + b',"spec":1}',
        b'{"apiVersion":"v1","kind":"Pod","spec":1}',
        b'{"spec":1,"apiVersion":"v1","kind":"Pod"}',
        b'{"kind":"Other","apiVersion":"other/v1"}',
    ],
)
def test_an_object_that_has_both_is_returned_as_it_is(raw: bytes) -> None:
    assert with_type_meta(raw, "v1", "Pod") is raw


@pytest.mark.parametrize("raw", [b"{" + BOTH + b',"spec":1}', b'{"spec":1}', b'{"kind":null}'])
def test_the_result_does_not_hold_a_larger_buffer(raw: bytes) -> None:
    page = bytearray(raw)
    result = with_type_meta(memoryview(page), "v1", "Pod")
    from_raw = with_type_meta(msgspec.Raw(memoryview(page)), "v1", "Pod")
    page.clear()  # refused by Python as long as anybody looks into it
    assert type(result) is bytes
    assert result == from_raw == with_type_meta(raw, "v1", "Pod")


@pytest.mark.parametrize(
    "raw",
    [b"", b"[]", b"null", b"{", b'{"kind":1}', b'{"apiVersion":{}}', b'{"kind":null,"\xff":1}'],
)
def test_what_is_no_object_is_refused(raw: bytes) -> None:
    with pytest.raises(MalformedObject, match="no Kubernetes object"):
        with_type_meta(raw, "v1", "Pod")
