"""What a plugin is told, and what may be made of what it prints."""

from __future__ import annotations

import base64
import json
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from listwatch.rest.credentials import ClientCertificate
from listwatch.rest.errors import CredentialsFailed
from listwatch.rest.exec.credential import (
    ClusterInfo,
    ExecCredential,
    ExecVersion,
    exec_info,
    parse_exec_credential,
)
from tests.rest.exec.plugins import CERTIFICATE, KEY, credential

pytestmark = pytest.mark.clause("N2", "N4")

SECRET = "s3cret-of-alice"
BOTH = {"clientCertificateData": CERTIFICATE, "clientKeyData": KEY}


def parse(document: Any, version: ExecVersion = ExecVersion.V1) -> ExecCredential:
    stdout = document if isinstance(document, bytes) else json.dumps(document).encode()
    return parse_exec_credential(stdout, version)


def refusal(document: Any, version: ExecVersion = ExecVersion.V1) -> str:
    with pytest.raises(CredentialsFailed) as caught:
        parse(document, version)
    for error in (caught.value, caught.value.__cause__, caught.value.__context__):
        assert SECRET not in repr(error)
        assert SECRET not in str(vars(error) if error is not None else "")
    return str(caught.value)


@pytest.mark.parametrize("version", ExecVersion)
@pytest.mark.parametrize("interactive", [False, True])
def test_a_plugin_is_told_the_version_and_whether_somebody_can_be_asked(
    version: ExecVersion, interactive: bool
) -> None:
    assert json.loads(exec_info(version, interactive=interactive, cluster=None)) == {
        "kind": "ExecCredential",
        "apiVersion": version.value,
        "spec": {"interactive": interactive},
    }


def test_a_plugin_is_told_everything_of_the_cluster() -> None:
    cluster = ClusterInfo(
        server="https://prod:6443",
        tls_server_name="kube.internal",
        insecure_skip_tls_verify=True,
        certificate_authority_data=b"-----BEGIN CERTIFICATE-----",
        proxy_url="http://proxy:3128",
        disable_compression=True,
        config={"audience": "06e3fbd18de8", "ttl": 600},
    )
    told = json.loads(exec_info(ExecVersion.V1, interactive=False, cluster=cluster))
    assert told["spec"]["cluster"] == {
        "server": "https://prod:6443",
        "tls-server-name": "kube.internal",
        "insecure-skip-tls-verify": True,
        "certificate-authority-data": base64.b64encode(b"-----BEGIN CERTIFICATE-----").decode(),
        "proxy-url": "http://proxy:3128",
        "disable-compression": True,
        "config": {"audience": "06e3fbd18de8", "ttl": 600},
    }


@pytest.mark.parametrize(
    "cluster",
    [
        ClusterInfo(server="https://prod:6443"),
        ClusterInfo(server="https://prod:6443", tls_server_name="", proxy_url=""),
    ],
)
def test_what_a_cluster_does_not_have_is_left_out(cluster: ClusterInfo) -> None:
    told = json.loads(exec_info(ExecVersion.V1, interactive=False, cluster=cluster))
    assert told["spec"]["cluster"] == {"server": "https://prod:6443"}


def test_the_password_of_a_proxy_is_not_shown() -> None:
    cluster = ClusterInfo(server="https://a", proxy_url=f"http://me:{SECRET}@proxy")
    assert SECRET not in repr(cluster)


@pytest.mark.parametrize("version", ExecVersion)
def test_a_token(version: ExecVersion) -> None:
    found = parse(credential(token=SECRET) | {"apiVersion": version.value}, version)
    assert found.headers == {"Authorization": f"Bearer {SECRET}"}
    assert (found.certificate, found.expires) == (None, None)


def test_a_certificate_with_its_key() -> None:
    found = parse(credential(**BOTH))
    assert found.headers == {}
    assert found.certificate == ClientCertificate(CERTIFICATE.encode(), KEY.encode())


def test_a_token_and_a_certificate() -> None:
    found = parse(credential(token=SECRET, **BOTH))
    assert found.headers
    assert found.certificate


def test_what_is_not_known_is_passed_over() -> None:
    document = credential(token=SECRET, more={"a": 1}) | {"spec": {"interactive": True}, "x": []}
    assert parse(document).token == SECRET


@pytest.mark.parametrize(
    ("text", "expires"),
    [
        ("2026-01-31T12:00:00Z", datetime(2026, 1, 31, 12, tzinfo=UTC)),
        ("2026-01-31T12:00:00+02:00", datetime(2026, 1, 31, 10, tzinfo=UTC)),
        ("2026-01-31T12:00:00.123456789Z", datetime(2026, 1, 31, 12, 0, 0, 123456, tzinfo=UTC)),
        ("0001-01-01T00:00:00Z", None),
        (None, None),
    ],
)
def test_the_expiry(text: str | None, expires: datetime | None) -> None:
    assert parse(credential(token=SECRET, expirationTimestamp=text)).expires == expires


@pytest.mark.parametrize(
    "text",
    [
        "",
        "tomorrow",
        "2026-01-31",
        "2026-01-31T12:00:00",
        "2026-13-31T12:00:00Z",
        "2026-01-31 12:00:00Z",
        "0001-01-01T00:00:00+05:00",
        "٢٠٢٦-01-31T12:00:00Z",
        SECRET,
    ],
)
def test_an_expiry_that_is_no_time(text: str) -> None:
    said = refusal(credential(token=SECRET, expirationTimestamp=text))
    assert "status.expirationTimestamp" in said
    assert "RFC 3339" in said


@pytest.mark.parametrize(
    ("document", "words"),
    [
        (b"", ["printed nothing", "ExecCredential"]),
        (b" \n", ["printed nothing"]),
        (SECRET.encode(), ["not JSON"]),
        (f'{{"token": "{SECRET}'.encode(), ["not JSON"]),
        (b'{"kind": "\xff' + SECRET.encode(), ["not JSON"]),
        (b'{"a":' * 100_000, ["not JSON"]),
        ([SECRET], ["another shape"]),
        (credential(token=[SECRET]), ["another shape", "$.status.token"]),
        (credential(token=SECRET) | {"status": SECRET}, ["another shape", "$.status"]),
        (credential(token=SECRET) | {"kind": SECRET}, ["not of kind ExecCredential"]),
        ({"status": {"token": SECRET}}, ["not of kind ExecCredential"]),
        (
            credential(token=SECRET) | {"apiVersion": "client.authentication.k8s.io/v1beta1"},
            ["client.authentication.k8s.io/v1beta1", "apiVersion in the kubeconfig"],
        ),
        (credential(token=SECRET) | {"apiVersion": SECRET}, ["another version"]),
        (credential(token=SECRET) | {"status": None}, ["without status"]),
        (credential(), ["neither status.token nor"]),
        (credential(token="", clientKeyData="", clientCertificateData=""), ["neither"]),
        (credential(token=None), ["neither"]),
        (
            credential(token=SECRET, clientKeyData=KEY),
            ["clientKeyData without status.clientCertificateData"],
        ),
        (
            credential(token=SECRET, clientCertificateData=CERTIFICATE),
            ["clientCertificateData without status.clientKeyData"],
        ),
        (
            credential(clientCertificateData=SECRET, clientKeyData=KEY),
            ["clientCertificateData", "no PEM"],
        ),
        (
            credential(clientCertificateData=CERTIFICATE, clientKeyData=SECRET),
            ["clientKeyData", "no PEM"],
        ),
        (
            credential(clientCertificateData=CERTIFICATE, clientKeyData=CERTIFICATE),
            ["clientKeyData", "no PEM"],
        ),
        (credential(token=f"{SECRET}\n"), ["status.token", "header cannot carry"]),
        (credential(token=f"{SECRET}\r\nX-Evil: 1"), ["status.token"]),
    ],
)
def test_what_is_no_answer_is_refused_and_not_quoted(document: Any, words: list[str]) -> None:
    said = refusal(document)
    for word in words:
        assert word in said


FIELDS = ["kind", "status", "token", "clientKeyData", "clientCertificateData"]
DOCUMENTS = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.text()),
    lambda inner: st.dictionaries(st.one_of(st.sampled_from(FIELDS), st.text()), inner),
)


@given(st.one_of(st.binary(), st.builds(lambda some: {**credential(), "status": some}, DOCUMENTS)))
def test_whatever_is_printed_is_a_credential_or_the_plugins_failure(document: Any) -> None:
    try:
        found = parse(document)
    except CredentialsFailed:
        return
    assert found.headers or found.certificate


@pytest.mark.parametrize("show", [repr, str])
def test_a_credential_is_not_shown(show: Any) -> None:
    text = show(parse(credential(token=SECRET, **BOTH)))
    assert SECRET not in text
    assert "MIG" not in text


def test_two_that_differ_in_their_expiry_prove_the_same() -> None:
    one = parse(credential(token=SECRET, expirationTimestamp="2026-01-31T12:00:00Z"))
    two = parse(credential(token=SECRET, expirationTimestamp="2026-01-31T13:00:00Z"))
    assert two.proves_the_same_as(one)
    assert not two.proves_the_same_as(None)
    assert not two.proves_the_same_as(parse(credential(token="other")))
    assert not two.proves_the_same_as(parse(credential(token=SECRET, **BOTH)))
