"""What stands behind a Service is the same on both servers."""

from __future__ import annotations

import json
from typing import Any

import pytest

from conformance.controllers.manifests import CONTAINER, Stages, both
from conformance.controllers.stage import NODE, Stage
from conformance.requests import Json

_MADE = ("endpoints", "endpointslices")


def _service(name: str, *ports: Json, **spec: Any) -> Json:
    made = {"selector": {"app": "web"}, **({"ports": list(ports)} if ports else {}), **spec}
    return {"metadata": {"name": name, "labels": {"tier": "x"}}, "spec": made}


def _pod(stage: Stage, name: str, ip: str, *ports: Json, ready: bool = True, **spec: Any) -> None:
    """A pod that is Running at an address."""
    container = {**CONTAINER, "ports": list(ports)}
    made = {"nodeName": NODE, "containers": [container], **spec}
    stage.create("pods", {"metadata": {"name": name, "labels": {"app": "web"}}, "spec": made})
    _report(stage, name, ip, ready=ready)


def _report(stage: Stage, name: str, ip: str, *, ready: bool, phase: str = "Running") -> None:
    text = "True" if ready else "False"
    now = "2026-01-01T00:00:00Z"
    condition = {"type": "Ready", "status": text, "lastTransitionTime": now}
    status = {"phase": phase, "podIP": ip, "podIPs": [{"ip": ip}], "conditions": [condition]}
    stage.change("pods", name, {"status": status}, "status")


def _ready(stage: Stage, name: str = "web") -> tuple[list[str], list[str]]:
    """The ready addresses, by each of the two."""
    subsets = stage.get("endpoints", name).get("subsets", [])
    one = [address["ip"] for subset in subsets for address in subset.get("addresses", ())]
    other = [
        endpoint["addresses"][0]
        for found in stage.objects("endpointslices")
        for endpoint in found["endpoints"] or ()
        if found["metadata"]["labels"]["kubernetes.io/service-name"] == name
        and endpoint["conditions"]["ready"]
    ]
    return sorted(set(one)), sorted(set(other))


def _wait(stage: Stage, *ips: str, name: str = "web") -> None:
    def is_told() -> bool:
        if not stage.exists("endpoints", name) or not stage.objects("endpointslices"):
            return False
        return _ready(stage, name) == (sorted(ips), sorted(ips))

    stage.until(is_told, f"the addresses {ips}")


def _told(stage: Stage) -> list[str]:
    """In an order of ours: theirs comes from hashes."""
    told = stage.told(*_MADE, generations=False)
    return [json.dumps(_sorted(json.loads(text)), sort_keys=True) for text in told]


def _sorted(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _sorted(member) for name, member in value.items()}
    if isinstance(value, list):
        return sorted((_sorted(one) for one in value), key=lambda one: json.dumps(one))
    return value


_HTTP = {"name": "http", "port": 80, "targetPort": "web"}
_PLAIN = {"name": "plain", "port": 90}
_WEB = {"name": "web", "containerPort": 8080}


@pytest.mark.parametrize(
    ("ports", "spec"),
    [
        ((_HTTP, _PLAIN), {}),
        ((_HTTP,), {"clusterIP": "None"}),
        ((), {"clusterIP": "None"}),
        (({"port": 53, "protocol": "UDP", "appProtocol": "example.com/dns"},), {}),
        ((_HTTP, _PLAIN), {"publishNotReadyAddresses": True}),
    ],
)
def test_a_service(stages: Stages, ports: tuple[Json, ...], spec: Json) -> None:
    """Ready pods and others, those with a port of that name and those without one."""

    def play(stage: Stage) -> Any:
        stage.create("services", _service("web", *ports, **spec))
        _wait(stage)
        nothing = _told(stage)
        _pod(stage, "a", "10.1.0.1", _WEB, hostname="a", subdomain="web")
        _pod(stage, "b", "10.1.0.2", _WEB, ready=False)
        _pod(stage, "c", "10.1.0.3")
        stage.until(lambda: _counts(stage) >= 3, "three endpoints")
        ips = {"10.1.0.1", "10.1.0.3"}
        if spec.get("publishNotReadyAddresses"):
            ips.add("10.1.0.2")
        if ports == (_HTTP,):
            stage.until(lambda: "10.1.0.1" in _ready(stage)[0], "the first address")
        else:
            _wait(stage, *ips)
        return nothing, _told(stage)

    both(stages, play)


def _addresses(stage: Stage) -> list[str]:
    """All that the Endpoints have, ready or not."""
    return sorted(
        {
            address["ip"]
            for subset in stage.get("endpoints", "web").get("subsets", [])
            for member in ("addresses", "notReadyAddresses")
            for address in subset.get(member, ())
        }
    )


def _counts(stage: Stage) -> int:
    slices = stage.objects("endpointslices")
    return sum(len(found["endpoints"] or ()) for found in slices)


def test_pods_that_come_and_go(stages: Stages) -> None:
    """One that is ready no more, one that ends, one that is selected no more."""

    def play(stage: Stage) -> Any:
        stage.create("services", _service("web", _PLAIN))
        for number in (1, 2, 3, 4):
            _pod(stage, f"p{number}", f"10.1.0.{number}")
        _wait(stage, *(f"10.1.0.{number}" for number in (1, 2, 3, 4)))
        _report(stage, "p1", "10.1.0.1", ready=False)
        _report(stage, "p2", "10.1.0.2", ready=False, phase="Succeeded")
        stage.change("pods", "p3", {"metadata": {"labels": {"app": "other"}}})
        _wait(stage, "10.1.0.4")
        stage.until(lambda: _counts(stage) == 2, "two endpoints")
        return _told(stage)

    both(stages, play)


def test_a_service_whose_labels_and_ports_change(stages: Stages) -> None:
    """Both follow."""

    def play(stage: Stage) -> Any:
        stage.create("services", _service("web", _PLAIN))
        _pod(stage, "a", "10.1.0.1")
        _wait(stage, "10.1.0.1")
        stage.change("services", "web", {"metadata": {"labels": {"tier": "y", "new": "z"}}})
        stage.change("services", "web", {"spec": {"ports": [{"name": "plain", "port": 91}]}})

        def follows() -> bool:
            texts = _told(stage)
            return all('"port": 91' in text and '"new": "z"' in text for text in texts)

        stage.until(follows, "what the Service says")
        return _told(stage)

    both(stages, play)


def test_a_service_that_goes(stages: Stages) -> None:
    """What was made for it goes with it."""

    def play(stage: Stage) -> Any:
        stage.create("services", _service("web", _PLAIN))
        _wait(stage)
        stage.delete("services", "web", "Background")
        stage.until(lambda: not any(map(stage.objects, _MADE)), "the end of what was made for it")
        return True

    both(stages, play)


@pytest.mark.parametrize(
    "spec", [{"type": "ExternalName", "externalName": "example.com"}, {"selector": None}]
)
def test_a_service_of_somebody_else(stages: Stages, spec: Json) -> None:
    """Nothing is made for it."""

    def play(stage: Stage) -> Any:
        stage.create("services", _service("other", _PLAIN, **spec))
        stage.create("services", _service("web", _PLAIN))
        _wait(stage)
        return _told(stage)

    both(stages, play)


def test_pods_of_a_node_that_is_not_there(stages: Stages) -> None:
    """Endpoints have them, EndpointSlices have not."""

    def play(stage: Stage) -> Any:
        stage.create("services", _service("web", _PLAIN))
        _pod(stage, "a", "10.1.0.1")
        _wait(stage, "10.1.0.1")
        _pod(stage, "b", "10.1.0.2", nodeName="nowhere")
        stage.until(lambda: len(_ready(stage)[0]) == 2, "the address")
        return _told(stage)

    both(stages, play)
