"""A server whose controllers act, on a clock of the test's own."""

from __future__ import annotations

from typing import Any

from tests.testing.apiserver.write_server import MERGE, Writing, parsed

APPS = "/apis/apps/v1/namespaces/default"
DEPLOYMENTS = f"{APPS}/deployments"
SETS = f"{APPS}/replicasets"
JOBS = "/apis/batch/v1/namespaces/default/jobs"
CORE = "/api/v1/namespaces/default"
PODS = f"{CORE}/pods"
CONFIGMAPS = f"{CORE}/configmaps"
NODES = "/api/v1/nodes"


class Acting(Writing):
    """`names` are the controllers that are on."""

    def __init__(self, *names: str, **options: Any) -> None:
        super().__init__(**options)
        self.server.run_controllers(names)
        self.wait(0.5)

    def found(self, target: str) -> dict[str, Any]:
        answer = self.get(target)
        assert answer.status == 200, answer.body
        return parsed(answer)

    def items(self, target: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.found(target)["items"]
        return found

    def status(self, target: str) -> dict[str, Any]:
        status: dict[str, Any] = self.found(target).get("status", {})
        return status

    def condition(self, target: str, kind: str) -> dict[str, Any]:
        conditions = self.status(target).get("conditions", [])
        found: dict[str, Any] = next((one for one in conditions if one["type"] == kind), {})
        return found

    def is_there(self, target: str) -> bool:
        return self.get(target).status == 200

    def merge(self, target: str, patch: Any) -> None:
        answer = self.write("PATCH", target, patch, kind=MERGE)
        assert answer.status == 200, answer.body

    def delete(self, target: str, policy: str = "Background") -> None:
        answer = self.write("DELETE", target, {"propagationPolicy": policy})
        assert answer.status in (200, 202), answer.body

    def events(self) -> list[str]:
        return [f"{one['reason']}: {one['message']}" for one in self.items(f"{CORE}/events")]


def workload(name: str, replicas: int | None = None, **spec: Any) -> dict[str, Any]:
    """A Deployment, a StatefulSet, a DaemonSet: what they have in common."""
    labels = {"app": name}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [container()]}}
    count = {} if replicas is None else {"replicas": replicas}
    made = {**count, "selector": {"matchLabels": labels}, "template": template, **spec}
    return {"metadata": {"name": name}, "spec": made}


def container(**more: Any) -> dict[str, Any]:
    return {"name": "c", "image": "app:1", **more}


def image(number: int) -> dict[str, Any]:
    """A merge patch to another image."""
    containers = [{**container(), "image": f"app:{number}"}]
    return {"spec": {"template": {"spec": {"containers": containers}}}}
