"""Watch a mirror survive: a real etcd and kube-apiserver, a writer that never rests, and kill -9.

    python -m conformance.mirror             # about a minute
    python -m conformance.mirror --list      # LIST rather than WatchList

What the mirror says is printed as it says it. At the end the store must be the server's set, by uid
and RV: else the exit code is 1.
"""

from __future__ import annotations

import argparse
import asyncio
import logging
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from conformance.binaries import BinariesUnavailable, find_binaries
from conformance.cluster import Cluster, StartFailed
from conformance.mirror.scene import (
    Scene,
    back_up,
    collection,
    kill_apiserver,
    kill_both,
    kill_etcd,
    many_changes,
    open_scene,
    turn_back,
)
from conformance.mirror.writer import Writer
from conformance.namespaces import create_namespace
from conformance.objects import config_map
from listwatch.cache import Note, Setback, State

_RATE = 20.0  # changes a second
_CALM = 3.0  # seconds of plain mirroring between two strokes


@dataclass
class Stroke:
    """What became of one thing that was done to the servers."""

    what: str
    down: float
    """Seconds until they could be used again."""
    converged: float
    """Seconds from then, at the most, until the store was the server's set: the writer has to end
    its last request, and the set to be listed.
    """
    told: int
    """Deltas meanwhile."""
    relists: str


class Story:
    """Does one thing after another to a cluster, and tells of it."""

    def __init__(self, cluster: Cluster, namespace: str) -> None:
        self._cluster = cluster
        self._namespace = namespace
        self._began = time.monotonic()
        self.strokes: list[Stroke] = []

    def say(self, text: str) -> None:
        print(f"{time.monotonic() - self._began:6.1f} s  {text}", flush=True)

    def note(self, note: Note) -> None:
        if isinstance(note, Setback):
            when = "now" if note.wait is None else f"in {note.wait:.1f} s"
            self.say(f"          mirror: {note.phase}: {note.cause}; {note.next} {when}")
        else:
            self.say(f"          mirror: {note}")

    async def tell(self, *, watch_list: bool) -> None:
        """All of it. Raises AssertionError where the mirror is not the server's set."""
        cluster, namespace = self._cluster, self._namespace
        async with open_scene(
            cluster,
            collection(namespace),
            namespace=namespace,
            watch_list=watch_list,
            on_note=self.note,
        ) as scene:
            with Writer(cluster, namespace, rate=_RATE) as writer:
                self.say(f"a writer makes {_RATE:.0f} changes a second, and goes on whatever comes")
                await asyncio.sleep(_CALM)
                for what, strike in (
                    ("kill -9 kube-apiserver", kill_apiserver),
                    ("kill -9 etcd", kill_etcd),
                    ("kill -9 both", kill_both),
                ):
                    await self._strike(what, strike, scene, writer)
                await self._turn_back(scene, writer)
                await asyncio.to_thread(writer.pause)
                await scene.converged()
                self.say(
                    f"the writer has made {writer.writes:,} changes, and {writer.failures} failed;"
                    f" {scene.seen.total:,} deltas were told"
                )
                self.say(f"mirror: {scene.mirror.health}")

    async def _turn_back(self, scene: Scene, writer: Writer) -> None:
        """A restore that goes back over some hundreds of writes, deletions among them."""
        cluster, namespace = self._cluster, self._namespace
        await asyncio.to_thread(writer.pause)
        self.say("--- a copy of etcd's folder is put aside (etcd is down for that)")
        await asyncio.to_thread(back_up, cluster)
        await asyncio.to_thread(many_changes, cluster, namespace, 300)
        cluster.create(collection(namespace), config_map("made-after-the-copy"))
        cluster.delete(collection(namespace, "there-00"))
        self.say("          300 changes more; one object is made, one deleted")
        await scene.converged()
        await self._strike("etcd restored from the older folder", turn_back, scene, writer)
        assert f"{namespace}/made-after-the-copy" not in scene.mirror.store
        assert f"{namespace}/there-00" in scene.mirror.store

    async def _strike(
        self, what: str, strike: Callable[[Cluster], None], scene: Scene, writer: Writer
    ) -> None:
        before, told = scene.relists, scene.seen.total
        self.say(f"--- {what}")
        watching = asyncio.create_task(self._watch_again(scene))
        began = time.monotonic()
        await asyncio.to_thread(strike, self._cluster)
        up = time.monotonic()
        self.say("          the servers can be used again")
        await asyncio.to_thread(writer.pause)  # so that there is one set to be compared with
        await scene.converged(within=120)
        took = time.monotonic() - up
        watching.cancel()
        relists = {
            cause: count - before.get(cause, 0)
            for cause, count in scene.relists.items()
            if count > before.get(cause, 0)
        }
        reasons = ", ".join(f"{cause}: {count}" for cause, count in relists.items()) or "none"
        self.strokes.append(Stroke(what, up - began, took, scene.seen.total - told, reasons))
        self.say(
            f"          the store is the server's set: {len(scene.mirror.store)} objects,"
            f" {took:.1f} s later"
        )
        writer.resume()
        await asyncio.sleep(_CALM)

    async def _watch_again(self, scene: Scene) -> None:
        """Say so each time that the mirror has a new watch."""
        last = scene.mirror.health.connected_since
        while True:
            await asyncio.sleep(0.02)
            health = scene.mirror.health
            if health.state is State.WATCHING and health.connected_since not in (None, last):
                last = health.connected_since
                self.say(f"          mirror: watching from {health.resource_version}")

    def summary(self) -> list[str]:
        lines = [f"{'':<38}{'down':>8}{'converged in':>15}{'deltas':>8}  relists"]
        lines += [
            f"{s.what:<38}{s.down:>6.1f} s{s.converged:>13.1f} s{s.told:>8}  {s.relists}"
            for s in self.strokes
        ]
        return lines


def main(arguments: Sequence[str] | None = None) -> int:
    """Run it."""
    parser = argparse.ArgumentParser(
        prog="python -m conformance.mirror",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--list", action="store_true", help="do not use WatchList")
    options = parser.parse_args(arguments)
    # What it logs, its notes say as well.
    logging.getLogger("listwatch").addHandler(logging.NullHandler())
    try:
        with Cluster(binaries=find_binaries(say=print)) as cluster:
            namespace = create_namespace(cluster, "mirrored")
            with cluster.session() as session:
                for number in range(100):
                    session.create(collection(namespace), config_map(f"there-{number:02}", n="0"))
                session.create(collection(namespace), config_map("counter", n="0"))
            story = Story(cluster, namespace)
            story.say(f"a kube-apiserver at {cluster.server}, with 101 objects to be mirrored")
            try:
                asyncio.run(story.tell(watch_list=not options.list))
            except AssertionError as wrong:
                print(f"WRONG: {wrong}")
                return 1
            print("\n".join(["", *story.summary(), ""]))
            print("At the end, as after each of these, the store was the server's set.")
    except (BinariesUnavailable, StartFailed) as failed:
        print(failed, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
