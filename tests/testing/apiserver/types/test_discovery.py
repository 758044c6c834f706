"""What the server says of itself (K42)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.testing.apiserver.asking import Asking, recorded, same_as_recorded
from tests.testing.apiserver.types.test_routes import definition

AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"


@pytest.fixture
def ask() -> Asking:
    """A server with the custom resource that the recorded one had."""
    asking = Asking()
    create = recorded("k-crd-create")
    asking.server.load([json.loads(create.request_body)])
    return asking


@pytest.mark.parametrize(
    "name",
    [
        "k-disc-api",
        "k-disc-api-v1",
        "k-disc-api-aggregated",
        "k-disc-apis",
        "k-disc-apis-aggregated",
        "k-disc-apis-kubectl-accept",
        "k-disc-apps",
        "k-disc-apps-v1",
        "k-disc-healthz",
        "k-disc-livez",
        "k-crd-group-discovery",
    ],
)
def test_discovery_is_byte_for_byte_as_recorded(ask: Asking, name: str) -> None:
    same_as_recorded(ask.replay(name), name)


def test_aggregated_discovery_can_be_kept_until_its_etag_changes(ask: Asking) -> None:
    first = ask.get("/apis", accept=AGGREGATED)
    headers = dict(first.headers)
    assert headers["Cache-Control"] == "public"
    assert headers["Vary"] == "Accept"
    again = ask.get("/apis", accept=AGGREGATED, if_none_match=headers["Etag"])
    assert (again.status, again.body, again.content_type) == (304, b"", None)
    ask.server.load([definition("gadgets", "Gadget", namespaced=False, status=True)])
    changed = ask.get("/apis", accept=AGGREGATED, if_none_match=headers["Etag"])
    assert changed.status == 200
    assert b"gadgets" in changed.body
    assert len(headers["Etag"].strip('"')) == 128


@pytest.mark.parametrize(
    "accept",
    [
        "text/html",
        "application/json;as=Table;v=v1;g=meta.k8s.io",
        AGGREGATED.replace("v2", "v2beta1"),
    ],
)
def test_what_discovery_cannot_be_sent_as_is_not_acceptable(ask: Asking, accept: str) -> None:
    for path in ("/apis", "/api", "/apis/apps", "/apis/apps/v1"):
        answer = ask.get(path, accept=accept)
        assert answer.status == 406
        assert answer.body.startswith(b'{\n  "kind": "Status"')  # K5


def test_the_version_is_that_of_the_settings(ask: Asking) -> None:
    answer = ask.replay("k-auth-none-version")
    real: dict[str, Any] = json.loads(recorded("k-auth-none-version").body)
    mine: dict[str, Any] = json.loads(answer.body)
    assert list(mine) == list(real)
    assert mine["gitVersion"] == ask.server.state.settings.git_version == "v1.36.3"
    assert (mine["major"], mine["minor"], mine["minCompatibilityMinor"]) == ("1", "36", "35")
    assert answer.body.startswith(b'{\n  "major"')


def test_the_versions_of_a_custom_group_are_in_the_order_of_their_maturity(ask: Asking) -> None:
    names = ["v1alpha1", "v1beta1", "v1", "v2", "v10", "v1beta2", "other"]
    made = definition("things", "Thing", namespaced=True, status=False)
    spec: dict[str, Any] = made["spec"]  # type: ignore[assignment]  # it is one
    template = spec["versions"][0]
    spec["group"] = "order.example.com"
    spec["versions"] = [{**template, "name": name, "storage": name == "v1"} for name in names]
    made["metadata"] = {"name": "things.order.example.com"}
    ask.server.load([made])
    group = json.loads(ask.get("/apis/order.example.com").body)
    assert [version["version"] for version in group["versions"]] == [
        "v10",
        "v2",
        "v1",
        "v1beta2",
        "v1beta1",
        "v1alpha1",
        "other",
    ]
    assert group["preferredVersion"]["version"] == "v10"


def test_the_root_lists_what_can_be_asked(ask: Asking) -> None:
    paths = json.loads(ask.get("/").body)["paths"]
    assert paths == sorted(paths)
    assert {"/api/v1", "/apis/apps", "/apis/example.com/v1", "/readyz", "/version"} <= set(paths)


@pytest.mark.parametrize("method", ["POST", "HEAD"])
@pytest.mark.parametrize("path", ["/apis", "/apis/apps", "/apis/example.com/v1", "/healthz", "/"])
def test_some_paths_do_not_look_at_the_method(ask: Asking, method: str, path: str) -> None:
    assert ask.answer(method, path).status == 200


def test_every_type_of_discovery_can_be_listed_if_it_says_so(ask: Asking) -> None:
    groups = json.loads(ask.get("/apis", accept=AGGREGATED).body)["items"]
    for group in groups:
        for version in group["versions"]:
            for resource in version["resources"]:
                if "list" in resource["verbs"]:
                    path = f"/apis/{group['metadata']['name']}/{version['version']}"
                    assert ask.get(f"{path}/{resource['resource']}").status == 200
