"""What recorded bodies say, read with nothing but the standard library.

This is the other opinion: nothing of the library's own is used, so that a mistake there cannot
agree with itself.
"""

from __future__ import annotations

import json
import struct
from typing import Any

CUT = ("CUT",)
"""Stands for a body that ends inside a value."""

_parse = json.JSONDecoder().raw_decode


def json_values(body: bytes) -> list[Any]:
    """Every JSON value of a body, one after another; `CUT` at the end of one that is not whole."""
    text = body.decode("utf-8")
    values: list[Any] = []
    at = 0
    while True:
        while at < len(text) and text[at] in " \t\r\n":
            at += 1
        if at == len(text):
            return values
        try:
            value, at = _parse(text, at)
        except json.JSONDecodeError:
            return [*values, CUT]
        values.append(value)


def watch_events(body: bytes) -> list[tuple[Any, ...]]:
    """The events of a watch: type and object; RV and annotations of a bookmark; an error's gist."""
    return [value if value is CUT else _event(value) for value in json_values(body)]


def _event(value: Any) -> tuple[Any, ...]:
    kind, found = value["type"], value["object"]
    if kind == "BOOKMARK":
        metadata = found["metadata"]
        return kind, metadata["resourceVersion"], metadata.get("annotations") or {}
    if kind == "ERROR":
        return kind, *status(found)
    return kind, found


def status(found: Any) -> tuple[int, str, str]:
    """Code, reason and message of a Status."""
    assert found["status"] == "Failure"
    return found.get("code", 0), found.get("reason", ""), found.get("message", "")


def object_list(body: bytes) -> dict[str, Any]:
    """A list: its metadata, and its items, which have the list's type where they have none (D7)."""
    [found] = json_values(body)
    metadata = found["metadata"]
    kind = {"apiVersion": found["apiVersion"], "kind": found["kind"].removesuffix("List")}
    return {
        "apiVersion": found["apiVersion"],
        "kind": found["kind"],
        "resourceVersion": metadata.get("resourceVersion", ""),
        "continue": metadata.get("continue", ""),
        "remainingItemCount": metadata.get("remainingItemCount"),
        "items": [kind | item for item in found.get("items") or []],
    }


def length_delimited(body: bytes) -> list[bytes]:
    """The frames of a protobuf stream that ends between two of them."""
    frames = []
    at = 0
    while at < len(body):
        (size,) = struct.unpack_from(">I", body, at)
        frames.append(body[at + 4 : at + 4 + size])
        at += 4 + size
    assert at == len(body)
    return frames
