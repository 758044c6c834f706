"""Answers to discovery, recorded and otherwise."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from listwatch.rest.discovery_answers import (
    Aggregated,
    GroupVersions,
    NotDiscovery,
    parse_discovery,
    parse_resource_list,
)

pytestmark = pytest.mark.clause("B9")

DATA = Path(__file__).parent / "data" / "discovery"


def recorded(name: str) -> bytes:
    return (DATA / name).read_bytes()


def aggregated(*resources: dict[str, Any], version: dict[str, Any] | None = None) -> bytes:
    return json.dumps(
        {
            "kind": "APIGroupDiscoveryList",
            "apiVersion": "apidiscovery.k8s.io/v2beta1",
            "items": [
                {
                    "metadata": {"name": "example.com"},
                    "versions": [{"version": "v1", "resources": resources} | (version or {})],
                }
            ],
        }
    ).encode()


def test_the_legacy_and_the_aggregated_answer_of_one_server_say_the_same() -> None:
    core = parse_discovery(recorded("api-aggregated.json"))
    assert isinstance(core, Aggregated)
    assert core.resources == parse_resource_list(recorded("api-v1.json"), "", "v1")

    groups = parse_discovery(recorded("apis-aggregated.json"))
    assert isinstance(groups, Aggregated)
    apps = tuple(item for item in groups.resources if item.group == "apps")
    assert apps == parse_resource_list(recorded("apis-apps-v1.json"), "apps", "v1")

    pairs = parse_discovery(recorded("apis.json"))
    assert isinstance(pairs, GroupVersions)
    in_order = dict.fromkeys((item.group, item.version) for item in groups.resources)
    assert pairs.pairs == tuple(in_order)


def test_subresources_are_no_resources() -> None:
    core = parse_discovery(recorded("api-aggregated.json"))
    assert isinstance(core, Aggregated)
    assert {"pods", "nodes"} <= {item.name for item in core.resources}
    assert not [item for item in core.resources if "/" in item.name]


def test_the_legacy_core_answer_names_its_versions() -> None:
    assert parse_discovery(recorded("api.json")) == GroupVersions((("", "v1"),))


def test_the_preferred_version_goes_first_wherever_it_stands() -> None:
    body = {
        "kind": "APIGroupList",
        "groups": [
            {
                "name": "a",
                "versions": [{"version": "v2alpha1"}, {"version": "v1"}],
                "preferredVersion": {"version": "v1"},
            },
            {"name": "b", "versions": [{"version": "v3"}]},
            {"name": "c", "versions": None},
        ],
    }
    answer = parse_discovery(json.dumps(body).encode())
    assert answer == GroupVersions((("a", "v1"), ("a", "v2alpha1"), ("b", "v3")))


def test_stale_versions_are_named_and_what_is_known_of_them_is_kept() -> None:
    widget = {
        "resource": "widgets",
        "responseKind": {"group": "", "version": "", "kind": "Widget"},
        "scope": "Namespaced",
    }
    answer = parse_discovery(aggregated(widget, version={"freshness": "Stale"}))
    assert isinstance(answer, Aggregated)
    assert answer.stale == ("example.com/v1",)
    assert [str(item) for item in answer.resources] == ["example.com/v1/widgets"]
    assert answer.resources[0].singular == "widget"


def test_a_resource_that_only_has_subresources_is_left_out() -> None:
    answer = parse_discovery(aggregated({"resource": "empty", "responseKind": None}))
    assert answer == Aggregated((), ())


def test_null_stands_for_an_empty_list() -> None:
    answer = parse_discovery(aggregated(version={"resources": None}))
    assert answer == Aggregated((), ())
    assert parse_discovery(b'{"kind":"APIGroupDiscoveryList","items":null}') == Aggregated((), ())
    assert parse_discovery(b'{"kind":"APIVersions","versions":null}') == GroupVersions(())
    assert parse_resource_list(b'{"kind":"APIResourceList","resources":null}', "a", "v1") == ()


def test_an_empty_singular_is_made_from_the_kind() -> None:
    body = {
        "kind": "APIResourceList",
        "resources": [{"name": "pods", "singularName": "", "namespaced": True, "kind": "Pod"}],
    }
    [pod] = parse_resource_list(json.dumps(body).encode(), "", "v1")
    assert pod.singular == "pod"


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html>login</html>",
        b"[]",
        b"{}",
        b"null",
        b"\xff",
        b'{"kind":"Status"}',
        b'{"kind":"APIGroupDiscoveryList","items":[{"versions":[{}]}]}',
    ],
)
def test_what_is_not_discovery_is_refused(body: bytes) -> None:
    with pytest.raises(NotDiscovery):
        parse_discovery(body)
    with pytest.raises(NotDiscovery):
        parse_resource_list(body, "a", "v1")


def test_the_error_quotes_the_beginning_only() -> None:
    with pytest.raises(NotDiscovery, match="<html>") as caught:
        parse_discovery(b"<html>" + b"x" * 100_000)
    assert len(str(caught.value)) < 300
