"""The built-in types' messages in protobuf: what a real server sent is read and written again."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from listwatch.testing.apiserver.types.messages import (
    NotAMessage,
    decode_object,
    encode_event,
    encode_object,
)
from tests.testing.apiserver.asking import recorded

OBJECTS = (
    "k-auth-401-protobuf",
    "k-auth-403-list-protobuf",
    "k-get-pods-missing-protobuf",
    "k-get-pods-protobuf",
    "k-kubectl-auth-can-i-02",
    "k-kubectl-auth-whoami-01",
    "k-kubectl-create-configmap-01",
    "k-kubectl-describe-pod-02",
    "k-list-configmaps-protobuf",
    "k-list-crds-protobuf",
    "k-list-deployments-protobuf",
    "k-list-endpointslices-protobuf",
    "k-list-events-protobuf",
    "k-list-events-k8s-io-protobuf",
    "k-list-jobs-protobuf",
    "k-list-leases-protobuf",
    "k-list-namespaces-protobuf",
    "k-list-nodes-protobuf",
    "k-list-pods-metadata-protobuf",
    "k-list-replicasets-protobuf",
    "k-list-secrets-protobuf",
    "k-list-services-protobuf",
    "k-cr-list-metadata-protobuf",
)
STREAMS = ("k-watch-pods-crud-protobuf", "k-watchlist-nodes-protobuf")


@pytest.mark.parametrize("name", OBJECTS)
def test_what_a_server_wrote_is_written_again_byte_for_byte(name: str) -> None:
    body = recorded(name).body
    assert encode_object(decode_object(body)) == body


@pytest.mark.parametrize("name", STREAMS)
def test_frames_are_written_again_byte_for_byte(name: str) -> None:
    body = recorded(name).body
    at = 0
    while at < len(body):
        length = int.from_bytes(body[at : at + 4], "big")
        frame = body[at + 4 : at + 4 + length]
        at += 4 + length
        kind = frame[2 : 2 + frame[1]].decode()
        value = decode_object(frame[frame.index(b"k8s\0") :])
        assert encode_event(kind, value) == frame


def test_what_kubectl_sent_is_what_it_meant() -> None:
    assert decode_object(recorded("k-kubectl-create-configmap-01").request_body) == {
        "kind": "ConfigMap",
        "apiVersion": "v1",
        "metadata": {"name": "ky"},
        "data": {"a": "b"},
    }


DEPLOYMENT = {
    "kind": "Deployment",
    "apiVersion": "apps/v1",
    "metadata": {"name": "web", "labels": {"app": "web"}},
    "spec": {
        "replicas": 0,
        "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": "25%"}},
        "template": {
            "spec": {
                "volumes": [{"name": "scratch", "emptyDir": {}}],
                "containers": [
                    {
                        "name": "main",
                        "readinessProbe": {
                            "httpGet": {"path": "/", "port": 80},
                            "periodSeconds": 5,
                        },
                        "resources": {"limits": {"cpu": "100m"}},
                    }
                ],
            }
        },
    },
}


def test_zero_that_was_said_stays_and_zero_that_was_not_goes() -> None:
    """`replicas` can be there and zero; `paused` cannot. What a struct in Go has inside of it
    (a volume's source, a probe's handler) is beside the rest in JSON.
    """
    assert decode_object(encode_object(DEPLOYMENT)) == DEPLOYMENT


def test_a_schema_is_written_and_read() -> None:
    schema = {
        "type": "object",
        "default": {"a": 1},
        "x-kubernetes-preserve-unknown-fields": True,
        "properties": {
            "list": {"type": "array", "items": {"type": "string"}},
            "more": {"additionalProperties": {"type": "number", "minimum": 0.5}},
            "none": {"additionalProperties": False},
        },
    }
    version = {"name": "v1", "schema": {"openAPIV3Schema": schema}, "served": True}
    definition = {
        "kind": "CustomResourceDefinition",
        "apiVersion": "apiextensions.k8s.io/v1",
        "metadata": {"name": "a.b"},
        "spec": {"group": "b", "versions": [version]},
    }
    assert decode_object(encode_object(definition)) == definition


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"{}", "does not appear to be a protobuf message"),
        (b"k8s\0", "empty body"),
        (b"k8s\0\xff\xff", "unexpected EOF"),
        (b"k8s\0\x0a\x05", "unexpected EOF"),
        (b"k8s\0\x0a\x0c\x0a\x02v1\x12\x06Nosuch", 'no kind "Nosuch" is registered'),
    ],
)
def test_what_is_none_is_told(data: bytes, message: str) -> None:
    with pytest.raises(NotAMessage, match=message):
        decode_object(data)


@given(st.binary())
def test_no_bytes_break_it(data: bytes) -> None:
    head = b"k8s\0\x0a\x09\x0a\x02v1\x12\x03Pod\x12"
    body = head + len(data).to_bytes(1, "big") + data if len(data) < 128 else head + data
    try:
        json.dumps(decode_object(body))
    except NotAMessage:
        return
