"""The benchmark's data is the same everywhere, and looks like a real server's."""

from __future__ import annotations

import json
import re
from typing import Any

import msgspec
import pytest

from bench.data import DATA, RESOURCES, Dataset, Recorded, checksum, make_dataset
from bench.models import Pod
from listwatch.wire import decode_unstructured

OBJECTS, EVENTS = 120, 200

METADATA = (
    *("name", "generateName", "namespace", "uid", "resourceVersion", "generation"),
    *("creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "labels"),
    *("annotations", "ownerReferences", "finalizers", "managedFields"),
)


@pytest.fixture(scope="module")
def pods() -> Dataset:
    return make_dataset("pods", OBJECTS, EVENTS)


@pytest.fixture(scope="module")
def widgets() -> Dataset:
    return make_dataset("widgets", OBJECTS, EVENTS)


@pytest.mark.parametrize("resource", list(RESOURCES))
def test_the_same_arguments_make_the_same_bytes(resource: str) -> None:
    first, second = (make_dataset(resource, 40, 60) for _ in range(2))
    assert first.items == second.items
    assert first.events == second.events
    assert checksum(first.events) == checksum(second.events)


@pytest.mark.parametrize("data", DATA)
@pytest.mark.parametrize("resource", list(RESOURCES))
def test_every_object_and_event_is_one_json_value_with_its_identity(
    resource: str, data: str
) -> None:
    made = make_dataset(resource, 30, 30, data=data)
    assert len(made.items) == 30
    assert len(made.events) == 30
    for found in (*made.items, *made.events):
        obj = decode_unstructured(made.watched(found))
        assert (obj.namespace, obj.name) == (found.namespace, found.name)
        assert obj.resource_version == str(found.version)
        assert (obj.api_version, obj.kind) == (made.kind.api_version, made.kind.kind)
    line = made.event(b"ADDED", made.watched(made.items[0]))
    assert line.endswith(b"\n")
    assert (line.count(b"\n") > 1) == (data == "pretty")


def test_pods_have_their_members_in_the_servers_order(pods: Dataset) -> None:
    for found in pods.items:
        obj = json.loads(pods.listed(found))
        assert list(obj) == ["metadata", "spec", "status"]
        assert list(json.loads(pods.watched(found))) == ["kind", "apiVersion", *obj]
        metadata = list(obj["metadata"])
        assert metadata == [name for name in METADATA if name in metadata]


def test_widgets_have_their_members_in_alphabetical_order(widgets: Dataset) -> None:
    def is_sorted(value: Any) -> bool:
        if isinstance(value, dict):
            return list(value) == sorted(value) and all(map(is_sorted, value.values()))
        return not isinstance(value, list) or all(map(is_sorted, value))

    for found in widgets.items:
        obj = json.loads(widgets.listed(found))
        assert list(obj)[:3] == ["apiVersion", "kind", "metadata"]
        assert is_sorted(obj)


def test_pods_are_of_the_usual_size_and_a_third_is_managed_fields() -> None:
    made = make_dataset("pods", 1500, 0)
    sizes = [len(made.listed(found)) for found in made.items]
    managed = [
        len(msgspec.json.encode(msgspec.json.decode(found.metadata)["managedFields"]))
        for found in made.items
    ]
    assert 6_000 < sum(sizes) / len(sizes) < 8_500
    assert 0.30 < sum(managed) / sum(sizes) < 0.42


def test_large_objects_are_about_a_hundred_kilobytes() -> None:
    for resource in RESOURCES:
        made = make_dataset(resource, 40, 0, data="large")
        size = sum(len(made.listed(found)) for found in made.items) / 40
        assert 70_000 < size < 140_000


def test_pods_are_not_made_from_one_template() -> None:
    made = make_dataset("pods", 1500, 0)
    shapes = {re.sub(rb"[0-9a-f-]+", b"", found.rest[:900]) for found in made.items}
    assert len(shapes) > 150
    assert len({found.namespace for found in made.items}) >= 20
    phases = {json.loads(made.listed(found))["status"]["phase"] for found in made.items}
    assert phases == {"Pending", "Running", "Succeeded"}


def test_strings_are_escaped_as_go_escapes_them(pods: Dataset) -> None:
    everything = b"".join(pods.listed(found) for found in pods.items)
    assert b"\\u0026" in everything
    assert not set(b"<>&") & set(everything)


def test_events_come_in_the_order_of_their_versions_and_fit_what_is_there(pods: Dataset) -> None:
    there = set(pods.keys)
    last = pods.version
    for event in pods.events:
        assert event.version > last
        last = event.version
        key = (event.namespace, event.name)
        assert (key in there) == (event.type != "ADDED")
        if event.type == "ADDED":
            there.add(key)
        elif event.type == "DELETED":
            there.remove(key)
    assert there == set(pods.at_the_end().keys)
    assert {event.type for event in pods.events} == {"ADDED", "MODIFIED", "DELETED"}


def test_status_updates_change_nothing_but_the_status() -> None:
    made = make_dataset("pods", 30, 60, data="status")
    first = {(f.namespace, f.name): json.loads(made.watched(f)) for f in made.items}
    for event in made.events:
        assert event.type == "MODIFIED"
        before = first[(event.namespace, event.name)]
        after = json.loads(made.watched(event))
        assert after["spec"] == before["spec"]
        for name in before["metadata"]:
            if name not in ("resourceVersion", "managedFields"):
                assert after["metadata"][name] == before["metadata"][name]


def test_the_struct_has_every_field_that_pods_have(pods: Dataset) -> None:
    decode = msgspec.json.Decoder(Pod).decode
    for found in (*pods.items, *pods.events):
        raw = pods.watched(found)
        again = msgspec.json.decode(msgspec.json.encode(decode(raw)))
        assert _without_empty(again) == _without_empty(json.loads(raw))


def _without_empty(value: Any) -> Any:
    if isinstance(value, dict):
        kept = {name: _without_empty(member) for name, member in value.items()}
        return {name: member for name, member in kept.items() if member not in _EMPTY}
    return [_without_empty(item) for item in value] if isinstance(value, list) else value


_EMPTY: tuple[Any, ...] = (None, {}, [], "", 0)


def test_a_page_is_what_its_objects_are(pods: Dataset, widgets: Dataset) -> None:
    for made in (pods, widgets):
        body = json.loads(b"".join(made.page(slice(0, 10), "more", 5)))
        assert body["metadata"]["continue"] == "more"
        assert body["metadata"]["remainingItemCount"] == 5
        assert body["kind"] == f"{made.kind.kind}List"
        assert body["items"] == [json.loads(made.listed(found)) for found in made.items[:10]]


def test_the_checksum_is_of_keys_and_versions() -> None:
    recorded = Recorded("team", "web-0", 17, b"{}", b"", "ADDED")
    assert checksum([recorded]) == "2553504273"
    assert checksum([recorded, recorded]) == "5107008546"
