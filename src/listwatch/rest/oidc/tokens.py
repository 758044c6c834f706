"""The two tokens that an OpenID Connect login leaves behind."""

from __future__ import annotations

import base64
import binascii
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Protocol

import msgspec

__all__ = ["OIDCTokens", "TokenStore", "expiry_of"]


@dataclass(frozen=True, slots=True, repr=False)
class OIDCTokens:
    """What the API server is shown, and what a newer one of it is got by. Either may be empty."""

    id_token: str = ""
    refresh_token: str = ""

    def __repr__(self) -> str:
        return "OIDCTokens(<hidden>)"


class TokenStore(Protocol):
    """Where the tokens are kept for the next program, and may be renewed by another one."""

    async def newer(self) -> OIDCTokens | None:
        """What somebody else has put there since we last looked or wrote; None if nobody has."""
        ...

    async def keep(self, tokens: OIDCTokens) -> None:
        """Put them there. What stands in the way of that is logged, not raised."""
        ...


class _Claims(msgspec.Struct):
    exp: int | float | None = None


def expiry_of(id_token: str) -> datetime | None:
    """When a JWT expires, by its own word: its signature is the server's to check.

    None where that cannot be read.

    >>> claims = base64.urlsafe_b64encode(b'{"exp": 60}').decode()
    >>> expiry_of(f"eyJhbGciOiJub25lIn0.{claims}.")
    datetime.datetime(1970, 1, 1, 0, 1, tzinfo=datetime.timezone.utc)
    """
    parts = id_token.split(".")
    if len(parts) != 3:
        return None
    try:
        payload = base64.urlsafe_b64decode(parts[1] + "=" * (-len(parts[1]) % 4))
        exp = msgspec.json.decode(payload, type=_Claims).exp
        return None if exp is None else datetime.fromtimestamp(int(exp), UTC)
    except (binascii.Error, ValueError, OverflowError, OSError, msgspec.DecodeError):
        return None  # no JWT, or a time beyond the calendar
