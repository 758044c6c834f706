"""TLS for the embedded server: an authority made on the spot, and TLS over bytes.

Certificates are made by the package `cryptography` where it is installed, else by the program
`openssl`. Whoever has neither can give an `ssl.SSLContext` of their own.
"""

from __future__ import annotations

import contextlib
import datetime
import importlib.util
import ipaddress
import shutil
import ssl
import subprocess
import tempfile
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from listwatch.api import ListWatchError

__all__ = ["Authority", "TLSFailure", "TLSPipe", "TLSUnavailable"]

_HOSTS = ("localhost", "kubernetes", "kubernetes.default.svc")
_ADDRESSES = ("127.0.0.1", "::1")
_DAYS = 3650
_READ = 256 * 1024
_OPENSSL = "openssl"


class TLSUnavailable(ListWatchError):
    """Nothing on this machine can make a certificate."""


class TLSFailure(Exception):
    """The peer does not speak TLS as this side understands it."""


@dataclass(frozen=True, slots=True)
class _Pair:
    certificate: bytes
    key: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class Authority:
    """Signs the certificates of a server. Its key lives in memory, and is worth nothing elsewhere.

    Making one takes some milliseconds; `shared` is made once for the whole process.
    """

    _pair: _Pair

    @classmethod
    def make(cls) -> Authority:
        """Raises `TLSUnavailable`."""
        return cls(_tool().authority())

    @classmethod
    @lru_cache(maxsize=1)
    def shared(cls) -> Authority:
        """The one that every server of this process takes. Raises `TLSUnavailable`."""
        return cls.make()

    @property
    def ca_data(self) -> bytes:
        """What clients must trust, in PEM."""
        return self._pair.certificate

    def server_context(self, *hosts: str) -> ssl.SSLContext:
        """Settings with a new certificate for loopback and these names or addresses."""
        names = tuple(dict.fromkeys((*_HOSTS, *(h for h in hosts if not _is_address(h)))))
        addresses = tuple(dict.fromkeys((*_ADDRESSES, *(h for h in hosts if _is_address(h)))))
        pair = _tool().server(self._pair, names, addresses)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.set_alpn_protocols(["http/1.1"])
        # Python's ssl reads a certificate from a file only; the folder is this user's alone.
        with tempfile.TemporaryDirectory(prefix="listwatch-") as folder:
            path = Path(folder, "server.pem")
            path.touch(mode=0o600)
            path.write_bytes(pair.certificate + pair.key)
            context.load_cert_chain(path)
        return context


class TLSPipe:
    """The server's side of TLS, from bytes to bytes: no sockets.

    asyncio has its own, which cannot break off without a goodbye, nor look at what comes before a
    handshake: both are needed here.
    """

    def __init__(self, context: ssl.SSLContext) -> None:
        self._incoming = ssl.MemoryBIO()
        self._outgoing = ssl.MemoryBIO()
        self._tls = context.wrap_bio(self._incoming, self._outgoing, server_side=True)
        self.begun = False
        self.ready = False
        """Whether the handshake is done."""
        self.peer_closed = False

    def receive(self, data: bytes) -> bytes:
        """What the peer's bytes say. `outgoing` has what is to be sent because of them.

        Raises `TLSFailure`.
        """
        self.begun = True
        self._incoming.write(data)
        plain = bytearray()
        try:
            if not self.ready:
                self._tls.do_handshake()
                self.ready = True
            while piece := self._tls.read(_READ):
                plain += piece
            self.peer_closed = True
        except ssl.SSLWantReadError:
            pass  # the rest of a record is still on its way
        except ssl.SSLZeroReturnError:
            self.peer_closed = True
        except ssl.SSLError as error:
            raise TLSFailure(error.reason or str(error)) from error
        return bytes(plain)

    def send(self, data: bytes) -> bytes:
        """The bytes that carry `data`. Only once `ready`."""
        self._tls.write(data)
        return self._outgoing.read()

    def outgoing(self) -> bytes:
        return self._outgoing.read()

    def goodbye(self) -> bytes:
        """The bytes that say that nothing more comes."""
        if not self.ready:
            return b""
        # The peer's own goodbye is not waited for, and the pipe may be broken already.
        with contextlib.suppress(ssl.SSLError):
            self._tls.unwrap()
        return self._outgoing.read()


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def _tool() -> type[_Cryptography] | type[_OpenSSL]:
    if importlib.util.find_spec("cryptography") is not None:
        return _Cryptography
    if shutil.which(_OPENSSL) is not None:
        return _OpenSSL
    raise TLSUnavailable(
        "a server with TLS needs a certificate, and nothing here can make one: install the package"
        " cryptography or the program openssl, or serve without TLS"
    )


class _Cryptography:
    """By the package. It is imported when the first certificate is made."""

    @staticmethod
    def authority() -> _Pair:
        return _sign("listwatch test CA", None, (), ())

    @staticmethod
    def server(ca: _Pair, names: tuple[str, ...], addresses: tuple[str, ...]) -> _Pair:
        return _sign("kube-apiserver", ca, names, addresses)


def _sign(
    subject: str, ca: _Pair | None, names: tuple[str, ...], addresses: tuple[str, ...]
) -> _Pair:
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, subject)])
    issuer, issuer_key, issuer_public = name, key, key.public_key()
    if ca is not None:
        loaded = serialization.load_pem_private_key(ca.key, None)
        assert isinstance(loaded, ec.EllipticCurvePrivateKey)
        issuer = x509.load_pem_x509_certificate(ca.certificate).subject
        issuer_key, issuer_public = loaded, loaded.public_key()
    now = datetime.datetime.now(datetime.UTC)
    builder = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=_DAYS))
        .add_extension(x509.BasicConstraints(ca=ca is None, path_length=None), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .add_extension(
            x509.AuthorityKeyIdentifier.from_issuer_public_key(issuer_public), critical=False
        )
        .add_extension(_key_usage(is_ca=ca is None), critical=True)
    )
    if ca is not None:
        alternatives: list[x509.GeneralName] = [x509.DNSName(host) for host in names]
        alternatives += [x509.IPAddress(ipaddress.ip_address(address)) for address in addresses]
        builder = builder.add_extension(x509.SubjectAlternativeName(alternatives), critical=False)
        server_auth = x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH])
        builder = builder.add_extension(server_auth, critical=False)
    signed = builder.sign(issuer_key, hashes.SHA256())
    return _Pair(
        signed.public_bytes(serialization.Encoding.PEM),
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        ),
    )


def _key_usage(*, is_ca: bool):  # type: ignore[no-untyped-def]  # a type of a package that may be missing
    from cryptography import x509

    return x509.KeyUsage(
        digital_signature=True,
        key_cert_sign=is_ca,
        crl_sign=is_ca,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )


class _OpenSSL:
    """By the program."""

    @staticmethod
    def authority() -> _Pair:
        with tempfile.TemporaryDirectory(prefix="listwatch-") as folder:
            return _request(
                Path(folder),
                "/CN=listwatch test CA",
                "basicConstraints=critical,CA:TRUE",
                "keyUsage=critical,digitalSignature,keyCertSign,cRLSign",
            )

    @staticmethod
    def server(ca: _Pair, names: tuple[str, ...], addresses: tuple[str, ...]) -> _Pair:
        alternatives = [f"DNS:{name}" for name in names] + [f"IP:{found}" for found in addresses]
        with tempfile.TemporaryDirectory(prefix="listwatch-") as folder:
            ca_file, ca_key = Path(folder, "ca.crt"), Path(folder, "ca.key")
            ca_file.write_bytes(ca.certificate)
            ca_key.touch(mode=0o600)
            ca_key.write_bytes(ca.key)
            return _request(
                Path(folder),
                "/CN=kube-apiserver",
                "basicConstraints=critical,CA:FALSE",
                "keyUsage=critical,digitalSignature",
                "extendedKeyUsage=serverAuth",
                f"subjectAltName={','.join(alternatives)}",
                signed_by=(ca_file, ca_key),
            )


def _request(
    folder: Path, subject: str, *extensions: str, signed_by: tuple[Path, Path] | None = None
) -> _Pair:
    certificate, key, config = folder / "new.crt", folder / "new.key", folder / "empty.cnf"
    # A configuration of its own: the machine's may add extensions, or be missing.
    config.write_text("[req]\ndistinguished_name=dn\n[dn]\n")
    command = [_OPENSSL, "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"]
    command += ["-nodes", "-sha256", "-days", str(_DAYS), "-config", str(config)]
    command += ["-subj", subject, "-keyout", str(key), "-out", str(certificate)]
    for extension in extensions:
        command += ["-addext", extension]
    if signed_by is not None:
        command += ["-CA", str(signed_by[0]), "-CAkey", str(signed_by[1])]
    done = subprocess.run(command, capture_output=True, check=False)
    if done.returncode:
        problem = done.stderr.decode("utf-8", "replace").strip()
        raise TLSUnavailable(f"openssl could not make a certificate: {problem}")
    return _Pair(certificate.read_bytes(), key.read_bytes())
