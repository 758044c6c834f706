"""The answer to a LIST."""

from __future__ import annotations

import itertools
import json
from typing import Any

import msgspec
import pytest

from listwatch.api import Expired
from listwatch.wire import (
    ListDecodeError,
    WatchDecoder,
    decode_dict,
    decode_list,
    decode_unstructured,
)

META = {"resourceVersion": "42", "continue": "abc", "remainingItemCount": 7}
ITEMS = [
    {"metadata": {"name": "a", "namespace": "x", "uid": "u", "resourceVersion": "3"}},
    {"metadata": {"name": "b"}},
]


def body(**members: Any) -> bytes:
    return json.dumps(members).encode()


@pytest.mark.clause("D7")
@pytest.mark.parametrize(
    "order", list(itertools.permutations(["kind", "apiVersion", "metadata", "items"])), ids="-".join
)
def test_the_keys_come_in_any_order(order: tuple[str, ...]) -> None:
    members = {"kind": "PodList", "apiVersion": "v1", "metadata": META, "items": ITEMS}
    found = decode_list(body(**{key: members[key] for key in order}), decode_unstructured)
    assert [pod.key for pod in found] == ["x/a", "b"]
    assert (found.kind, found.api_version) == ("PodList", "v1")
    assert (found.resource_version, found.continue_, found.remaining_item_count) == ("42", "abc", 7)


@pytest.mark.clause("D7", "A7")
def test_an_object_from_a_list_equals_the_same_from_a_watch() -> None:
    [listed, _] = decode_list(
        body(kind="PodList", apiVersion="v1", metadata=META, items=ITEMS), decode_unstructured
    )
    line = body(type="ADDED", object={"kind": "Pod", "apiVersion": "v1", **ITEMS[0]}) + b"\n"
    [event] = WatchDecoder(decode_unstructured).feed(line)
    watched = event.object  # type: ignore[union-attr]
    assert listed == watched
    assert (listed.kind, listed.api_version) == ("Pod", "v1")
    assert listed.to_dict() == watched.to_dict()


@pytest.mark.clause("D7")
def test_items_that_say_their_kind_keep_it() -> None:
    own = {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "a"}}
    [found] = decode_list(
        body(apiVersion="example.com/v1", items=[own], kind="WidgetList", metadata={}), decode_dict
    )
    assert found == own
    [mixed] = decode_list(body(kind="List", apiVersion="v1", items=[own]), decode_dict)
    assert mixed == own


@pytest.mark.clause("D7")
@pytest.mark.parametrize("members", [{"items": None}, {"items": []}, {}])
def test_null_items_are_none(members: dict[str, Any]) -> None:
    found = decode_list(
        body(kind="PodList", apiVersion="v1", metadata=META, **members), decode_unstructured
    )
    assert list(found) == []
    assert len(found) == 0
    assert found.resource_version == "42"


@pytest.mark.clause("D7")
@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (b"", "empty body"),
        (b"  \n", "empty body"),
        (b"<html>502 Bad Gateway</html>", "no list"),
        (b"[]", "no list"),
        (b'{"kind":"PodList","items":[{"a":1}', "no list"),
        (b'{"kind":"PodList","items":{}}', "no list"),
        (b'{"kind":"Pod","metadata":{"name":"a"}}', "a Pod where a list"),
        (b'{"kind":"Table","rows":[]}', "as=Table"),
        (b"{}", "without items"),
    ],
)
def test_what_is_no_list_is_refused_in_words(answer: bytes, said: str) -> None:
    with pytest.raises(ListDecodeError, match=said):
        decode_list(answer, decode_unstructured)


@pytest.mark.clause("A5", "D7")
def test_a_status_in_place_of_a_list_is_its_error() -> None:
    with pytest.raises(Expired):
        decode_list(
            body(kind="Status", status="Failure", reason="Expired", code=410), decode_unstructured
        )


class Named(msgspec.Struct):
    name: str
    namespace: str


class Wanted(msgspec.Struct):
    metadata: Named


@pytest.mark.clause("D6")
def test_an_item_that_its_decoder_refuses_is_kept_raw_and_costs_no_other() -> None:
    found = decode_list(
        body(kind="PodList", apiVersion="v1", metadata=META, items=ITEMS),
        msgspec.json.Decoder(Wanted).decode,
    )
    assert [item.metadata.name for item in found] == ["a"]
    [refused] = found.undecodable
    assert refused.key == "b"
    assert json.loads(refused.raw) == {"kind": "Pod", "apiVersion": "v1", **ITEMS[1]}


@pytest.mark.clause("G4")
def test_an_item_keeps_no_page_alive() -> None:
    page = body(
        kind="PodList", apiVersion="v1", items=[ITEMS[0], {"metadata": {"name": "x" * 1_000_000}}]
    )
    [small, _] = decode_list(page, decode_unstructured)
    assert type(small.raw) is bytes
    assert len(small.raw) < 200


@pytest.mark.clause("D6")
@pytest.mark.parametrize(
    "bad", [None, 7, [], "x", {"kind": 5}, {"kind": {}, "metadata": {"name": "b"}}]
)
def test_a_bad_item_costs_no_other(bad: Any) -> None:
    items = [bad, {"metadata": {"name": "ok"}}]
    found = decode_list(body(kind="PodList", apiVersion="v1", items=items), decode_unstructured)
    assert [item.name for item in found] == ["ok"]
    assert [json.loads(refused.raw) for refused in found.undecodable] == [bad]


@pytest.mark.clause("D7", "C4")
def test_a_list_that_is_nested_too_deep_is_refused_in_words() -> None:
    deep = b'{"kind":"PodList","items":[{"a":' + b"[" * 50_000 + b"]" * 50_000 + b"}]}"
    with pytest.raises(ListDecodeError, match="nested"):
        decode_list(deep, decode_unstructured)
