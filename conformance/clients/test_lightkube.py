"""PyPI ``lightkube``: its synchronous client, and the watch of its other one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

import pytest

from conformance.clients.place import Forgotten, Place, Step, increasing
from conformance.objects import WIDGET, pod
from conformance.users import NOBODY

pytest.importorskip("lightkube", reason="the extra peers brings lightkube")

from lightkube import ApiError, AsyncClient, Client
from lightkube.core.exceptions import ConditionError, ObjectDeleted
from lightkube.generic_resource import load_in_cluster_generic_resources
from lightkube.models.core_v1 import PodStatus
from lightkube.operators import not_equal, not_in
from lightkube.resources.core_v1 import ConfigMap, Pod
from lightkube.types import CascadeType, PatchType

from conformance.clients.lightkube_client import (
    MERGE,
    Widget,
    a_config_map,
    a_widget,
    configuration,
    connect,
    generic_resource,
)


@pytest.fixture
def client(place: Place) -> Iterator[Any]:
    with connect(place) as client:
        yield client


def step(event: tuple[str, Any]) -> Step:
    return Step(event[0], event[1].metadata.name)


def versions(events: list[tuple[str, Any]]) -> list[str]:
    return [obj.metadata.resourceVersion for _, obj in events]


def test_creates_reads_and_lists_by_selectors(client: Any) -> None:
    for name, app in (("a", "web"), ("b", "db"), ("c", "web")):
        created = client.create(a_config_map(name, app, n=name))
        assert created.metadata is not None
        assert created.metadata.uid
        assert created.metadata.creationTimestamp is not None
    assert client.get(ConfigMap, "b").data == {"n": "b"}

    def listed(**selectors: Any) -> list[str]:
        found = client.list(ConfigMap, **selectors)
        names = [item.metadata.name for item in found if item.metadata]
        assert int(found.resourceVersion) > 0
        return [name for name in names if name]

    assert listed() == ["a", "b", "c"]
    assert listed(labels={"app": "web"}) == ["a", "c"]
    assert listed(labels={"app": not_in(["web"])}) == ["b"]
    assert listed(fields={"metadata.name": not_equal("a")}) == ["b", "c"]


def test_follows_the_pages(client: Any, place: Place) -> None:
    for number in range(5):
        place.add(f"c-{number}")
    names = [item.metadata.name for item in client.list(ConfigMap, chunk_size=2) if item.metadata]
    assert names == ["c-0", "c-1", "c-2", "c-3", "c-4"]


def test_watches_what_it_does_itself(client: Any, place: Place) -> None:
    start = place.resource_version()
    client.create(a_config_map("a", n="1"))
    seen = []
    for kind, obj in client.watch(ConfigMap, resource_version=start):
        seen.append((kind, obj.data))
        match seen:
            case [_]:
                client.patch(ConfigMap, "a", {"data": {"m": "2"}}, patch_type=MERGE)
            case [_, _]:
                client.delete(ConfigMap, "a")
            case _:
                break
    both = {"m": "2", "n": "1"}
    assert seen == [("ADDED", {"n": "1"}), ("MODIFIED", both), ("DELETED", both)]


@pytest.mark.parametrize("labels", [None, {"app": "web"}], ids=["all", "selected"])
@pytest.mark.parametrize("resource", [ConfigMap, Widget], ids=["ConfigMap", "Widget"])
def test_watches_from_a_version_on(
    client: Any, place: Place, resource: Any, labels: dict[str, str] | None
) -> None:
    plural = "configmaps" if resource is ConfigMap else WIDGET.plural
    churn = place.churn(plural)
    expected = churn.selected if labels else churn.all
    # One second is what a watch lasts here; this client opens the next by itself.
    watch = client.watch(resource, resource_version=churn.start, labels=labels, server_timeout=1)
    events = list(islice(watch, len(expected)))
    assert tuple(step(event) for event in events) == expected
    assert increasing(versions(events))
    last = place.add("last", plural, app="web")
    kind, obj = next(watch)
    assert (kind, obj.metadata.resourceVersion) == ("ADDED", last)


async def test_its_asynchronous_client_watches_too(place: Place) -> None:
    churn = place.churn()
    client = AsyncClient(configuration(place), trust_env=False)
    events = []
    async for event in client.watch(ConfigMap, resource_version=churn.start):
        events.append(event)
        if len(events) == len(churn.all):
            break
    await client.close()
    assert tuple(step(event) for event in events) == churn.all


def test_a_version_too_old_is_410(forgotten: Forgotten) -> None:
    with connect(forgotten.place) as client, pytest.raises(ApiError) as raised:
        next(client.watch(ConfigMap, resource_version=forgotten.version))
    status = raised.value.status
    assert (status.code, status.reason) == (410, "Expired")
    assert str(status.message).startswith("too old resource version: ")


def test_patches_in_two_ways(client: Any) -> None:
    client.create(a_config_map("a", x="1", y="2"))
    merge = {"data": {"x": None, "z": "3"}}
    merged = client.patch(ConfigMap, "a", merge, patch_type=MERGE)
    assert merged.data == {"y": "2", "z": "3"}
    replace: Any = [
        {"op": "test", "path": "/data/y", "value": "2"},
        {"op": "replace", "path": "/data/y", "value": "4"},
    ]
    patched = client.patch(ConfigMap, "a", replace, patch_type=PatchType.JSON)
    assert patched.data == {"y": "4", "z": "3"}
    with pytest.raises(ApiError) as raised:
        client.patch(ConfigMap, "a", replace, patch_type=PatchType.JSON)
    assert (raised.value.status.code, raised.value.status.reason) == (422, "Invalid")
    noted = client.set(ConfigMap, "a", labels={"app": None}, annotations={"note": "x"})
    assert noted.metadata is not None
    assert (noted.metadata.labels, noted.metadata.annotations) == (None, {"note": "x"})


def test_replaces_and_conflicts(client: Any) -> None:
    old = client.create(a_config_map("a", n="1"))
    old.data = {"n": "2"}
    assert client.replace(old).data == {"n": "2"}
    with pytest.raises(ApiError) as raised:
        client.replace(old)
    assert (raised.value.status.code, raised.value.status.reason) == (409, "Conflict")
    assert "the object has been modified" in str(raised.value)


def test_writes_the_status_of_a_pod(client: Any) -> None:
    client.create(Pod.from_dict(pod("p")))
    # The main resource leaves the status alone, the subresource all else.
    told = {"status": {"phase": "Running"}, "metadata": {"labels": {"a": "b"}}}
    client.patch(Pod, "p", told, patch_type=MERGE)
    left = client.get(Pod, "p").status
    assert isinstance(left, PodStatus)
    assert left.phase == "Pending"
    client.patch(Pod.Status, "p", told, patch_type=MERGE)
    [found] = client.list(Pod, fields={"status.phase": "Running"})
    assert found.metadata is not None
    assert (found.metadata.name, found.metadata.labels) == ("p", {"a": "b"})
    client.delete(Pod, "p", grace_period=0, cascade=CascadeType.BACKGROUND)
    assert list(client.list(Pod)) == []


def test_deletes_one_and_many(client: Any, place: Place) -> None:
    for name in ("a", "b", "c"):
        client.create(a_config_map(name))
    client.delete(ConfigMap, "c")
    assert not place.exists("c")
    client.deletecollection(ConfigMap)
    assert list(client.list(ConfigMap, fields={"metadata.name": not_equal("x")})) == []


def test_refusals_are_its_exceptions(client: Any, place: Place) -> None:
    client.create(a_config_map("a"))
    with connect(place, NOBODY) as forbidden, connect(place, token="made-up") as unknown:
        attempts: list[tuple[int, str, Callable[[], object]]] = [
            (404, "NotFound", lambda: client.get(ConfigMap, "b")),
            (404, "NotFound", lambda: client.delete(ConfigMap, "b")),
            (404, "NotFound", lambda: client.create(a_config_map("a"), namespace="no-such")),
            (409, "AlreadyExists", lambda: client.create(a_config_map("a"))),
            (422, "Invalid", lambda: client.create(a_config_map("No"))),
            (400, "BadRequest", lambda: list(client.list(ConfigMap, labels={"a b": "c"}))),
            (403, "Forbidden", lambda: list(forbidden.list(ConfigMap))),
            (401, "Unauthorized", lambda: list(unknown.list(ConfigMap))),
        ]
        for code, reason, attempt in attempts:
            with pytest.raises(ApiError) as raised:
                attempt()
            status = raised.value.status
            assert (status.code, status.reason) == (code, reason)


def test_a_custom_resource(client: Any, place: Place) -> None:
    load_in_cluster_generic_resources(client)
    assert generic_resource(f"{WIDGET.group}/{WIDGET.version}", WIDGET.kind) is Widget

    start = place.resource_version(WIDGET.plural)
    red = client.create(a_widget("red", color="red", size=1))
    client.create(a_widget("blue", color="blue"))
    chosen = client.list(Widget, fields={"spec.color": "red"})
    assert [item.metadata.name for item in chosen] == ["red"]

    patched = client.patch(Widget, "red", {"spec": {"size": 2}}, patch_type=MERGE)
    assert (patched["spec"], patched.metadata.generation) == ({"color": "red", "size": 2}, 2)
    told = {"status": {"ready": True}}
    client.patch(Widget, "red", told, patch_type=MERGE)
    assert client.get(Widget, "red").status is None
    client.patch(Widget.Status, "red", told, patch_type=MERGE)
    found = client.get(Widget, "red")
    assert (found.status, found.metadata.generation) == ({"ready": True}, 2)
    with pytest.raises(ApiError) as raised:
        client.replace(red)
    assert raised.value.status.code == 409
    found["spec"] = {"color": "green"}
    assert client.replace(found)["spec"] == {"color": "green"}
    client.delete(Widget, "red")
    with pytest.raises(ApiError) as raised:
        client.get(Widget, "red")
    assert raised.value.status.code == 404
    expected = [
        ("ADDED", "red"),
        ("ADDED", "blue"),
        ("MODIFIED", "red"),
        ("MODIFIED", "red"),
        ("MODIFIED", "red"),
        ("DELETED", "red"),
    ]
    watch = client.watch(Widget, resource_version=start, server_timeout=1)
    assert [step(event) for event in islice(watch, len(expected))] == expected


def conditions(**values: str) -> dict[str, Any]:
    return {"status": {"conditions": [{"type": k, "status": v} for k, v in values.items()]}}


def _nothing() -> None:
    """What is left to do when all steps are taken."""


class Acting(Client):
    """Takes the next of its steps whenever it has seen an event of a watch and wants another."""

    steps: Iterator[Callable[[], object]]

    def watch(self, *args: Any, **options: Any) -> Iterator[Any]:
        for event in super().watch(*args, **options):
            yield event
            next(self.steps, _nothing)()


def test_waits(place: Place) -> None:
    acting = Acting(configuration(place), trust_env=False)
    client: Any = acting
    with client:

        def tell(name: str, **values: str) -> object:
            return client.patch(Pod.Status, name, conditions(**values), patch_type=MERGE)

        def remove() -> None:
            client.delete(Pod, "p", grace_period=0)

        client.create(Pod.from_dict(pod("p")))
        client.create(Pod.from_dict(pod("q")))
        acting.steps = iter(
            (
                lambda: tell("p", Ready="False"),
                lambda: [tell("q", Ready="True"), tell("p", Ready="True")],
            )
        )
        found = client.wait(Pod, "p", for_conditions=["Ready"])
        assert found.metadata.name == "p"
        with pytest.raises(ConditionError):
            client.wait(Pod, "p", for_conditions=["Done"], raise_for_conditions=["Ready"])
        acting.steps = iter((remove,))
        with pytest.raises(ObjectDeleted):
            client.wait(Pod, "p", for_conditions=["Done"])
