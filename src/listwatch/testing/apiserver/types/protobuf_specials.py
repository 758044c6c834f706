"""Messages that are something else in JSON: times, quantities, JSON itself."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from .protobuf_wire import (
    NotAMessage,
    as_raw,
    as_text,
    as_whole,
    parts,
    write_bytes,
    write_integer,
)

__all__ = ["EXTENSIONS", "META", "SPECIAL"]

META = "apimachinery.pkg.apis.meta.v1."
EXTENSIONS = "apiextensions-apiserver.pkg.apis.apiextensions.v1."
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def _read_time(data: bytes, *, micro: bool = False) -> str | None:
    found = {number: value for number, _, value in parts(data)}
    if not found:
        return None
    moment = _EPOCH + timedelta(
        seconds=as_whole(found.get(1, 0)), microseconds=as_whole(found.get(2, 0)) // 1000
    )
    return moment.strftime("%Y-%m-%dT%H:%M:%S.%fZ" if micro else "%Y-%m-%dT%H:%M:%SZ")


def _write_time(text: str | None) -> bytes:
    if text is None:
        return b""
    moment = datetime.fromisoformat(text)
    passed = moment - _EPOCH
    nanos = passed.microseconds * 1000
    return write_integer(1, passed.days * 86400 + passed.seconds) + write_integer(2, nanos)


def _read_text(data: bytes) -> str:
    return next((as_text(value) for number, _, value in parts(data) if number == 1), "")


def _write_text(value: Any) -> bytes:
    if value is None:
        return b""
    return write_bytes(1, str(value).encode())


def _read_int_or_string(data: bytes) -> int | str:
    found = {number: value for number, _, value in parts(data)}
    return as_text(found.get(3, b"")) if found.get(1) else as_whole(found.get(2, 0))


def _write_int_or_string(value: int | str | None) -> bytes:
    value = value or 0
    if isinstance(value, str):
        return write_integer(1, 1) + write_integer(2, 0) + write_bytes(3, value.encode())
    return write_integer(1, 0) + write_integer(2, value) + write_bytes(3, b"")


def _read_json(data: bytes) -> Any:
    raw = next((as_raw(value) for number, _, value in parts(data) if number == 1), b"")
    try:
        return json.loads(raw) if raw else None
    except ValueError as error:
        raise NotAMessage(f"JSON inside of protobuf that is none: {error}") from None


def _write_json(value: Any) -> bytes:
    if value is None:
        return b""
    return write_bytes(1, json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode())


def _read_strings(data: bytes) -> list[str]:
    return [as_text(value) for number, _, value in parts(data) if number == 1]


def _write_strings(values: list[str]) -> bytes:
    return b"".join(write_bytes(1, value.encode()) for value in values)


def _read_duration(data: bytes) -> str:
    nanos = next((as_whole(value) for number, _, value in parts(data) if number == 1), 0)
    return f"{nanos / 1e9:g}s"


def _write_duration(text: str | None) -> bytes:
    units = {"h": 3600e9, "m": 60e9, "s": 1e9, "ms": 1e6, "us": 1e3, "ns": 1.0}
    parts = re.findall(r"([\d.]+)(ms|us|ns|h|m|s)", text or "")
    return write_integer(1, round(sum(float(number) * units[unit] for number, unit in parts)))


_STRINGS = (_read_strings, _write_strings)
SPECIAL: Mapping[str, tuple[Callable[[bytes], Any], Callable[[Any], bytes]]] = {
    f"{META}Time": (_read_time, _write_time),
    f"{META}MicroTime": (lambda data: _read_time(data, micro=True), _write_time),
    f"{META}Duration": (_read_duration, _write_duration),
    f"{META}FieldsV1": (_read_json, _write_json),
    f"{META}Verbs": _STRINGS,
    "apimachinery.pkg.api.resource.Quantity": (_read_text, _write_text),
    "apimachinery.pkg.util.intstr.IntOrString": (_read_int_or_string, _write_int_or_string),
    "apimachinery.pkg.runtime.RawExtension": (_read_json, _write_json),
    "api.authentication.v1.ExtraValue": _STRINGS,
    "api.authorization.v1.ExtraValue": _STRINGS,
    "api.certificates.v1.ExtraValue": _STRINGS,
    f"{EXTENSIONS}JSON": (_read_json, _write_json),
}
