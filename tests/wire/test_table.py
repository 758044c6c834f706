"""Tables: whole ones, and rows that are read one by one."""

from __future__ import annotations

import copy
import json
import pickle
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from listwatch.api import (
    APIResource,
    EventType,
    GroupVersionResource,
    MalformedObject,
    ObjectMeta,
    PartialObjectMetadata,
    Status,
    Unstructured,
)
from listwatch.testing import Recording
from listwatch.wire import (
    JSON_CODEC,
    EnvelopeError,
    ListDecodeError,
    ListDecoder,
    WatchDecoder,
    decode_list,
    decode_unstructured,
)
from listwatch.wire.table import TableColumn, TableRow, decode_table, is_table
from listwatch.wire.table_rows import TableRows
from tests.support.vectors import vector, vectors

pytestmark = pytest.mark.clause("B9")

PODS = APIResource(group="", version="v1", name="pods", kind="Pod", namespaced=True)
NAME = {"name": "Name", "type": "string", "format": "name", "description": "", "priority": 0}
SIZE = {"name": "Size", "type": "integer", "format": "", "description": "", "priority": 1}


def row(name: str, *cells: Any, **metadata: Any) -> dict[str, Any]:
    partial = {"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1"}
    return {"cells": [name, *cells], "object": {**partial, "metadata": {"name": name, **metadata}}}


def table(*rows: Any, columns: Any = (NAME, SIZE), **metadata: Any) -> dict[str, Any]:
    return {
        "kind": "Table",
        "apiVersion": "meta.k8s.io/v1",
        "metadata": metadata,
        "columnDefinitions": columns,
        "rows": list(rows),
    }


def event(kind: str, found: Any) -> bytes:
    return json.dumps({"type": kind, "object": found}).encode() + b"\n"


def read(data: bytes, rows: TableRows | None = None) -> list[Any]:
    """The events of a watch."""
    return list(WatchDecoder(rows or TableRows()).feed(data))


def _recorded(*, watch: bool) -> list[Any]:
    return [
        pytest.param(recording, id=recording.name)
        for recording in vectors()
        if (recording.is_watch if watch else recording.is_list)
        and recording.status == 200
        and b'"kind":"Table"' in recording.body
        and "includeNone" not in recording.name
        and "includeObject-none" not in recording.name
    ]


# What servers have sent


@pytest.mark.parametrize("recording", _recorded(watch=False))
def test_a_recorded_list_is_its_rows(recording: Recording) -> None:
    sent = json.loads(recording.body)
    found = decode_list(recording.body, TableRows())
    assert [list(each.cells) for each in found] == [each["cells"] for each in sent["rows"]]
    assert [each.to_dict() for each in found] == [each["object"] for each in sent["rows"]]
    names = [each["name"] for each in sent["columnDefinitions"]]
    assert all([column.name for column in each.columns] == names for each in found)
    assert found.resource_version == sent["metadata"]["resourceVersion"]
    assert found.continue_ == sent["metadata"].get("continue", "")
    assert found.undecodable == []
    whole = decode_table(recording.body)
    assert (whole.rows, whole.metadata) == (tuple(found), found.metadata)
    assert [column.name for column in whole.columns] == names


@pytest.mark.parametrize("size", [1, 7, 1 << 20])
@pytest.mark.parametrize("recording", _recorded(watch=True))
def test_a_recorded_watch_is_its_rows_however_it_is_cut(recording: Recording, size: int) -> None:
    sent = [json.loads(line) for line in recording.body.splitlines()]
    stream = WatchDecoder(TableRows())
    found: list[Any] = []
    for at in range(0, len(recording.body), size):
        found += stream.feed(recording.body[at : at + size])
    found += stream.end()
    assert [each.type for each in found] == [each["type"] for each in sent]
    first = sent[0]["object"]
    for got, each in zip(found, sent, strict=True):
        match got.type:
            case EventType.ERROR:
                assert isinstance(got.object, Status)
                assert got.object.message == each["object"]["message"]
            case EventType.BOOKMARK:
                meta = each["object"]["rows"][0]["object"]["metadata"]
                assert isinstance(got.object, PartialObjectMetadata)
                assert got.object.resource_version == meta["resourceVersion"]
                assert got.object.metadata.annotations == meta.get("annotations", {})
            case _:
                [sent_row] = each["object"]["rows"]
                assert list(got.object.cells) == sent_row["cells"]
                assert got.object.to_dict() == sent_row["object"]
                assert got.object.raw == got.raw
                assert len(got.object.columns) == len(first["columnDefinitions"])


def test_the_mark_of_the_end_of_the_first_set_is_seen() -> None:
    found = read(vector("k-watchlist-nodes-table").body)
    assert [each.type for each in found[:-1]] == [EventType.ADDED] * (len(found) - 1)
    assert found[-1].is_initial_events_end


def test_the_recorded_answer_to_a_get_is_its_row() -> None:
    body = json.dumps(table(row("web-0", 1, resourceVersion="7"))).encode()
    found = TableRows().of(PODS)(body)
    assert (found.name, found.kind, found.cells) == ("web-0", "Pod", ("web-0", 1))


# Objects behind rows


def test_metadata_has_the_kind_of_its_resource() -> None:
    body = json.dumps(table(row("web-0", 1, namespace="shop", uid="u", resourceVersion="7")))
    rows = TableRows().of(PODS)
    for found in (decode_list(body.encode(), rows).items[0], rows(body.encode())):
        assert found.identity == ("shop/web-0", "u", "7")
        assert (found.kind, found.api_version) == ("Pod", "v1")
        assert list(found.to_dict()) == ["kind", "apiVersion", "metadata"]
        assert found == Unstructured.from_dict(found.to_dict())


def test_metadata_in_another_order_has_it_too() -> None:
    sent = {
        "metadata": {"name": "web-0"},
        "apiVersion": "meta.k8s.io/v1",
        "kind": "PartialObjectMetadata",
    }
    [found] = decode_list(
        json.dumps(table({"cells": [], "object": sent})).encode(), TableRows().of(PODS)
    )
    assert found.to_dict() == {"kind": "Pod", "apiVersion": "v1", "metadata": {"name": "web-0"}}


def test_whole_objects_keep_their_own_kind() -> None:
    body = vector("k-list-pods-table-includeObject").body
    rows = TableRows().of(GroupVersionResource.parse("v1/pods"))
    found = decode_list(body, rows).items[0]
    assert found.kind == "Pod"
    assert found["spec"]["containers"]


def test_a_row_can_be_pickled_and_nobody_can_change_it() -> None:
    [found] = decode_list(json.dumps(table(row("a", [1, {"b": []}]))).encode(), TableRows())
    assert found.cells == ("a", (1, {"b": ()}))
    inner: Any = found.cells[1]
    with pytest.raises(TypeError):
        inner[1]["b"] = 2
    again = pickle.loads(pickle.dumps(found))
    assert isinstance(again, TableRow)
    assert (again, again.cells, again.columns) == (found, found.cells, found.columns)
    assert copy.deepcopy(found) is found


@pytest.mark.clause("H18")
def test_rows_are_the_same_where_their_cells_are_too() -> None:
    other_size = {**SIZE, "format": "bytes"}

    def made(size: int, columns: Any = (NAME, SIZE)) -> TableRow:
        [found] = decode_list(json.dumps(table(row("a", size), columns=columns)).encode(), rows())
        return found

    rows = TableRows
    one = made(1)
    assert one.same_content(made(1))
    for other in (made(2), made(1, (NAME, other_size))):
        assert one == other, "they are the same state of one object"
        assert not one.same_content(other)
    assert one.same_content(Unstructured.from_bytes(one.raw))


def test_rows_of_one_answer_share_their_columns_and_those_of_the_next_if_they_are_equal() -> None:
    rows = TableRows()
    body = json.dumps(table(row("a", 1), row("b", 2))).encode()
    first, second = decode_list(body, rows)
    [third, _] = decode_list(body, rows.of(PODS))
    assert first.columns is second.columns is third.columns is rows.columns
    assert rows.columns == (
        TableColumn(name="Name", type="string", format="name"),
        TableColumn(name="Size", type="integer", priority=1),
    )


def test_the_columns_of_an_empty_table_are_known() -> None:
    rows = TableRows()
    assert len(decode_list(vector("k-list-configmaps-table-empty").body, rows)) == 0
    assert [column.name for column in rows.columns] == ["Name", "Data", "Age"]


# Other layouts, and what is wrong


def test_columns_may_come_behind_the_rows() -> None:
    sent = table(row("a", 1), row("b", 2), resourceVersion="7")
    body = json.dumps({name: sent[name] for name in reversed(sent)}).encode()
    reader = ListDecoder(TableRows())
    assert [item for byte in body for item in reader.feed(bytes([byte]))] == []
    assert [(each.name, len(each.columns)) for each in reader.end()] == [("a", 2), ("b", 2)]
    assert reader.metadata.resource_version == "7"


@given(data=st.data())
def test_a_list_may_be_cut_anywhere(data: st.DataObject) -> None:
    body = json.dumps(table(row("a", 'x\\"]}'), row("b", None), resourceVersion="7")).encode()
    reader = ListDecoder(TableRows())
    at = data.draw(st.integers(0, len(body)))
    found = reader.feed(body[:at]) + reader.feed(body[at:]) + reader.end()
    assert [each.cells for each in found] == [("a", 'x\\"]}'), ("b", None)]


def test_without_columns_there_are_cells_alone() -> None:
    [found] = decode_list(json.dumps(table(row("a", 1), columns=None)).encode(), TableRows())
    assert (found.cells, found.columns) == (("a", 1), ())


def test_a_server_without_tables_gives_rows_without_cells() -> None:
    body = b'{"kind":"PodList","apiVersion":"v1","metadata":{},"items":[{"metadata":{"name":"a"}}]}'
    [found] = decode_list(body, TableRows().of(PODS))
    assert (found.name, found.kind, found.cells, found.columns) == ("a", "Pod", (), ())
    pod = {"kind": "Pod", "apiVersion": "v1", "metadata": {"name": "a", "resourceVersion": "3"}}
    mark = {"kind": "Pod", "apiVersion": "v1", "metadata": {"resourceVersion": "9"}}
    data = event("ADDED", pod) + event("BOOKMARK", mark)
    added, marked = read(data, TableRows().of(PODS))
    assert (added.object.cells, added.raw) == ((), added.object.raw)
    assert marked.object.resource_version == "9"


def test_an_object_whose_kind_is_table_is_an_object() -> None:
    thing = {"kind": "Table", "apiVersion": "dynamodb.example.com/v1", "metadata": {"name": "t"}}
    raw = json.dumps(thing).encode()
    assert not is_table(raw)
    assert TableRows()(raw).name == "t"
    [found] = read(event("ADDED", thing))
    assert found.object.key == "t"
    with pytest.raises(MalformedObject, match="no Table"):
        decode_table(raw)


@pytest.mark.clause("D6")
def test_a_row_that_cannot_be_read_costs_no_other_and_has_its_key() -> None:
    bad = row("b", 1, namespace="shop", resourceVersion=7)
    body = json.dumps(table(row("a", 1), bad, row("c", 1))).encode()
    found = decode_list(body, TableRows().of(PODS))
    assert [each.name for each in found] == ["a", "c"]
    assert json.loads(found.undecodable[0].raw) == bad["object"]
    data = b"".join(event("ADDED", table(each)) for each in (row("a", 1), bad, row("c", 1)))
    [_, refused, _] = read(data, TableRows().of(PODS))
    assert "resourceVersion" in str(refused.error)
    assert json.loads(refused.raw) == bad["object"]


@pytest.mark.parametrize("name", ["k-watch-pods-table-includeNone"])
def test_rows_without_objects_are_nothing_to_follow(name: str) -> None:
    found = read(vector(name).body)
    assert all(isinstance(each, EnvelopeError) for each in found)
    assert "includeObject=None" in str(found[0])
    listed = decode_list(vector("k-list-pods-table-includeNone").body, TableRows())
    assert (listed.items, len(listed.undecodable)) == ([], 2)
    assert "includeObject=None" in str(listed.undecodable[0])


def test_a_whole_table_without_objects_has_its_cells() -> None:
    found = decode_table(vector("k-list-pods-table-includeNone").body)
    assert [each.cells[0] for each in found.rows] == ["web-00", "web-01"]
    assert found.rows[0].name == ""


@pytest.mark.clause("D2")
@pytest.mark.parametrize("rows", [[], [row("a"), row("b")], None])
def test_an_event_is_one_row(rows: Any) -> None:
    sent = {**table(), "rows": rows}
    [found] = read(event("ADDED", sent))
    assert isinstance(found, EnvelopeError)
    assert "there has to be one" in str(found)


@pytest.mark.clause("D4")
def test_a_bookmark_without_a_row_has_the_version_of_its_table() -> None:
    [found] = read(event("BOOKMARK", table(resourceVersion="12")))
    assert found.object.resource_version == "12"


def test_what_is_no_table_of_ours_says_so() -> None:
    with pytest.raises(ListDecodeError, match="a Table that cannot be read"):
        decode_list(json.dumps({**table(), "columnDefinitions": 3}).encode(), TableRows())
    with pytest.raises(MalformedObject, match="a Table that cannot be read"):
        decode_table(json.dumps({**table(), "rows": 3}).encode())
    [found] = read(event("ADDED", {**table(), "rows": 3}))
    assert "a Table that cannot be read" in str(found)


def test_others_are_still_told_not_to_ask_for_tables() -> None:
    with pytest.raises(ListDecodeError, match="as=Table"):
        decode_list(json.dumps(table(row("a"))).encode(), decode_unstructured)


def test_it_asks_for_tables_in_json_alone() -> None:
    assert TableRows.asks_for == "Table"
    assert JSON_CODEC.serves(TableRows(), "Table")
    assert TableRows() == TableRows()
    assert TableRows() != TableRows().of(PODS)
    assert len({TableRows().of(PODS), TableRows().of(PODS)}) == 1
    assert PartialObjectMetadata(metadata=ObjectMeta()).resource_version == ""
