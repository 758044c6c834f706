"""CertificateSigningRequests: who may say what of them (K28). The recorded answers of a real server
(`conformance/validation`) have the rest.
"""

from __future__ import annotations

import base64
import json
from datetime import datetime
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from listwatch.testing.apiserver.auth import ADMIN, Auth, User
from listwatch.testing.apiserver.types.go_texts import decoded
from listwatch.testing.apiserver.validation.checks import checks_of
from listwatch.testing.apiserver.validation.cluster.pem import (
    blocks,
    certificate_problem,
    request_problem,
)

from ..asking import Asking
from .hollows import bears_hollows

PATH = "/apis/certificates.k8s.io/v1/certificatesigningrequests"
TOKEN = "made-up"
APPROVED = {"type": "Approved", "status": "True", "reason": "Because"}
NAME = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "a")])


@pytest.fixture(scope="module")
def key() -> ec.EllipticCurvePrivateKey:
    return ec.generate_private_key(ec.SECP256R1())


@pytest.fixture(scope="module")
def request_pem(key: ec.EllipticCurvePrivateKey) -> bytes:
    builder = x509.CertificateSigningRequestBuilder().subject_name(NAME)
    return builder.sign(key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)


@pytest.fixture(scope="module")
def certificate(key: ec.EllipticCurvePrivateKey) -> bytes:
    builder = (
        x509.CertificateBuilder()
        .subject_name(NAME)
        .issuer_name(NAME)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(datetime(2026, 1, 1))
        .not_valid_after(datetime(2099, 1, 1))
    )
    return builder.sign(key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)


@pytest.fixture
def csr(request_pem: bytes) -> dict[str, Any]:
    return {
        "metadata": {"name": "a"},
        "spec": {
            "request": base64.b64encode(request_pem).decode(),
            "signerName": "example.com/a",
            "usages": ["client auth"],
            "username": "somebody else",
        },
    }


@pytest.fixture
def ask() -> Asking:
    return Asking(auth=Auth([User(name="ada", uid="1", token=TOKEN, rules=ADMIN, groups=("g",))]))


def answered(ask: Asking, method: str, path: str, body: Any) -> dict[str, Any]:
    answer = ask(method, path, body, authorization=f"Bearer {TOKEN}")
    found: dict[str, Any] = json.loads(answer.body)  # type: ignore[union-attr]  # it is an Answer
    return found


def test_the_server_says_who_asks(ask: Asking, csr: dict[str, Any]) -> None:
    spec = answered(ask, "POST", PATH, csr)["spec"]
    assert (spec["username"], spec["uid"], spec["groups"]) == (
        "ada",
        "1",
        ["g", "system:authenticated"],
    )


def test_what_is_asked_for_stays(ask: Asking, csr: dict[str, Any]) -> None:
    made = answered(ask, "POST", PATH, csr)
    changed = {**made, "spec": {**made["spec"], "usages": ["any"]}}
    assert answered(ask, "PUT", f"{PATH}/a", changed)["spec"] == made["spec"]


def test_only_the_approval_approves(ask: Asking, csr: dict[str, Any]) -> None:
    made = answered(ask, "POST", PATH, csr)
    approved = {**made, "status": {"conditions": [APPROVED], "certificate": "YQ=="}}
    refused = answered(
        ask, "PUT", f"{PATH}/a/status", {**made, "status": {"conditions": [APPROVED]}}
    )
    assert refused["details"]["causes"] == [
        {
            "reason": "FieldValueForbidden",
            "message": 'Forbidden: updates may not add a condition of type "Approved"',
            "field": "status.conditions",
        }
    ]
    status = answered(ask, "PUT", f"{PATH}/a/approval", approved)["status"]
    assert "certificate" not in status
    (condition,) = status["conditions"]
    assert condition["lastUpdateTime"] == condition["lastTransitionTime"] != ""


def test_only_the_status_has_the_certificate(
    ask: Asking, csr: dict[str, Any], certificate: bytes
) -> None:
    made = answered(ask, "POST", PATH, csr)
    signed = base64.b64encode(certificate).decode()
    status = {"certificate": signed}
    found = answered(ask, "PUT", f"{PATH}/a/status", {**made, "status": status})
    assert found["status"]["certificate"] == signed
    taken = answered(ask, "PUT", f"{PATH}/a/status", {**found, "status": {}})
    assert "may not modify existing certificate" in taken["message"]


def test_what_others_have_said_is_kept(ask: Asking, csr: dict[str, Any]) -> None:
    made = answered(ask, "POST", PATH, csr)
    approved = {**made, "status": {"conditions": [APPROVED]}}
    approved = answered(ask, "PUT", f"{PATH}/a/approval", approved)
    said_otherwise = {**APPROVED, "reason": "Other"}
    sent = {**approved, "status": {"conditions": [said_otherwise, {"type": "X", "status": "True"}]}}
    conditions = answered(ask, "PUT", f"{PATH}/a/status", sent)["status"]["conditions"]
    assert [condition.get("reason") for condition in conditions] == ["Because", None]


def test_a_request_is_signed_by_its_key(
    request_pem: bytes, certificate: bytes, key: ec.EllipticCurvePrivateKey
) -> None:
    assert not request_problem(request_pem)
    assert request_problem(certificate) == "PEM block type must be CERTIFICATE REQUEST"
    assert request_problem(b"") == "PEM block type must be CERTIFICATE REQUEST"
    der = next(blocks(request_pem))[2]
    forged = base64.encodebytes(der.replace(b"\x01a", b"\x01b", 1))
    armed = b"-----BEGIN CERTIFICATE REQUEST-----\n%b-----END CERTIFICATE REQUEST-----\n" % forged
    assert request_problem(armed) == "x509: ECDSA verification failure"


def test_a_chain_has_nothing_but_certificates(request_pem: bytes, certificate: bytes) -> None:
    assert not certificate_problem(certificate * 2)
    assert not certificate_problem(b"")
    assert certificate_problem(b"x") == "must contain at least one CERTIFICATE PEM block"
    assert certificate_problem(certificate + request_pem) == (
        'only CERTIFICATE PEM blocks are allowed, found "CERTIFICATE REQUEST"'
    )
    headed = certificate.replace(b"-----\n", b"-----\nA: b\n\n", 1)
    assert certificate_problem(headed) == "no PEM block headers are permitted"


def test_nonsense_stands_for_nothing() -> None:
    assert decoded("?") == decoded(None) == b""


def test_anything_may_be_missing(csr: dict[str, Any]) -> None:
    obj = {"spec": csr["spec"], "status": {"conditions": [APPROVED], "certificate": "YQ=="}}
    bears_hollows(checks_of("certificates.k8s.io/certificatesigningrequests"), obj)
