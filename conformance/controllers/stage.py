"""A namespace in which controllers act, and a test acts out the kubelets."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

from conformance.namespaces import create_namespace
from conformance.requests import Json, SessionRequests
from conformance.waiting import until

NODE = "stage-node"
_UID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?P<zone>Z|[+-]\d\d:\d\d)")
_VERSION = re.compile(r'("resourceVersion": )"\d+"')
_MINUTES = re.compile(r"-\d{8}\b")
"""In the names of a CronJob's Jobs: since 1970."""
_HASHES = ("pod-template-hash", "controller-revision-hash", "controller.kubernetes.io/hash")
_COLLECTIONS = {
    "deployments": "/apis/apps/v1",
    "replicasets": "/apis/apps/v1",
    "statefulsets": "/apis/apps/v1",
    "daemonsets": "/apis/apps/v1",
    "controllerrevisions": "/apis/apps/v1",
    "jobs": "/apis/batch/v1",
    "cronjobs": "/apis/batch/v1",
    "endpointslices": "/apis/discovery.k8s.io/v1",
}


class Stage:
    """On a server that has controllers but no kubelet."""

    def __init__(self, server: SessionRequests) -> None:
        self.server = server
        self.namespace = create_namespace(server, "stage")
        node = {
            "metadata": {"name": NODE},
            "status": {"conditions": [{"type": "Ready", "status": "True"}]},
        }
        if server.request("GET", f"/api/v1/nodes/{NODE}").status == 404:
            server.create("/api/v1/nodes", node)
            # Somebody has to find it ready; the real controllers do, a little later.
            server.patch(f"/api/v1/nodes/{NODE}", {"spec": {"taints": None}})

    def elsewhere(self) -> Stage:
        """Another namespace of the same server."""
        return Stage(self.server)

    def path(self, plural: str, name: str = "") -> str:
        base = f"{_COLLECTIONS.get(plural, '/api/v1')}/namespaces/{self.namespace}/{plural}"
        return f"{base}/{name}" if name else base

    def create(self, plural: str, obj: Mapping[str, Any]) -> Json:
        return self.server.create(self.path(plural), obj)

    def get(self, plural: str, name: str) -> Json:
        return self.server.get(self.path(plural, name))

    def objects(self, plural: str) -> list[Json]:
        items = self.server.get(self.path(plural))["items"]
        assert isinstance(items, list)
        return items

    def exists(self, plural: str, name: str) -> bool:
        return self.server.request("GET", self.path(plural, name)).status == 200

    def change(self, plural: str, name: str, patch: object, subresource: str = "") -> Json:
        """A merge patch."""
        path = self.path(plural, name) + (f"/{subresource}" if subresource else "")
        return self.server.patch(path, patch)

    def delete(self, plural: str, name: str, policy: str) -> None:
        self.server.delete(self.path(plural, name), propagationPolicy=policy)

    def wait(self, condition: Callable[[], object], what: str) -> None:
        """Act out the kubelets until it holds."""

        def acted() -> object:
            if condition():
                return True
            self.act()
            return False

        until(acted, what=what, timeout=40)

    def until(self, condition: Callable[[], object], what: str) -> None:
        """Wait for what needs no kubelet."""
        until(condition, what=what, timeout=40)

    def act(self) -> None:
        """What a scheduler and a kubelet would do now, each pod one step."""
        for pod in self.objects("pods"):
            metadata, status = pod["metadata"], pod["status"]
            path = self.path("pods", metadata["name"])
            finished = status["phase"] in ("Succeeded", "Failed")
            if "deletionTimestamp" in metadata:
                if not finished and metadata["deletionGracePeriodSeconds"]:
                    self.server.request("DELETE", path, {"gracePeriodSeconds": 0})
            elif not pod["spec"].get("nodeName"):
                target = {"kind": "Node", "name": NODE}
                body = {"metadata": {"name": metadata["name"]}, "target": target}
                self.server.request("POST", f"{path}/binding", body)
            elif status["phase"] == "Pending":
                self._report(path, status, "Running", ready=True)
            elif "job-name" in metadata["labels"] and not finished:
                labels = metadata["labels"]
                fails = labels.get("end", labels["job-name"]) == "bad"
                self._report(path, status, "Failed" if fails else "Succeeded", ready=False)

    def _report(self, path: str, status: Json, phase: str, *, ready: bool) -> None:
        now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        state: Json = {"running": {"startedAt": now}}
        if not ready:
            code = int(phase == "Failed")
            state = {"terminated": {"exitCode": code, "startedAt": now, "finishedAt": now}}
        container = {"name": "main", "image": "i", "imageID": "i", "restartCount": 0}
        text = "True" if ready else "False"
        mine = [
            {"type": kind, "status": text, "lastTransitionTime": now}
            for kind in ("Ready", "ContainersReady")
        ]
        kept = [one for one in status.get("conditions", ()) if "Ready" not in one["type"]]
        new = {
            "phase": phase,
            "conditions": [*mine, *kept],
            "startTime": status.get("startTime", now),
            "containerStatuses": [{**container, "ready": ready, "state": state}],
        }
        self.server.request("PATCH", f"{path}/status", {"status": new}, headers=_MERGE)

    # What can be compared

    def told(self, *plurals: str, generations: bool = True) -> list[str]:
        """The objects without what differs from run to run. Without `generations` they may have
        come there in another number of steps.
        """
        found = [
            (plural, obj)
            for plural in plurals
            for obj in self.objects(plural)
            if obj["metadata"]["name"] != "kube-root-ca.crt"  # each server has its own
        ]
        names: dict[str, str] = {}
        revisions: dict[str, None] = {}
        for plural, obj in sorted(found, key=lambda pair: _age(pair[1])):
            metadata = obj["metadata"]
            for label in _HASHES:
                if label in metadata.get("labels", {}) and plural != "pods":
                    revisions[metadata["labels"][label].rpartition("-")[2]] = None
            if metadata["name"].startswith(metadata.get("generateName", "?")):
                names[metadata["name"]] = f"{metadata['generateName']}<made up>"
            names[metadata["uid"]] = f"<uid of {plural}>"
        texts = []
        for _, obj in found:
            text = json.dumps(_plain(obj, generations=generations), sort_keys=True)
            for old, new in names.items():
                text = text.replace(old, new)
            for number, digest in enumerate(revisions):
                text = text.replace(digest, f"<hash {number}>")
            text = text.replace(self.namespace, "ns")
            text = _VERSION.sub(r'\1"<version>"', _TIME.sub(r"<time>\g<zone>", text))
            texts.append(_MINUTES.sub("-<minutes>", _UID.sub("<uid>", text)))
        return sorted(texts)

    def events(self) -> list[str]:
        """What the controllers have told, each thing once."""
        said = set()
        for event in self.objects("events"):
            about = event["involvedObject"]
            if about["kind"] not in ("Pod", "Node"):
                message = re.sub(r"\b([a-z]+)(-[a-z0-9]+)+\b", r"\1-<made up>", event["message"])
                said.add(f"{event['type']} {about['kind']} {event['reason']}: {message}")
        return sorted(said)


_MERGE = {"Content-Type": "application/merge-patch+json"}


def _age(obj: Json) -> tuple[int, str]:
    annotations = obj["metadata"].get("annotations") or {}
    number = annotations.get("deployment.kubernetes.io/revision", obj.get("revision")) or 0
    return int(number), str(obj["metadata"]["creationTimestamp"])


def _plain(obj: Json, *, generations: bool) -> Json:
    metadata = dict(obj["metadata"])
    del metadata["resourceVersion"]
    entries = metadata.pop("managedFields", [])
    metadata["managedFields"] = sorted(json.dumps(entry, sort_keys=True) for entry in entries)
    made = {**obj, "metadata": metadata}
    status = dict(obj.get("status", {}))
    if status.get("conditions"):
        status["conditions"] = sorted(status["conditions"], key=lambda one: one["type"])
    if not generations:
        metadata.pop("generation", None)
        status.pop("observedGeneration", None)
    if status:
        made["status"] = status
    return made
