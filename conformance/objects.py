"""Objects that tests put on the server, and where they live there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from conformance.requests import Json, Requests
from conformance.waiting import until


@dataclass(frozen=True, slots=True)
class CustomResource:
    """A custom resource that the server serves."""

    group: str
    version: str
    plural: str
    kind: str

    def path(self, namespace: str | None = None, name: str | None = None) -> str:
        """The path of an object, of a namespace's collection, or of all."""
        parts = ["/apis", self.group, self.version]
        parts += [] if namespace is None else ["namespaces", namespace]
        parts += [self.plural] if name is None else [self.plural, name]
        return "/".join(parts)

    def object(self, name: str, **spec: Any) -> Json:
        """An object of this kind, such as ``WIDGET.object("one", color="red")``."""
        return {
            "apiVersion": f"{self.group}/{self.version}",
            "kind": self.kind,
            "metadata": {"name": name},
            "spec": spec,
        }


WIDGET = CustomResource("example.com", "v1", "widgets", "Widget")

WIDGET_CRD: Json = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "widgets.example.com"},
    "spec": {
        "group": WIDGET.group,
        "scope": "Namespaced",
        "names": {
            "plural": WIDGET.plural,
            "singular": "widget",
            "kind": WIDGET.kind,
            "listKind": "WidgetList",
            "shortNames": ["wd"],
        },
        "versions": [
            {
                "name": WIDGET.version,
                "served": True,
                "storage": True,
                "subresources": {"status": {}},
                "selectableFields": [{"jsonPath": ".spec.color"}],
                "additionalPrinterColumns": [
                    {"name": "Color", "type": "string", "jsonPath": ".spec.color"}
                ],
                "schema": {
                    "openAPIV3Schema": {
                        "type": "object",
                        "properties": {
                            "spec": {
                                "type": "object",
                                "properties": {
                                    "color": {"type": "string"},
                                    "size": {"type": "integer"},
                                },
                            },
                            "status": {
                                "type": "object",
                                "x-kubernetes-preserve-unknown-fields": True,
                            },
                        },
                    }
                },
            }
        ],
    },
}

_CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"


def install_crd(server: Requests, crd: Mapping[str, Any] = WIDGET_CRD) -> CustomResource:
    """Create a CustomResourceDefinition and wait until its objects can be listed."""
    spec = crd["spec"]
    resource = CustomResource(
        spec["group"], spec["versions"][0]["name"], spec["names"]["plural"], spec["names"]["kind"]
    )
    server.create(_CRDS, crd)
    # Until it is served the path is a 404, and its very first answer is 429 "storage is
    # (re)initializing": this takes that one too.
    until(
        lambda: server.request("GET", resource.path()).status == 200,
        what=f"{resource.plural} to be served",
    )
    return resource


def config_map(name: str, labels: Mapping[str, str] | None = None, **data: str) -> Json:
    """A ConfigMap: the smallest thing to change."""
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name, "labels": dict(labels or {})},
        "data": data,
    }


def pod(name: str, labels: Mapping[str, str] | None = None) -> Json:
    """A Pod. No kubelet runs it: it stays Pending, on no node."""
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "labels": dict(labels or {})},
        "spec": _pod_spec(),
    }


def deployment(name: str, replicas: int) -> Json:
    """A Deployment; a cluster with the controller manager makes its ReplicaSet and Pods."""
    labels = {"app": name}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "labels": labels},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": _pod_spec()},
        },
    }


def _pod_spec() -> Json:
    return {"containers": [{"name": "main", "image": "example.invalid/none:1"}]}
