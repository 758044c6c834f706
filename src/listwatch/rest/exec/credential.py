"""ExecCredential, by which a client and an exec plugin talk: what the plugin is told, and what it
answers (N2).

Group `client.authentication.k8s.io`, versions v1 and v1beta1, which differ in nothing that is used
here.
"""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

import msgspec

from ..credentials import ClientCertificate, StaticToken
from ..errors import ConfigError, CredentialsFailed

__all__ = ["ClusterInfo", "ExecCredential", "ExecVersion", "exec_info", "parse_exec_credential"]

_KIND = "ExecCredential"
_PLAIN_VERSION = re.compile(r"client\.authentication\.k8s\.io/[a-z0-9]{1,20}")
_RFC3339 = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)", re.ASCII)
_NEVER = datetime(1, 1, 1, tzinfo=UTC)
"""Go's zero time, which a plugin written in Go may print for "no expiry"."""


class ExecVersion(StrEnum):
    """The `apiVersion` that a kubeconfig asks for, and the plugin answers with."""

    V1 = "client.authentication.k8s.io/v1"
    V1BETA1 = "client.authentication.k8s.io/v1beta1"


@dataclass(frozen=True, kw_only=True)
class ClusterInfo:
    """What a plugin is told of the cluster where the kubeconfig says `provideClusterInfo: true`."""

    server: str
    tls_server_name: str | None = None
    insecure_skip_tls_verify: bool = False
    certificate_authority_data: bytes | None = None
    """PEM, whether it is in the kubeconfig or in a file. None for the system's roots."""
    proxy_url: str | None = field(default=None, repr=False)  # may have a password in it
    disable_compression: bool = False
    config: Any = field(default=None, repr=False)
    """The cluster's extension named `client.authentication.k8s.io/exec`, as JSON would have it."""

    def to_json(self) -> dict[str, Any]:
        """The object `spec.cluster`."""
        encoded = b64encode(self.certificate_authority_data or b"").decode("ascii")
        optional = {
            "tls-server-name": self.tls_server_name,
            "insecure-skip-tls-verify": self.insecure_skip_tls_verify,
            "certificate-authority-data": encoded,
            "proxy-url": self.proxy_url,
            "disable-compression": self.disable_compression,
        }
        cluster = {"server": self.server, **{name: it for name, it in optional.items() if it}}
        if self.config is not None:
            cluster["config"] = self.config
        return cluster


def exec_info(version: ExecVersion, *, interactive: bool, cluster: ClusterInfo | None) -> str:
    """The text of the variable KUBERNETES_EXEC_INFO: an ExecCredential without a status.

    >>> exec_info(ExecVersion.V1, interactive=False, cluster=None)
    '{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","spec":{"interactive":false}}'
    """
    spec: dict[str, Any] = {"interactive": interactive}
    if cluster is not None:
        spec["cluster"] = cluster.to_json()
    info = {"kind": _KIND, "apiVersion": str(version), "spec": spec}
    return json.dumps(info, separators=(",", ":"))


@dataclass(frozen=True, slots=True, repr=False)
class ExecCredential:
    """What a plugin gave: a token, a certificate or both, and until when they are good."""

    token: str
    """Empty for none."""
    certificate: ClientCertificate | None
    expires: datetime | None
    """In UTC; None where the plugin did not say."""

    @property
    def headers(self) -> Mapping[str, str]:
        return {"Authorization": f"Bearer {self.token}"} if self.token else {}

    def proves_the_same_as(self, other: ExecCredential | None) -> bool:
        """Whether token and certificate are those of `other`, whatever the expiry."""
        return (
            other is not None
            and self.token == other.token
            and self.certificate == other.certificate
        )

    def __repr__(self) -> str:
        return f"ExecCredential(<hidden>, expires={self.expires})"


def parse_exec_credential(stdout: bytes, version: ExecVersion) -> ExecCredential:
    """What a plugin printed.

    Raises `CredentialsFailed`, whose message goes on from the plugin's name ("... printed no JSON")
    and quotes nothing of `stdout`, since that holds the credential.
    """
    answer = _decode(stdout)
    if answer.kind != _KIND:
        raise CredentialsFailed(f"printed something that is not of kind {_KIND}")
    if answer.api_version != version:
        known = _PLAIN_VERSION.fullmatch(answer.api_version)
        other = f"version {answer.api_version}" if known else "another version"
        raise CredentialsFailed(
            f"answered in {other}, but its apiVersion in the kubeconfig is {version}"
        )
    status = answer.status
    if status is None:
        raise CredentialsFailed(f"printed an {_KIND} without status, so without a credential")
    certificate, key = status.client_certificate_data, status.client_key_data
    if bool(certificate) != bool(key):
        here, missing = "clientCertificateData", "clientKeyData"
        if key:
            here, missing = missing, here
        raise CredentialsFailed(f"gave status.{here} without status.{missing}")
    if not (status.token or certificate):
        raise CredentialsFailed(
            "gave neither status.token nor status.clientCertificateData and clientKeyData"
        )
    return ExecCredential(
        token=_token(status.token or ""),
        certificate=_certificate(certificate, key) if certificate and key else None,
        expires=_expiry(status.expiration_timestamp),
    )


class _Status(msgspec.Struct, rename="camel"):
    token: str | None = None
    client_certificate_data: str | None = None
    client_key_data: str | None = None
    expiration_timestamp: str | None = None


class _Answer(msgspec.Struct, rename="camel"):
    api_version: str = ""
    kind: str = ""
    status: _Status | None = None


def _decode(stdout: bytes) -> _Answer:
    if not stdout.strip():
        raise CredentialsFailed(f"printed nothing, where an {_KIND} was expected")
    try:
        return msgspec.json.decode(stdout, type=_Answer)
    except msgspec.ValidationError as error:
        problem = f"printed an {_KIND} of another shape: {error}"  # names types and fields only
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        problem = f"printed something that is not JSON, where an {_KIND} was expected"
    # Outside the except clause: the first error may hold on to the text.
    raise CredentialsFailed(problem)


def _token(token: str) -> str:
    try:
        return StaticToken(token).token if token else ""
    except ConfigError as error:
        problem = str(error)
    raise CredentialsFailed(f"gave a status.token that cannot be used: {problem}")


def _certificate(certificate: str, key: str) -> ClientCertificate:
    if "-----BEGIN CERTIFICATE-----" not in certificate:
        raise CredentialsFailed("gave a status.clientCertificateData that is no PEM certificate")
    if "-----BEGIN " not in key or "PRIVATE KEY-----" not in key:
        raise CredentialsFailed("gave a status.clientKeyData that is no PEM private key")
    return ClientCertificate(certificate.encode(), key.encode())


def _expiry(text: str | None) -> datetime | None:
    if text is None:
        return None
    try:
        if _RFC3339.fullmatch(text):
            expires = datetime.fromisoformat(text).astimezone(UTC)
            return None if expires == _NEVER else expires
    except (ValueError, OverflowError):
        pass  # a thirteenth month, say: one message for all of them
    raise CredentialsFailed(
        "gave a status.expirationTimestamp that is no RFC 3339 time, such as 2026-01-31T12:00:00Z"
    )
