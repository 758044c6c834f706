"""Paths of a pod that change one part of it: its ephemeral containers, and its resources."""

from __future__ import annotations

import pytest

from conformance.behaviour.space import Space, refusal
from conformance.objects import pod
from conformance.requests import Json, Response

_MERGE = "application/merge-patch+json"
_STRATEGIC = "application/strategic-merge-patch+json"
_DEBUG = {"name": "debug", "image": "busybox"}


def _made(space: Space) -> str:
    """A pod; its path."""
    obj = pod("web")
    resources = {"requests": {"cpu": "100m"}, "limits": {"cpu": "200m"}}
    obj["spec"]["containers"] = [{"name": "main", "image": "nginx:1", "resources": resources}]
    space.server.create(f"/api/v1/namespaces/{space.name}/pods", obj)
    return f"/api/v1/namespaces/{space.name}/pods/web"


def _added(space: Space, path: str, *containers: Json, kind: str = _STRATEGIC) -> Response:
    body = {"metadata": {"labels": {"a": "b"}}, "spec": {"ephemeralContainers": [*containers]}}
    return space.ask("PATCH", f"{path}/ephemeralcontainers", body, content_type=kind)


def _resized(space: Space, path: str, resources: Json) -> Response:
    body = {"spec": {"hostname": "x", "containers": [{"name": "main", "resources": resources}]}}
    return space.ask("PATCH", f"{path}/resize", body, content_type=_STRATEGIC)


def test_containers_are_added_to_a_pod_and_nothing_else_of_it_changes(space: Space) -> None:
    """kubectl debug patches ephemeralcontainers: labels of the patch are left, generation moves."""
    path = _made(space)
    added = _added(space, path, _DEBUG).json()
    assert [found["name"] for found in added["spec"]["ephemeralContainers"]] == ["debug"]
    assert "a" not in added["metadata"].get("labels", {})
    assert added["metadata"]["generation"] == 2
    assert space.server.get(f"{path}/ephemeralcontainers") == space.server.get(path)


def test_ephemeral_containers_neither_change_nor_go(space: Space) -> None:
    """422, with what has changed."""
    path = _made(space)
    _added(space, path, _DEBUG)
    code, reason, text = refusal(_added(space, path, {**_DEBUG, "image": "other"}))
    assert (code, reason) == (422, "Invalid")
    assert 'existing ephemeral containers "debug" may not be changed\n@@' in text
    _, _, text = refusal(_added(space, path, {**_DEBUG, "name": "other"}, kind=_MERGE))
    assert 'existing ephemeral containers "debug" may not be removed' in text


def test_a_pod_is_resized_and_nothing_else_of_it_changes(space: Space) -> None:
    """PATCH resize changes cpu and memory of containers."""
    path = _made(space)
    spec = _resized(space, path, {"requests": {"cpu": "150m"}}).json()["spec"]
    assert spec["containers"][0]["resources"]["requests"] == {"cpu": "150m"}
    assert "hostname" not in spec


@pytest.mark.parametrize(
    ("resources", "text"),
    [
        ({"limits": {"cpu": None}}, "resource limits cannot be removed"),
        ({"requests": {"ephemeral-storage": "1Gi"}}, "only cpu and memory resources are mutable"),
        ({"requests": {"cpu": "1"}}, "must be less than or equal to cpu limit of 200m"),
    ],
)
def test_a_resize_may_be_refused(space: Space, resources: Json, text: str) -> None:
    """422: limits do not go, other resources do not change, and no request is over its limit."""
    code, _, said = refusal(_resized(space, _made(space), resources))
    assert code == 422
    assert text in said
