"""Discovery, version and health."""

from __future__ import annotations

import pytest

from conformance.behaviour.space import Space
from conformance.objects import CustomResource
from conformance.requests import Json
from conformance.two_servers import TestedServer

_AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"


def _by_name(resources: list[Json], name: str) -> Json:
    [found] = [resource for resource in resources if resource["name"] == name]
    return found


def test_the_core_versions(server: TestedServer) -> None:
    """GET /api names the versions of the core group."""
    found = server.get("/api")
    assert (found["kind"], found["versions"]) == ("APIVersions", ["v1"])


def test_the_resources_of_a_version(server: TestedServer) -> None:
    """GET /api/v1 tells each resource's name, kind, scope, short names, categories and verbs."""
    found = server.get("/api/v1")
    assert (found["kind"], found["groupVersion"]) == ("APIResourceList", "v1")
    pods = _by_name(found["resources"], "pods")
    assert (pods["kind"], pods["namespaced"], pods["singularName"]) == ("Pod", True, "pod")
    assert pods["shortNames"] == ["po"]
    assert pods["categories"] == ["all"]
    assert pods["verbs"] == [
        "create",
        "delete",
        "deletecollection",
        "get",
        "list",
        "patch",
        "update",
        "watch",
    ]


def test_subresources_are_listed(server: TestedServer) -> None:
    """Subresources are among the resources: pods/status with get, patch, update."""
    status = _by_name(server.get("/api/v1")["resources"], "pods/status")
    assert status["verbs"] == ["get", "patch", "update"]


@pytest.mark.parametrize(
    ("group_version", "plural", "kind", "namespaced"),
    [
        ("v1", "configmaps", "ConfigMap", True),
        ("v1", "nodes", "Node", False),
        ("v1", "namespaces", "Namespace", False),
        ("v1", "events", "Event", True),
        ("apps/v1", "deployments", "Deployment", True),
        ("apps/v1", "statefulsets", "StatefulSet", True),
        ("batch/v1", "cronjobs", "CronJob", True),
        ("coordination.k8s.io/v1", "leases", "Lease", True),
        ("networking.k8s.io/v1", "ingresses", "Ingress", True),
        ("discovery.k8s.io/v1", "endpointslices", "EndpointSlice", True),
        ("rbac.authorization.k8s.io/v1", "clusterroles", "ClusterRole", False),
        ("apiextensions.k8s.io/v1", "customresourcedefinitions", "CustomResourceDefinition", False),
    ],
)
def test_built_in_types(
    server: TestedServer, group_version: str, plural: str, kind: str, namespaced: bool
) -> None:
    """The usual built-in types are served, in the scope that they have."""
    root = "/api" if "/" not in group_version else "/apis"
    found = _by_name(server.get(f"{root}/{group_version}")["resources"], plural)
    assert (found["kind"], found["namespaced"]) == (kind, namespaced)


def test_groups(server: TestedServer) -> None:
    """GET /apis lists the groups with their versions, and the preferred one."""
    found = server.get("/apis")
    assert found["kind"] == "APIGroupList"
    groups = {group["name"]: group for group in found["groups"]}
    assert groups["apps"]["preferredVersion"] == {"groupVersion": "apps/v1", "version": "v1"}
    assert server.get("/apis/apps")["versions"] == groups["apps"]["versions"]


def test_a_custom_resource_is_discovered(server: TestedServer, widgets: CustomResource) -> None:
    """A CR's group, its resource with short names, and its status subresource are listed."""
    found = server.get("/apis/example.com/v1")["resources"]
    widget = _by_name(found, "widgets")
    assert widget["shortNames"] == ["wd"]
    assert widget["verbs"] == [
        "delete",
        "deletecollection",
        "get",
        "list",
        "patch",
        "create",
        "update",
        "watch",
    ]
    assert _by_name(found, "widgets/status")["verbs"] == ["get", "patch", "update"]
    assert server.get("/apis/example.com")["preferredVersion"]["version"] == "v1"


@pytest.mark.parametrize("root", ["/api", "/apis"])
def test_aggregated_discovery(server: TestedServer, root: str) -> None:
    """Aggregated: one document with all, its own Content-Type, an Etag, Vary, public (K42)."""
    answer = server.request("GET", root, headers={"Accept": _AGGREGATED})
    assert answer.status == 200
    assert answer.headers["Content-Type"] == _AGGREGATED
    assert answer.headers["Etag"]
    assert answer.headers["Vary"] == "Accept"
    assert answer.headers["Cache-Control"] == "public"
    found = answer.json()
    assert (found["kind"], found["apiVersion"]) == (
        "APIGroupDiscoveryList",
        "apidiscovery.k8s.io/v2",
    )
    group = found["items"][0]
    assert group["versions"][0]["resources"][0]["verbs"]


def test_aggregated_discovery_is_not_sent_again(server: TestedServer) -> None:
    """With If-None-Match of the Etag: 304 without a body (K42)."""
    first = server.request("GET", "/apis", headers={"Accept": _AGGREGATED})
    etag = first.headers["Etag"]
    again = server.request("GET", "/apis", headers={"Accept": _AGGREGATED, "If-None-Match": etag})
    assert (again.status, again.body) == (304, b"")
    assert again.headers["Etag"] == etag


def test_an_etag_changes_with_the_types(server: TestedServer) -> None:
    """An If-None-Match of another Etag gives the document."""
    headers = {"Accept": _AGGREGATED, "If-None-Match": '"another"'}
    assert server.request("GET", "/apis", headers=headers).status == 200


def test_versions_parse(server: TestedServer) -> None:
    """GET /version has gitVersion, major and minor, pretty-printed."""
    answer = server.request("GET", "/version")
    found = answer.json()
    assert found["major"] == "1"
    assert found["gitVersion"].startswith(f"v1.{found['minor']}.")
    assert answer.body.startswith(b'{\n  "major"')


@pytest.mark.parametrize("path", ["/healthz", "/livez", "/readyz"])
def test_health(server: TestedServer, path: str) -> None:
    """healthz, livez and readyz answer ok in plain text."""
    answer = server.request("GET", path)
    assert (answer.status, answer.body) == (200, b"ok")
    assert answer.headers["Content-Type"] == "text/plain; charset=utf-8"
    assert answer.headers["X-Content-Type-Options"] == "nosniff"


def test_health_can_tell_more(server: TestedServer) -> None:
    """?verbose lists the checks, each with [+], and how it went at the end."""
    body = server.request("GET", "/readyz?verbose").body
    assert b"[+]ping ok\n" in body
    assert body.endswith(b"readyz check passed\n")


def test_short_names_are_not_paths(space: Space) -> None:
    """A short name or kind is no path: 404."""
    for name in ("cm", "ConfigMap", "configmap"):
        assert space.ask("GET", space.path(name)).status == 404
