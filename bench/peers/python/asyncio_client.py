"""kubernetes_asyncio: its typed watch, the same without types, its LIST."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from kubernetes_asyncio import client, watch

from bench.measure import Play, asked

PACKAGES = ("kubernetes_asyncio", "aiohttp")


def main() -> None:
    given = asked(("watch", "watch-raw", "list", "list-raw"))
    play = Play("kubernetes_asyncio", given, PACKAGES)
    asyncio.run(_run(play))
    play.report()


async def _run(play: Play) -> None:
    case = play.asked.case
    configuration = client.Configuration(host=play.asked.server)
    async with client.ApiClient(configuration) as connection:
        api = client.CoreV1Api(connection)
        await api.list_pod_for_all_namespaces(limit=1)  # which imports what it needs
        play.meter.warm()
        if case.startswith("list"):
            await _list(play, api, raw=case == "list-raw")
        else:
            await _watch(play, api, raw=case == "watch-raw")


async def _watch(play: Play, api: Any, *, raw: bool) -> None:
    wanted = play.asked.events
    keys, versions = play.keys, play.versions
    version = play.asked.first_version()
    play.start_when_watching()
    if raw:
        answer = await api.list_pod_for_all_namespaces(
            watch=True, resource_version=version, _preload_content=False
        )
        async for line in answer.content:
            metadata = json.loads(line)["object"]["metadata"]
            keys.append(f"{metadata['namespace']}/{metadata['name']}")
            versions.append(metadata["resourceVersion"])
            if len(keys) == wanted:
                break
        play.meter.end()
        answer.close()
        return
    listing = api.list_pod_for_all_namespaces
    async with watch.Watch().stream(listing, resource_version=version) as stream:
        async for event in stream:
            found = event["object"].metadata
            keys.append(f"{found.namespace}/{found.name}")
            versions.append(found.resource_version)
            if len(keys) == wanted:
                break
        play.meter.end()


async def _list(play: Play, api: Any, *, raw: bool) -> None:
    kept: list[Any] = []
    limit = play.asked.page_size or None
    token = None
    play.meter.begin()
    while True:
        given = {"limit": limit, **({"_continue": token} if token else {})}
        if raw:
            answer = await api.list_pod_for_all_namespaces(_preload_content=False, **given)
            page = json.loads(await answer.read())
            kept += page["items"]
            token = page["metadata"].get("continue")
        else:
            page = await api.list_pod_for_all_namespaces(**given)
            kept += page.items
            token = page.metadata._continue
        if not token:
            break
    play.meter.end()
    page = None
    play.meter.keep()
    for obj in kept:
        if raw:
            metadata = obj["metadata"]
            play.keys.append(f"{metadata['namespace']}/{metadata['name']}")
            play.versions.append(metadata["resourceVersion"])
        else:
            play.keys.append(f"{obj.metadata.namespace}/{obj.metadata.name}")
            play.versions.append(obj.metadata.resource_version)


if __name__ == "__main__":
    main()
