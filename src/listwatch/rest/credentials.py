"""What proves to the server who is asking: headers, a client certificate, a way to renew them."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from .errors import ConfigError

__all__ = [
    "BasicAuth",
    "CertificateSource",
    "ClientCertificate",
    "Credentials",
    "StaticToken",
    "description_of",
]


class Credentials(Protocol):
    """Gives each request its headers of authentication.

    Both methods are coroutines, because a source may run a program, read a file or ask an identity
    provider (N2, N3). What an error calls it is its attribute `description`, where it has one, such
    as `the token of user "alice" in /home/alice/.kube/config`: never with a secret in it.
    """

    async def headers(self) -> Mapping[str, str]:
        """The headers to add to the next request, such as `Authorization`. Called once a request,
        so it must be cheap."""
        ...

    async def refresh(self) -> bool:
        """The server answered 401: get something newer, if there is a way to.

        Returns whether `headers` now gives something else, so that asking again makes sense.
        """
        ...


@dataclass(frozen=True, slots=True, repr=False)
class ClientCertificate:
    """A certificate, with those that it chains to, and its key, both in PEM."""

    certificate: bytes
    key: bytes

    def __repr__(self) -> str:
        return "ClientCertificate(<hidden>)"


class CertificateSource(Protocol):
    """Gives each request the certificate that its connection has to show. `Credentials` may be one,
    too, as an exec plugin is.
    """

    async def certificate(self) -> ClientCertificate | None:
        """The certificate for the next request; None for none. Called once a request."""
        ...

    async def refresh(self) -> bool:
        """See `Credentials.refresh`."""
        ...


def description_of(source: object) -> str:
    """What an error calls credentials or a source of certificates."""
    said = getattr(source, "description", "")
    return said or f"the credentials of type {type(source).__name__}"


@dataclass(frozen=True, slots=True, repr=False)
class StaticToken:
    """A bearer token that stays as it is.

    Raises `ConfigError` if the token is empty or holds a character no HTTP header may carry, such
    as the line feed at the end of a file.

        >>> StaticToken("abc")
        StaticToken(<hidden>)
    """

    token: str
    description: str = field(default="the bearer token", compare=False)

    def __post_init__(self) -> None:
        if not self.token:
            raise ConfigError("the bearer token is empty: give one, or leave it out altogether")
        for position, char in enumerate(self.token):
            if not "!" <= char <= "~":
                raise ConfigError(
                    f"the bearer token has a character at position {position} that a header cannot"
                    " carry (a space, a line feed, a letter that is not ASCII): was it cut or"
                    " copied with its surroundings?"
                )

    async def headers(self) -> Mapping[str, str]:
        return {"Authorization": f"Bearer {self.token}"}

    async def refresh(self) -> bool:
        """Always False: there is nothing newer."""
        return False

    def __repr__(self) -> str:
        return "StaticToken(<hidden>)"


@dataclass(frozen=True, slots=True, repr=False)
class BasicAuth:
    """A user name and a password (RFC 7617, as UTF-8).

    kube-apiserver has not taken these since v1.19 (K41), but proxies in front of it do. Raises
    `ConfigError` if the user name holds a colon, which the scheme cannot express.
    """

    username: str
    password: str
    description: str = field(default="the user name and password", compare=False)

    def __post_init__(self) -> None:
        if ":" in self.username:
            raise ConfigError("a user name for basic authentication cannot contain a colon")
        # A lone surrogate stands for a byte that is no UTF-8, of an argument or a variable.
        if any(0xD800 <= ord(char) < 0xE000 for char in self.username + self.password):
            raise ConfigError("the user name or the password has a character that cannot be sent")

    async def headers(self) -> Mapping[str, str]:
        pair = f"{self.username}:{self.password}".encode()
        return {"Authorization": f"Basic {base64.b64encode(pair).decode('ascii')}"}

    async def refresh(self) -> bool:
        """Always False: there is nothing newer."""
        return False

    def __repr__(self) -> str:
        return f"BasicAuth(username={self.username!r}, password=<hidden>)"
