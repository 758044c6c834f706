"""What the caller of `load_config` insists on, whatever a file says."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

from .config import ClientConfig, travels_in_the_clear
from .credentials import BasicAuth, StaticToken
from .errors import ConfigError
from .impersonation import Impersonation

__all__ = ["Overrides", "Trust"]


class Trust(NamedTuple):
    """How much to trust a server."""

    ca_data: bytes | None = None
    ca_file: Path | None = None
    insecure: bool = False


@dataclass(frozen=True, kw_only=True)
class Overrides:
    """None, or an empty text, means no such wish."""

    server: str | None = None
    cluster: str | None = None
    user: str | None = None
    token: str | None = field(default=None, repr=False)
    username: str = ""
    password: str = field(default="", repr=False)
    client_certificate: Path | None = None
    client_key: Path | None = None
    ca_file: Path | None = None
    insecure_skip_tls_verify: bool | None = None
    tls_server_name: str = ""
    impersonate: Impersonation | None = None
    proxy_url: str | None = field(default=None, repr=False)
    disable_compression: bool | None = None

    @property
    def says_who(self) -> bool:
        """Whether the credentials of a file are not wanted."""
        return bool(
            self.token is not None
            or self.username
            or self.password
            or self.client_certificate
            or self.client_key
        )

    def apply(self, config: ClientConfig) -> ClientConfig:
        """`config` with these in place of its own."""
        config = self.on_connection(config)
        if self.impersonate is not None:
            config = replace(config, impersonate=self.impersonate)
        return self._on_identity(config) if self.says_who else config

    @property
    def says_whom_to_trust(self) -> bool:
        """Whether the authorities of a file are not wanted."""
        return self.ca_file is not None or bool(self.insecure_skip_tls_verify)

    def on_trust(self, trust: Trust) -> Trust:
        """A CA and `insecure_skip_tls_verify` each end what a config says of the other."""
        if self.ca_file is not None:
            data = _pem(self.ca_file, "certificate authority")
            return Trust(data, self.ca_file, bool(self.insecure_skip_tls_verify))
        if self.insecure_skip_tls_verify:
            return Trust(insecure=True)
        return trust if self.insecure_skip_tls_verify is None else trust._replace(insecure=False)

    def bare(self, server: str) -> ClientConfig:
        """What there is to know of `server` without any file."""
        trust = self.on_trust(Trust())
        config = ClientConfig(
            server=_with_scheme(server) if self.client_certificate else server,
            ca_data=trust.ca_data,
            ca_file=trust.ca_file,
            insecure_skip_tls_verify=trust.insecure,
            source="the server given explicitly",
        )
        return self.apply(config)

    def on_connection(self, config: ClientConfig) -> ClientConfig:
        if self.tls_server_name:
            config = replace(config, tls_server_name=self.tls_server_name)
        if self.proxy_url is not None:
            config = replace(config, proxy_url=self.proxy_url)
        if self.disable_compression is not None:
            config = replace(config, disable_compression=self.disable_compression)
        return config

    def _on_identity(self, config: ClientConfig) -> ClientConfig:
        """The credentials that are given here replace all that says who we are: a server that is
        shown a token and a certificate goes by the certificate.
        """
        if self.token is not None and (self.username or self.password):
            raise ConfigError("a token and a user name were given: only one of the two can be sent")
        if (self.client_certificate is None) != (self.client_key is None):
            raise ConfigError("a client certificate and its key are needed both, or neither")
        credentials: StaticToken | BasicAuth | None = None
        what = ""
        if self.token is not None:
            credentials, what = StaticToken(self.token, "the token that was given"), "a token"
        elif self.username or self.password:
            described = "the user name and password that were given"
            credentials, what = BasicAuth(self.username, self.password, described), "a password"
        if what and travels_in_the_clear(config.server, config.proxy_url):
            raise ConfigError(
                f"{what} is not sent to {config.server} over plain http, where anybody in between"
                " can read it: use https:// or leave it out"
            )
        certificate, key = self.client_certificate, self.client_key
        return replace(
            config,
            credentials=credentials,
            client_cert_data=_pem(certificate, "client certificate") if certificate else None,
            client_cert_file=certificate,
            client_key_data=_pem(key, "client key") if key else None,
            client_key_file=key,
        )


def _with_scheme(server: str) -> str:
    return server if "://" in server else f"https://{server}"  # certificates are of TLS


def _pem(path: Path, what: str) -> bytes:
    try:
        data = path.read_bytes()
    except OSError as error:
        raise ConfigError(f"the {what} file {path} cannot be read: {error.strerror}") from error
    if b"-----BEGIN" not in data:
        raise ConfigError(f"the {what} file {path} holds no PEM text")
    return data
