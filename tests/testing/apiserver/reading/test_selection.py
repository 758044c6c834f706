"""Selections: which objects are meant, and what a watch is told of those that come and go."""

from __future__ import annotations

import json
from typing import Any

import pytest

from listwatch.testing.apiserver.reading.field_grammar import read_field_selector
from listwatch.testing.apiserver.reading.label_grammar import read_label_selector
from listwatch.testing.apiserver.reading.list_options import ListOptions
from listwatch.testing.apiserver.reading.selection import EventKind, Selection, selectable_value
from listwatch.testing.apiserver.statuses import Refused
from listwatch.testing.apiserver.storage.log import Write
from listwatch.testing.apiserver.storage.state import Target
from tests.testing.apiserver.read_server import WIDGETS, ReadServer

SERVER = ReadServer()
PODS = SERVER.type("pods")


def _selection(
    *, labels: str = "", fields: str = "", namespace: str = "", name: str = ""
) -> Selection:
    options = ListOptions(labels=read_label_selector(labels), fields=read_field_selector(fields))
    return Selection.of(Target(type=PODS, namespace=namespace, name=name), options)


def _refusal(**options: str) -> str:
    with pytest.raises(Refused) as caught:
        _selection(**options)
    message: str = json.loads(caught.value.answer.body)["message"]
    return message


@pytest.mark.parametrize(
    ("plural", "group", "members", "path", "value"),
    [
        ("pods", "", {}, "metadata.name", "x"),
        ("pods", "", {}, "metadata.namespace", "ns"),
        ("pods", "", {"spec": {"nodeName": "n"}}, "spec.nodeName", "n"),
        ("pods", "", {}, "spec.nodeName", ""),
        ("pods", "", {}, "spec.hostNetwork", "false"),
        ("pods", "", {"spec": {"hostNetwork": True}}, "spec.hostNetwork", "true"),
        ("pods", "", {"status": {"podIPs": [{"ip": "10.0.0.1"}]}}, "status.podIP", "10.0.0.1"),
        ("pods", "", {"status": {"podIP": "10.0.0.1"}}, "status.podIP", "10.0.0.1"),
        ("pods", "", {"status": {"podIPs": [{"ip": "10.0.0.1"}]}}, "status.podIPs", ""),
        ("nodes", "", {}, "spec.unschedulable", "false"),
        ("nodes", "", {"spec": {"unschedulable": True}}, "spec.unschedulable", "true"),
        ("jobs", "batch", {}, "status.successful", "0"),
        ("jobs", "batch", {"status": {"succeeded": 3}}, "status.successful", "3"),
        ("replicationcontrollers", "", {}, "status.replicas", "0"),
        ("secrets", "", {"type": "Opaque"}, "type", "Opaque"),
        ("events", "", {"source": {"component": "kubelet"}}, "source", "kubelet"),
        ("events", "", {"source": {}, "reportingComponent": "c"}, "source", "c"),
        ("events", "", {"involvedObject": {"name": "p"}}, "involvedObject.name", "p"),
        ("events", "events.k8s.io", {"involvedObject": {"name": "p"}}, "regarding.name", "p"),
    ],
)
def test_fields_have_the_values_that_the_real_server_compares(
    plural: str, group: str, members: dict[str, Any], path: str, value: str
) -> None:
    """K38."""
    server = ReadServer()
    of = server.type(plural, group)
    assert path in of.selectable
    stored_as = server.type(plural) if plural == "events" else of
    content = {
        "kind": stored_as.kind,
        "apiVersion": stored_as.api_version,
        "metadata": {"name": "x", "namespace": "ns"},
        **members,
    }
    found = server.log.put(of.storage, ("ns", "x"), content)
    assert selectable_value(of, found, path) == value


@pytest.mark.parametrize(("color", "value"), [("red", "red"), (5, "5"), (True, "true"), (None, "")])
def test_custom_fields_are_compared_as_text(color: Any, value: str) -> None:
    found = ReadServer().put("widgets", "w", spec={"color": color})
    assert selectable_value(WIDGETS, found, "spec.color") == value


def test_a_field_that_the_type_has_not_is_refused() -> None:
    """K39."""
    assert _refusal(fields="spec.x=1") == "field label not supported: spec.x"
    assert _refusal(fields="=x") == "field label not supported: "
    assert _refusal(fields="z=1,a=1,a-b=1") == "field label not supported: a-b"


def test_a_selector_for_one_namespace_makes_it_a_list_of_that_namespace() -> None:
    """K11: its tokens are those of one namespace too."""
    assert _selection(fields="metadata.namespace=rec").namespace == "rec"
    assert _selection(fields="metadata.namespace!=rec").namespace == ""
    assert _selection(fields="metadata.namespace=A_b").namespace == ""
    assert _selection(fields="metadata.namespace=rec", namespace="x").namespace == "x"


def test_one_name_can_be_meant_only_where_the_namespace_is_known() -> None:
    assert _selection(fields="metadata.name=a").name is None
    assert _selection(fields="metadata.name=a", namespace="x").name == "a"
    assert _selection(fields="metadata.name!=a", namespace="x").name is None
    assert _selection(fields="metadata.name=a/b", namespace="x").name is None


def test_the_name_in_the_path_must_be_that_of_the_selector() -> None:
    """K19: `/watch/.../NAME`."""
    assert _selection(name="a", namespace="x").name == "a"
    assert _selection(name="a", namespace="x", fields="metadata.name=a").name == "a"
    text = "fieldSelector metadata.name doesn't match requested name"
    assert _refusal(name="a", fields="metadata.name=b") == text
    assert _refusal(name="a", fields="metadata.namespace=x") == text


def _writes(selection: Selection) -> list[EventKind | None]:
    server = ReadServer()
    seen: list[Write] = []
    server.log.listeners.append(seen.append)
    server.put("pods", "a", labels={"app": "web"})
    server.put("pods", "a", labels={"app": "web"}, status={"phase": "Running"})
    server.put("pods", "a", labels={"app": "db"})
    server.put("pods", "a", labels={"app": "db"}, status={"phase": "Running"})
    server.put("pods", "a", labels={"app": "web"})
    server.delete("pods", "a")
    return [selection.event_of(write) for write in seen]


def test_what_leaves_a_selection_is_deleted_and_what_comes_in_is_added() -> None:
    """K19."""
    assert _writes(_selection(labels="app=web")) == [
        EventKind.ADDED,
        EventKind.MODIFIED,
        EventKind.LEFT,
        None,
        EventKind.ADDED,
        EventKind.DELETED,
    ]
    assert _writes(_selection(fields="status.phase=Running")) == [
        None,
        EventKind.ADDED,
        EventKind.LEFT,
        EventKind.ADDED,
        EventKind.LEFT,
        None,
    ]


def test_without_a_selector_every_write_in_the_namespace_is_told() -> None:
    everything = [EventKind.ADDED, *[EventKind.MODIFIED] * 4, EventKind.DELETED]
    assert _writes(_selection()) == everything
    assert _writes(_selection(namespace="default")) == everything
    assert _writes(_selection(namespace="other")) == [None] * 6
