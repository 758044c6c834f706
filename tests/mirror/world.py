"""One server without sockets, one mirror of its ConfigMaps, and what a consumer of it was told."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

from listwatch import ClientConfig, GroupVersionResource, ListWatch, RESTClient
from listwatch.cache import Mirror, ReflectorOptions
from listwatch.rest.credentials import Credentials
from listwatch.rest.transport import Transport
from listwatch.testing.apiserver import APIServer, Auth, Faults, ServerTransport, Settings
from listwatch.wire import decode_unstructured

from .seen import Identities, Seen, assert_same, identities

__all__ = ["CONFIG_MAPS", "World", "new_core", "open_world", "there_on"]

CONFIG_MAPS = GroupVersionResource.parse("v1/configmaps")
_START = datetime(2026, 1, 1, tzinfo=UTC)


def new_core(settings: Settings | None = None, auth: Auth | None = None) -> APIServer:
    """A server on the running loop's time."""
    clock = asyncio.get_running_loop().time
    return APIServer(
        clock=clock,
        wall=lambda: _START + timedelta(seconds=clock()),
        rng=Random(1),
        settings=settings,
        auth=auth,
    )


def there_on(core: APIServer, storage: str = "configmaps") -> Identities:
    """uid and RV of every object, from the store behind the server."""
    return {
        "/".join(filter(None, found.key)): (found.metadata["uid"], str(found.rv))
        for found in core.state.log.objects(storage)
    }


class World:
    """See the module. `requests` has the targets of all requests, with their loop time."""

    def __init__(
        self,
        core: APIServer,
        transport: ServerTransport,
        mirror: Mirror[Any],
        seen: Seen,
        notes: list[Any],
        requests: list[tuple[float, str]],
    ) -> None:
        self.core = core
        self.transport = transport
        self.mirror = mirror
        self.seen = seen
        self.notes = notes
        self.requests = requests

    @property
    def faults(self) -> Faults:
        return self.transport.faults

    def put(self, name: str, **data: str) -> str:
        """Create or change a ConfigMap, and give its RV."""
        put(self.core, name, **data)
        self.transport.service.look_again()
        return str(self.core.state.log.revision)

    def delete(self, name: str) -> str:
        self.core.state.log.delete("configmaps", ("default", name))
        return str(self.core.state.log.revision)

    def expire(self, change: Callable[[], object]) -> None:
        """Cut the mirror off, do `change`, and come back without the history up to now: the next
        watch is expired.
        """
        self.transport.service.refuse(5)
        self.transport.service.kill()
        change()
        self.core.compact()
        self.core.restart()

    def there(self) -> Identities:
        return there_on(self.core)

    async def caught_up(self, within: float = 60.0) -> None:
        """Wait until the store has seen all that was written so far; then it is the server's set,
        and the deltas have told of it. Raises TimeoutError, or AssertionError.
        """
        # The newest write may be of another type, and then nothing tells of it.
        with contextlib.suppress(TimeoutError):
            await self.mirror.store.at_least(str(self.core.state.log.revision), within)
        self.check()

    async def until(self, condition: Callable[[], bool]) -> float:
        """Look twice a second of virtual time; when it is so, give the loop's time."""
        while not condition():  # noqa: ASYNC110  what is looked at has no event
            await asyncio.sleep(0.5)
        return asyncio.get_running_loop().time()

    def check(self) -> None:
        assert_same(identities(self.mirror.store), self.there())
        self.seen.check(self.there())

    def asked(self, *parts: str) -> list[float]:
        """When requests were sent whose target has all of these in it."""
        return [time for time, target in self.requests if all(part in target for part in parts)]


def put(core: APIServer, name: str, **data: str) -> None:
    old = core.state.log.get("configmaps", ("default", name))
    kept = {} if old is None else {"uid": old.metadata["uid"]}
    core.load(
        [
            {
                "apiVersion": "v1",
                "kind": "ConfigMap",
                "metadata": {"name": name, "namespace": "default", **kept},
                "data": data,
            }
        ]
    )


@asynccontextmanager
async def open_world(
    *faults: str,
    names: str = "abc",
    watch_list: bool = True,
    decoder: Callable[[bytes], Any] = decode_unstructured,
    wrap: Callable[[Transport], Transport] = lambda transport: transport,
    max_frame: int = 16 << 20,
    rng: Random | None = None,
    synced: bool = True,
    settings: Settings | None = None,
    auth: Auth | None = None,
    credentials: Credentials | None = None,
    **options: Any,
) -> AsyncIterator[World]:
    """A world with a ConfigMap for each letter of `names`, and a mirror that is synced, unless
    `synced` says that nobody waits for that. In the end nothing may be left open.
    """
    core = new_core(settings, auth)
    for name in names:
        put(core, name, n="0")
    behind = ServerTransport(core, Faults(*faults))
    requests: list[tuple[float, str]] = []
    notes: list[Any] = []
    seen = Seen()
    transport = wrap(_Noting(behind, requests))
    config = ClientConfig(server="http://memory", credentials=credentials)
    async with RESTClient(config, transport=transport, max_retries=0, max_frame=max_frame) as rest:
        mirror: Mirror[Any] = Mirror(
            ListWatch.from_client(rest, CONFIG_MAPS, decoder=decoder),
            kind="ConfigMap",
            options=ReflectorOptions(watch_list=watch_list, **options),
            on_deltas=seen,
            on_note=notes.append,
            rng=rng or Random(2),
        )
        seen.epoch = lambda: mirror.store.epoch
        async with mirror:
            world = World(core, behind, mirror, seen, notes, requests)
            if synced:
                await mirror.synced(timeout=120)
            yield world
    assert behind.open_responses == 0


class _Noting:
    """A transport that notes what is sent, and when."""

    def __init__(self, behind: Transport, requests: list[tuple[float, str]]) -> None:
        self._behind = behind
        self._requests = requests

    async def send(self, request: Any) -> Any:
        self._requests.append((asyncio.get_running_loop().time(), request.target))
        return await self._behind.send(request)

    async def close(self) -> None:
        await self._behind.close()
