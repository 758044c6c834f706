"""The official client, PyPI ``kubernetes``."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from conformance.clients.place import LABEL, Forgotten, Place, Step, increasing
from conformance.objects import WIDGET, config_map, pod
from conformance.users import NOBODY

pytest.importorskip("kubernetes", reason="the extra peers brings the official client")

from kubernetes import client, dynamic, watch
from kubernetes.client.exceptions import ApiException

from conformance.clients.official import connect

# Of the five kinds of patch that a path takes it sends JSON Patch unless told otherwise.
MERGE = {"_content_type": "application/merge-patch+json"}

# These have no types.
Watch: Any = watch.Watch
DynamicClient: Any = dynamic.DynamicClient


@pytest.fixture
def core(place: Place) -> Iterator[Any]:
    with connect(place) as api:
        yield client.CoreV1Api(api)


class Widgets:
    """Widgets of one namespace by `CustomObjectsApi`, whose methods want to be told it all."""

    def __init__(self, api: Any, namespace: str) -> None:
        self._api = client.CustomObjectsApi(api)
        self._where = (WIDGET.group, WIDGET.version, namespace, WIDGET.plural)

    def __getattr__(self, verb: str) -> Callable[..., Any]:
        verb, _, subresource = verb.partition("_")
        name = f"{verb}_namespaced_custom_object" + (subresource and f"_{subresource}")
        method = getattr(self._api, name)
        return lambda *given, **options: method(*self._where, *given, **options)

    def watch(self, **options: Any) -> Iterator[Any]:
        listing = self._api.list_namespaced_custom_object
        return iter(Watch().stream(listing, *self._where, **options))


@pytest.fixture
def widgets(place: Place) -> Iterator[Widgets]:
    with connect(place) as api:
        yield Widgets(api, place.namespace)


def step(event: Any) -> Step:
    return Step(event["type"], event["raw_object"]["metadata"]["name"])


def status_of(error: ApiException) -> Any:
    """The Status that came with a refusal."""
    assert error.body is not None
    return json.loads(error.body)


def versions(events: list[Any]) -> list[str]:
    return [event["raw_object"]["metadata"]["resourceVersion"] for event in events]


def test_creates_reads_and_lists_by_selectors(core: Any, place: Place) -> None:
    for name, app in (("a", "web"), ("b", "db"), ("c", "web")):
        created = core.create_namespaced_config_map(
            place.namespace, config_map(name, {"app": app}, n=name)
        )
        assert created.metadata.uid
        assert created.metadata.creation_timestamp is not None
    assert core.read_namespaced_config_map("b", place.namespace).data == {"n": "b"}

    def listed(**selectors: str) -> list[str]:
        found = core.list_namespaced_config_map(place.namespace, **selectors)
        assert int(found.metadata.resource_version) > 0
        return [item.metadata.name for item in found.items]

    assert listed() == ["a", "b", "c"]
    assert listed(label_selector=LABEL) == ["a", "c"]
    assert listed(label_selector="app notin (web)") == ["b"]
    assert listed(field_selector="metadata.name!=a") == ["b", "c"]
    everywhere = core.list_config_map_for_all_namespaces(label_selector=LABEL)
    assert [i.metadata.name for i in everywhere.items if i.metadata.namespace == place.namespace]


def test_pages(core: Any, place: Place) -> None:
    for number in range(5):
        place.add(f"c-{number}")
    pages, token = [], None
    while token != "":
        page = core.list_namespaced_config_map(place.namespace, limit=2, _continue=token)
        pages.append([item.metadata.name for item in page.items])
        token = page.metadata._continue or ""
    assert pages == [["c-0", "c-1"], ["c-2", "c-3"], ["c-4"]]


def test_watches_what_it_does_itself(core: Any, place: Place) -> None:
    start = core.list_namespaced_config_map(place.namespace).metadata.resource_version
    core.create_namespaced_config_map(place.namespace, config_map("a", n="1"))
    seen, watcher = [], Watch()
    for event in watcher.stream(
        core.list_namespaced_config_map, place.namespace, resource_version=start
    ):
        seen.append((event["type"], event["object"].data))
        match seen:
            case [_]:
                core.patch_namespaced_config_map(
                    "a", place.namespace, {"data": {"m": "2"}}, **MERGE
                )
            case [_, _]:
                core.delete_namespaced_config_map("a", place.namespace)
            case _:
                watcher.stop()
    both = {"m": "2", "n": "1"}
    assert seen == [("ADDED", {"n": "1"}), ("MODIFIED", both), ("DELETED", both)]


@pytest.mark.parametrize("options", [{}, {"label_selector": LABEL}], ids=["all", "selected"])
def test_watches_from_a_version_on(
    core: Any, widgets: Widgets, place: Place, options: dict[str, str]
) -> None:
    for plural in ("configmaps", WIDGET.plural):
        churn = place.churn(plural)
        bounds = {"resource_version": churn.start, "timeout_seconds": 1}
        if plural == WIDGET.plural:
            events = list(widgets.watch(**options, **bounds))
        else:
            listing = core.list_namespaced_config_map
            events = list(Watch().stream(listing, place.namespace, **options, **bounds))
        expected = churn.selected if options else churn.all
        assert tuple(step(event) for event in events) == expected
        assert increasing(versions(events))


def test_a_version_too_old_is_410(forgotten: Forgotten) -> None:
    with connect(forgotten.place) as api:
        listing = client.CoreV1Api(api).list_namespaced_config_map
        where = forgotten.place.namespace
        events = Watch().stream(listing, where, resource_version=forgotten.version)
        with pytest.raises(ApiException) as raised:
            next(events)
    assert raised.value.status == 410
    assert str(raised.value.reason).startswith("Expired: too old resource version: ")


def test_streams_a_list(core: Any, place: Place) -> None:
    place.add("a")
    last = place.add("b")
    events = list(
        Watch().stream(
            core.list_namespaced_config_map,
            place.namespace,
            send_initial_events=True,
            resource_version_match="NotOlderThan",
            allow_watch_bookmarks=True,
            timeout_seconds=1,
        )
    )
    assert [event["type"] for event in events[:3]] == ["ADDED", "ADDED", "BOOKMARK"]
    assert [step(event).name for event in events[:2]] == ["a", "b"]
    end = events[2]["raw_object"]["metadata"]
    assert end["annotations"] == {"k8s.io/initial-events-end": "true"}
    assert int(end["resourceVersion"]) >= int(last)


def test_patches_in_two_ways(core: Any, place: Place) -> None:
    core.create_namespaced_config_map(place.namespace, config_map("a", x="1", y="2"))
    merged = core.patch_namespaced_config_map(
        "a", place.namespace, {"data": {"x": None, "z": "3"}}, **MERGE
    )
    assert merged.data == {"y": "2", "z": "3"}
    replace = [
        {"op": "test", "path": "/data/y", "value": "2"},
        {"op": "replace", "path": "/data/y", "value": "4"},
    ]
    assert core.patch_namespaced_config_map("a", place.namespace, replace).data["y"] == "4"
    with pytest.raises(ApiException) as raised:
        core.patch_namespaced_config_map("a", place.namespace, replace)
    assert (raised.value.status, raised.value.reason) == (422, "Unprocessable Entity")


def test_replaces_and_conflicts(core: Any, place: Place) -> None:
    old = core.create_namespaced_config_map(place.namespace, config_map("a", n="1"))
    old.data = {"n": "2"}
    new = core.replace_namespaced_config_map("a", place.namespace, old)
    assert new.data == {"n": "2"}
    assert increasing([old.metadata.resource_version, new.metadata.resource_version])
    with pytest.raises(ApiException) as raised:
        core.replace_namespaced_config_map("a", place.namespace, old)
    status = status_of(raised.value)
    assert (raised.value.status, status["reason"]) == (409, "Conflict")
    assert "the object has been modified" in status["message"]


def test_writes_the_status_of_a_pod(core: Any, place: Place) -> None:
    created = core.create_namespaced_pod(place.namespace, pod("p"))
    assert created.status.phase == "Pending"
    assert created.spec.restart_policy == "Always"
    # The main resource leaves the status alone, the subresource all else.
    body = {"status": {"phase": "Running"}, "metadata": {"labels": {"a": "b"}}}
    core.patch_namespaced_pod("p", place.namespace, body, **MERGE)
    assert core.read_namespaced_pod("p", place.namespace).status.phase == "Pending"
    core.patch_namespaced_pod_status("p", place.namespace, body, **MERGE)
    found = core.read_namespaced_pod_status("p", place.namespace)
    assert (found.status.phase, found.metadata.labels) == ("Running", {"a": "b"})
    running = core.list_namespaced_pod(place.namespace, field_selector="status.phase=Running")
    assert [item.metadata.name for item in running.items] == ["p"]


def test_deletes_one_and_many(core: Any, place: Place) -> None:
    for name, app in (("a", "web"), ("b", "web"), ("c", "db")):
        core.create_namespaced_config_map(place.namespace, config_map(name, {"app": app}))
    status = core.delete_namespaced_config_map("c", place.namespace)
    assert status["status"] == "Success"
    assert (status["details"]["name"], status["details"]["kind"]) == ("c", "configmaps")
    core.create_namespaced_config_map(place.namespace, config_map("c"))
    core.delete_collection_namespaced_config_map(place.namespace, label_selector=LABEL)
    left = core.list_namespaced_config_map(place.namespace)
    assert [item.metadata.name for item in left.items] == ["c"]


def test_a_precondition_and_a_finalizer(core: Any, place: Place) -> None:
    body = config_map("a")
    body["metadata"]["finalizers"] = ["example.com/hold"]
    core.create_namespaced_config_map(place.namespace, body)
    wrong = client.V1DeleteOptions(preconditions=client.V1Preconditions(uid="another"))
    with pytest.raises(ApiException) as raised:
        core.delete_namespaced_config_map("a", place.namespace, body=wrong)
    assert raised.value.status == 409
    core.delete_namespaced_config_map("a", place.namespace)
    held = core.read_namespaced_config_map("a", place.namespace)
    assert held.metadata.deletion_timestamp is not None
    core.patch_namespaced_config_map(
        "a", place.namespace, {"metadata": {"finalizers": None}}, **MERGE
    )
    assert not place.exists("a")


def test_refusals_are_its_exceptions(core: Any, place: Place) -> None:
    core.create_namespaced_config_map(place.namespace, config_map("a"))
    with connect(place, NOBODY) as api, connect(place, token="made-up") as wrong:
        attempts: list[tuple[int, str, Callable[[], object]]] = [
            (404, "NotFound", lambda: core.read_namespaced_config_map("b", place.namespace)),
            (404, "NotFound", lambda: core.delete_namespaced_config_map("b", place.namespace)),
            (
                404,
                "NotFound",
                lambda: core.create_namespaced_config_map("no-such", config_map("a")),
            ),
            (
                409,
                "AlreadyExists",
                lambda: core.create_namespaced_config_map(place.namespace, config_map("a")),
            ),
            (
                422,
                "Invalid",
                lambda: core.create_namespaced_config_map(place.namespace, config_map("No")),
            ),
            (
                400,
                "BadRequest",
                lambda: core.list_namespaced_config_map(place.namespace, label_selector="a in"),
            ),
            (
                403,
                "Forbidden",
                lambda: client.CoreV1Api(api).list_namespaced_config_map(place.namespace),
            ),
            (
                401,
                "Unauthorized",
                lambda: client.CoreV1Api(wrong).list_namespaced_config_map(place.namespace),
            ),
        ]
        for code, reason, attempt in attempts:
            with pytest.raises(ApiException) as raised:
                attempt()
            status = status_of(raised.value)
            assert (raised.value.status, status["code"], status["reason"]) == (code, code, reason)


def test_a_custom_resource(widgets: Widgets, place: Place) -> None:
    start = widgets.list()["metadata"]["resourceVersion"]
    red = widgets.create(WIDGET.object("red", color="red", size=1))
    widgets.create(WIDGET.object("blue", color="blue"))
    chosen = widgets.list(field_selector="spec.color=red")["items"]
    assert [item["metadata"]["name"] for item in chosen] == ["red"]
    assert red["metadata"]["generation"] == 1

    patched = widgets.patch("red", {"spec": {"size": 2}}, **MERGE)
    assert (patched["spec"], patched["metadata"]["generation"]) == ({"color": "red", "size": 2}, 2)
    told = {"status": {"ready": True}}
    widgets.patch("red", told, **MERGE)
    assert "status" not in widgets.get("red")
    widgets.patch_status("red", told, **MERGE)
    found = widgets.get("red")
    assert (found["status"], found["metadata"]["generation"]) == ({"ready": True}, 2)
    with pytest.raises(ApiException) as raised:
        widgets.replace("red", red)
    assert raised.value.status == 409
    found["spec"] = {"color": "green"}
    assert widgets.replace("red", found)["spec"] == {"color": "green"}
    widgets.delete("red")
    with pytest.raises(ApiException) as raised:
        widgets.get("red")
    assert raised.value.status == 404
    events = list(widgets.watch(resource_version=start, timeout_seconds=1))
    assert [step(event) for event in events] == [
        ("ADDED", "red"),
        ("ADDED", "blue"),
        ("MODIFIED", "red"),
        ("MODIFIED", "red"),
        ("MODIFIED", "red"),
        ("DELETED", "red"),
    ]


def test_its_dynamic_client_finds_a_resource(place: Place) -> None:
    with connect(place) as api:
        found = DynamicClient(api)
        things = found.resources.get(api_version="example.com/v1", kind="Widget")
        made = things.create(WIDGET.object("a", color="red"), namespace=place.namespace)
        assert made.spec.color == "red"
        listed = things.get(namespace=place.namespace, field_selector="spec.color=red")
        assert [item.metadata.name for item in listed.items] == ["a"]
        with pytest.raises(dynamic.exceptions.NotFoundError):
            things.get(name="b", namespace=place.namespace)
        things.patch(
            {"spec": {"size": 3}},
            name="a",
            namespace=place.namespace,
            content_type="application/merge-patch+json",
        )
        things.delete(name="a", namespace=place.namespace)
        assert not place.exists("a", WIDGET.plural)
