"""kopf: an operator with one `on.event` handler and one index, for all namespaces."""

from __future__ import annotations

import asyncio
import logging
import threading
from typing import Any

import kopf

from bench.measure import Play, asked

PACKAGES = ("kopf", "aiohttp")


def main() -> None:
    given = asked(("informer",))
    play = Play("kopf", given, PACKAGES)
    logging.basicConfig(level=logging.WARNING)
    registry = kopf.OperatorRegistry()
    done = threading.Event()
    left = given.objects
    keys, versions = play.keys, play.versions

    @kopf.on.startup(registry=registry)
    def configure(settings: kopf.OperatorSettings, **_: Any) -> None:
        settings.posting.enabled = False
        settings.scanning.disabled = True

    @kopf.on.login(registry=registry)
    def login(**_: Any) -> kopf.ConnectionInfo:
        return kopf.ConnectionInfo(server=given.server)

    @kopf.on.event("v1", "pods", registry=registry)
    async def take(event: dict[str, Any], **_: Any) -> None:
        nonlocal left
        if left:
            left -= 1
            if not left:
                play.start_when_watching()
            return
        metadata = event["object"]["metadata"]
        keys.append(f"{metadata['namespace']}/{metadata['name']}")
        versions.append(metadata["resourceVersion"])
        if len(keys) == given.events:
            play.meter.end()
            done.set()

    asyncio.run(kopf.operator(registry=registry, standalone=True, clusterwide=True, stop_flag=done))
    play.notes = "its queues per object are all it keeps of the objects"
    play.report()


if __name__ == "__main__":
    main()
