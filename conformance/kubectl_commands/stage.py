"""What the commands find when they are run: a few objects, made without kubectl."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from conformance.clients.place import Place
from conformance.objects import WIDGET, config_map, deployment, pod

APPS = "/apis/apps/v1"
_APP = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "app"}}
APP = json.dumps({**_APP, "data": {"a": "1"}})
CHANGED = json.dumps({**_APP, "data": {"a": "2"}})
WIDGET_K = json.dumps(WIDGET.object("k", color="red"))
WIDGET_K_CHANGED = json.dumps(WIDGET.object("k", color="blue"))
CREATED = json.dumps(config_map("created", None, a="1"))
ROLL = json.dumps(deployment("roll", 1))


class Stage:
    """A place, and short ways to put something on it."""

    def __init__(self, place: Place) -> None:
        self.place = place
        self.server = place.server
        self.node = f"node-of-{place.namespace}"

    # What there is

    def path(self, plural: str, name: str = "") -> str:
        if plural in ("deployments", "replicasets"):
            base = f"{APPS}/namespaces/{self.place.namespace}/{plural}"
            return f"{base}/{name}" if name else base
        return self.place.path(plural, name)

    def get(self, plural: str, name: str) -> Any:
        return self.server.get(self.path(plural, name))

    def is_there(self, plural: str, name: str) -> bool:
        return self.server.request("GET", self.path(plural, name)).status == 200

    # What is put there

    def config_maps(self, *names: str, **labels: str) -> None:
        for name in names:
            self.server.create(self.path("configmaps"), config_map(name, labels, key="marker"))

    def pod(self, name: str, *, ready: bool = True, node: str = "", **labels: str) -> None:
        made = pod(name, labels)
        if node:
            made["spec"]["nodeName"] = node
        self.server.create(self.path("pods"), made)
        if ready:
            self.set_pod(name, "Running", ready=True)

    def set_pod(self, name: str, phase: str, *, ready: bool = False) -> None:
        condition = {"type": "Ready", "status": "True" if ready else "False"}
        status = {"phase": phase, "conditions": [condition]}
        self.server.patch(f"{self.path('pods', name)}/status", {"status": status})

    def widgets(self) -> None:
        for name, color in (("w-0", "red"), ("w-1", "green")):
            self.server.create(self.path(WIDGET.plural), WIDGET.object(name, color=color))

    def event(self) -> None:
        self.pod("web-03", app="web")
        self.server.create(
            self.path("events"),
            {
                "metadata": {"name": "e"},
                "involvedObject": {
                    "kind": "Pod",
                    "name": "web-03",
                    "namespace": self.place.namespace,
                    "apiVersion": "v1",
                    "uid": self.get("pods", "web-03")["metadata"]["uid"],
                },
                "type": "Normal",
                "reason": "Started",
                "message": "it goes",
                "lastTimestamp": "2026-01-01T00:00:00Z",
            },
        )

    def service(self) -> None:
        spec = {"selector": {"app": "web"}, "ports": [{"port": 80}]}
        self.server.create(self.path("services"), {"metadata": {"name": "web"}, "spec": spec})

    def deployment(self, name: str = "roll", *, revisions: int = 1) -> None:
        """As its controller leaves it: rolled out, with a ReplicaSet for each revision."""
        made = self.server.create(self.path("deployments"), deployment(name, 1))
        note = {"deployment.kubernetes.io/revision": str(revisions)}
        patch = {"metadata": {"annotations": note}}
        self.server.patch(self.path("deployments", name), patch)
        owner = {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "name": name,
            "uid": made["metadata"]["uid"],
            "controller": True,
        }
        for revision in range(1, revisions + 1):
            template = json.loads(json.dumps(made["spec"]["template"]))
            template["metadata"].setdefault("labels", {})["pod-template-hash"] = f"h{revision}"
            template["spec"]["containers"][0]["image"] = f"example.invalid/app:{revision}"
            selector = made["spec"]["selector"]["matchLabels"]
            labels = {**selector, "pod-template-hash": f"h{revision}"}
            note = {"deployment.kubernetes.io/revision": str(revision)}
            metadata = {
                "name": f"{name}-{revision}",
                "labels": labels,
                "annotations": note,
                "ownerReferences": [owner],
            }
            spec = {"replicas": 0, "selector": {"matchLabels": labels}, "template": template}
            self.server.create(self.path("replicasets"), {"metadata": metadata, "spec": spec})
        self.roll_out(name)

    def roll_out(self, name: str = "roll") -> None:
        """Set the status that says that all is done."""
        generation = self.get("deployments", name)["metadata"]["generation"]
        counts = ("replicas", "updatedReplicas", "readyReplicas", "availableReplicas")
        status = {"observedGeneration": generation, **dict.fromkeys(counts, 1)}
        self.server.patch(f"{self.path('deployments', name)}/status", {"status": status})

    def add_node(self) -> None:
        self.server.create("/api/v1/nodes", {"metadata": {"name": self.node}})

    def remove_node(self) -> None:
        self.server.delete(f"/api/v1/nodes/{self.node}")

    def get_node(self) -> Mapping[str, Any]:
        found: Mapping[str, Any] = self.server.get(f"/api/v1/nodes/{self.node}")
        return found

    def account(self) -> None:
        path = self.path("serviceaccounts")
        self.server.create(path, {"metadata": {"name": "bot"}})
