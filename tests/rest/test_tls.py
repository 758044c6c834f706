"""Who is trusted, and what is shown to the other side: real handshakes, in memory."""

from __future__ import annotations

import datetime
import ipaddress
import os
import ssl
import stat
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from listwatch.rest.config import ClientConfig
from listwatch.rest.errors import ConfigError
from listwatch.rest.tls import ssl_context

pytestmark = pytest.mark.clause("N4")

START = datetime.datetime(2020, 1, 1, tzinfo=datetime.UTC)
END = datetime.datetime(2120, 1, 1, tzinfo=datetime.UTC)


@dataclass(frozen=True)
class Pair:
    """A certificate and its key."""

    certificate: x509.Certificate
    key: ec.EllipticCurvePrivateKey

    @property
    def pem(self) -> bytes:
        return self.certificate.public_bytes(serialization.Encoding.PEM)

    @property
    def key_pem(self) -> bytes:
        return self.encrypted(None)

    def encrypted(self, passphrase: bytes | None) -> bytes:
        return self.key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.BestAvailableEncryption(passphrase)
            if passphrase
            else serialization.NoEncryption(),
        )


def make(name: str, issuer: Pair | None = None, *, hosts: tuple[str, ...] = ()) -> Pair:
    """A certificate with as few extensions as clusters have them: no key identifiers."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    builder = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer.certificate.subject if issuer else subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(START)
        .not_valid_after(END)
    )
    if not hosts:
        builder = builder.add_extension(
            x509.BasicConstraints(ca=issuer is None, path_length=None), critical=True
        )
    else:
        names: list[x509.GeneralName] = [
            x509.IPAddress(ipaddress.ip_address(host)) if host[0].isdigit() else x509.DNSName(host)
            for host in hosts
        ]
        builder = builder.add_extension(x509.SubjectAlternativeName(names), critical=False)
    return Pair(builder.sign(issuer.key if issuer else key, hashes.SHA256()), key)


CA = make("ca")
OTHER_CA = make("other ca")
SERVER = make("server", CA, hosts=("kube.example", "127.0.0.1"))
SELF_SIGNED = make("self", hosts=("kube.example",))
CLIENT = make("alice", CA)


def config(**fields: Any) -> ClientConfig:
    return ClientConfig(
        **{"server": "https://kube.example:6443", "source": "context 'dev'"} | fields
    )


def server_context(folder: Path, pair: Pair = SERVER, *, ask: bool = False) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    (folder / "crt").write_bytes(pair.pem)
    (folder / "key").write_bytes(pair.key_pem)
    context.load_cert_chain(folder / "crt", folder / "key")
    context.set_alpn_protocols(["h2", "http/1.1"])
    if ask:
        context.verify_mode = ssl.CERT_REQUIRED
        context.load_verify_locations(cadata=CA.pem.decode())
    return context


def handshake(
    client: ssl.SSLContext | None, server: ssl.SSLContext, name: str = "kube.example"
) -> tuple[ssl.SSLObject, ssl.SSLObject]:
    """Both ends, shaking hands without a socket. Raises what the first end to fail raises."""
    assert client is not None
    to_client, to_server = ssl.MemoryBIO(), ssl.MemoryBIO()
    near = client.wrap_bio(to_client, to_server, server_hostname=name)
    far = server.wrap_bio(to_server, to_client, server_side=True)
    waiting = {near, far}
    for _ in range(10):
        for end in (near, far):
            try:
                end.do_handshake()
            except ssl.SSLWantReadError:
                continue
            waiting.discard(end)
    assert not waiting
    return near, far


def test_plain_http_needs_no_tls() -> None:
    assert ssl_context(ClientConfig(server="http://kube.example")) is None


def test_without_a_ca_the_systems_roots_are_asked() -> None:
    context = ssl_context(config())
    assert context is not None
    assert context.verify_mode is ssl.CERT_REQUIRED
    assert context.check_hostname


def test_a_server_whose_ca_is_not_known_is_refused(tmp_path: Path) -> None:
    for given in (config(), config(ca_data=OTHER_CA.pem)):
        with pytest.raises(ssl.SSLCertVerificationError):
            handshake(ssl_context(given), server_context(tmp_path))


@pytest.mark.parametrize("name", ["kube.example", "127.0.0.1"])
def test_a_server_with_a_certificate_of_the_given_ca_is_trusted_by_name_and_address(
    tmp_path: Path, name: str
) -> None:
    near, _ = handshake(ssl_context(config(ca_data=CA.pem)), server_context(tmp_path), name)
    assert near.getpeercert()


@pytest.mark.parametrize("name", ["other.example", "127.0.0.2"])
def test_a_server_under_another_name_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(ssl.SSLCertVerificationError, match="mismatch"):
        handshake(ssl_context(config(ca_data=CA.pem)), server_context(tmp_path), name)


def test_a_bundle_may_hold_several_certificates_and_text_in_any_script(tmp_path: Path) -> None:
    bundle = "# Übergang\n".encode() + OTHER_CA.pem + b"# \xff\n" + CA.pem + b"tail"
    near, _ = handshake(ssl_context(config(ca_data=bundle)), server_context(tmp_path))
    assert near.getpeercert()


def test_a_servers_own_certificate_can_stand_as_its_ca(tmp_path: Path) -> None:
    given = config(ca_data=SELF_SIGNED.pem)
    near, _ = handshake(ssl_context(given), server_context(tmp_path, SELF_SIGNED))
    assert near.getpeercert()


def test_insecure_trusts_anybody_under_any_name(tmp_path: Path) -> None:
    context = ssl_context(config(insecure_skip_tls_verify=True))
    near, _ = handshake(context, server_context(tmp_path, SELF_SIGNED), "other.example")
    assert near.version()


def test_http_1_1_is_what_we_speak(tmp_path: Path) -> None:
    near, _ = handshake(ssl_context(config(ca_data=CA.pem)), server_context(tmp_path))
    assert near.selected_alpn_protocol() == "http/1.1"


@pytest.mark.clause("N2")
def test_a_client_certificate_is_shown_to_the_server(tmp_path: Path) -> None:
    given = config(ca_data=CA.pem, client_cert_data=CLIENT.pem, client_key_data=CLIENT.key_pem)
    _, far = handshake(ssl_context(given), server_context(tmp_path, ask=True))
    peer = far.getpeercert()
    assert peer is not None
    assert peer["subject"] == ((("commonName", "alice"),),)


@pytest.mark.clause("N2")
def test_without_one_a_server_that_insists_is_not_satisfied(tmp_path: Path) -> None:
    with pytest.raises(ssl.SSLError, match="PEER_DID_NOT_RETURN_A_CERTIFICATE"):
        handshake(ssl_context(config(ca_data=CA.pem)), server_context(tmp_path, ask=True))


@pytest.mark.parametrize("wrong", [False, True])
def test_the_key_is_a_file_only_while_it_is_read_and_for_this_user_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wrong: bool
) -> None:
    seen: list[tuple[int, int, int]] = []
    load = ssl.SSLContext.load_cert_chain

    def watched(context: ssl.SSLContext, crt: Path, key: Path, password: Any = None) -> None:
        modes = [stat.S_IMODE(os.stat(path).st_mode) for path in (crt, key, key.parent)]
        seen.append((modes[0], modes[1], modes[2]))
        load(context, crt, key, password)

    monkeypatch.setattr(ssl.SSLContext, "load_cert_chain", watched)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    before = os.umask(0)
    try:
        key = OTHER_CA.key_pem if wrong else CLIENT.key_pem
        given = config(client_cert_data=CLIENT.pem, client_key_data=key)
        if wrong:
            with pytest.raises(ConfigError):
                ssl_context(given)
        else:
            ssl_context(given)
    finally:
        os.umask(before)
    assert seen == [(0o600, 0o600, 0o700)]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.clause("N2")
@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"ca_data": b"hello"}, "holds no PEM certificate"),
        ({"ca_data": CA.key_pem}, "holds no PEM certificate"),
        ({"ca_data": CA.pem[:200] + CA.pem[220:]}, "damaged"),
        (
            {"client_cert_data": CLIENT.pem, "client_key_data": OTHER_CA.key_pem},
            "key does not belong to the client certificate",
        ),
        ({"client_cert_data": b"x", "client_key_data": CLIENT.key_pem}, "cannot be read"),
        ({"client_cert_data": CLIENT.pem, "client_key_data": b"x"}, "cannot be read"),
        (
            {"client_cert_data": CLIENT.pem, "client_key_data": CLIENT.encrypted(b"pass")},
            "is encrypted",
        ),
    ],
)
def test_what_openssl_cannot_use_is_told_with_its_source(
    fields: dict[str, bytes], problem: str
) -> None:
    with pytest.raises(ConfigError, match=problem) as caught:
        ssl_context(config(**fields))
    assert str(caught.value).startswith("context 'dev': ")
    assert "PRIVATE" not in str(caught.value)
