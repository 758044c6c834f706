"""Recordings of the same request, answered in protobuf and in JSON."""

from __future__ import annotations

import msgspec

from listwatch.testing.recording import Recording
from tests.support.vectors import vectors

PROTOBUF = "application/vnd.kubernetes.protobuf"


def _pairs() -> list[tuple[str, str]]:
    answered = [recording for recording in vectors() if recording.status == 200]
    in_json: dict[str, list[Recording]] = {}
    for recording in answered:
        if recording.media_type == "application/json" and "as=Table" not in _accept(recording):
            in_json.setdefault(recording.target, []).append(recording)
    return [
        (recording.name, other.name)
        for recording in answered
        if recording.media_type == PROTOBUF
        for other in in_json.get(recording.target, ())
        if recording.name.removesuffix("-protobuf") in (other.name, _whole(other.name))
    ]


def _accept(recording: Recording) -> str:
    return recording.request_headers.get("Accept") or ""


def _whole(name: str) -> str:
    return name.removesuffix("-metadata")


PAIRS = _pairs()
"""Name of the one in protobuf, and of one in JSON, of the same moment: whole, or metadata."""


class _Object(msgspec.Struct):
    kind: str = ""
    metadata: msgspec.Raw = msgspec.Raw()


class _List(msgspec.Struct):
    items: list[msgspec.Raw]


class _Event(msgspec.Struct):
    object: msgspec.Raw


def json_objects(recording: Recording) -> list[bytes]:
    """The objects of a LIST, WATCH or GET in JSON, as the bytes that they are."""
    if recording.is_watch:
        lines = recording.body.splitlines()
        return [bytes(msgspec.json.decode(line, type=_Event).object) for line in lines]
    if recording.is_list:
        return [bytes(item) for item in msgspec.json.decode(recording.body, type=_List).items]
    return [recording.body.rstrip(b"\n")]


def json_metadata(raw: bytes) -> bytes:
    """The metadata of an object in JSON, as the bytes that it is."""
    return bytes(msgspec.json.decode(raw, type=_Object).metadata)


def is_metadata(raw: bytes) -> bool:
    return msgspec.json.decode(raw, type=_Object).kind == "PartialObjectMetadata"
