"""The player that is this library. Its arguments are those of all players (`bench.measure`).

python -m bench.ours --server http://127.0.0.1:8080 --case informer --objects 5000 --events 10000
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import listwatch.sync
from bench.data import RESOURCES
from bench.fast import Counters
from bench.measure import Asked, Play, asked, unsupported
from bench.models import Pod
from listwatch import (
    Client,
    ClientConfig,
    GroupVersionResource,
    ListOptions,
    ReflectorOptions,
    by_namespace,
    compact,
    metadata_only,
    typed,
)

_GVRS = {
    plural: GroupVersionResource.parse(f"{kind.api_version}/{plural}")
    for plural, kind in RESOURCES.items()
}


def main() -> None:
    given = asked(CASES, resources=tuple(RESOURCES))
    if given.resource != "pods" and given.case in _OF_PODS:
        unsupported(f"{given.case} of {given.resource}")
    counters = Counters()
    play = Play("listwatch", given, ("listwatch", "msgspec", "aiohttp", *_COMPRESSING))
    case = CASES[given.case]
    if given.case == "sync":
        _sync(play)
    else:
        asyncio.run(case(play))
    play.fast = counters.read()
    play.report()


_COMPRESSING = ("zstandard",) if find_spec("zstandard") else ()
_OF_PODS = ("informer-phase", "informer-decode", "informer-typed", "list-typed")
"""Not every widget has a status, and the Struct is a Pod's."""


class Handler:
    """Takes note of each change, as the contract of the players says: key and resourceVersion, and
    `read` besides.
    """

    def __init__(self, play: Play, read: Callable[[Any], object] | None = None) -> None:
        self.done = asyncio.Event()
        self._keys, self._versions = play.keys, play.versions
        self._wanted = play.asked.events
        if read is not None:
            self._read = read
            self.note = self.note_and_read  # type: ignore[method-assign]

    def note(self, obj: Any) -> None:
        self._keys.append(obj.key)
        self._versions.append(obj.resource_version)
        if len(self._keys) == self._wanted:
            self.done.set()

    def note_and_read(self, obj: Any) -> None:
        self._read(obj)
        Handler.note(self, obj)

    def added(self, obj: Any, initial: bool) -> None:
        if not initial:
            self.note(obj)

    def updated(self, old: Any, new: Any) -> None:
        self.note(new)

    def deleted(self, obj: Any) -> None:
        self.note(obj)


class TypedHandler(Handler):
    """The same for Structs."""

    def note(self, obj: Any) -> None:
        metadata = obj.metadata
        self._keys.append(f"{metadata.namespace}/{metadata.name}")
        self._versions.append(metadata.resource_version)
        if len(self._keys) == self._wanted:
            self.done.set()


async def _warm(client: Client, play: Play) -> None:
    """Have imported what a first request imports: it is no part of the set, nor of a list."""
    await client.rest.read("/version")
    play.meter.warm()


async def _events(play: Play, done: asyncio.Event) -> None:
    """Once the watch is open and all is quiet, have the events sent and wait until all are here."""
    await asyncio.to_thread(play.wait_for_watch)
    play.meter.keep()
    await asyncio.sleep(0.05)
    play.start()
    await done.wait()
    play.meter.end()


def _informer(
    read: Callable[[Any], object] | None = None,
    handler: type[Handler] = Handler,
    *,
    trust_lines: bool = False,
    **arguments: Any,
) -> Callable[[Play], Awaitable[None]]:
    async def run(play: Play) -> None:
        async with Client(config=_config(play.asked), trust_lines=trust_lines) as client:
            await _warm(client, play)
            informer = client.informer(
                _GVRS[play.asked.resource],
                indexes={"namespace": by_namespace},
                options=_OPTIONS,
                **arguments,
            )
            told = handler(play, read)
            informer.add_handler(
                on_add=told.added, on_update=told.updated, on_delete=told.deleted, inline=True
            )
            async with informer:
                await informer.synced()
                _agree(len(informer.store), play.asked.objects)
                await _events(play, told.done)

    return run


def _phase(obj: Any) -> object:
    return obj.read("status", "phase")


def _decode(obj: Any) -> object:
    return obj.decode(Pod)


async def _watch(play: Play) -> None:
    """`async for` over `client.watch`, which keeps the set, and begins with all of it."""
    async with Client(config=_config(play.asked)) as client:
        await _warm(client, play)
        changes = client.watch(_GVRS[play.asked.resource], options=_OPTIONS)
        done = asyncio.Event()
        keys, versions = play.keys, play.versions
        left = play.asked.objects

        async def iterate() -> None:
            nonlocal left
            async for change in changes:
                if left:
                    left -= 1
                    continue
                keys.append(change.key)
                versions.append(change.object.resource_version)
                if len(keys) == play.asked.events:
                    break
            done.set()

        async with changes, asyncio.TaskGroup() as group:
            group.create_task(iterate())
            await _events(play, done)


async def _watch_raw(play: Play) -> None:
    """One watch of the server, as it is: no store, no reconnecting."""
    async with Client(config=_config(play.asked)) as client:
        await _warm(client, play)
        version = play.asked.first_version()
        options = ListOptions(resource_version=version, allow_watch_bookmarks=True)
        done = asyncio.Event()
        keys, versions = play.keys, play.versions
        watch = await client.rest.watch(_GVRS[play.asked.resource], options=options)

        async def iterate() -> None:
            async for event in watch:
                keys.append(event.object.key)
                versions.append(event.object.resource_version)
                if len(keys) == play.asked.events:
                    break
            done.set()

        async with watch, asyncio.TaskGroup() as group:
            group.create_task(iterate())
            await _events(play, done)


def _sync(play: Play) -> None:
    """The blocking iterator."""
    keys, versions = play.keys, play.versions
    left, wanted = play.asked.objects, play.asked.events
    with listwatch.sync.Client(config=_config(play.asked)) as client:
        client.run(lambda inner: _warm(inner, play))
        watch = client.watch(_GVRS[play.asked.resource], options=_OPTIONS)
        with watch as changes:
            for change in changes:
                if left:
                    left -= 1
                    if not left:
                        play.wait_for_watch()
                        play.meter.keep()
                        play.start()
                    continue
                keys.append(change.key)
                versions.append(change.object.resource_version)
                if len(keys) == wanted:
                    break
            play.meter.end()


def _listing(*, watch_list: bool = False, **arguments: Any) -> Callable[[Play], Awaitable[None]]:
    async def run(play: Play) -> None:
        async with Client(config=_config(play.asked)) as client:
            await _warm(client, play)
            mirror = client.mirror(
                _GVRS[play.asked.resource],
                indexes={"namespace": by_namespace},
                options=ReflectorOptions(
                    watch_list=watch_list, page_size=play.asked.page_size or None
                ),
                **arguments,
            )
            play.meter.begin()
            async with mirror:
                await mirror.synced()
                play.meter.end()
                play.meter.keep()
                for obj in mirror.store.list():
                    play.keys.append(_key(obj))
                    play.versions.append(_version(obj))

    return run


async def _relist(play: Play) -> None:
    """A watch that has become too old: the set is listed again, and little of it has changed."""
    given = play.asked
    await asyncio.to_thread(given.open, "/bench/reset", method="POST")
    expected = given.open("/bench/stats")["expected"][given.resource]
    told = 0

    def count(*_: Any) -> None:
        nonlocal told
        told += 1

    async with Client(config=_config(given)) as client:
        await _warm(client, play)
        informer = client.informer(
            _GVRS[given.resource],
            indexes={"namespace": by_namespace},
            options=ReflectorOptions(watch_list=False, page_size=given.page_size or None),
        )
        informer.add_handler(on_add=count, on_update=count, on_delete=count)
        async with informer:
            await informer.synced()
            await asyncio.to_thread(play.wait_for_watch)
            told = 0
            play.meter.keep()
            play.meter.forget_peak()
            play.meter.begin()
            await asyncio.to_thread(given.open, "/bench/expire", method="POST")
            await informer.at_least(expected["last_resource_version"])
            play.meter.end()
            play.more = {"told": told}
            for obj in informer.store.list():
                play.keys.append(obj.key)
                play.versions.append(obj.resource_version)
    await asyncio.to_thread(given.open, "/bench/reset", method="POST")


def _key(obj: Any) -> str:
    return obj.key if hasattr(obj, "key") else f"{obj.metadata.namespace}/{obj.metadata.name}"


def _version(obj: Any) -> str:
    version = getattr(obj, "resource_version", None)
    return obj.metadata.resource_version if version is None else version


def _config(given: Asked) -> ClientConfig:
    return ClientConfig(
        server=given.server, ca_data=Path(given.ca).read_bytes() if given.ca else None
    )


_OPTIONS = ReflectorOptions()
"""The defaults, which are what people run."""


def _agree(found: int, wanted: int) -> None:
    if found != wanted:
        raise AssertionError(f"{found} objects in the store, {wanted} at the server")


CASES: dict[str, Any] = {
    "informer": _informer(),
    "informer-lines": _informer(trust_lines=True),
    "informer-phase": _informer(_phase),
    "informer-decode": _informer(_decode),
    "informer-typed": _informer(handler=TypedHandler, decoder=typed(Pod)),
    "watch": _watch,
    "watch-raw": _watch_raw,
    "sync": None,
    "informer-metadata": _informer(decoder=metadata_only()),
    "informer-metadata-all": _informer(decoder=metadata_only(managed_fields=True)),
    "informer-compact": _informer(decoder=compact()),
    "relist": _relist,
    "list": _listing(),
    "list-watchlist": _listing(watch_list=True),
    "list-typed": _listing(decoder=typed(Pod)),
    "list-metadata": _listing(decoder=metadata_only()),
    "list-metadata-all": _listing(decoder=metadata_only(managed_fields=True)),
    "list-metadata-compact": _listing(decoder=metadata_only(compact=True)),
    "list-compact": _listing(decoder=compact()),
}

if __name__ == "__main__":
    main()
