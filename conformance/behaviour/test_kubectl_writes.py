"""kubectl's commands that write: apply on either side, label, patch, set, scale, replace."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from conformance.behaviour.space import Space
from conformance.kubeconfig import cluster_entry, write_kubeconfig
from conformance.kubectl import Kubectl, find_kubectl
from conformance.requests import Json
from conformance.users import ADMIN

_MANIFEST = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, labels: {a: b}}
spec:
  replicas: 1
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - name: c
        image: i:1
        env: [{name: A, value: "1"}, {name: B, value: "2"}]
        ports: [{containerPort: 80}]
      volumes: [{name: v, emptyDir: {}}]
"""
_CHANGED = (
    _MANIFEST.replace("i:1", "i:2")
    .replace(', {name: B, value: "2"}', "")
    .replace("emptyDir: {}", "hostPath: {path: /x}")
)


@pytest.fixture
def kubectl(space: Space, tmp_path: Path) -> Kubectl:
    """kubectl in the namespace of `space`."""
    server = space.server
    config = write_kubeconfig(
        tmp_path,
        cluster_entry(server.server, server.ca_file, "token"),
        {ADMIN: {"token": server.tokens[ADMIN]}},
        space.name,
    )
    return Kubectl(find_kubectl(), config, tmp_path)


def _web(space: Space) -> Json:
    return space.get("web", "deployments")


def _owners(obj: Json) -> list[tuple[str, str]]:
    return sorted((e["manager"], e["operation"]) for e in obj["metadata"]["managedFields"])


def test_apply(space: Space, kubectl: Kubectl) -> None:
    """apply creates, leaves alone what is so already, and changes what is not (K49)."""
    for manifest, said in (
        (_MANIFEST, "created"),
        (_MANIFEST, "unchanged"),
        (_CHANGED, "configured"),
    ):
        done = kubectl("apply", "-f", "-", stdin=manifest)
        assert done.stdout == f"deployment.apps/web {said}\n"
    pod = _web(space)["spec"]["template"]["spec"]
    assert pod["containers"][0]["env"] == [{"name": "A", "value": "1"}]
    assert pod["volumes"] == [{"name": "v", "hostPath": {"path": "/x", "type": ""}}]


def test_apply_on_the_server_side(space: Space, kubectl: Kubectl) -> None:
    """apply --server-side takes over what apply did, and tells of conflicts (K49)."""
    kubectl("apply", "-f", "-", stdin=_MANIFEST)
    for manifest in (_MANIFEST, _CHANGED, _CHANGED):
        done = kubectl("apply", "--server-side", "-f", "-", stdin=manifest)
        assert done.stdout == "deployment.apps/web serverside-applied\n"
    assert _owners(_web(space)) == [("kubectl", "Apply"), ("kubectl-last-applied", "Apply")]
    assert _web(space)["spec"]["template"]["spec"]["containers"][0]["image"] == "i:2"
    other = ("apply", "--server-side", "--field-manager=other", "-f", "-")
    refused = kubectl(*other, stdin=_MANIFEST.replace("i:1", "i:3"), check=False)
    assert refused.returncode == 1
    assert (
        'conflict with "kubectl": .spec.template.spec.containers[name="c"].image' in refused.stderr
    )
    changed = _CHANGED.replace("i:2", "i:3")
    done = kubectl(*other, "--force-conflicts", stdin=changed)
    assert done.stdout == "deployment.apps/web serverside-applied\n"
    assert ("other", "Apply") in _owners(_web(space))


def test_small_changes(space: Space, kubectl: Kubectl) -> None:
    """label, annotate, set image, set env, scale and patch change what they say."""
    kubectl("apply", "-f", "-", stdin=_MANIFEST)
    assert kubectl("label", "deploy", "web", "x=y").stdout == "deployment.apps/web labeled\n"
    assert kubectl("annotate", "deploy", "web", "n=o").stdout == "deployment.apps/web annotated\n"
    kubectl("set", "image", "deploy/web", "c=i:9")
    kubectl("set", "env", "deploy/web", "Q=R")
    kubectl("scale", "deploy", "web", "--replicas=3")
    strategic = {"spec": {"template": {"spec": {"containers": [{"name": "d", "image": "j"}]}}}}
    kubectl("patch", "deploy", "web", "-p", json.dumps(strategic))
    operation = {"op": "remove", "path": "/metadata/labels/a"}
    kubectl("patch", "deploy", "web", "--type=json", "-p", json.dumps([operation]))
    obj = _web(space)
    assert obj["metadata"]["labels"] == {"x": "y"}
    assert obj["metadata"]["annotations"]["n"] == "o"
    assert obj["spec"]["replicas"] == 3
    containers = obj["spec"]["template"]["spec"]["containers"]
    assert {one["name"]: one["image"] for one in containers} == {"c": "i:9", "d": "j"}
    first = next(one for one in containers if one["name"] == "c")
    assert {"name": "Q", "value": "R"} in first["env"]
    assert [e for e in _owners(obj) if e[0] == "kubectl-label"] == [("kubectl-label", "Update")]


def test_replace_and_dry_runs(space: Space, kubectl: Kubectl) -> None:
    """replace overwrites; a server-side dry run changes nothing (K28)."""
    kubectl("apply", "-f", "-", stdin=_MANIFEST)
    before = _web(space)
    done = kubectl("apply", "--dry-run=server", "-f", "-", stdin=_CHANGED)
    assert done.stdout == "deployment.apps/web configured (server dry run)\n"
    assert _web(space) == before
    done = kubectl(
        "replace", "-f", "-", stdin=_MANIFEST.replace("labels: {a: b}", "labels: {c: d}")
    )
    assert done.stdout == "deployment.apps/web replaced\n"
    assert _web(space)["metadata"]["labels"] == {"c": "d"}


def test_unknown_fields(space: Space, kubectl: Kubectl) -> None:
    """apply refuses what the type does not have, or warns of it (K29)."""
    manifest = "{apiVersion: v1, kind: ConfigMap, metadata: {name: bad}, bogus: 1}"
    refused = kubectl("apply", "-f", "-", stdin=manifest, check=False)
    assert refused.returncode == 1
    assert 'unknown field "bogus"' in refused.stderr
    done = kubectl("apply", "--validate=warn", "-f", "-", stdin=manifest)
    assert done.stdout == "configmap/bad created\n"
    assert 'Warning: unknown field "bogus"' in done.stderr
    assert "bogus" not in space.get("bad")
