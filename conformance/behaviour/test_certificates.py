"""Requests for certificates: who asks, who approves, who signs."""

from __future__ import annotations

import base64
from collections.abc import Iterator

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from conformance.behaviour.space import Space
from conformance.requests import Json

PATH = "/apis/certificates.k8s.io/v1/certificatesigningrequests"
APPROVED = {"type": "Approved", "status": "True", "reason": "Because", "message": "It may."}


@pytest.fixture
def csr(space: Space) -> Iterator[Json]:
    """A request of the administrator's, named after the space."""
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "a")])
    signed = x509.CertificateSigningRequestBuilder().subject_name(name)
    pem = signed.sign(ec.generate_private_key(ec.SECP256R1()), hashes.SHA256()).public_bytes(
        serialization.Encoding.PEM
    )
    spec = {
        "request": base64.b64encode(pem).decode(),
        "signerName": "example.com/a",
        "usages": ["client auth"],
        "username": "somebody-else",
    }
    obj = {"metadata": {"name": space.name}, "spec": spec}
    yield space.server.create(PATH, obj)
    space.ask("DELETE", f"{PATH}/{space.name}")


def test_the_server_says_who_asks(csr: Json) -> None:
    """Username and groups of a request are those of who creates it, whatever is sent."""
    assert csr["spec"]["username"] != "somebody-else"
    assert "system:authenticated" in csr["spec"]["groups"]
    assert csr["status"] == {}


def test_a_request_stays_as_it_is(space: Space, csr: Json) -> None:
    """An update that changes the spec of a request is 200, and changes nothing of it."""
    changed = {**csr, "spec": {**csr["spec"], "usages": ["any"]}}
    answer = space.ask("PUT", f"{PATH}/{space.name}", changed)
    assert answer.status == 200
    assert answer.json()["spec"] == csr["spec"]


def test_whoever_approves_writes_the_approval(space: Space, csr: Json) -> None:
    """PUT approval adds the condition, with times; it changes nothing else."""
    status = {"conditions": [APPROVED], "certificate": "YQ=="}
    answer = space.ask("PUT", f"{PATH}/{space.name}/approval", {**csr, "status": status})
    assert answer.status == 200
    found = answer.json()
    assert "certificate" not in found["status"]
    (condition,) = found["status"]["conditions"]
    assert condition["lastUpdateTime"] == condition["lastTransitionTime"]
    assert found["spec"] == csr["spec"]


def test_nobody_else_approves(space: Space, csr: Json) -> None:
    """PUT status with the condition Approved is 422."""
    body = {**csr, "status": {"conditions": [APPROVED]}}
    answer = space.ask("PUT", f"{PATH}/{space.name}/status", body)
    assert answer.status == 422
    assert answer.json()["details"]["causes"] == [
        {
            "reason": "FieldValueForbidden",
            "message": 'Forbidden: updates may not add a condition of type "Approved"',
            "field": "status.conditions",
        }
    ]


def test_an_approval_is_not_taken_back(space: Space, csr: Json) -> None:
    """PUT approval without the condition that is there is 422; so is one that denies as well."""
    at = f"{PATH}/{space.name}/approval"
    approved = space.ask("PUT", at, {**csr, "status": {"conditions": [APPROVED]}}).json()
    assert space.ask("PUT", at, {**approved, "status": {}}).status == 422
    both = [*approved["status"]["conditions"], {**APPROVED, "type": "Denied"}]
    assert space.ask("PUT", at, {**approved, "status": {"conditions": both}}).status == 422
