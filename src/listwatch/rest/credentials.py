"""What proves to the server who is asking: headers, and a way to renew them.

A client certificate is not here: it belongs to the TLS connection
(`ClientConfig.client_cert_data`).
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from .errors import ConfigError

__all__ = ["BasicAuth", "Credentials", "StaticToken"]


class Credentials(Protocol):
    """Gives each request its headers of authentication.

    Both methods are coroutines so that a source which runs a program, reads a file or asks an
    identity provider fits in without a change to the client (N2, N3).
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
class StaticToken:
    """A bearer token that stays as it is.

    Raises `ConfigError` if the token is empty or holds a character no HTTP header may carry, such
    as the line feed at the end of a file.

        >>> StaticToken("abc")
        StaticToken(<hidden>)
    """

    token: str

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

    def __post_init__(self) -> None:
        if ":" in self.username:
            raise ConfigError("a user name for basic authentication cannot contain a colon")

    async def headers(self) -> Mapping[str, str]:
        pair = f"{self.username}:{self.password}".encode()
        return {"Authorization": f"Basic {base64.b64encode(pair).decode('ascii')}"}

    async def refresh(self) -> bool:
        """Always False: there is nothing newer."""
        return False

    def __repr__(self) -> str:
        return f"BasicAuth(username={self.username!r}, password=<hidden>)"
