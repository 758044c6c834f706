"""Claims and volumes that are in use."""

from __future__ import annotations

import pytest

from tests.testing.apiserver.controllers.acting import CORE, PODS, Acting, container

CLAIMS = f"{CORE}/persistentvolumeclaims"
CLAIM = {
    "metadata": {"name": "c"},
    "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
}
USING = {
    "metadata": {"name": "p"},
    "spec": {
        "nodeName": "node-1",
        "containers": [container()],
        "volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "c"}}],
    },
}


@pytest.fixture
def server() -> Acting:
    return Acting("persistentvolumeclaim-protection")


def test_a_claim_that_nobody_uses_goes_at_once(server: Acting) -> None:
    server.made(CLAIMS, CLAIM)
    server.delete(f"{CLAIMS}/c")
    server.wait(1)
    assert not server.is_there(f"{CLAIMS}/c")


def test_one_that_a_pod_on_a_node_uses_goes_with_it(server: Acting) -> None:
    server.made(CLAIMS, CLAIM)
    server.made(PODS, USING)
    server.delete(f"{CLAIMS}/c")
    server.wait(5)
    assert server.is_there(f"{CLAIMS}/c")
    server.delete(f"{PODS}/p")
    server.wait(60)
    assert not server.is_there(f"{CLAIMS}/c")


def test_an_attributes_class_goes_with_the_last_claim_that_has_it() -> None:
    server = Acting("persistentvolumeclaim-protection", "volumeattributesclass-protection")
    classes = "/apis/storage.k8s.io/v1/volumeattributesclasses"
    for name in ("used", "free"):
        server.made(
            classes, {"metadata": {"name": name}, "driverName": "d", "parameters": {"a": "b"}}
        )
    spec = {**CLAIM["spec"], "volumeAttributesClassName": "used"}
    server.made(CLAIMS, {"metadata": {"name": "c"}, "spec": spec})
    for name in ("used", "free"):
        server.delete(f"{classes}/{name}")
    server.wait(1)
    assert server.is_there(f"{classes}/used")
    assert not server.is_there(f"{classes}/free")
    server.delete(f"{CLAIMS}/c")
    server.wait(1)
    assert not server.is_there(f"{classes}/used")
