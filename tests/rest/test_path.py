from __future__ import annotations

from urllib.parse import unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from listwatch.api import APIResource, GroupVersionResource
from listwatch.rest.errors import InvalidRequest
from listwatch.rest.path import raw_path, resource_path

pytestmark = pytest.mark.clause("B1")

PODS = APIResource(group="", version="v1", name="pods", kind="Pod", namespaced=True)
NODES = APIResource(group="", version="v1", name="nodes", kind="Node", namespaced=False)
DEPLOYMENTS = GroupVersionResource("apps", "v1", "deployments")


@pytest.mark.parametrize(
    ("resource", "namespace", "name", "subresource", "path"),
    [
        (PODS, "", "", (), "/api/v1/pods"),
        (PODS, "a", "", (), "/api/v1/namespaces/a/pods"),
        (PODS, "a", "web-0", (), "/api/v1/namespaces/a/pods/web-0"),
        (PODS, "a", "web-0", ("status",), "/api/v1/namespaces/a/pods/web-0/status"),
        (NODES, "", "", (), "/api/v1/nodes"),
        (NODES, "", "n1", (), "/api/v1/nodes/n1"),
        (NODES, "", "n1", ("proxy", "metrics"), "/api/v1/nodes/n1/proxy/metrics"),
        (DEPLOYMENTS, "", "", (), "/apis/apps/v1/deployments"),
        (DEPLOYMENTS, "a", "web", (), "/apis/apps/v1/namespaces/a/deployments/web"),
        (DEPLOYMENTS, "", "web", (), "/apis/apps/v1/deployments/web"),
        (NODES, "", "system:node:n1", (), "/api/v1/nodes/system:node:n1"),
        (NODES, "", "ü b?c#d", (), "/api/v1/nodes/%C3%BC%20b%3Fc%23d"),
    ],
)
def test_the_path_is_that_of_the_group_namespace_and_name(
    resource: APIResource | GroupVersionResource,
    namespace: str,
    name: str,
    subresource: tuple[str, ...],
    path: str,
) -> None:
    built = resource_path(resource, namespace=namespace, name=name, subresource=subresource)
    assert built == path


@pytest.mark.parametrize("part", [".", "..", "a/b", "/", "a%2fb", "%"])
@pytest.mark.parametrize(
    "place", ["name", "namespace", "subresource", "version", "group", "plural"]
)
def test_a_part_that_would_lead_elsewhere_is_refused(place: str, part: str) -> None:
    resource = GroupVersionResource(
        part if place == "group" else "apps",
        part if place == "version" else "v1",
        part if place == "plural" else "deployments",
    )
    with pytest.raises(InvalidRequest, match=r"may not contain|lead to another path"):
        resource_path(
            resource,
            namespace=part if place == "namespace" else "a",
            name=part if place == "name" else "web",
            subresource=(part,) if place == "subresource" else (),
        )


@pytest.mark.parametrize(
    ("resource", "subresource"),
    [
        (GroupVersionResource("apps", "", "deployments"), ()),
        (GroupVersionResource("apps", "v1", ""), ()),
        (DEPLOYMENTS, ("",)),
    ],
)
def test_an_empty_part_is_refused(
    resource: GroupVersionResource, subresource: tuple[str, ...]
) -> None:
    with pytest.raises(InvalidRequest, match="empty"):
        resource_path(resource, namespace="a", name="web", subresource=subresource)


def test_a_named_request_on_a_namespaced_resource_needs_a_namespace() -> None:
    with pytest.raises(InvalidRequest, match="pods are namespaced: 'web-0'"):
        resource_path(PODS, name="web-0")


def test_a_namespace_of_a_resource_without_namespaces_is_refused() -> None:
    with pytest.raises(InvalidRequest, match="nodes are not namespaced"):
        resource_path(NODES, namespace="a")


def test_a_subresource_needs_a_name() -> None:
    with pytest.raises(InvalidRequest, match="needs the name of an object"):
        resource_path(PODS, namespace="a", subresource=("status",))


@given(st.text(min_size=1).filter(lambda text: text not in {".", ".."} and not {*"/%"} & {*text}))
def test_any_other_name_arrives_as_it_was_given(name: str) -> None:
    try:
        name.encode()
    except UnicodeEncodeError:
        return  # a lone surrogate is no text that could be sent
    path = resource_path(NODES, name=name)
    assert path.isascii()
    assert path.isprintable()
    assert not {*' ?#"<>\\'} & {*path}
    assert unquote(path.removeprefix("/api/v1/nodes/")) == name


@pytest.mark.parametrize(
    ("text", "path", "query"),
    [
        ("/apis", "/apis", ()),
        ("/healthz?verbose", "/healthz", (("verbose", ""),)),
        ("/openapi/v3?hash=A%2FB&x=1", "/openapi/v3", (("hash", "A/B"), ("x", "1"))),
        ("/a b/%41", "/a%20b/%41", ()),
    ],
)
def test_a_raw_path_may_bring_its_query(
    text: str, path: str, query: tuple[tuple[str, str], ...]
) -> None:
    assert raw_path(text) == (path, query)


@pytest.mark.parametrize(
    "text", ["", "apis", "https://elsewhere/", "/a/../b", "/a/%2e%2E/b", "/./a"]
)
def test_a_raw_path_that_would_lead_elsewhere_is_refused(text: str) -> None:
    with pytest.raises(InvalidRequest):
        raw_path(text)
