"""What a long stream costs in memory."""

from __future__ import annotations

import gc
import sys
import tracemalloc
from collections.abc import Iterator

import pytest

from listwatch.api import Event
from listwatch.wire import ObjectTooLarge, WatchDecoder, decode_unstructured

MIB = 1 << 20


def small(number: int) -> bytes:
    name = b'"name":"w-%d","resourceVersion":"%d"' % (number, number)
    return b'{"type":"ADDED","object":{"kind":"W","apiVersion":"v1","metadata":{' + name + b"}}}\n"


def peak_of(pieces: Iterator[bytes], decoder: WatchDecoder[object]) -> tuple[int, int, int]:
    events = giants = 0
    tracemalloc.start()
    try:
        for piece in pieces:
            for item in decoder.feed(piece):
                events += isinstance(item, Event)
                giants += isinstance(item, ObjectTooLarge)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    return events, giants, peak


@pytest.mark.clause("C5", "C6")
def test_a_40_mb_object_among_small_ones_costs_its_limit_and_nobody_else() -> None:
    def stream() -> Iterator[bytes]:
        yield from (small(n) for n in range(100))
        yield b'{"type":"ADDED","object":{"metadata":{"name":"big"},"data":"'
        piece = b"x" * 65536
        for _ in range(640):
            yield piece
        yield b'"}}\n'
        yield from (small(n) for n in range(100, 200))

    events, giants, peak = peak_of(stream(), WatchDecoder(decode_unstructured, limit=MIB))
    assert (events, giants) == (200, 1)
    assert peak < 4 * MIB


@pytest.mark.clause("C6", "C7")
def test_a_million_tiny_events_do_not_grow_memory() -> None:
    line = small(1)
    per_read = 65536 // len(line)
    read = line[7:] + line * (per_read - 1) + line[:7]  # no read ends where an event ends
    decoder = WatchDecoder(decode_unstructured)
    decoder.feed(line[:7])
    blocks = []
    for goal in (100_000, 1_000_000):
        while goal > 0:
            goal -= len(decoder.feed(read))
        gc.collect()  # it also empties the interpreter's free lists, which are no growth
        blocks.append(sys.getallocatedblocks())
    assert blocks[1] - blocks[0] < 100
