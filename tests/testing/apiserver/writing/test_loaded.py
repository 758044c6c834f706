"""Writes to objects that were loaded, which nobody has completed or found valid before."""

from __future__ import annotations

from typing import Any

import pytest

from tests.testing.apiserver.asking import message
from tests.testing.apiserver.write_server import MERGE, Writing, parsed

DEFAULT = "/api/v1/namespaces/default"
TEMPLATE = {
    "metadata": {"labels": {"a": "b"}},
    "spec": {"containers": [{"name": "c", "image": "i", "resources": {"limits": {"cpu": 2}}}]},
}
WORKLOAD = {"selector": {"matchLabels": {"a": "b"}}, "template": TEMPLATE}
CLAIM = {
    "accessModes": ["ReadWriteOnce"],
    "resources": {"requests": {"storage": "1Gi"}},
    "dataSource": {"kind": "PersistentVolumeClaim", "name": "other"},
}
JOB = {"template": {"spec": {**TEMPLATE["spec"], "restartPolicy": "Never"}}}
APPS, BATCH = "/apis/apps/v1/namespaces/default", "/apis/batch/v1/namespaces/default"


def loaded(api_version: str, kind: str, spec: Any, **members: Any) -> Writing:
    """A server with such an object, named `a`."""
    server = Writing()
    value = {"apiVersion": api_version, "kind": kind, "metadata": {"name": "a"}, "spec": spec}
    server.server.load([{**value, **members}])
    return server


@pytest.mark.parametrize(
    ("path", "api_version", "kind", "spec"),
    [
        (f"{DEFAULT}/pods/a", "v1", "Pod", TEMPLATE["spec"]),
        (f"{DEFAULT}/services/a", "v1", "Service", {"ports": [{"port": 80}]}),
        (f"{DEFAULT}/persistentvolumeclaims/a", "v1", "PersistentVolumeClaim", CLAIM),
        (f"{APPS}/deployments/a", "apps/v1", "Deployment", WORKLOAD),
        (f"{APPS}/statefulsets/a", "apps/v1", "StatefulSet", {**WORKLOAD, "serviceName": "s"}),
        (f"{BATCH}/jobs/a", "batch/v1", "Job", JOB),
    ],
)
def test_a_manifest_that_was_loaded_takes_patches_and_updates(
    path: str, api_version: str, kind: str, spec: Any
) -> None:
    """It is completed first, as a real server completes what it reads from its store."""
    server = loaded(api_version, kind, spec)
    changed = server.merged(path, {"metadata": {"labels": {"x": "y"}}})
    assert changed["metadata"]["labels"]["x"] == "y"
    assert server.write("PUT", path, changed).status == 200


def test_nothing_is_written_where_nothing_is_changed() -> None:
    server = loaded("v1", "Pod", TEMPLATE["spec"])
    before = parsed(server.write("GET", f"{DEFAULT}/pods/a"))
    server.merged(f"{DEFAULT}/pods/a", {})
    assert parsed(server.write("GET", f"{DEFAULT}/pods/a")) == before


def test_amounts_may_be_numbers() -> None:
    status = {"capacity": {"cpu": 2, "pods": 110}}
    server = loaded("v1", "Node", {}, status=status)
    changed = server.merged("/api/v1/nodes/a", {"metadata": {"labels": {"x": "y"}}})
    assert changed["status"]["capacity"] == {"cpu": "2", "pods": "110"}


def test_what_a_type_cannot_hold_is_told() -> None:
    server = loaded("v1", "Pod", {"containers": 5})
    patch = {"metadata": {"labels": {"x": "y"}}}
    answer = server.write("PATCH", f"{DEFAULT}/pods/a", patch, kind=MERGE)
    assert answer.status == 500
    assert message(answer).startswith("json: cannot unmarshal number into Go struct field")
    assert server.write("GET", f"{DEFAULT}/pods/a").status == 200
    assert server.write("DELETE", f"{DEFAULT}/pods/a").status == 200
