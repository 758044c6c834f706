"""Bytes of a watch to events, and what a handler does with the objects."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import msgspec

from bench.guard_data import Data
from bench.guard_models import Pod
from bench.guard_path import READ, Halves, Path, event_line, path, reads
from listwatch import Unstructured
from listwatch.cache import drop_managed_fields, transformed
from listwatch.wire import (
    ObjectDecoder,
    WatchDecoder,
    decode_partial_metadata,
    decode_unstructured,
)

__all__ = ["PATHS", "pods_of"]


def pods_of(half: Sequence[bytes]) -> list[Unstructured]:
    """The objects, decoded beforehand."""
    return [Unstructured.from_bytes(raw) for raw in half]


def _watched(
    data: Data, *, decoder: ObjectDecoder[Any] = decode_unstructured, size: int = READ
) -> Halves:
    feed = WatchDecoder(decoder).feed
    first, second = (
        [partial(feed, read) for read in reads([event_line(raw) for raw in half], size)]
        for half in (data.first, data.second)
    )
    return first, second


_LAYOUTS = [
    Path(name, f"frame, decode, event: {what}", _watched, kind, untracked=True)
    for name, kind, what in (
        ("watch-pods", "pods", "a pod of 6.6 KB, in reads of 64 KiB"),
        ("watch-custom", "widgets", "a custom resource of 4 KB, its keys in alphabetical order"),
        ("watch-odd", "pretty", "a pod of 11 KB, printed over many lines inside of its event"),
        ("watch-late", "late", "a pod whose metadata comes last"),
        ("watch-large", "large", "a pod of 100 KB"),
        ("watch-small", "leases", "a lease of half a KB"),
    )
]


@path(
    "watch-pretty", "the same pods from a server that indents, 11 KB", kind="pretty", untracked=True
)
def _pretty(data: Data) -> Halves:
    feed = WatchDecoder(decode_unstructured).feed

    def stream(half: Sequence[bytes]) -> list[bytes]:
        return reads([msgspec.json.format(event_line(raw), indent=2) + b"\n" for raw in half])

    first, second = (
        [partial(feed, read) for read in stream(half)] for half in (data.first, data.second)
    )
    return first, second


@path("watch-small-reads", "the same pods in reads of 4 KiB", untracked=True)
def _small_reads(data: Data) -> Halves:
    return _watched(data, size=4096)


@path("watch-trickle", "the same pods, one read each", untracked=True)
def _trickle(data: Data) -> Halves:
    feed = WatchDecoder(decode_unstructured).feed
    first, second = (
        [partial(feed, event_line(raw)) for raw in half] for half in (data.first, data.second)
    )
    return first, second


@path("watch-metadata", "the same pods, only their metadata decoded")
def _metadata(data: Data) -> Halves:
    return _watched(data, decoder=decode_partial_metadata)


@path("watch-transformed", "the same pods without their managedFields", untracked=True)
def _transformed(data: Data) -> Halves:
    return _watched(data, decoder=transformed(decode_unstructured, drop_managed_fields))


@path("watch-typed", "the same pods, decoded into a Struct by a decoder of the caller's")
def _typed(data: Data) -> Halves:
    return _watched(data, decoder=msgspec.json.Decoder(Pod).decode)


@path("read-member", "a handler that reads status.phase by `[...]`")
def _read_member(data: Data) -> Halves:
    def phase(pod: Unstructured) -> object:
        return pod["status"]["phase"]

    first, second = (
        [partial(phase, pod) for pod in pods_of(half)] for half in (data.first, data.second)
    )
    return first, second


@path("read", "a handler that reads status.phase by `read`")
def _read(data: Data) -> Halves:
    first, second = (
        [partial(pod.read, "status", "phase") for pod in pods_of(half)]
        for half in (data.first, data.second)
    )
    return first, second


@path("decode-typed", "a handler that decodes the object into a Struct")
def _decode_typed(data: Data) -> Halves:
    first, second = (
        [partial(pod.decode, Pod) for pod in pods_of(half)] for half in (data.first, data.second)
    )
    return first, second


@path("drop-managed-fields", "managedFields cut out of the bytes")
def _drop(data: Data) -> Halves:
    first, second = (
        [partial(drop_managed_fields, raw) for raw in half] for half in (data.first, data.second)
    )
    return first, second


PATHS = (
    *_LAYOUTS,
    _pretty,
    _small_reads,
    _trickle,
    _metadata,
    _transformed,
    _typed,
    _read_member,
    _read,
    _decode_typed,
    _drop,
)
