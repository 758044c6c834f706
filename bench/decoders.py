"""What each library's models cost: to decode an event, and to keep an object.

    python -m bench.decoders            # 3,000 pods of bench/data.py, about two minutes
    python -m bench.decoders --short    # 500 pods

It needs the extra `peers`, and pydantic. Each kind has a process of its own. "an event" is the CPU
time of all that happens to one between the bytes of a watch and a store with one index: the frame
is found, the object decoded, its identity read, and the store changed. "decoding" is the decoder's
part of that. Both are without garbage collections. "kept" is by how much the resident memory of the
process has grown when the store is full, for each pod; "without" is the same with the transform
`drop_managed_fields`. "GC" is by how much longer one full collection takes for each pod kept.
"""

from __future__ import annotations

import argparse
import gc
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from listwatch import (
    Event,
    ObjectDecoder,
    decode_dict,
    decode_unstructured,
    drop_managed_fields,
    transformed,
    typed,
)
from listwatch.cache import Store, by_namespace
from listwatch.wire import WatchDecoder
from listwatch.wire.models import decoder_for

from .models import Pod
from .stores import pods, resident, write
from .twins import as_dataclass, as_pydantic

BATCH = 16
"""Events that are read at once."""


def official() -> ObjectDecoder[Any]:
    from kubernetes.client import V1Pod

    return decoder_for(V1Pod)


def from_dict() -> ObjectDecoder[Any]:
    from kubernetes.client import V1Pod

    return lambda raw: V1Pod.from_dict(json.loads(raw))


def official_asyncio() -> ObjectDecoder[Any]:
    from kubernetes_asyncio.client import V1Pod

    return decoder_for(V1Pod)


def api_client() -> ObjectDecoder[Any]:
    from kubernetes_asyncio.client import ApiClient

    client = object.__new__(ApiClient)  # its constructor needs an event loop

    class Response:
        def __init__(self, raw: bytes) -> None:
            self.data = raw

    return lambda raw: client.deserialize(Response(raw), "V1Pod")


def lightkube() -> ObjectDecoder[Any]:
    from lightkube.resources.core_v1 import Pod as LightkubePod

    return decoder_for(LightkubePod)


def lightkube_generic() -> ObjectDecoder[Any]:
    from lightkube.generic_resource import GenericNamespacedResource

    return decoder_for(GenericNamespacedResource)


def few_fields() -> ObjectDecoder[Any]:
    from pydantic import BaseModel, ConfigDict
    from pydantic.alias_generators import to_camel

    class Model(BaseModel):
        model_config = ConfigDict(alias_generator=to_camel)

    class Metadata(Model):
        name: str
        namespace: str
        uid: str
        resource_version: str
        labels: dict[str, str] | None = None

    class Spec(Model):
        node_name: str = ""

    class Status(Model):
        phase: str = ""

    class FewFields(Model):
        metadata: Metadata
        spec: Spec
        status: Status

    return decoder_for(FewFields)


KINDS: dict[str, Callable[[], ObjectDecoder[Any]]] = {
    "Unstructured": lambda: decode_unstructured,
    "dict": lambda: decode_dict,
    "msgspec Struct, by `typed`": lambda: typed(Pod),
    "msgspec Struct": lambda: decoder_for(Pod),
    "dataclass": lambda: decoder_for(as_dataclass(Pod)),
    "pydantic": lambda: decoder_for(as_pydantic(Pod)),
    "pydantic, seven fields": few_fields,
    "lightkube": lightkube,
    "lightkube, generic": lightkube_generic,
    "kubernetes": official,
    "kubernetes, by its `from_dict`": from_dict,
    "kubernetes_asyncio": official_asyncio,
    "kubernetes_asyncio, by its `ApiClient`": api_client,
}


@dataclass
class Timed:
    """A decoder, and the CPU time that it took."""

    decode: ObjectDecoder[Any]
    spent: int = 0
    reads_all = True

    def __call__(self, raw: bytes) -> Any:
        began = time.process_time_ns()
        obj = self.decode(raw)
        self.spent += time.process_time_ns() - began
        return obj


def measure(name: str, path: Path, *, managed_fields: bool) -> dict[str, float]:
    decode = KINDS[name]()
    if not managed_fields:
        decode = transformed(decode, drop_managed_fields)
    for raw in pods(path):  # the first use of everything is not counted
        decode(raw)
        break
    before, base = resident(), _collection()
    store: Store[Any] = Store(indexes={"namespace": by_namespace})
    store.replace((decode(raw) for raw in pods(path)), "1")
    objects = len(store)
    kept, collection = (resident() - before) / objects, _collection() - base
    del store
    gc.collect()
    gc.disable()  # its cost stands in a column of its own
    frames = [b'{"type":"ADDED","object":%b}\n' % raw for raw in pods(path)]
    reads = [b"".join(frames[at : at + BATCH]) for at in range(0, objects, BATCH)]
    spent, decoding = float("inf"), float("inf")
    for _ in range(3):
        spent = min(spent, _fill(decode, reads))
        _fill(timed := Timed(decode), reads)
        decoding = min(decoding, timed.spent)
    return {
        "event": spent / objects * 1e6,
        "decoding": decoding / objects / 1000,
        "kept": kept,
        "gc": collection / objects * 1e6,
    }


def _fill(decode: ObjectDecoder[Any], reads: list[bytes]) -> float:
    """CPU seconds."""
    store: Store[Any] = Store(indexes={"namespace": by_namespace})
    decoder = WatchDecoder(decode)
    began = time.process_time()
    for read in reads:
        events = [event for event in decoder.feed(read) if isinstance(event, Event)]
        store.apply(events, moves_rv=False)  # they come in no order, as at the start of a watch
    return time.process_time() - began


def _collection() -> float:
    best = float("inf")
    for _ in range(3):
        began = time.process_time()
        gc.collect()
        best = min(best, time.process_time() - began)
    return best


def in_its_own_process(name: str, path: Path, *, managed_fields: bool) -> dict[str, float]:
    command = [sys.executable, "-m", "bench.decoders", "--kind", name, "--file", str(path)]
    if not managed_fields:
        command.append("--drop")
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m bench.decoders",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--short", action="store_true", help="500 pods")
    parser.add_argument("--objects", type=int, help="how many pods")
    parser.add_argument("--kind", help=argparse.SUPPRESS)
    parser.add_argument("--file", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--drop", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.kind:
        print(json.dumps(measure(given.kind, given.file, managed_fields=not given.drop)))
        return
    objects = given.objects or (500 if given.short else 3_000)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "pods")
        size = write(path, objects, metadata_only=False)
        print(f"{objects:,} pods of {size:,.0f} bytes\n")
        table(path)


def table(path: Path) -> None:
    print("| kept as | an event, us | decoding, us | kept, bytes | without | GC, us |")
    print("|---|---|---|---|---|---|")
    for name in KINDS:
        whole = in_its_own_process(name, path, managed_fields=True)
        less = in_its_own_process(name, path, managed_fields=False)
        print(
            f"| {name} | {whole['event']:.0f} | {whole['decoding']:.0f} | {whole['kept']:,.0f}"
            f" | {less['kept']:,.0f} | {whole['gc']:.1f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
