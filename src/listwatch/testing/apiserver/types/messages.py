"""The built-in types' objects in protobuf: their messages by field number, read and written.

`messages.txt` has the numbers (`python -m conformance.messages` writes it). Nothing is needed for
this but the table: the wire format of protobuf is small.
"""

from __future__ import annotations

import base64
import re
import struct
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from .fields import kinds
from .protobuf_specials import EXTENSIONS, META, SPECIAL
from .protobuf_wire import (
    FIXED64,
    NotAMessage,
    as_raw,
    as_text,
    as_whole,
    parts,
    varint,
    write_bytes,
    write_integer,
)

__all__ = ["NotAMessage", "decode_object", "encode_event", "encode_object", "has_message"]

_MAGIC = b"k8s\0"
_FIELD = re.compile(r"([@*%&]?)([^=]+)=(\d+)(.+)")


class _Field(NamedTuple):
    mark: str
    """`*` comes repeatedly, `%` is a map, `@` has its members beside the others in JSON, `&` can be
    there and zero.
    """
    name: str
    number: int
    type: str
    """`s`tring, `i`nteger, `b`oolean, b`y`tes, `d`ouble, or the name of a message."""


_DISCOVERY = frozenset({"APIVersions", "APIResourceList"})
"""Kinds that may come without an apiVersion."""


@cache
def _messages() -> Mapping[str, tuple[_Field, ...]]:
    found = {}
    text = Path(__file__).with_name("messages.txt").read_text(encoding="utf-8")
    for line in text.splitlines():
        name, *fields = line.split()
        found[name] = tuple(map(_field, fields))
    return found


def _field(text: str) -> _Field:
    match = _FIELD.fullmatch(text)
    assert match is not None, text
    return _Field(match[1], match[2], int(match[3]), match[4])


@cache
def _numbered(name: str) -> Mapping[int, _Field]:
    return {field.number: field for field in _messages()[name]}


def _name_of(api_version: str, kind: str) -> str:
    if api_version.startswith("meta.k8s.io/"):
        return f"{META}{kind}"
    if not api_version and kind in _DISCOVERY:
        return f"{META}{kind}"
    return kinds().get(f"{api_version}/{kind}", "").removeprefix("io.k8s.")


def has_message(api_version: str, kind: str) -> bool:
    """Whether objects of a kind can be read and written in protobuf."""
    return _name_of(api_version, kind) in _messages()


# Whole objects


def decode_object(data: bytes) -> dict[str, Any]:
    """An object as JSON has it, its kind and apiVersion included, of what a client sent: `k8s\\0`
    and an envelope.

    Raises `NotAMessage`; of a kind that is not built in, too.
    """
    if not data.startswith(_MAGIC):
        raise NotAMessage(
            "provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]"
        )
    if len(data) == len(_MAGIC):
        raise NotAMessage("empty body")
    envelope = {number: value for number, _, value in parts(data[len(_MAGIC) :])}
    names = {number: value for number, _, value in parts(as_raw(envelope.get(1, b"")))}
    api_version, kind = as_text(names.get(1, b"")), as_text(names.get(2, b""))
    name = _name_of(api_version, kind)
    if name not in _messages():
        raise NotAMessage(f'no kind "{kind}" is registered for version "{api_version}"')
    value = _decode(name, as_raw(envelope.get(2, b"")))
    return {"kind": kind, "apiVersion": api_version, **value}


def encode_object(value: Mapping[str, Any]) -> bytes:
    """An object, or a list of them, as a server writes it. KeyError where its kind is none of the
    built-in ones.
    """
    api_version, kind = value.get("apiVersion", ""), value["kind"]
    message = _encode(_name_of(api_version, kind), value)
    named = write_bytes(1, api_version.encode()) + write_bytes(2, kind.encode())
    return (
        _MAGIC
        + write_bytes(1, named)
        + write_bytes(2, message)
        + write_bytes(3, b"")
        + write_bytes(4, b"")
    )


def encode_event(kind: str, value: Mapping[str, Any]) -> bytes:
    """An event of a watch, without its length."""
    return write_bytes(1, kind.encode()) + write_bytes(2, write_bytes(1, encode_object(value)))


def _decode(name: str, data: bytes) -> Any:
    special = _SPECIAL.get(name)
    if special is not None:
        return special[0](data)
    known = _numbered(name)
    found: dict[str, Any] = {}
    for number, _, value in parts(data):
        field = known.get(number)
        if field is None:
            continue
        if field.mark == "%":
            entry = {at: part for at, _, part in parts(as_raw(value))}
            below = entry.get(2, b"" if field.type not in "ib" else 0)
            found.setdefault(field.name, {})[as_text(entry.get(1, b""))] = _value(field, below)
        elif field.mark == "*":
            found.setdefault(field.name, []).append(_value(field, value))
        elif field.mark == "@":
            found.update(_decode(field.type, as_raw(value)))
        else:
            made = _value(field, value)
            if field.mark == "&" or made not in (None, "", 0, {}):
                found[field.name] = made
    return found


def _value(field: _Field, value: int | bytes) -> Any:
    match field.type:
        case "s":
            return as_text(value)
        case "i":
            return as_whole(value)
        case "b":
            return bool(as_whole(value))
        case "y":
            return base64.b64encode(as_raw(value)).decode()
        case "d":
            (number,) = struct.unpack("<d", as_raw(value))
            return int(number) if float(number).is_integer() else number
    return _decode(field.type, as_raw(value))


def _encode(name: str, value: Any) -> bytes:
    special = _SPECIAL.get(name)
    if special is not None:
        return special[1](value)
    written = []
    for field in _messages()[name]:
        if field.mark == "@":
            written.append(write_bytes(field.number, _encode(field.type, value)))
            continue
        member = value.get(field.name)
        if member is None:
            if field.mark or field.type == "y" or field.type in _NULL:
                continue
            member = _zero(field)  # Go writes what it has no way to leave out
        if field.mark == "*":
            written += [_written(field, field.number, one) for one in member]
        elif field.mark == "%":
            written += [
                write_bytes(field.number, write_bytes(1, key.encode()) + _written(field, 2, one))
                for key, one in sorted(member.items())
            ]
        else:
            written.append(_written(field, field.number, member))
    return b"".join(written)


_NULL = frozenset({"apimachinery.pkg.apis.meta.v1.FieldsV1"})


def _zero(field: _Field) -> Any:
    if field.type in _SPECIAL:
        return None
    return {"s": "", "i": 0, "b": False, "d": 0.0}.get(field.type, {})


def _written(field: _Field, number: int, value: Any) -> bytes:
    match field.type:
        case "s":
            return write_bytes(number, value.encode("utf-8", "replace"))
        case "i":
            return write_integer(number, int(value))
        case "b":
            return write_integer(number, int(value))
        case "y":
            return write_bytes(number, base64.b64decode(value))
        case "d":
            return varint(number << 3 | FIXED64) + struct.pack("<d", float(value))
    return write_bytes(number, _encode(field.type, value))


_PROPS = f"{EXTENSIONS}JSONSchemaProps"


def _either(
    make: Callable[[Mapping[int, list[int | bytes]]], Any], write: Callable[[Any], bytes]
) -> tuple[Callable[[bytes], Any], Callable[[Any], bytes]]:
    """A schema or something else."""

    def read(data: bytes) -> Any:
        found: dict[int, list[int | bytes]] = {}
        for number, _, value in parts(data):
            found.setdefault(number, []).append(value)
        return make(found)

    return read, write


def _read_or_array(found: Mapping[int, list[int | bytes]]) -> Any:
    if 1 in found:
        return _decode(_PROPS, as_raw(found[1][0]))
    return [_decode(_PROPS, as_raw(value)) for value in found.get(2, [])]


def _write_or_array(value: Any) -> bytes:
    if isinstance(value, dict):
        return write_bytes(1, _encode(_PROPS, value))
    return b"".join(write_bytes(2, _encode(_PROPS, one)) for one in value)


def _read_or_bool(found: Mapping[int, list[int | bytes]]) -> Any:
    if 2 in found:
        return _decode(_PROPS, as_raw(found[2][0]))
    return bool(found.get(1, [0])[0])


def _write_or_bool(value: Any) -> bytes:
    if isinstance(value, dict):
        return write_integer(1, 1) + write_bytes(2, _encode(_PROPS, value))
    return write_integer(1, int(value))


def _read_or_strings(found: Mapping[int, list[int | bytes]]) -> Any:
    if 1 in found:
        return _decode(_PROPS, as_raw(found[1][0]))
    return [as_text(value) for value in found.get(2, [])]


def _write_or_strings(value: Any) -> bytes:
    if isinstance(value, dict):
        return write_bytes(1, _encode(_PROPS, value))
    return b"".join(write_bytes(2, one.encode()) for one in value)


_SPECIAL = {
    **SPECIAL,
    f"{_PROPS}OrArray": _either(_read_or_array, _write_or_array),
    f"{_PROPS}OrBool": _either(_read_or_bool, _write_or_bool),
    f"{_PROPS}OrStringArray": _either(_read_or_strings, _write_or_strings),
}
