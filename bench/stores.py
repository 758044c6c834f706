"""What each kind of store keeps of a pod, and what it costs to fill and to read.

    python -m bench.stores            # 20,000 pods of bench/data.py, about two minutes
    python -m bench.stores --short    # 3,000 pods, half a minute

Each kind has a process of its own, which reads the pods from a file, one at a time, decodes each
and puts it into a store with one index on the namespace. "kept" is by how much its resident memory
has grown then, after a collection and after what is free was given back, for each pod. "in" is the
CPU time of decoding a pod, and the others that of one reading of it, on pods whose bytes are not in
the processor's cache.
"""

from __future__ import annotations

import argparse
import ctypes
import gc
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from msgspec import Struct

import listwatch
from listwatch import ObjectDecoder, compact, metadata_only, projected, typed
from listwatch.cache import Store, by_namespace

from .data import make_dataset
from .models import Pod

READ = 2_000
"""Objects that are read, spread over the store."""


class Placed(Struct, frozen=True, gc=False, rename="camel"):
    """Where a pod runs."""

    node_name: str = ""


class Phase(Struct, frozen=True, gc=False):
    """How far it is."""

    phase: str = ""


class Seen(Struct, frozen=True, gc=False):
    """A projection."""

    spec: Placed = Placed()
    status: Phase = Phase()


@dataclass(frozen=True)
class Kind:
    """One kind of store."""

    name: str
    decoder: Callable[[], ObjectDecoder[Any]]
    label: Callable[[Any], object] | None
    """Reads a label."""
    phase: Callable[[Any], object] | None
    """Reads `status.phase`."""
    metadata_only: bool = False


def label_of_view(obj: Any) -> object:
    return obj.read("metadata", "labels", "app")


def phase_of_view(obj: Any) -> object:
    return obj.read("status", "phase")


def label_of_pod(obj: Pod) -> object:
    return obj.metadata.labels.get("app")


def phase_of_pod(obj: Pod) -> object:
    return obj.status.phase


def without_managed_fields() -> ObjectDecoder[Any]:
    return listwatch.transformed(listwatch.decode_unstructured, listwatch.drop_managed_fields)


KINDS = [
    Kind("default", lambda: listwatch.decode_unstructured, label_of_view, phase_of_view),
    Kind("default, drop_managed_fields", without_managed_fields, label_of_view, phase_of_view),
    Kind("typed(Pod)", lambda: typed(Pod), label_of_pod, phase_of_pod),
    Kind("typed(Pod, share=True)", lambda: typed(Pod, share=True), label_of_pod, phase_of_pod),
    Kind("projected(Seen)", lambda: projected(Seen), None, lambda obj: obj.value.status.phase),
    Kind("compact(), zstd", lambda: compact("zstd"), label_of_view, phase_of_view),
    Kind("compact(), zlib", lambda: compact("zlib"), label_of_view, phase_of_view),
    Kind("metadata_only()", metadata_only, label_of_view, None, True),
    Kind(
        "metadata_only(compact=True)",
        lambda: metadata_only(compact="zstd"),
        label_of_view,
        None,
        True,
    ),
]


def write(path: Path, objects: int, *, metadata_only: bool) -> float:
    """Write that many pods as they stand in events; their mean size in bytes."""
    data = make_dataset("pods", objects, 0)
    total = 0
    with path.open("wb") as file:
        for found in data.items:
            raw = data.watched(found, metadata_only=metadata_only)
            file.write(len(raw).to_bytes(4, "big") + raw)
            total += len(raw)
    return total / objects


def pods(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while head := file.read(4):
            yield file.read(int.from_bytes(head, "big"))


def resident() -> int:
    """Bytes, after all that is free was given back."""
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    pages = int(Path("/proc/self/statm").read_text("ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def measure(kind: Kind, path: Path) -> dict[str, float | None]:
    """Fill a store, and read it."""
    decode, spent = kind.decoder(), 0.0

    def decoded() -> Iterator[Any]:
        nonlocal spent
        for raw in pods(path):
            began = time.process_time_ns()
            obj = decode(raw)
            spent += time.process_time_ns() - began
            yield obj

    store: Store[Any] = Store(indexes={"namespace": by_namespace})
    for raw in pods(path):  # the first use of everything is not counted
        decode(raw)
        break
    before = resident()
    store.replace(decoded(), "1")
    kept = (resident() - before) / len(store)
    clock = _clock_cost()
    step = max(1, len(store) // READ)
    sample = store.list()[::step]
    return {
        "kept": kept,
        "in": spent / len(store) / 1000 - clock,
        "label": _each(kind.label, sample),
        "phase": _each(kind.phase, sample),
    }


def _clock_cost() -> float:
    """Microseconds that one measurement by the clock adds."""
    began = time.process_time_ns()
    for _ in range(10_000):
        time.process_time_ns()
    return (time.process_time_ns() - began) / 10_000 / 1000


def _each(read: Callable[[Any], object] | None, sample: list[Any]) -> float | None:
    if read is None:
        return None
    best = float("inf")
    for _ in range(3):
        began = time.process_time_ns()
        for obj in sample:
            read(obj)
        best = min(best, (time.process_time_ns() - began) / len(sample) / 1000)
    return best


def in_its_own_process(kind: Kind, path: Path) -> dict[str, float | None]:
    command = [sys.executable, "-m", "bench.stores", "--kind", kind.name, "--file", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found: dict[str, float | None] = json.loads(done.stdout.splitlines()[-1])
    return found


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--short", action="store_true", help="3,000 pods")
    parser.add_argument("--objects", type=int, help="how many pods")
    parser.add_argument("--kind", help=argparse.SUPPRESS)
    parser.add_argument("--file", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.kind:
        [kind] = [kind for kind in KINDS if kind.name == given.kind]
        print(json.dumps(measure(kind, given.file)))
        return
    objects = given.objects or (3_000 if given.short else 20_000)
    with tempfile.TemporaryDirectory() as folder:
        whole, partial = Path(folder, "whole"), Path(folder, "metadata")
        size = write(whole, objects, metadata_only=False)
        metadata_size = write(partial, objects, metadata_only=True)
        print(f"{objects} pods of {size:,.0f} bytes ({metadata_size:,.0f} of metadata alone)\n")
        print("| store | kept, bytes a pod | in, us | a label, us | status.phase, us |")
        print("|---|---|---|---|---|")
        for kind in KINDS:
            found = in_its_own_process(kind, partial if kind.metadata_only else whole)
            cells = [_number(found[name]) for name in ("in", "label", "phase")]
            print(f"| {kind.name} | {found['kept']:,.0f} | {' | '.join(cells)} |", flush=True)


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.1f}"


if __name__ == "__main__":
    main()
