"""What a container is without being told (K30)."""

from __future__ import annotations

from typing import Any

import pytest

from listwatch.testing.apiserver.defaulting.container_defaults import (
    fill_containers,
    tag_is_latest,
)


def filled(container: dict[str, Any], *, in_pod: bool = True, **spec: Any) -> dict[str, Any]:
    made: dict[str, Any] = {**spec, "containers": [{"name": "a", "image": "a:1", **container}]}
    fill_containers(made, in_pod=in_pod)
    (found,) = made["containers"]
    assert isinstance(found, dict)
    return found


@pytest.mark.parametrize(
    ("image", "latest"),
    [
        ("a", True),
        ("a:latest", True),
        ("a:1", False),
        ("localhost:5000/a", True),
        ("localhost:5000/a:1", False),
        ("example.com/a/b", True),
        ("a@sha256:" + "0" * 64, False),
        ("a:latest@sha256:" + "0" * 64, True),
        ("[::1]:80/a", True),
        ("Not valid", False),
        ("A", False),
        ("A/b", True),
        ("a:", False),
        ("", False),
        ("0" * 64, False),
    ],
)
def test_an_image_whose_name_can_come_to_mean_another_is_fetched_again(
    image: str, latest: bool
) -> None:
    assert tag_is_latest(image) is latest
    assert filled({"image": image})["imagePullPolicy"] == ("Always" if latest else "IfNotPresent")


def test_what_is_empty_is_filled_as_what_is_missing() -> None:
    empty = {
        "imagePullPolicy": "",
        "terminationMessagePath": "",
        "terminationMessagePolicy": None,
        "ports": [{"containerPort": 80, "protocol": ""}],
        "livenessProbe": {"httpGet": {"port": 80, "path": "", "scheme": ""}, "timeoutSeconds": 0},
    }
    assert filled(empty) == {
        "name": "a",
        "image": "a:1",
        "ports": [{"containerPort": 80, "protocol": "TCP"}],
        "resources": {},
        "livenessProbe": {
            "httpGet": {"port": 80, "path": "/", "scheme": "HTTP"},
            "timeoutSeconds": 1,
            "periodSeconds": 10,
            "successThreshold": 1,
            "failureThreshold": 3,
        },
        "terminationMessagePath": "/dev/termination-log",
        "terminationMessagePolicy": "File",
        "imagePullPolicy": "IfNotPresent",
    }


def test_hooks_are_filled_as_probes_are() -> None:
    made = filled({"lifecycle": {"postStart": {"httpGet": {"port": 80}}}})
    assert made["lifecycle"] == {
        "postStart": {"httpGet": {"port": 80, "path": "/", "scheme": "HTTP"}}
    }
    assert filled({"livenessProbe": {"grpc": {"port": 80}}})["livenessProbe"]["grpc"] == {
        "port": 80,
        "service": "",
    }


def test_signals_are_not_served() -> None:
    assert "lifecycle" not in filled({"lifecycle": {"stopSignal": "SIGTERM"}})
    assert filled({"lifecycle": {"stopSignal": "SIGTERM", "preStop": {}}})["lifecycle"] == {
        "preStop": {}
    }
    assert filled({"lifecycle": {}})["lifecycle"] == {}


def test_a_pod_asks_for_what_it_is_limited_to() -> None:
    limited = {"resources": {"limits": {"memory": "1Gi", "cpu": "1"}, "requests": {"cpu": "500m"}}}
    assert filled(limited)["resources"]["requests"] == {"cpu": "500m", "memory": "1Gi"}
    assert filled(limited, in_pod=False)["resources"] == limited["resources"]


def test_amounts_have_thousandths_at_most() -> None:
    limits = {"cpu": "1n", "memory": "-0.0001", "a.b/c": "1"}
    assert filled({"resources": {"limits": limits}}, in_pod=False)["resources"] == {
        "limits": {"cpu": "1m", "memory": "-1m", "a.b/c": "1"}
    }


def test_in_the_network_of_the_node_ports_are_those_of_the_node() -> None:
    ports = {"ports": [{"containerPort": 80}, {"containerPort": 81, "hostPort": 82}]}
    made = filled(ports, hostNetwork=True)["ports"]
    assert [port.get("hostPort") for port in made] == [80, 82]
    for plain in (filled(ports), filled(ports, in_pod=False, hostNetwork=True)):
        assert [port.get("hostPort") for port in plain["ports"]] == [None, 82]


def test_variables_that_tell_of_the_pod_are_of_version_1() -> None:
    sources = [
        {"fieldRef": {"fieldPath": "metadata.name"}},
        {"fileKeyRef": {"volumeName": "v", "path": "a", "key": "b"}},
        {"secretKeyRef": {"name": "a", "key": "b"}},
    ]
    made = filled({"env": [{"name": "A", "valueFrom": source} for source in sources]})["env"]
    assert [each["valueFrom"] for each in made] == [
        {"fieldRef": {"fieldPath": "metadata.name", "apiVersion": "v1"}},
        {"fileKeyRef": {"volumeName": "v", "path": "a", "key": "b", "optional": False}},
        {"secretKeyRef": {"name": "a", "key": "b"}},
    ]


@pytest.mark.parametrize("wrong", [None, 1, "a", [], {}, [None], {"a": None}])
def test_what_is_no_container_is_left_alone(wrong: Any) -> None:
    spec: dict[str, Any] = {"containers": wrong, "initContainers": [wrong]}
    fill_containers(spec, in_pod=True)
    members = ("ports", "env", "livenessProbe", "lifecycle", "resources")
    for member in members:
        filled({member: wrong})
