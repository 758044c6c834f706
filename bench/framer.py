"""What cutting frames costs: JSON and length-delimited, at frames and reads of many sizes.

    python -m bench.framer            # the table, about a minute
    python -m bench.framer --short    # a few seconds

Linear cost (C7) shows as MB/s that do not fall as frames grow, whatever the size of the reads.
Small reads cost a call each, so each read size has its own level; what must not happen is that a
line of the table falls off to the right.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable

from listwatch.wire import (
    Framer,
    JSONFramer,
    LengthDelimitedFramer,
    json_frame,
    length_delimited_frame,
)

FRAME_SIZES = {"1 KB": 1_000, "100 KB": 100_000, "10 MB": 10_000_000}
READ_SIZES = {"64 B": 64, "2 KiB": 2048, "64 KiB": 65536, "1 MiB": 1 << 20}


def pod_like(size: int) -> bytes:
    """One compact JSON object of about `size` bytes, with as many small strings and numbers as a
    pod has.
    """
    item = {
        "name": "web",
        "value": 'some text \\ with "quotes"',
        "port": 8080,
        "ready": True,
        "tags": ["a", "b"],
    }
    count = max(1, size // (len(json.dumps(item)) + 2))
    return json.dumps(
        {"type": "ADDED", "object": {"items": [item] * count}}, separators=(",", ":")
    ).encode()


def pretty(frame: bytes) -> bytes:
    return json.dumps(json.loads(frame), indent=1).encode()


KINDS: dict[str, tuple[Callable[[], Framer], Callable[[bytes], bytes]]] = {
    "JSON, a line each": (JSONFramer, json_frame),
    "JSON, pretty-printed": (JSONFramer, lambda frame: json_frame(pretty(frame))),
    "length-delimited": (LengthDelimitedFramer, length_delimited_frame),
}


def megabytes_a_second(make: Callable[[], Framer], stream: bytes, read: int, frames: int) -> float:
    pieces = [stream[start : start + read] for start in range(0, len(stream), read)]
    best = float("inf")
    for _ in range(3):
        framer = make()
        begin = time.perf_counter()
        found = sum(len(framer.feed(piece)) for piece in pieces) + len(framer.end())
        best = min(best, time.perf_counter() - begin)
        if found != frames:
            raise AssertionError(f"{found} frames found, {frames} written")
    return len(stream) / best / 1e6


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--short", action="store_true", help="2 MB a cell instead of 20 MB")
    total = 2_000_000 if parser.parse_args().short else 20_000_000
    print(f"{'MB/s':<22} {'read':>8}  " + " ".join(f"{name:>9}" for name in FRAME_SIZES))
    for kind, (make, write) in KINDS.items():
        for read_name, read in READ_SIZES.items():
            row = []
            for size in FRAME_SIZES.values():
                frame = write(pod_like(size))
                count = max(1, total // len(frame))
                row.append(megabytes_a_second(make, frame * count, read, count))
            print(
                f"{kind:<22} {read_name:>8}  " + " ".join(f"{speed:>9,.0f}" for speed in row),
                flush=True,
            )


if __name__ == "__main__":
    main()
