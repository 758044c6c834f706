"""Addresses of types, and the types that every cluster has."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from listwatch.api import (
    BUILTIN_RESOURCES,
    APIResource,
    GroupVersionResource,
    MalformedObject,
)

pytestmark = pytest.mark.clause("B1")

DISCOVERY = Path(__file__).parent / "data" / "discovery.json"


@pytest.mark.parametrize(
    ("text", "gvr", "group_version"),
    [
        ("v1/pods", GroupVersionResource("", "v1", "pods"), "v1"),
        ("apps/v1/deployments", GroupVersionResource("apps", "v1", "deployments"), "apps/v1"),
    ],
)
def test_an_address_reads_back(text: str, gvr: GroupVersionResource, group_version: str) -> None:
    assert GroupVersionResource.parse(text) == gvr
    assert str(gvr) == text
    assert gvr.group_version == group_version


@pytest.mark.parametrize(
    "text", ["", "pods", "v1/", "/v1/pods", "a/b/c/d", "apps//deployments", "/"]
)
def test_what_is_no_address_is_refused(text: str) -> None:
    with pytest.raises(MalformedObject, match="is no resource"):
        GroupVersionResource.parse(text)


def test_a_resource_knows_its_address_and_api_version() -> None:
    resource = APIResource(
        group="apps", version="v1", name="deployments", kind="Deployment", namespaced=True
    )
    assert resource.gvr == GroupVersionResource("apps", "v1", "deployments")
    assert (resource.group_version, resource.api_version) == ("apps/v1", "apps/v1")
    assert str(resource) == "apps/v1/deployments"


def test_the_built_in_types_are_those_a_real_server_lists() -> None:
    assert json.loads(DISCOVERY.read_text("utf-8")) == [
        [
            *(resource.group, resource.version, resource.name, resource.kind),
            *(resource.namespaced, resource.singular),
            *map(list, (resource.short_names, resource.categories, resource.verbs)),
        ]
        for resource in BUILTIN_RESOURCES
    ]


def test_no_built_in_type_is_there_twice() -> None:
    counts = Counter(resource.gvr for resource in BUILTIN_RESOURCES)
    assert max(counts.values()) == 1
