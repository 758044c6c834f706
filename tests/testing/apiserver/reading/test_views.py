"""Whole objects: alone, in lists, and in the version that was asked for."""

from __future__ import annotations

import json

from listwatch.api import APIResource
from listwatch.testing.apiserver.reading.views import FullView, ListMetadata
from listwatch.testing.apiserver.storage.log import StoredObject
from listwatch.testing.apiserver.types.served import ResourceType
from tests.testing.apiserver.read_server import WIDGETS, ReadServer

_RESOURCE = WIDGETS.resource


def test_items_of_a_built_in_type_have_no_kind() -> None:
    server = ReadServer()
    pod = server.put("pods", "a", spec={"nodeName": "n"})
    view = FullView(server.type("pods"))
    assert view.one(pod) is pod.raw
    body = view.page([pod], ListMetadata(7, "token", 3))
    assert body == (
        b'{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"7",'
        b'"continue":"token","remainingItemCount":3},"items":[{"metadata":{"name":"a",'
        b'"namespace":"default","resourceVersion":"2"},"spec":{"nodeName":"n"},"status":{}}]}\n'
    )


def test_items_of_a_custom_resource_have_theirs_and_stand_before_the_metadata() -> None:
    widget = ReadServer().put("widgets", "a")
    body = FullView(WIDGETS).page([widget], ListMetadata(7, "token", 3))
    assert body == (
        b'{"apiVersion":"example.com/v1","items":[{"apiVersion":"example.com/v1","kind":"Widget",'
        b'"metadata":{"name":"a","namespace":"default","resourceVersion":"2"}}],'
        b'"kind":"WidgetList","metadata":{"continue":"token","remainingItemCount":3,'
        b'"resourceVersion":"7"}}\n'
    )


def test_empty_lists_are_empty() -> None:
    """K8."""
    server = ReadServer()
    assert b'"items":[]' in FullView(server.type("pods")).page([], ListMetadata(7))
    assert FullView(WIDGETS).page([], ListMetadata(7)) == (
        b'{"apiVersion":"example.com/v1","items":[],"kind":"WidgetList",'
        b'"metadata":{"continue":"","resourceVersion":"7"}}\n'
    )


def test_an_object_whose_members_stand_otherwise_loses_its_kind_all_the_same() -> None:
    server = ReadServer()
    value = {"metadata": {"name": "a"}, "apiVersion": "v1", "kind": "Pod", "spec": {}}
    odd = StoredObject(("default", "a"), value, 2)
    body = FullView(server.type("pods")).page([odd], ListMetadata(7))
    assert json.loads(body)["items"] == [{"metadata": {"name": "a"}, "spec": {}}]


def test_another_version_shows_the_same_object_under_its_name() -> None:
    v2 = ResourceType(
        resource=APIResource(
            group=_RESOURCE.group,
            version="v2",
            name=_RESOURCE.name,
            kind=_RESOURCE.kind,
            namespaced=True,
            singular=_RESOURCE.singular,
            short_names=(),
            categories=(),
            verbs=_RESOURCE.verbs,
        ),
        storage=WIDGETS.storage,
        custom=True,
    )
    widget = ReadServer().put("widgets", "a", spec={"n": 1})
    assert FullView(v2).one(widget) == widget.raw.replace(b"example.com/v1", b"example.com/v2")
    assert FullView(v2).key != FullView(WIDGETS).key


def test_events_are_shown_by_both_groups() -> None:
    server = ReadServer()
    event = server.put("events", "e", involvedObject={"name": "p"}, message="hello")
    new = FullView(server.type("events", "events.k8s.io"))
    value = json.loads(new.one(event))
    assert value["apiVersion"] == "events.k8s.io/v1"
    assert value["regarding"] == {"name": "p"}
    assert value["note"] == "hello"
