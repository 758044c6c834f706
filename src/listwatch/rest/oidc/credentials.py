"""Credentials from an OpenID Connect login: an ID token that is renewed by a refresh token (N2)."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path

from ..credentials import StaticToken
from ..errors import ConfigError, CredentialsFailed
from ._single_flight import SingleFlight
from .provider import LONGEST_REFRESH, OIDCProvider, TransportFor, transport_for
from .tokens import OIDCTokens, TokenStore, expiry_of

__all__ = ["OIDCCredentials"]

_log = logging.getLogger("listwatch.rest")

_LEEWAY = timedelta(seconds=10)
"""How long before its end a token counts as expired, as in client-go: clocks differ, and a request
takes its time."""

_YOUNG = timedelta(seconds=10)
"""For so long after a refresh a 401 asks for no other one: it may be about the token before, and a
server that takes none of them must not make us ask the provider all the time."""


class OIDCCredentials:
    """The ID token of a login, as bearer token.

    It is sent until ten seconds before it expires, by its own word and the wall clock `now`. Then,
    and when the API server answers 401, it is renewed by the refresh token: once, for all who
    wait, and to the end, even if they give up, because a refresh token may be good for one time
    only. Without one, the token is sent until the server refuses it. A token that does not say when
    it expires is sent until then, too.

    `store` is where the new tokens are kept for the next program. What another program has put
    there in the meantime is used before the provider is asked.

        OIDCCredentials(
            issuer="https://accounts.example.com", client_id="kubernetes",
            client_secret=secret, refresh_token=token,
        )

    Raises `ConfigError` if the issuer is no https URL, or there is neither token.
    """

    def __init__(
        self,
        *,
        issuer: str,
        client_id: str,
        client_secret: str = "",
        id_token: str = "",
        refresh_token: str = "",
        ca_data: bytes | None = None,
        ca_file: Path | None = None,
        store: TokenStore | None = None,
        description: str = "",
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        transport_for: TransportFor = transport_for,
    ) -> None:
        if id_token:
            StaticToken(id_token)  # whether a header can carry it
        elif not refresh_token:
            raise ConfigError(
                f"there is neither an ID token nor a refresh token of {issuer}: log in first"
            )
        self.description = description or f"the ID token of the OIDC issuer {issuer}"
        self._provider = OIDCProvider(
            issuer=issuer,
            client_id=client_id,
            client_secret=client_secret,
            ca_data=ca_data,
            ca_file=ca_file,
            transport_for=transport_for,
        )
        self.store = store
        self._now = now
        self._tokens = OIDCTokens(id_token, refresh_token)
        self._expiry = expiry_of(id_token)
        self._renewed_at: datetime | None = None
        self._renewal = SingleFlight(self._renew, patience=LONGEST_REFRESH)

    async def headers(self) -> Mapping[str, str]:
        """Raises `CredentialsFailed` if the token has expired and there is no getting a new one."""
        tokens = self._tokens
        if not tokens.id_token or (tokens.refresh_token and self._is_over(self._expiry)):
            tokens = await self._renewal.join()
        return {"Authorization": f"Bearer {tokens.id_token}"}

    async def refresh(self) -> bool:
        """Renew the token now. Raises as `headers` does."""
        age = None if self._renewed_at is None else self._now() - self._renewed_at
        if age is not None and timedelta(0) <= age < _YOUNG:
            return True
        before = self._tokens
        return (await self._renewal.join()).id_token != before.id_token

    def _is_over(self, expiry: datetime | None) -> bool:
        return expiry is not None and self._now() + _LEEWAY >= expiry

    async def _renew(self) -> OIDCTokens:
        if await self._is_renewed_by_another():
            return self._tokens
        if not self._tokens.refresh_token:
            raise CredentialsFailed(
                f"{self.description} was not accepted or has expired, and there is no refresh"
                " token to get a new one with: log in again (with the scope offline_access for a"
                " refresh token)"
            )
        try:
            tokens = await self._provider.refresh(self._tokens)
        except CredentialsFailed:
            # Perhaps because another program has used the refresh token at the same moment.
            if await self._is_renewed_by_another():
                return self._tokens
            raise
        self._take(tokens)
        self._renewed_at = self._now()
        if self._is_over(self._expiry):
            _log.warning(
                "%s is new and has expired already (at %s): is the clock right?",
                self.description,
                self._expiry,
            )
            self._expiry = None  # renewing it for each request would not help
        else:
            _log.debug("%s was renewed, until %s", self.description, self._expiry)
        if self.store is not None:
            await self.store.keep(tokens)
        return tokens

    async def _is_renewed_by_another(self) -> bool:
        """Take what another program has put into the store, and say whether it can be used as it
        is.
        """
        found = await self.store.newer() if self.store is not None else None
        if found is None:
            return False
        before = self._tokens
        self._take(
            OIDCTokens(
                found.id_token if _can_be_sent(found.id_token) else before.id_token,
                found.refresh_token or before.refresh_token,
            )
        )
        return self._tokens.id_token != before.id_token and not self._is_over(self._expiry)

    def _take(self, tokens: OIDCTokens) -> None:
        self._tokens = tokens
        self._expiry = expiry_of(tokens.id_token)

    def __repr__(self) -> str:
        return f"OIDCCredentials(issuer={self._provider.issuer!r}, <hidden>)"


def _can_be_sent(id_token: str) -> bool:
    try:
        StaticToken(id_token)
    except ConfigError:
        return False
    return True
