"""A client certificate in files that somebody renews (N2)."""

from __future__ import annotations

import logging
from pathlib import Path

from .config import ClientConfig
from .credentials import ClientCertificate
from .errors import ConfigError, CredentialsFailed
from .rereading import FileText
from .tls import check_certificate

__all__ = ["CertificateFiles"]

_log = logging.getLogger("listwatch.rest")

_EVERY = 10.0
"""Seconds between two looks. client-go looks once in five minutes, and ends all connections then;
here the open ones stay, so that it may be often.
"""


class CertificateFiles:
    """A `CertificateSource`: the certificate and its key, of which at least one is a file.

    Both are read again every ten seconds, and after a 401. A pair that does not fit together, as in
    the middle of a renewal, is passed over for the one before it.
    """

    def __init__(
        self,
        certificate: Path | bytes,
        key: Path | bytes,
        *,
        source: str,
        first: ClientCertificate | None = None,
    ) -> None:
        self._certificate, self._key = _part(certificate), _part(key)
        self._source = source
        self._refused: ClientCertificate | None = None
        self._good = first  # what the files had when the configuration was read

    @classmethod
    def of(cls, config: ClientConfig) -> CertificateFiles | None:
        """That of `config`; None if it has none in files."""
        certificate = config.client_cert_file or config.client_cert_data
        key = config.client_key_file or config.client_key_data
        if certificate is None or key is None:
            return None
        if isinstance(certificate, bytes) and isinstance(key, bytes):
            return None
        data = config.client_cert_data, config.client_key_data
        first = ClientCertificate(data[0], data[1]) if data[0] and data[1] else None
        return cls(certificate, key, source=config.source, first=first)

    @property
    def description(self) -> str:
        """For messages."""
        place = self._certificate.path if isinstance(self._certificate, FileText) else self._source
        return f"the client certificate of {place}"

    async def certificate(self) -> ClientCertificate:
        """The pair. Raises `CredentialsFailed` where there never was one."""
        try:
            return self._checked(
                ClientCertificate(await _read(self._certificate), await _read(self._key))
            )
        except OSError as error:
            if self._good is not None:
                _log.warning(
                    "%s cannot be read (%s): going on with the certificate before it",
                    error.filename,
                    error.strerror,
                )
                return self._good
            raise CredentialsFailed(
                f"{self._source}: {error.filename} cannot be read: {error.strerror}"
            ) from error

    async def refresh(self) -> bool:
        """Read them now. Raises as `certificate` does."""
        before = self._good
        for part in (self._certificate, self._key):
            if isinstance(part, FileText):
                await part.look()
        return await self.certificate() != before

    def _checked(self, found: ClientCertificate) -> ClientCertificate:
        good = self._good
        if found == good or (good is not None and found == self._refused):
            return good
        try:
            check_certificate(found, self._source)
        except ConfigError as error:
            if good is None:
                raise CredentialsFailed(str(error)) from error
            _log.warning("%s: going on with the certificate before it", error)
            self._refused = found
            return good
        self._good = found
        return found

    def __repr__(self) -> str:
        return f"CertificateFiles({self.description!r})"


def _part(given: Path | bytes) -> FileText | bytes:
    return given if isinstance(given, bytes) else FileText(given, every=_EVERY)


async def _read(part: FileText | bytes) -> bytes:
    return part if isinstance(part, bytes) else await part.read()
