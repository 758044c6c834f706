"""How much to trust the server, and how to show it a client certificate (N4)."""

from __future__ import annotations

import re
import ssl
import tempfile
from pathlib import Path
from typing import NoReturn

from .config import ClientConfig
from .errors import ConfigError

__all__ = ["ssl_context"]

_CERTIFICATE = re.compile(
    rb"-----BEGIN CERTIFICATE-----\s[A-Za-z0-9+/=\s]+-----END CERTIFICATE-----"
)


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
    if config.ca_data is None:
        context = ssl.create_default_context()
    else:
        # OpenSSL takes ASCII only, and bundles have names in other scripts between the
        # certificates.
        pem = b"\n".join(_CERTIFICATE.findall(config.ca_data)).decode("ascii")
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
    if config.client_cert_data is not None and config.client_key_data is not None:
        _load_client_certificate(
            context, config.client_cert_data, config.client_key_data, config.source
        )
    return context


def _load_client_certificate(
    context: ssl.SSLContext, certificate: bytes, key: bytes, source: str
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
        for path, data in ((cert_file, certificate), (key_file, key)):
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
