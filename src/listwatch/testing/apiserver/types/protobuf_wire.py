"""The wire format of protobuf: fields by number, read and written."""

from __future__ import annotations

from collections.abc import Iterator

__all__ = [
    "FIXED64",
    "NotAMessage",
    "as_raw",
    "as_text",
    "as_whole",
    "parts",
    "varint",
    "write_bytes",
    "write_integer",
]

_VARINT, FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5


class NotAMessage(ValueError):
    """Bytes that are no protobuf, or not of the type that they should be of."""


def parts(data: bytes) -> Iterator[tuple[int, int, int | bytes]]:
    """Number, wire type and value of each field."""
    at, end = 0, len(data)
    while at < end:
        key, at = _read_varint(data, at)
        number, wire = key >> 3, key & 7
        if wire == _VARINT:
            value: int | bytes
            value, at = _read_varint(data, at)
        elif wire == _BYTES:
            length, at = _read_varint(data, at)
            value, at = data[at : at + length], at + length
        elif wire in (FIXED64, _FIXED32):
            length = 8 if wire == FIXED64 else 4
            value, at = data[at : at + length], at + length
        else:
            raise NotAMessage(f"proto: illegal wireType {wire}")
        if at > end or not number:
            raise NotAMessage("unexpected EOF")
        yield number, wire, value


def _read_varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while at < len(data) and shift < 70:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value & (1 << 64) - 1, at
        shift += 7
    raise NotAMessage("unexpected EOF")


def as_raw(value: int | bytes) -> bytes:
    if isinstance(value, bytes):
        return value
    raise NotAMessage("proto: wrong wireType = 0")


def as_whole(value: int | bytes) -> int:
    if isinstance(value, int):
        return value - (1 << 64) if value >> 63 else value
    raise NotAMessage("proto: wrong wireType = 2")


def as_text(value: int | bytes) -> str:
    return as_raw(value).decode("utf-8", "replace")


def varint(value: int) -> bytes:
    value &= (1 << 64) - 1
    written = bytearray()
    while value > 0x7F:
        written.append(value & 0x7F | 0x80)
        value >>= 7
    written.append(value)
    return bytes(written)


def write_bytes(number: int, data: bytes) -> bytes:
    return b"%b%b%b" % (varint(number << 3 | _BYTES), varint(len(data)), data)


def write_integer(number: int, value: int) -> bytes:
    return varint(number << 3 | _VARINT) + varint(value)
