"""A bearer token in a file that somebody renews: `tokenFile` of a kubeconfig, the mounted token of
a pod (N2, N3).
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Mapping
from pathlib import Path

from .credentials import StaticToken
from .errors import ConfigError, CredentialsFailed
from .rereading import FileText

__all__ = ["TokenFile"]

_log = logging.getLogger("listwatch.rest")


class TokenFile:
    """Credentials: the token in `path`, no older than `every` seconds of the event loop's clock,
    and read again after a 401.

    Space around the token is left out. A later read that fails, or finds what cannot be a token, is
    logged, and the token before it is used on: somebody may be writing the file. `fallback` is a
    token for as long as there never was a usable one in the file.

        >>> TokenFile(Path("/var/run/secrets/token"))
        TokenFile('/var/run/secrets/token')

    Raises `ConfigError` if `fallback` is no token.
    """

    def __init__(
        self, path: Path, *, fallback: str = "", description: str = "", every: float = 60.0
    ) -> None:
        self.description = description or f"the token in {path}"
        self._path = path
        self._file = FileText(path, every=every)
        self._every = every
        self._fallback = StaticToken(fallback) if fallback else None
        self._token: StaticToken | None = None
        self._content: bytes | None = None  # of the file, when it was last looked at
        self._failed_at: float | None = None

    async def headers(self) -> Mapping[str, str]:
        """Raises `CredentialsFailed`, which names the file, where there never was a token."""
        return await (await self._current()).headers()

    async def refresh(self) -> bool:
        """Read the file now, and say whether there is another token in it."""
        before = self._token or self._fallback
        self._failed_at = None
        with contextlib.suppress(OSError):  # of which _current says what is to be said
            await self._file.look()
        return await self._current() != before

    async def _current(self) -> StaticToken:
        now = asyncio.get_running_loop().time()
        if (
            self._token is None
            and self._fallback is not None
            and self._failed_at is not None
            and 0 <= now - self._failed_at < self._every
        ):
            return self._fallback
        try:
            if self._token is None:
                await self._file.look()  # do not wait a minute where the content was no token
            self._take(await self._file.read())
        except OSError as error:
            problem = f"{self._path}: the token file cannot be read: {error.strerror}"
            missing = isinstance(error, FileNotFoundError | NotADirectoryError)
            return self._instead(problem, now, expected=missing)
        except ConfigError as error:
            return self._instead(f"{self._path}: {error}", now)
        assert self._token is not None
        return self._token

    def _take(self, content: bytes) -> None:
        """Make the token of what the file holds, or keep the one before. Raises `ConfigError` if
        there is none.
        """
        if content == self._content and self._token is not None:
            return
        try:
            self._token = StaticToken(content.decode("ascii", "replace").strip())
        except ConfigError as error:
            if self._token is None:
                raise
            _log.warning("%s: %s. Going on with the token before it", self._path, error)
        self._content = content

    def _instead(self, problem: str, now: float, *, expected: bool = False) -> StaticToken:
        if self._fallback is None:
            raise CredentialsFailed(problem)
        if not expected:
            _log.warning("%s. Going on with the token that was given beside it", problem)
        self._failed_at = now
        return self._fallback

    def __repr__(self) -> str:
        return f"TokenFile({str(self._path)!r})"
