"""Who a client is: its headers and certificate, renewed one at a time for all who wait (H15)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, cast

from ._per_loop import PerLoopLock
from .certificate_files import CertificateFiles
from .config import ClientConfig
from .credentials import CertificateSource, ClientCertificate, Credentials, description_of
from .errors import CredentialsFailed

__all__ = ["Authentication", "Proof"]


class Proof(NamedTuple):
    """What one request shows."""

    number: int
    """Which of our credentials it is of: these were refused, if it is the newest."""
    headers: Mapping[str, str]
    more_headers: tuple[tuple[str, str], ...]
    certificate: ClientCertificate | None

    def __repr__(self) -> str:
        return f"Proof(number={self.number}, <hidden>)"


class Authentication:
    """The credentials, the client certificate and the impersonation of `config`."""

    def __init__(self, config: ClientConfig) -> None:
        self._credentials = config.credentials
        self._certificates = _certificates(config)
        self._shown_by_transport = (
            f"the client certificate ({config.source})"
            if self._certificates is None and config.client_cert_data is not None
            else ""
        )
        self._more_headers = config.impersonate.headers() if config.impersonate is not None else ()
        self._turn = PerLoopLock()
        self._number = 0  # grows when the credentials have changed
        self._tries = 0
        self._failure = ""  # of the last try

    @property
    def description(self) -> str:
        """What is shown to the server, for the message of a 401; empty if that is nothing."""
        told = [*map(description_of, self._sources), self._shown_by_transport]
        return " and ".join(filter(None, told))

    @property
    def impersonates(self) -> bool:
        """Whether we ask as somebody else."""
        return bool(self._more_headers)

    @property
    def _sources(self) -> list[Credentials | CertificateSource]:
        """What can be renewed, each once. Somebody's own class may have no hash."""
        found: list[Credentials | CertificateSource] = []
        for source in (self._credentials, self._certificates):
            if source is not None and not any(source is other for other in found):
                found.append(source)
        return found

    async def prove(self) -> Proof:
        """What the next request has to show. Raises what the source of the credentials raises."""
        number = self._number
        headers: Mapping[str, str] = {}
        certificate: ClientCertificate | None = None
        if self._credentials is not None:
            headers = await self._credentials.headers()
        if self._certificates is not None:
            certificate = await self._certificates.certificate()
        return Proof(number, headers, self._more_headers, certificate)

    async def renew(self, refused: Proof) -> bool:
        """Whether there are now other credentials than those that were refused."""
        sources = self._sources
        if not sources:
            return False
        tries = self._tries
        async with self._turn.here():
            if self._number != refused.number:
                return True
            tried = self._tries != tries  # by somebody, in vain, while we waited
            if tried and self._failure:
                raise CredentialsFailed(self._failure)
            try:
                if await self._others_than(refused):
                    return True
                if tried:
                    return False
                changed = False
                for source in sources:
                    changed |= await source.refresh()
            except Exception as error:
                self._tries += 1
                self._failure = str(error) or type(error).__name__
                raise
            self._tries += 1
            self._failure = ""
            self._number += changed
            return changed

    async def _others_than(self, refused: Proof) -> bool:
        """Whether the sources have renewed themselves since, as a file does that is read again."""
        now = await self.prove()
        if (now.headers, now.certificate) == (refused.headers, refused.certificate):
            return False
        # Headers that differ each time, as a signature or a nonce does, say nothing of a renewal.
        again = await self.prove()
        return (now.headers, now.certificate) == (again.headers, again.certificate)


def _certificates(config: ClientConfig) -> CertificateSource | None:
    """Where the client certificate comes from. What the configuration says wins over what its
    credentials may have, as in client-go; if it does not change, it is the transport's to show.
    """
    files = CertificateFiles.of(config)
    if files is not None or config.client_cert_data is not None:
        return files
    if hasattr(config.credentials, "certificate"):
        return cast(CertificateSource, config.credentials)
    return None
