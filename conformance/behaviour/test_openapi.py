"""OpenAPI documents (K42, K49, K51)."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.objects import WIDGET, install_crd
from conformance.two_servers import TestedServer
from conformance.waiting import until
from listwatch.testing.apiserver.types.openapi_protobuf_v3 import encode_v3

PROTOBUF = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf"
_OPENID = ("openid/v1/jwks", ".well-known/openid-configuration")


def _urls(server: TestedServer) -> dict[str, str]:
    """Of the documents, by name, but for those of the OpenID provider."""
    paths = server.get("/openapi/v3")["paths"]
    return {
        name: entry["serverRelativeURL"] for name, entry in paths.items() if name not in _OPENID
    }


def _undescribed(value: Any, *, inside: bool = False) -> Any:
    """Without descriptions, which are in other words."""
    if isinstance(value, dict):
        return {
            name: _undescribed(below, inside=name in ("properties", "schemas") and not inside)
            for name, below in value.items()
            if inside or not (name == "description" and isinstance(below, str))
        }
    if isinstance(value, list):
        return [_undescribed(below) for below in value]
    return value


def test_an_index_is_text(server: TestedServer) -> None:
    """/openapi/v3 is JSON, but says that it is text."""
    answer = server.request("GET", "/openapi/v3")
    assert (answer.status, answer.headers["Content-Type"]) == (200, "text/plain; charset=utf-8")
    assert answer.headers["Content-Length"] == str(len(answer.body))


def test_a_document_with_its_hash_is_immutable(server: TestedServer) -> None:
    """With its hash a document may be kept for ever; without it, no longer than its Etag."""
    url = _urls(server)["version"]
    answer = server.request("GET", url)
    assert answer.headers["Cache-Control"] == "public, immutable"
    assert answer.headers["Expires"].endswith(" UTC")
    path, _, hash_ = url.partition("?hash=")
    plain = server.request("GET", path)
    assert plain.headers["Cache-Control"] == "no-cache, private"
    assert plain.headers["Etag"] == f'"{hash_}"'


def test_a_stale_hash_is_sent_on(server: TestedServer) -> None:
    """Another hash is a 301 to the right one."""
    answer = server.request("GET", "/openapi/v3/version?hash=ABC")
    assert (answer.status, answer.body) == (301, b"")
    assert answer.headers["Location"] == _urls(server)["version"]


@pytest.mark.parametrize("path", ["/openapi/v3/apis/apps/v1", "/openapi/v2"])
def test_an_etag_spares_the_body(server: TestedServer, path: str) -> None:
    """If-None-Match with the Etag is a 304."""
    etag = server.request("GET", path).headers["Etag"]
    answer = server.request("GET", path, headers={"If-None-Match": etag})
    assert (answer.status, answer.body) == (304, b"")


def test_version_2_comes_in_protobuf(server: TestedServer) -> None:
    """kubectl asks for version 2 in protobuf, by a name that is not that of the answer's type."""
    answer = server.request("GET", "/openapi/v2", headers={"Accept": PROTOBUF})
    assert answer.headers["Content-Type"] == PROTOBUF.replace("@", ".")
    assert answer.body.startswith(b"\x0a\x032.0")


@pytest.mark.parametrize("name", ["version", "apis", "api/v1", "apis/apps/v1"])
def test_version_3_comes_in_protobuf(server: TestedServer, name: str) -> None:
    """client-go asks for version 3 in protobuf first: it says, byte by byte, what the JSON says."""
    path, accept = f"/openapi/v3/{name}", PROTOBUF.replace("v2", "v3")
    answer = server.request("GET", path, headers={"Accept": f"{accept}, application/json"})
    assert answer.headers["Content-Type"] == accept.replace("@", ".")
    assert answer.body == encode_v3(server.get(path))


def test_both_have_the_same_documents(
    embedded_server: TestedServer, real_server: TestedServer
) -> None:
    """All documents of the built-in types are the same on both, but for descriptions."""
    ours, theirs = _urls(embedded_server), _urls(real_server)
    built_in = {name for name in theirs if "example.com" not in name}
    assert {name for name in ours if "example.com" not in name} == built_in
    for name in sorted(built_in):
        mine = _undescribed(embedded_server.get(ours[name]))
        assert mine == _undescribed(real_server.get(theirs[name])), name


def test_both_describe_a_custom_resource_alike(
    embedded_server: TestedServer, real_server: TestedServer
) -> None:
    """So is the schema of a custom resource, once the real server has made its document."""
    crds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
    url = f"/openapi/v3/apis/{WIDGET.group}/{WIDGET.version}"
    for tested in (embedded_server, real_server):
        if tested.request("GET", f"{crds}/widgets.example.com").status == 404:
            install_crd(tested)

    def widget(tested: TestedServer) -> Any:
        answer = tested.request("GET", url)
        if answer.status != 200:
            return answer.status
        found = _undescribed(answer.json())
        return found["components"]["schemas"]["com.example.v1.Widget"], found["paths"]

    until(lambda: widget(real_server) == widget(embedded_server), what="the same document")
