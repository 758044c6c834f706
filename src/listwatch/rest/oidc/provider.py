"""What an OpenID Connect provider is asked for: its token endpoint, and there a newer token.

The steps are client-go's: discovery by the well-known path, then the refresh of RFC 6749, section
6. Nothing that comes back is trusted to be short, well-formed or free of secrets.
"""

from __future__ import annotations

import asyncio
import base64
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeAlias
from urllib.parse import parse_qsl, quote_plus, urlencode, urlsplit

from ..aiohttp_transport import AiohttpTransport
from ..config import ClientConfig, travels_in_the_clear
from ..credentials import StaticToken
from ..errors import ConfigError, CredentialsFailed, TransportError
from ..proxy import proxy_from_environment
from ..transport import HTTPRequest, Transport
from ..user_agent import user_agent
from .answers import Answer, one_line, text_of, without_secrets
from .tokens import OIDCTokens

__all__ = ["LONGEST_REFRESH", "OIDCProvider", "TransportFor", "transport_for"]

TransportFor: TypeAlias = Callable[[str, bytes | None], Transport]
"""Makes a transport to a server, `https://host:port`, which has to be of these authorities (PEM);
None means the system's."""

_CONNECT = 10.0
_ANSWER = 30.0
_SILENCE = 10.0
_STEP = 45.0
"""Seconds: to connect, until the head of an answer, between two pieces of it, for one request and
the whole of its answer."""

_SLACK = 15.0
LONGEST_REFRESH = 3 * _STEP + _SLACK
"""Seconds after which a refresh has ended in one way or another: it has three requests at most."""

_LARGEST = 1024 * 1024
"""Bytes of an answer."""

_AUTHENTICATION_FAILED = "invalid_client"
_REFUSED_FOR_GOOD = "invalid_grant"


def transport_for(server: str, ca_data: bytes | None) -> Transport:
    """Over the network, by the proxy that the environment names, as in client-go."""
    return AiohttpTransport(
        ClientConfig(
            server=server,
            ca_data=ca_data,
            proxy_url=proxy_from_environment(server, os.environ),
            source=f"the identity provider {server}",
        )
    )


class OIDCProvider:
    """One issuer, and the client that is registered there.

    The authorities that its certificate has to chain to are `ca_data`, or those in `ca_file`, which
    is read for each refresh, or else the system's. Raises `ConfigError` if the issuer is no https
    URL (or one of this very machine).
    """

    def __init__(
        self,
        *,
        issuer: str,
        client_id: str,
        client_secret: str = "",
        ca_data: bytes | None = None,
        ca_file: Path | None = None,
        transport_for: TransportFor = transport_for,
    ) -> None:
        if problem := _problem_of(issuer):
            raise ConfigError(f"the OIDC issuer {without_secrets(issuer)!r} {problem}")
        if not client_id:
            raise ConfigError(f"the OIDC issuer {issuer} wants to know which client asks")
        self.issuer = issuer
        self._client_id = client_id
        self._client_secret = client_secret
        self._ca_data = ca_data
        self._ca_file = ca_file
        self._transport_for = transport_for
        # A client without a secret cannot prove who it is, only say so.
        self._styles = (_in_header, _in_body) if client_secret else (_in_body, _in_header)
        self._style: _Style | None = None

    async def refresh(self, tokens: OIDCTokens) -> OIDCTokens:
        """New tokens for the refresh token of these, which may be good for this one time.

        Raises `CredentialsFailed`, which says what was asked and what came back.
        """
        ca_data = await self._authorities()
        endpoint = await self._token_endpoint(ca_data)
        form = {"grant_type": "refresh_token", "refresh_token": tokens.refresh_token}
        first: _RefusedError | None = None
        for style in self._styles if self._style is None else (self._style,):
            headers, body = style(self._client_id, self._client_secret, form)
            try:
                granted = await self._granted(endpoint, headers, body, ca_data, tokens)
            except _RefusedError as error:
                if first is None or error.code != _AUTHENTICATION_FAILED:
                    first = error
            else:
                self._style = style
                return granted
        assert first is not None
        raise self._failure(f"POST {without_secrets(endpoint)}", first.problem)

    async def _authorities(self) -> bytes | None:
        if self._ca_data is not None or self._ca_file is None:
            return self._ca_data
        try:
            return await asyncio.to_thread(self._ca_file.read_bytes)
        except OSError as error:
            problem = f"{self._ca_file} cannot be read: {error.strerror}"
            raise self._failure("certificate authority", problem) from error

    async def _token_endpoint(self, ca_data: bytes | None) -> str:
        url = f"{self.issuer.removesuffix('/')}/.well-known/openid-configuration"
        step = f"GET {url}"
        answer = await self._ask(step, url, ca_data)
        if answer.status != 200:
            raise self._failure(step, f"HTTP {answer.status}{answer.beginning}")
        metadata = answer.json_object()
        if metadata is None:
            raise self._failure(step, f"the answer is no JSON object{answer.beginning}")
        endpoint = text_of(metadata, "token_endpoint")
        if not endpoint:
            raise self._failure(step, "the answer has no token_endpoint")
        if problem := _problem_of(endpoint, query=True):
            shown = without_secrets(endpoint)
            raise self._failure(step, f"the token_endpoint {shown!r} {problem}")
        return endpoint

    async def _granted(
        self,
        endpoint: str,
        headers: Mapping[str, str],
        body: bytes,
        ca_data: bytes | None,
        tokens: OIDCTokens,
    ) -> OIDCTokens:
        """What the endpoint gives for the form. Raises `_RefusedError` where another way of saying
        who we are might help, as x/oauth2 tries it.
        """
        step = f"POST {without_secrets(endpoint)}"
        answer = await self._ask(step, endpoint, ca_data, headers=headers, body=body)
        fields = answer.fields()
        code = text_of(fields, "error")
        if not answer.ok or code:
            secrets = (self._client_secret, tokens.refresh_token, tokens.id_token)
            problem = f"HTTP {answer.status}"
            if code:
                problem += f", {one_line(code, secrets)}"
            if description := text_of(fields, "error_description"):
                problem += f": {one_line(description, secrets)}"
            if not code:
                # What came may repeat what was sent, so it is not shown.
                problem += f", and no OAuth error ({answer.content_type or 'no Content-Type'})"
            if answer.location:
                problem += f", a redirect to {without_secrets(answer.location)}"
            if code == _REFUSED_FOR_GOOD:
                problem += (
                    ". The refresh token has expired, was used by another program, or was revoked:"
                    " log in again"
                )
            if answer.status >= 500:
                raise self._failure(step, problem)
            raise _RefusedError(code, problem)
        id_token = text_of(fields, "id_token")
        if not id_token:
            raise self._failure(
                step,
                "the answer has no id_token. Either the login did not ask for the scope openid, or"
                " the provider gives none on a refresh: log in again, or use an exec plugin",
            )
        try:
            StaticToken(id_token)
        except ConfigError as error:
            raise self._failure(step, f"the id_token is none: {error}") from error
        # A provider that does not rotate refresh tokens leaves it out.
        return OIDCTokens(id_token, text_of(fields, "refresh_token") or tokens.refresh_token)

    async def _ask(
        self,
        step: str,
        url: str,
        ca_data: bytes | None,
        *,
        headers: Mapping[str, str] | None = None,
        body: bytes | None = None,
    ) -> Answer:
        parts = urlsplit(url)
        request = HTTPRequest(
            method="GET" if body is None else "POST",
            path=parts.path or "/",
            query=tuple(parse_qsl(parts.query, keep_blank_values=True)),
            headers={"Accept": "application/json", "User-Agent": user_agent(), **(headers or {})},
            body=body,
            connect_timeout=_CONNECT,
            first_byte_timeout=_ANSWER,
            silence_timeout=_SILENCE,
        )
        try:
            transport = self._transport_for(f"{parts.scheme}://{parts.netloc}", ca_data)
            try:
                async with asyncio.timeout(_STEP):
                    response = await transport.send(request)
                    content = await response.read(_LARGEST + 1)
            finally:
                await transport.close()
        except (TransportError, ConfigError) as error:
            raise self._failure(step, str(error)) from error
        except TimeoutError:
            raise self._failure(step, f"no whole answer came within {_STEP:g} s") from None
        if len(content) > _LARGEST:
            raise self._failure(step, f"the answer is longer than {_LARGEST} bytes")
        return Answer(
            response.status,
            response.headers.get("Content-Type") or "",
            (response.headers.get("Location") or "") if 300 <= response.status < 400 else "",
            content,
        )

    def _failure(self, step: str, problem: str) -> CredentialsFailed:
        return CredentialsFailed(f"OIDC issuer {self.issuer}: {step}: {problem}")

    def __repr__(self) -> str:
        return f"OIDCProvider(issuer={self.issuer!r}, client_id={self._client_id!r})"


_Style: TypeAlias = Callable[[str, str, Mapping[str, str]], tuple[Mapping[str, str], bytes]]
_FORM = {"Content-Type": "application/x-www-form-urlencoded"}


def _in_header(
    client_id: str, client_secret: str, form: Mapping[str, str]
) -> tuple[Mapping[str, str], bytes]:
    # Encoded as in a form first: RFC 6749, section 2.3.1.
    pair = f"{quote_plus(client_id)}:{quote_plus(client_secret)}".encode("ascii")
    basic = {"Authorization": f"Basic {base64.b64encode(pair).decode('ascii')}"}
    return _FORM | basic, urlencode(form).encode("ascii")


def _in_body(
    client_id: str, client_secret: str, form: Mapping[str, str]
) -> tuple[Mapping[str, str], bytes]:
    said = {**form, "client_id": client_id}
    if client_secret:
        said["client_secret"] = client_secret
    return _FORM, urlencode(said).encode("ascii")


class _RefusedError(Exception):
    def __init__(self, code: str, problem: str) -> None:
        super().__init__(code)
        self.code = code
        self.problem = problem


def _problem_of(url: str, *, query: bool = False) -> str:
    """Why tokens are not sent to `url`; empty if they may be."""
    if any(char <= " " or char in '\x7f\\"<>' for char in url):
        return "has a space or another character that no URL has"
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return "has a host or port that cannot be"
    if parts.scheme not in ("http", "https") or not parts.hostname or port == 0:
        return "should be a URL such as https://accounts.example.com"
    if "@" in parts.netloc:
        return "has a user name or password before its host"
    if travels_in_the_clear(url, None):
        return "is plain http: tokens that anybody in between can read are not sent there"
    if parts.fragment or (parts.query and not query):
        return "has a query or fragment"
    return ""
