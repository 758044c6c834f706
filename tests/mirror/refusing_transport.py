"""The same refusals without sockets, for virtual time."""

from __future__ import annotations

import asyncio

from listwatch import HTTPRequest
from listwatch.rest.errors import ConnectionLost, ConnectionRefused
from listwatch.rest.transport import HTTPResponse
from listwatch.testing import MemoryTransport, Part, Reply
from listwatch.testing.apiserver import ServerTransport

from .refusals import Broken, Mode, Said

__all__ = ["RefusingTransport"]


class RefusingTransport:
    """Refuses as `mode` says, and lets requests through to `behind` where it is None.

    `requests` has the loop time of each.
    """

    def __init__(self, behind: ServerTransport, mode: Mode | None = None) -> None:
        self._behind = behind
        self._mode = mode
        self._refusing = MemoryTransport(self._refuse)
        self.requests: list[float] = []
        self.targets: list[str] = []

    @property
    def open_responses(self) -> int:
        return self._behind.open_responses + self._refusing.open_responses

    def behave(self, mode: Mode | None) -> None:
        """From now on be like this. Watches that are open are cut."""
        self._mode = mode
        self._behind.service.kill()

    async def send(self, request: HTTPRequest) -> HTTPResponse:
        self.requests.append(asyncio.get_running_loop().time())
        self.targets.append(request.target)
        answer = self._answer(request)
        return await (self._behind if answer is None else self._refusing).send(request)

    async def close(self) -> None:
        await self._refusing.close()
        await self._behind.close()

    def _answer(self, request: HTTPRequest) -> Said | Broken | None:
        is_watch = any(name == "watch" for name, _ in request.query)
        return None if self._mode is None else self._mode.answer(is_watch=is_watch)

    def _refuse(self, request: HTTPRequest) -> Reply | Exception:
        match self._answer(request):
            case Broken.REFUSED:
                return ConnectionRefused("connection refused", url=request.path)
            case Said() as said:
                body: list[Part] = [said.body] if said.body else []
                if said.then_reset:
                    body.append(ConnectionLost("reset by the server", url=request.path))
                return Reply(said.status, body, said.headers)
        return ConnectionLost("reset by the server", url=request.path)
