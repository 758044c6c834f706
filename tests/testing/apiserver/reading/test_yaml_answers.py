"""Answers in YAML (K6): objects, lists, refusals, discovery."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest
import yaml

from tests.testing.apiserver.asking import Asking

YAML = "application/yaml"
CONFIGMAPS = "/api/v1/namespaces/default/configmaps"


@pytest.fixture
def ask() -> Asking:
    asking = Asking()
    asking("POST", CONFIGMAPS, {"metadata": {"name": "a"}, "data": {"x": "1", "y": "a\nb"}})
    return asking


@pytest.mark.parametrize(
    "path",
    [
        f"{CONFIGMAPS}/a",
        CONFIGMAPS,
        f"{CONFIGMAPS}/none",
        f"{CONFIGMAPS}?limit=x",
        "/api",
        "/apis",
        "/apis/apps",
        "/apis/apps/v1",
        "/apis/nosuch.example.com/v1/things",
    ],
)
def test_whatever_is_json_may_be_yaml(ask: Asking, path: str) -> None:
    plain, answer = ask.get(path), ask.get(path, accept=YAML)
    assert answer.status == plain.status
    if plain.content_type == "application/json":
        assert answer.content_type == YAML
        assert yaml.safe_load(answer.body) == json.loads(plain.body)
    else:
        assert answer.body == plain.body


def test_an_object_is_written_in_the_order_of_its_names(ask: Asking) -> None:
    body = ask.get(f"{CONFIGMAPS}/a", accept=YAML).body.decode()
    start = 'apiVersion: v1\ndata:\n  x: "1"\n  "y": |-\n    a\n    b\nkind: ConfigMap\nmetadata:\n'
    assert body.startswith(start)


@pytest.mark.parametrize("kind", ["Table", "PartialObjectMetadata"])
def test_other_forms_come_in_yaml_too(ask: Asking, kind: str) -> None:
    answer = ask.get(f"{CONFIGMAPS}/a", accept=f"{YAML};as={kind};v=v1;g=meta.k8s.io")
    assert answer.content_type == YAML
    assert yaml.safe_load(answer.body)["kind"] == kind


@pytest.mark.parametrize(
    ("accept", "content_type"),
    [
        (f"{YAML},application/json", YAML),
        (f"application/json,{YAML}", "application/json"),
        (f"application/json;q=0.5,{YAML};q=0.9", YAML),
        (f"application/vnd.kubernetes.protobuf;as=Nope,{YAML}", YAML),
    ],
)
def test_the_best_that_a_client_takes(ask: Asking, accept: str, content_type: str) -> None:
    assert ask.get(CONFIGMAPS, accept=accept).content_type == content_type


def test_what_is_written_is_answered_in_yaml(ask: Asking) -> None:
    answer = ask("POST", CONFIGMAPS, {"metadata": {"name": "b"}}, accept=YAML)
    assert (answer.status, answer.content_type) == (201, YAML)
    gone = ask("DELETE", f"{CONFIGMAPS}/b", accept=YAML)
    found: Mapping[str, Any] = yaml.safe_load(gone.body)
    assert found["status"] == "Success"


def test_aggregated_discovery_comes_in_yaml(ask: Asking) -> None:
    form = "g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
    answer = ask.get("/apis", accept=f"{YAML};{form}")
    plain = ask.get("/apis", accept=f"application/json;{form}")
    assert answer.content_type == f"{YAML};{form}"
    assert yaml.safe_load(answer.body) == json.loads(plain.body)


def test_the_version_is_json_only(ask: Asking) -> None:
    answer = ask.get("/version", accept=YAML)
    assert (answer.status, answer.content_type) == (406, YAML)
    assert ask.get("/version", accept="text/html, */*").status == 200
