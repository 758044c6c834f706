"""A namespace for each test, and its removal without the controller that usually does that."""

from __future__ import annotations

import uuid

from conformance.requests import Json, Requests, Session

_AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"


def create_namespace(server: Requests, prefix: str = "test") -> str:
    """Make a namespace that nobody else uses and return its name."""
    name = f"{prefix}-{uuid.uuid4().hex[:8]}"
    server.create("/api/v1/namespaces", {"metadata": {"name": name}})
    return name


def delete_namespace(session: Session, name: str) -> None:
    """Delete a namespace with all that is in it, so that no later test meets its objects.

    Only the controller manager would do that by itself, and a cluster seldom has one.
    """
    path = f"/api/v1/namespaces/{name}"
    # First of all, since nothing can be created in a namespace that is being deleted.
    if session.request("DELETE", path).status == 404:
        return
    for collection in _collections(session, name):
        # What is left by a 404, a 405 or a finalizer is harmless: its namespace is gone.
        session.request("DELETE", collection, {"gracePeriodSeconds": 0})
    namespace: Json = {"metadata": {"name": name}, "spec": {"finalizers": []}}
    session.request("PUT", f"{path}/finalize", namespace)


def _collections(session: Session, namespace: str) -> list[str]:
    """The paths of all that a namespace can hold and that can be deleted by the collection."""
    paths: list[str] = []
    for root in ("/api", "/apis"):
        discovered = session.request("GET", root, headers={"Accept": _AGGREGATED}).json()
        for group in discovered["items"]:
            prefix = root if root == "/api" else f"{root}/{group['metadata']['name']}"
            seen: set[str] = set()  # one version of a group is enough to delete by
            for version in group["versions"]:
                for resource in version.get("resources", []):
                    deletable = "deletecollection" in resource["verbs"]
                    if deletable and resource["scope"] == "Namespaced":
                        plural = resource["resource"]
                        if plural not in seen:
                            seen.add(plural)
                            base = f"{prefix}/{version['version']}"
                            paths.append(f"{base}/namespaces/{namespace}/{plural}")
    return paths
