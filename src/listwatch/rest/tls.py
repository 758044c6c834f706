"""How much to trust the server, and how to show it a client certificate (N4)."""

from __future__ import annotations

import logging
import re
import ssl
import tempfile
from pathlib import Path
from typing import NoReturn

from .config import ClientConfig
from .credentials import ClientCertificate
from .errors import ConfigError
from .rereading import FileText

__all__ = ["TLSContexts", "check_certificate", "ssl_context"]

_log = logging.getLogger("listwatch.rest")

_EVERY = 10.0
"""Seconds between two looks at a file of authorities."""

_KEPT = 4
"""How many contexts are kept: there is one more for each renewal."""

_CERTIFICATE = re.compile(
    rb"-----BEGIN CERTIFICATE-----\s[A-Za-z0-9+/=\s]+-----END CERTIFICATE-----"
)


class TLSContexts:
    """The TLS settings for the connections to one server, as its files are now (N2).

    A connection that is open keeps those that it began with: when an authority or a certificate is
    renewed, it is the next connection that uses the new one.
    """

    def __init__(self, config: ClientConfig) -> None:
        self._config = config
        self._authorities = FileText(config.ca_file, every=_EVERY) if config.ca_file else None
        self._usable = config.ca_data  # the last authorities that could be read and used
        self._refused: bytes | None = None  # the last ones that could not
        self._made: dict[tuple[bytes | None, ClientCertificate | None], ssl.SSLContext] = {}

    async def context(self, certificate: ClientCertificate | None) -> ssl.SSLContext | None:
        """For a connection that shows `certificate`, or that of the configuration; None for a
        plain http server. Raises `ConfigError` where there never was a usable CA, and for a
        certificate that is none.
        """
        config = self._config
        if not config.server.startswith("https://"):
            return None
        certificate = certificate or _own(config)
        trusted = await self._now_trusted()
        if trusted is not None and trusted == self._refused:
            trusted = self._usable
        try:
            return self._context(trusted, certificate)
        except ConfigError as error:
            # Never with those of the system, which nobody asked for.
            if self._usable is None or trusted == self._usable:
                raise
            _log.warning("%s: going on with the authorities before it", error)
            made = self._context(self._usable, certificate)
            self._refused = trusted  # for they are the fault, not the certificate
            return made

    def doubt(self) -> None:
        """TLS has failed: read the authorities again for the next connection."""
        if self._authorities is not None:
            self._authorities.doubt()

    def _context(
        self, trusted: bytes | None, certificate: ClientCertificate | None
    ) -> ssl.SSLContext:
        key = (trusted, certificate)
        made = self._made.get(key)
        if made is None:
            made = _make_context(self._config, trusted, certificate)
            while len(self._made) >= _KEPT:
                self._made.pop(next(iter(self._made)), None)  # another thread may be at it
            self._made[key] = made
        self._usable = trusted
        return made

    async def _now_trusted(self) -> bytes | None:
        if self._authorities is None:
            return self._config.ca_data
        try:
            return await self._authorities.read()
        except OSError as error:
            if self._usable is not None:
                return self._usable
            raise ConfigError(
                f"{self._config.source}: the certificate authority file {self._authorities.path}"
                f" cannot be read: {error.strerror}"
            ) from error


def ssl_context(config: ClientConfig) -> ssl.SSLContext | None:
    """The TLS settings for `config`; None for a plain http server.

    The server's certificate must chain to `ca_data` (or to the system's roots) and carry the host's
    name or address, unless `insecure_skip_tls_verify` is set. `tls_server_name` is not in here: it
    is the `server_hostname` of each connection. The client certificate and key exist as files,
    readable by this user alone, only for as long as OpenSSL takes to read them.

    Raises `ConfigError` if the CA, the certificate or the key is not what it should be.
    """
    if not config.server.startswith("https://"):
        return None
    return _make_context(config, config.ca_data, _own(config))


def check_certificate(certificate: ClientCertificate, source: str) -> None:
    """Raises `ConfigError` if OpenSSL does not take it, or its key is not the certificate's."""
    _load_client_certificate(ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT), certificate, source)


def _own(config: ClientConfig) -> ClientCertificate | None:
    if config.client_cert_data is None or config.client_key_data is None:
        return None
    return ClientCertificate(config.client_cert_data, config.client_key_data)


def _make_context(
    config: ClientConfig, trusted: bytes | None, certificate: ClientCertificate | None
) -> ssl.SSLContext:
    if trusted is None or config.insecure_skip_tls_verify:
        context = ssl.create_default_context()
    else:
        # OpenSSL takes ASCII only, and bundles have names in other scripts between the
        # certificates.
        pem = b"\n".join(_CERTIFICATE.findall(trusted)).decode("ascii")
        if not pem:
            raise ConfigError(
                f"{config.source}: the certificate authority holds no PEM certificate"
            )
        try:
            context = ssl.create_default_context(cadata=pem)
        except ssl.SSLError as error:
            raise ConfigError(
                f"{config.source}: the certificate authority is damaged: {error.reason or error}"
            ) from error
    # What Go's verification accepts, and clusters therefore use: authorities without the extensions
    # that Python 3.13 began to ask for, and a `ca_data` that is the server's own or an intermediate
    # certificate.
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    context.set_alpn_protocols(["http/1.1"])
    if config.insecure_skip_tls_verify:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    if certificate is not None:
        _load_client_certificate(context, certificate, config.source)
    return context


def _load_client_certificate(
    context: ssl.SSLContext, certificate: ClientCertificate, source: str
) -> None:
    def no_passphrase() -> NoReturn:  # without it OpenSSL would ask on the terminal
        raise ConfigError(
            f"{source}: the client key is encrypted, which is not supported: decrypt it first"
            " (openssl pkey -in KEY -out PLAIN)"
        )

    # The folder is 0700 and the files in it 0600; Python's ssl reads a certificate from a file
    # only.
    with tempfile.TemporaryDirectory(prefix="listwatch-") as name:
        cert_file, key_file = Path(name, "tls.crt"), Path(name, "tls.key")
        for path, data in ((cert_file, certificate.certificate), (key_file, certificate.key)):
            path.touch(mode=0o600)
            path.write_bytes(data)
        try:
            context.load_cert_chain(cert_file, key_file, password=no_passphrase)
        except ssl.SSLError as error:
            if error.reason == "KEY_VALUES_MISMATCH":
                problem = "the client key does not belong to the client certificate"
            else:
                problem = (
                    f"the client certificate or its key cannot be read: {error.reason or error}"
                )
            raise ConfigError(f"{source}: {problem}") from error
