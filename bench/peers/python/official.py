"""The official client: its typed watch, its watch without types, its SharedInformer, its LIST."""

from __future__ import annotations

import threading
from typing import Any

from kubernetes import client, watch
from kubernetes.informer import ADDED, DELETED, MODIFIED, SharedInformer

from bench.measure import Play, asked

PACKAGES = ("kubernetes", "urllib3", "pydantic")


def main() -> None:
    given = asked(("watch", "watch-raw", "informer", "list", "list-raw"))
    configuration = client.Configuration()
    configuration.host = given.server
    client.Configuration.set_default(configuration)
    api = client.CoreV1Api()
    play = Play("kubernetes", given, PACKAGES)
    api.list_pod_for_all_namespaces(limit=1)  # which imports what it needs
    play.meter.warm()
    if given.case == "informer":
        _informer(play, api)
    elif given.case.startswith("list"):
        _list(play, api, raw=given.case == "list-raw")
    else:
        _watch(play, api, raw=given.case == "watch-raw")
    play.report()


def _watch(play: Play, api: Any, *, raw: bool) -> None:
    wanted = play.asked.events
    keys, versions = play.keys, play.versions
    version = play.asked.first_version()
    play.start_when_watching()
    listing = api.list_pod_for_all_namespaces
    stream = watch.Watch().stream(listing, resource_version=version, deserialize=not raw)
    for event in stream:
        if raw:
            metadata = event["object"]["metadata"]
            keys.append(f"{metadata['namespace']}/{metadata['name']}")
            versions.append(metadata["resourceVersion"])
        else:
            found = event["object"].metadata
            keys.append(f"{found.namespace}/{found.name}")
            versions.append(found.resource_version)
        if len(keys) == wanted:
            break
    play.meter.end()


def _informer(play: Play, api: Any) -> None:
    synced, done = threading.Event(), threading.Event()
    left = play.asked.objects
    wanted = play.asked.events
    keys, versions = play.keys, play.versions

    def take(obj: Any) -> None:
        nonlocal left
        if left:
            left -= 1
            if not left:
                synced.set()
            return
        keys.append(f"{obj.metadata.namespace}/{obj.metadata.name}")
        versions.append(obj.metadata.resource_version)
        if len(keys) == wanted:
            play.meter.end()
            done.set()

    informer = SharedInformer(list_func=api.list_pod_for_all_namespaces)
    for kind in (ADDED, MODIFIED, DELETED):
        informer.add_event_handler(kind, take)
    informer.start()
    synced.wait()
    play.wait_for_watch()
    play.meter.keep()
    play.start()
    done.wait()


def _list(play: Play, api: Any, *, raw: bool) -> None:
    kept: list[Any] = []
    limit = play.asked.page_size or None
    token = None
    play.meter.begin()
    while True:
        if raw:
            import json

            answer = api.list_pod_for_all_namespaces(
                limit=limit, _continue=token, _preload_content=False
            )
            page = json.loads(answer.data)
            kept += page["items"]
            token = page["metadata"].get("continue")
        else:
            found = api.list_pod_for_all_namespaces(limit=limit, _continue=token)
            kept += found.items
            token = found.metadata._continue
        if not token:
            break
    play.meter.end()
    page = found = answer = None
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
