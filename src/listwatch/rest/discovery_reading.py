"""One look at all that a server has, in as few requests as it takes."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from listwatch.api import APIError, APIResource, Forbidden, ListWatchError, NotFound

from .conditional import read_unless
from .discovery_answers import (
    AGGREGATED_ACCEPT,
    Aggregated,
    GroupVersions,
    NotDiscovery,
    parse_discovery,
    parse_resource_list,
)
from .request import Request

__all__ = ["DiscoveryReader", "Found", "Reader", "Starter"]

_LEGACY_AT_ONCE = 8
"""How many of a legacy server's group versions are asked for side by side: a cluster can have a
hundred."""


class Reader(Protocol):
    """The least that discovery needs of a client."""

    async def read(
        self, path: str, *, query: Sequence[tuple[str, str]] = (), accept: str = "application/json"
    ) -> bytes: ...


class Starter(Reader, Protocol):
    """What a `RESTClient` has besides, with which an answer that is known need not come again."""

    def request(self, method: str) -> Request[Any]: ...


@dataclass(frozen=True, slots=True)
class Found:
    """What a look has brought."""

    resources: tuple[APIResource, ...]
    """In the server's order of preference, without subresources."""
    failures: Mapping[str, ListWatchError | None]
    """What could not be learnt: a path or group version, and the error; None where the server
    itself calls it stale."""


class DiscoveryReader:
    """Looks at what a server has.

    A server that gives its aggregated answer an Etag is asked, the next time, for another one only
    (K42): a look then costs two requests and next to no bytes.
    """

    def __init__(self, client: Reader | Starter) -> None:
        self._client = client
        self._kept: dict[str, tuple[str, Aggregated]] = {}

    async def look(self) -> Found:
        """Ask. A group that fails does not hide the others, and a refusal is a failure too.

        Raises what `/api` or `/apis` is answered with, 403 and 404 aside, and `TransportError`.
        """
        resources: list[APIResource] = []
        failures: dict[str, ListWatchError | None] = {}
        for path in ("/api", "/apis"):
            try:
                answer = await self._answer(path)
            except (Forbidden, NotFound, NotDiscovery) as error:
                failures[path] = error
                continue
            if isinstance(answer, Aggregated):
                resources += answer.resources
                failures |= dict.fromkeys(answer.stale)
                continue
            found, failed = await self._look_at_each(answer.pairs)
            resources += found
            failures |= failed
        return Found(tuple(resources), failures)

    async def _answer(self, path: str) -> Aggregated | GroupVersions:
        start = getattr(self._client, "request", None)
        if start is None:
            return parse_discovery(await self._client.read(path, accept=AGGREGATED_ACCEPT))
        etag, kept = self._kept.get(path, ("", None))
        request = start("GET").path(path).header("Accept", AGGREGATED_ACCEPT)
        body, etag = await read_unless(request, etag)
        if body is None and kept is not None:
            return kept
        answer = parse_discovery(body or b"")
        if etag and isinstance(answer, Aggregated):
            self._kept[path] = (etag, answer)
        else:
            self._kept.pop(path, None)
        return answer

    async def _look_at_each(
        self, pairs: Sequence[tuple[str, str]]
    ) -> tuple[list[APIResource], dict[str, ListWatchError]]:
        places = asyncio.Semaphore(_LEGACY_AT_ONCE)

        async def fetch(group: str, version: str) -> tuple[APIResource, ...] | ListWatchError:
            path = f"/apis/{group}/{version}" if group else f"/api/{version}"
            async with places:
                try:
                    return parse_resource_list(await self._client.read(path), group, version)
                except ListWatchError as error:  # a value: it must not cancel the others
                    return error

        async with asyncio.TaskGroup() as tasks:
            running = [tasks.create_task(fetch(*pair)) for pair in pairs]
        resources: list[APIResource] = []
        failures: dict[str, ListWatchError] = {}
        for (group, version), task in zip(pairs, running, strict=True):
            match result := task.result():
                case APIError() | NotDiscovery():
                    failures[f"{group}/{version}" if group else version] = result
                case ListWatchError():  # the way to the server is broken, not the group
                    raise result
                case _:
                    resources += result
        return resources, failures
