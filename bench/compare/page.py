"""docs/benchmarks.md."""

from __future__ import annotations

import os
import platform
from pathlib import Path

from .aims import Figures, aims
from .play import Outcome
from .tables import markdown, rows

__all__ = ["page"]

_HEAD = """# Benchmarks

Written by `python -m bench`; no figure here is typed by hand. Only ratios travel from one machine
to another. {machine} {run}

    python -m bench            # this page
    python -m bench --short    # two minutes
    python -m bench --only 'pods:listwatch/*' --only 'pods:client-go/*'

## What was aimed at

Ratios of CPU an event, or of bytes; "aim" and "at least" say which of the two was reached.

{aims}

## How it is measured

- A stage (`bench.stage`) has every byte ready before a player comes, and sends the events in one
  HTTP chunk each, as kube-apiserver does, as fast as the socket takes them. `floor` receives them
  and looks at nothing: what it costs is what nobody can save.
- The data (`bench.data`) is seeded. Its pods are those of many different workloads, with the key
  order, escapes, managedFields and states that a real server's have; events are a kubelet's status
  updates mostly, with pods that begin and end between them.
- A player is a process of its own. It has its set first; then the stage is told to start, and what
  counts is the CPU of the whole process, its other threads included, from there to the last event.
  Those in Python have made a request before, so that no import is in it.
  For LIST it counts from the request until the set is there. Memory is what is resident after a
  collection, less what was before the client; the peak is the highest of that.
- Players take turns within each round, in an order that moves; stage and player have a core each
  where there are two. Figures are medians over the rounds; ratios are the medians of the ratios
  *within* rounds, since what else a machine does in a round it does to both.
- Every player must have seen the number of events that was sent, and the right sum over their keys
  and resourceVersions. {agreed}
- "unusual" is how many frames of a watch, or items of a list, did not look as they usually do, so
  that the general way was taken. (The end of a set that comes through a watch is one, and so is the
  last item of each page.)
- "rounds" is of how many rounds a figure is the median: what takes very long is played less often.
- us: microseconds of CPU an event, or an object of a LIST. "x client-go": how many times as much
  client-go takes for the same; likewise kube-rs. kept: bytes an object.

## What is not equal

- **listwatch** keeps objects as bytes and decodes what is asked for: `informer` reads name and
  resourceVersion, `informer-phase` also `obj.read("status", "phase")`, `informer-decode` all of it
  into a Struct. The others decode every object whole, whatever is read. `informer-typed` does that
  too, but leaves times and quantities as text and managedFields as bytes; Go's parse them.
- `informer-lines` is `informer` with `trust_lines=True`: the server's word is taken for it that
  each event is a line, so that not every byte is looked at.
- `watch` is `async for` over `client.watch`, which reconnects, keeps the set and never tells a
  change twice; `watch` of the others is one bare watch, as is our `watch-raw`. `sync` is the
  blocking iterator over the same.
- `informer-metadata` leaves managedFields out, as `metadata_only()` does; client-go keeps them.
  `informer-metadata-all` keeps them too.
- `list-watchlist` is the same set through a watch, which is our default where a server can do it.
- **client-go**: JSON, no limit of its own (QPS -1), WatchList off, index on namespace, one handler
  in its goroutine. Its protobuf would be faster, where a type has it; this server has none.
- **kube-rs**: one thread of tokio, glibc's allocator; its store has no secondary index. `watch` is
  `Api::watch`, `watcher` the one that reconnects, `informer` the reflector.
- **Python clients** have no store but where the case says so: `kubernetes/informer` is its
  SharedInformer, `kopf/informer` an operator with one `on.event` handler, which keeps no objects.
  `watch-raw` has dicts, from json.loads.
- The stage never gzips, and speaks plain HTTP but in `tls`.

## Where it falls short

- **One event a read** (`steady`) is how a quiet cluster looks, and costs five times what an event
  costs at full load. A reader that decodes nothing takes half of it for the wake-up, two turns of
  the event loop and the system calls; the rest is that some 190 calls of Python find their caches
  cold after a millisecond of sleep. Others pay for that as well. No timer is set and no task is
  made for a read, and the connection reads into a buffer of its own.
- **At full load** half of what an informer takes is msgspec's look at every byte of an object
  (0.8 us a KB), which proves where a frame ends. With `trust_lines` (`informer-lines`) it is not
  taken. The short way without asking was built first, and lost an event where two share a line.
- **A metadata-only informer** has little left to leave out: of its 17 us 5 are the connection, 6
  decoding. client-go's is twice as quick as its typed one.
- **A typed store** decodes 7 KB into some 150 objects (14 us), and lets go of as many of the state
  before, which are cold by then (14 us more). Skipping what nobody reads is what helps: declare
  fewer fields, or take a projection.
- **Keys that change at random** in a set of 200,000 cost 1.3 times what the same 1,000 keys cost
  there (`bench.scale`): more of memory is cold. The same keys cost the same in a set of any size.
- **Pretty-printed events** are decoded twice, once for the envelope.
- **`from listwatch import Client`** spends a third of its time on making 45 dataclasses.

## Versions

{versions}

"""


def page(
    outcomes: list[Outcome], imports: tuple[float, float] | None, rounds: int, seconds: float
) -> str:
    """All of it, as Markdown."""
    wrong = [f"{name}: {why}" for outcome in outcomes for name, why in outcome.wrong.items()]
    text = _HEAD.format(
        machine=_machine(),
        run=f"{rounds} rounds, fewer where noted in the scenes; {seconds / 60:.0f} minutes.",
        aims=markdown(aims(Figures(outcomes, imports))),
        agreed="In this run **not all did: " + "; ".join(wrong) + "**"
        if wrong
        else "In this run all did.",
        versions=_versions(outcomes),
    )
    parts = [text]
    for outcome in outcomes:
        scene = outcome.scene
        parts.append(f"## {scene.name}: {scene.about}\n\n")
        events = f"{scene.events:,} events" if scene.events else "no events"
        size = outcome.expected.get("objects_bytes", 0) / max(1, scene.objects)
        parts.append(f"{scene.objects:,} objects of {size:,.0f} bytes, {events}.\n\n")
        parts.append(markdown(rows(outcome)) + "\n\n")
        parts += [f"Left out: {name}: {why}\n\n" for name, why in outcome.left_out.items()]
    return "".join(parts).rstrip() + "\n"


def _versions(outcomes: list[Outcome]) -> str:
    found: dict[str, dict[str, str]] = {}
    for outcome in outcomes:
        for name, runs in outcome.runs.items():
            player = name.partition("/")[0]
            if player != "floor":
                found.setdefault(player, {}).update(runs[-1].versions)
    return "\n".join(
        f"- {player}: {', '.join(map(' '.join, sorted(versions.items())))}"
        for player, versions in found.items()
    )


def _machine() -> str:
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    model = platform.machine()
    cpus = Path("/proc/cpuinfo")
    if cpus.exists():
        names = [line for line in cpus.read_text().splitlines() if line.startswith("model name")]
        model = names[0].partition(":")[2].strip() if names else model
    return (
        f"Here: {model}, {cores} cores, {platform.system()} {platform.release().split('-')[0]},"
        f" Python {platform.python_version()}."
    )
