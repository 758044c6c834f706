"""Where requests go, and how those that go nowhere are refused (K3, K4)."""

from __future__ import annotations

import json

import pytest

from listwatch.testing.apiserver.messages import Answer
from tests.testing.apiserver.asking import Asking, message, recorded, same_as_recorded

WIDGETS = "/apis/example.com/v1/namespaces/rec/widgets"


def definition(name: str, kind: str, *, namespaced: bool, status: bool) -> dict[str, object]:
    version = {
        "name": "v1",
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": {"type": "object"}},
        "subresources": {"status": {}} if status else {},
    }
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{name}.example.com"},
        "spec": {
            "group": "example.com",
            "scope": "Namespaced" if namespaced else "Cluster",
            "names": {"plural": name, "kind": kind},
            "versions": [version],
        },
    }


@pytest.fixture
def ask() -> Asking:
    asking = Asking()
    asking.server.load(
        [
            {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "rec"}},
            {
                "apiVersion": "v1",
                "kind": "ConfigMap",
                "metadata": {"name": "c", "namespace": "rec"},
            },
            definition("widgets", "Widget", namespaced=True, status=False),
            definition("gadgets", "Gadget", namespaced=False, status=True),
            {
                "apiVersion": "example.com/v1",
                "kind": "Widget",
                "metadata": {"name": "w", "namespace": "rec"},
            },
            {"apiVersion": "example.com/v1", "kind": "Gadget", "metadata": {"name": "g"}},
        ]
    )
    return asking


@pytest.mark.parametrize(
    "name",
    [
        "k-get-unknown-resource",
        "k-get-unknown-group",
        "k-get-unknown-subresource",
        "k-sub-configmap-status",
        "k-put-list",
        "k-head-pods",
        "k-options-pods",
        "k-disc-unknown-path",
        "k-disc-apis-unknown-group",
    ],
)
def test_refuses_as_recorded(ask: Asking, name: str) -> None:
    same_as_recorded(ask.replay(name), name)


NOT_FOUND = recorded("k-get-unknown-resource").body
NOT_ALLOWED = recorded("k-put-list").body
PAGE = recorded("k-get-unknown-group").body


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/api/v1/pods/foo"),
        ("GET", "/api/v1/pods/foo/bar"),
        ("GET", "/api/v1/namespaces/rec/nodes"),
        ("GET", "/api/v1/namespaces/rec/nodes/n"),
        ("POST", "/api/v1/nosuch"),
        ("GET", "/api/v1/namespaces/rec/pods/x/status/more"),
        ("PUT", "/api/v1/namespaces/rec/configmaps/c/status"),
        ("GET", "/api/v2"),
        ("GET", "/api/v2/pods"),
        ("GET", "/apis/apps/v2"),
        ("GET", "/apis/apps/v2/deployments"),
        ("GET", "/apis/apps/v1/nosuch"),
        ("GET", "/api//v1/pods"),
        ("GET", "/api/v1//pods"),
        ("GET", "/api/v1/namespaces/rec//pods"),
        ("GET", "/api/v1/../v1/pods"),
        ("GET", "/api/v1/namespaces/rec/configmaps/a%2Fb"),
        ("GET", "/api/v1/bindings"),
        ("GET", "/apis/authentication.k8s.io/v1/tokenreviews/x"),
        ("GET", "/api/v1/watch/nosuch"),
        ("GET", "/api/v1/watch/pods/x"),
        ("GET", "/apis/apps/v1/namespaces/rec"),
    ],
)
def test_what_the_built_in_groups_do_not_have_is_a_status(
    ask: Asking, method: str, path: str
) -> None:
    answer = ask.answer(method, path)
    assert (answer.status, answer.body) == (404, NOT_FOUND)


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "/api/v1/pods"),
        ("DELETE", "/api/v1/pods"),
        ("PATCH", "/api/v1/pods"),
        ("POST", "/api/v1/namespaces/rec/pods/x/status"),
        ("DELETE", "/api/v1/namespaces/rec/pods/x/status"),
        ("POST", "/api/v1/namespaces/rec/pods/x"),
        ("PATCH", "/api/v1/namespaces/rec/pods"),
        ("HEAD", "/api/v1/namespaces/rec/pods"),
        ("FOO", "/api/v1/namespaces/rec/pods"),
        ("GET", "/api/v1/namespaces/rec/finalize"),
        ("GET", "/api/v1/namespaces/rec/bindings"),
        ("DELETE", "/api/v1/namespaces"),
        ("POST", "/api/v1/componentstatuses"),
        ("GET", "/apis/authentication.k8s.io/v1/tokenreviews"),
        ("POST", "/api/v1/watch/namespaces/rec/pods"),
        ("POST", "/version"),
        ("POST", "/api"),
        ("POST", "/apis/apps/v1"),
        ("HEAD", "/apis/apps/v1"),
    ],
)
def test_a_wrong_method_on_a_built_in_path_is_not_allowed(
    ask: Asking, method: str, path: str
) -> None:
    answer = ask.answer(method, path)
    assert (answer.status, answer.body) == (405, NOT_ALLOWED)


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "//api/v1/pods"),
        ("GET", "/apis/nosuch/v1"),
        ("GET", "/apis/example.com/v1/nosuch"),
        ("GET", "/apis/example.com/v1/namespaces/rec"),
        ("GET", "/apis/example.com/v9"),
        ("GET", "/apis/example.com/v9/widgets"),
        ("GET", "/apis/example.com/v1/namespaces/rec/gadgets/g"),
        ("GET", "/apis/example.com/v1/widgets/w"),
        ("POST", "/apis/example.com/v1/widgets"),
        ("DELETE", "/apis/example.com/v1/widgets"),
        ("GET", "/apis/example.com/v1/widgets/w/a/b"),
        ("POST", "/foo"),
        ("GET", "/healthz/"),
        ("GET", "/healthz/nosuch"),
        ("GET", "/openapi"),
    ],
)
def test_what_nobody_serves_is_a_page(ask: Asking, method: str, path: str) -> None:
    answer = ask.answer(method, path)
    assert (answer.status, answer.body) == (404, PAGE)
    assert answer.content_type == "text/plain; charset=utf-8"


def test_a_custom_resource_says_what_it_does_not_support(ask: Asking) -> None:
    answer = ask.answer("POST", "/apis/example.com/v1/gadgets/g/status")
    assert answer.status == 405
    assert message(answer) == 'create is not supported on resources of kind "gadgets.example.com"'
    strange = ask.answer("OPTIONS", WIDGETS)
    assert strange.status == 405
    assert message(strange) == ' is not supported on resources of kind "widgets.example.com"'
    assert json.loads(strange.body)["details"] == {"group": "example.com", "kind": "widgets"}


@pytest.mark.parametrize("subresource", ["status", "scale", "nosuch"])
def test_a_subresource_that_a_custom_resource_lacks_is_not_found_by_name(
    ask: Asking, subresource: str
) -> None:
    answer = ask.get(f"{WIDGETS}/w/{subresource}")
    assert answer.status == 404
    assert message(answer) == 'widgets.example.com "w" not found'


@pytest.mark.parametrize("method", ["PUT", "PATCH"])
def test_a_custom_resource_is_written_by_name(ask: Asking, method: str) -> None:
    answer = ask.answer(method, WIDGETS, {})
    assert (answer.status, message(answer)) == (400, "name must be provided")


@pytest.mark.parametrize("path", [WIDGETS, f"{WIDGETS}/w", "/apis/example.com/v1/gadgets/g/status"])
def test_head_of_a_custom_resource_is_get(ask: Asking, path: str) -> None:
    assert ask.answer("HEAD", path).status == 200


@pytest.mark.parametrize(
    "path",
    [
        "/api/v1/namespaces/rec/configmaps/c",
        "/api/v1/namespaces/rec%2Fconfigmaps/c",
        "/api/v1/namespaces/%72ec/configmaps/%63",
        "/api/v1/namespaces/rec/configmaps/c/",
    ],
)
def test_paths_are_decoded_before_they_are_cut(ask: Asking, path: str) -> None:
    assert json.loads(ask.get(path).body)["metadata"]["name"] == "c"


@pytest.mark.parametrize("name", ["a b", "Cé"])
def test_a_name_is_taken_as_it_is(ask: Asking, name: str) -> None:
    escaped = name.replace(" ", "%20").replace("é", "%C3%A9")
    answer = ask.get(f"/api/v1/namespaces/rec/configmaps/{escaped}")
    assert (answer.status, message(answer)) == (404, f'configmaps "{name}" not found')


@pytest.mark.parametrize(
    "path", ["/api/v1/configmaps/", "/api/v1/namespaces//configmaps", "/api/v1/configmaps"]
)
def test_no_namespace_is_all_of_them(ask: Asking, path: str) -> None:
    assert len(json.loads(ask.get(path).body)["items"]) == 1


@pytest.mark.parametrize("flag", ["watch", "watch=1", "watch=true", "watch=nonsense", "watch=TRUE"])
def test_a_flag_is_true_unless_it_says_false(ask: Asking, flag: str) -> None:
    assert hasattr(ask("GET", f"/api/v1/configmaps?{flag}"), "take")


@pytest.mark.parametrize("flag", ["watch=false", "watch=0", "watch=False"])
def test_false_and_0_are_false(ask: Asking, flag: str) -> None:
    assert not hasattr(ask("GET", f"/api/v1/configmaps?{flag}"), "take")


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("/api/v1/watch/namespaces/rec/configmaps/c", ["c"]),
        ("/api/v1/watch/namespaces/rec/configmaps", ["c"]),
        ("/api/v1/watch/configmaps", ["c"]),
        ("/api/v1/watch/namespaces/rec", ["rec"]),
        ("/apis/example.com/v1/watch/namespaces/rec/widgets/w", ["w"]),
        ("/apis/example.com/v1/watch/namespaces/rec/widgets/other", []),
        ("/apis/example.com/v1/watch/widgets", ["w"]),
    ],
)
def test_the_old_form_of_a_watch_works(ask: Asking, path: str, found: list[str]) -> None:
    stream = ask.watch(path)
    events = [json.loads(frame) for frame in stream.take()]
    assert [event["object"]["metadata"]["name"] for event in events] == found


def test_the_old_form_without_a_kind_is_an_error_of_the_server(ask: Asking) -> None:
    answer = ask.get("/api/v1/watch")
    assert (answer.status, answer.content_type) == (500, "text/plain; charset=utf-8")
    assert answer.body == (
        b'Internal Server Error: "/api/v1/watch": failed to create RequestInfo: '
        b"unable to determine kind and namespace from url, /api/v1/watch\n"
    )


def test_a_watch_of_one_object_by_its_path_is_a_get(ask: Asking) -> None:
    assert isinstance(ask("GET", "/api/v1/namespaces/rec/configmaps/c?watch=true"), Answer)
