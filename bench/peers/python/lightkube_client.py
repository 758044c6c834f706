"""lightkube: its typed watch, and its LIST."""

from __future__ import annotations

from lightkube import Client, KubeConfig
from lightkube.config.models import Cluster, User
from lightkube.resources.core_v1 import Pod

from bench.measure import Play, asked

PACKAGES = ("lightkube", "lightkube-models")


def main() -> None:
    given = asked(("watch", "list"))
    play = Play("lightkube", given, PACKAGES)
    client = Client(config=KubeConfig.from_one(cluster=Cluster(server=given.server), user=User()))
    next(iter(client.list(Pod, namespace="*", chunk_size=1)))  # which imports what it needs
    play.meter.warm()
    if given.case == "list":
        _list(play, client)
    else:
        _watch(play, client)
    play.report()


def _watch(play: Play, client: Client) -> None:
    wanted = play.asked.events
    keys, versions = play.keys, play.versions
    version = play.asked.first_version()
    play.start_when_watching()
    for _, pod in client.watch(Pod, namespace="*", resource_version=version):
        keys.append(f"{pod.metadata.namespace}/{pod.metadata.name}")
        versions.append(pod.metadata.resourceVersion)
        if len(keys) == wanted:
            break
    play.meter.end()


def _list(play: Play, client: Client) -> None:
    play.meter.begin()
    kept = list(client.list(Pod, namespace="*", chunk_size=play.asked.page_size or None))
    play.meter.end()
    play.meter.keep()
    for pod in kept:
        play.keys.append(f"{pod.metadata.namespace}/{pod.metadata.name}")
        play.versions.append(pod.metadata.resourceVersion)


if __name__ == "__main__":
    main()
