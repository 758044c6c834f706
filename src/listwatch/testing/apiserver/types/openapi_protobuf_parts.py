"""What OpenAPI documents of both versions are made of in protobuf."""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from typing import Any

from ..reading.yaml_text import yaml_text
from .protobuf_wire import FIXED64, varint, write_bytes

__all__ = [
    "Write",
    "any_value",
    "any_values",
    "double",
    "fields",
    "named",
    "text",
    "texts",
    "whole",
]

Write = Callable[[int, Any], bytes]
"""Writes a value as a field of this number."""


def text(number: int, value: Any) -> bytes:
    return write_bytes(number, str(value).encode())


def texts(number: int, values: Any) -> bytes:
    return b"".join(text(number, value) for value in values)


def whole(number: int, value: Any) -> bytes:
    return varint(number << 3) + varint(int(value))


def double(number: int, value: Any) -> bytes:
    return varint(number << 3 | FIXED64) + struct.pack("<d", float(value))


def any_value(number: int, value: Any) -> bytes:
    """Any value, as YAML."""
    return write_bytes(number, text(2, yaml_text(value, in_order=False)))


def any_values(number: int, values: Any) -> bytes:
    return b"".join(any_value(number, value) for value in values)


def named(number: int, name: str, value: Any, write: Callable[[Any], bytes]) -> bytes:
    return write_bytes(number, text(1, name) + write_bytes(2, write(value)))


def fields(
    node: Mapping[str, Any], known: Mapping[str, tuple[int, Write]], extensions: int = 0
) -> bytes:
    found = []
    for name, value in node.items():
        if name in known:
            number, write = known[name]
            found.append((number, write(number, value)))
        elif extensions and name.startswith("x-"):
            found.append((extensions, write_bytes(extensions, text(1, name) + any_value(2, value))))
    return b"".join(data for _, data in sorted(found, key=lambda pair: pair[0]))
