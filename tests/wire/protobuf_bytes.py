"""Protobuf written by hand: an opinion of its own on how messages travel."""

from __future__ import annotations

import struct
from typing import TypeAlias

Value: TypeAlias = int | bytes | str | float | tuple[tuple[int, "Value"], ...]


def varint(value: int) -> bytes:
    value &= (1 << 64) - 1
    written = b""
    while value > 127:
        written += bytes([value % 128 + 128])
        value //= 128
    return written + bytes([value])


def message(*fields: tuple[int, Value]) -> bytes:
    """Fields by number: integers and floats as they are, text, bytes and messages with their
    length."""
    return b"".join(field(number, value) for number, value in fields)


def field(number: int, value: Value) -> bytes:
    if isinstance(value, tuple):
        value = message(*value)
    if isinstance(value, str):
        value = value.encode()
    if isinstance(value, bytes):
        return varint(number << 3 | 2) + varint(len(value)) + value
    if isinstance(value, float):
        return varint(number << 3 | 1) + struct.pack("<d", value)
    return varint(number << 3) + varint(value)


def envelope(api_version: str, kind: str, content: bytes) -> bytes:
    named = message((1, api_version), (2, kind))
    return b"k8s\0" + message((1, named), (2, content), (3, b""), (4, b""))


def pod(name: str, *rest: tuple[int, Value], namespace: str = "default") -> bytes:
    """A bare message whose metadata, in field 1, names it; `rest` is more of the metadata."""
    named: tuple[tuple[int, Value], ...] = ((1, name), (3, namespace), (5, f"uid-{name}"))
    return message((1, (*named, *rest)))


def pod_list(*items: bytes, kind: str = "PodList", api_version: str = "v1") -> bytes:
    fields: list[tuple[int, Value]] = [(1, ((2, "42"),)), *((2, item) for item in items)]
    return envelope(api_version, kind, message(*fields))


def event(kind: str, raw: bytes) -> bytes:
    """A frame of a watch, without its length."""
    return message((1, kind), (2, ((1, raw),)))


METADATA = ("meta.k8s.io/v1", "PartialObjectMetadata")
