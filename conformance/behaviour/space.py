"""A namespace of a server under test, and short ways to what is in it."""

from __future__ import annotations

import base64
import json
import uuid
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import urlencode

from conformance.objects import WIDGET, config_map
from conformance.requests import Json, Response
from conformance.streams import Stream
from conformance.two_servers import TestedServer

_BASES = {
    "deployments": "/apis/apps/v1",
    "replicasets": "/apis/apps/v1",
    "jobs": "/apis/batch/v1",
    "cronjobs": "/apis/batch/v1",
    "leases": "/apis/coordination.k8s.io/v1",
    "roles": "/apis/rbac.authorization.k8s.io/v1",
    "ingresses": "/apis/networking.k8s.io/v1",
    "endpointslices": "/apis/discovery.k8s.io/v1",
    "widgets": f"/apis/{WIDGET.group}/{WIDGET.version}",
}


class Space:
    """An empty namespace of its own for a test."""

    def __init__(self, server: TestedServer, name: str) -> None:
        self.server = server
        self.name = name

    @classmethod
    def make(cls, server: TestedServer) -> Space:
        """A new one. Its server is not kept, so neither is it deleted."""
        name = f"space-{uuid.uuid4().hex[:8]}"
        server.create("/api/v1/namespaces", {"metadata": {"name": name}})
        return cls(server, name)

    def path(self, plural: str = "configmaps", name: str = "", **query: Any) -> str:
        """Where a collection or an object is; ``continue_`` is the parameter ``continue``."""
        base = f"{_BASES.get(plural, '/api/v1')}/namespaces/{self.name}/{plural}"
        return with_query(base + (f"/{name}" if name else ""), **query)

    def add(self, *names: str, labels: Mapping[str, str] | None = None, **data: str) -> list[Json]:
        """Create ConfigMaps."""
        return [self.server.create(self.path(), config_map(name, labels, **data)) for name in names]

    def put(self, obj: Mapping[str, Any], plural: str = "configmaps") -> Json:
        """Create anything."""
        return self.server.create(self.path(plural), obj)

    def change(self, name: str, plural: str = "configmaps", **members: Any) -> Json:
        """Merge-patch an object."""
        return self.server.patch(self.path(plural, name), members)

    def remove(self, name: str, plural: str = "configmaps") -> Json:
        return self.server.delete(self.path(plural, name))

    def get(self, name: str, plural: str = "configmaps", **query: Any) -> Json:
        return self.server.get(self.path(plural, name, **query))

    def list(self, plural: str = "configmaps", **query: Any) -> Json:
        return self.server.get(self.path(plural, **query))

    def watch(self, plural: str = "configmaps", **query: Any) -> Stream:
        """Open a watch; its headers are there when this returns."""
        return self.server.stream(self.path(plural, watch=1, **query)).head()

    def ask(self, method: str, path: str, body: object = None, **headers: str) -> Response:
        """A request that may be refused; in header names ``_`` stands for ``-``."""
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        return self.server.request(method, path, body, headers=sent)


def with_query(path: str, **query: Any) -> str:
    """A path with parameters; those that are None are left out."""
    given = {
        name.rstrip("_"): "true" if value is True else "false" if value is False else value
        for name, value in query.items()
        if value is not None
    }
    return f"{path}?{urlencode(given)}" if given else path


def names(items: Json | Iterable[Json]) -> list[str]:
    """The names in a list, or of some objects or events."""
    found = items["items"] if isinstance(items, dict) else items
    return [item.get("object", item)["metadata"]["name"] for item in found]


def steps(events: Iterable[Json]) -> list[tuple[str, str]]:
    """Events in short: type and name."""
    return [(event["type"], event["object"]["metadata"].get("name", "")) for event in events]


def rv(obj: Json) -> int:
    """The resource version of an object, list or event, as a number."""
    version = obj.get("object", obj)["metadata"]["resourceVersion"]
    assert isinstance(version, str)
    return int(version)


def token_of(listed: Json) -> Json:
    """What is in the continue token of a list."""
    text = listed["metadata"]["continue"]
    decoded = json.loads(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))
    assert isinstance(decoded, dict)
    return decoded


def refusal(answer: Response) -> tuple[int, str, str]:
    """Code, reason and text of a refusal, which must be a Status."""
    status = answer.json()
    assert status["kind"] == "Status"
    assert status["apiVersion"] == "v1"
    assert status["status"] == "Failure"
    assert status.get("code") == answer.status
    return answer.status, status.get("reason", ""), status["message"]
