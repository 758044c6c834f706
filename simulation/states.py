"""What the simulation knows of one object: little, so that millions of them can be compared."""

from __future__ import annotations

import re
import zlib
from collections.abc import Mapping
from typing import Any, NamedTuple

__all__ = ["BAD", "SERIAL", "TIMES", "State", "States", "state_of_raw", "state_of_value"]

SERIAL = "serial"
"""The member of `data` that says which write made this state: no two writes have the same."""
BAD = "bad"
"""The member of `data` at which the simulation's decoder fails."""
TIMES = "times"
"""The member of `data` that the simulation's transform counts itself in."""

_SERIAL = re.compile(rb'"serial":"(\d+)"')
_TIMES = re.compile(rb'"times":"(\d+)"')
_NAME = re.compile(rb'"name":"([^"]*)"')
_NAMESPACE = re.compile(rb'"namespace":"([^"]*)"')
_UID = re.compile(rb'"uid":"([^"]*)"')
_RV = re.compile(rb'"resourceVersion":"([^"]*)"')


class State(NamedTuple):
    """One state of one object."""

    key: str
    uid: str
    rv: int
    serial: int = 0
    times: int = 0
    """How often it was transformed."""
    readable: bool = True
    """Whether the decoder took it."""
    content: int = 0
    """A checksum of its bytes; 0 on the server's side, which does not tell."""

    def __str__(self) -> str:
        return f"{self.key} rv={self.rv} #{self.serial}{'' if self.readable else ' (raw)'}"

    @property
    def identity(self) -> tuple[str, str, int, int]:
        """What the mirror and the server must agree on."""
        return self.key, self.uid, self.rv, self.serial


States = Mapping[str, State]
"""A set of objects, by key."""


def state_of_raw(raw: bytes, *, readable: bool = True) -> State:
    """The state in an object's own JSON, as this server writes it: metadata comes first."""
    namespace = _text(_NAMESPACE, raw)
    name = _text(_NAME, raw)
    return State(
        f"{namespace}/{name}",
        _text(_UID, raw),
        int(_text(_RV, raw) or 0),
        int(_text(_SERIAL, raw) or 0),
        int(_text(_TIMES, raw) or 0),
        readable,
        zlib.crc32(raw),
    )


def state_of_value(value: Mapping[str, Any]) -> State:
    """The state in an object of the server's store."""
    metadata, data = value["metadata"], value.get("data") or {}
    return State(
        f"{metadata['namespace']}/{metadata['name']}",
        metadata["uid"],
        int(metadata["resourceVersion"]),
        int(data.get(SERIAL, 0)),
        readable=BAD not in data,
    )


def _text(pattern: re.Pattern[bytes], raw: bytes) -> str:
    found = pattern.search(raw)
    return "" if found is None else found[1].decode()
