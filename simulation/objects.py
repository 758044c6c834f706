"""The objects of a simulated mirror: how they are decoded, transformed, indexed and read back."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from listwatch.api import Unstructured
from listwatch.cache import Undecodable
from listwatch.cache.transforms import transformed
from listwatch.wire import ObjectDecoder, decode_unstructured

from .states import State, state_of_raw

__all__ = ["ZONE", "Counted", "Objects", "count_times", "zones"]

ZONE = "zone"
_ZONE = re.compile(rb'"zone":"([a-z]+)"')
_TIMES = re.compile(rb'"times":"(\d+)",')


class Refused(ValueError):
    """What the simulation's decoder raises."""


class Counted:
    """A decoded object that is counted: `alive` is how many there are."""

    alive = 0

    __slots__ = ("metadata", "raw")

    def __init__(self, obj: Unstructured) -> None:
        Counted.alive += 1
        self.raw = obj.raw
        self.metadata = {
            "name": obj.name,
            "namespace": obj.namespace,
            "uid": obj.uid,
            "resourceVersion": obj.resource_version,
        }

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Counted) and other.raw == self.raw

    def __hash__(self) -> int:
        return hash(self.raw)

    def __del__(self) -> None:
        Counted.alive -= 1


class Objects:
    """What one mirror makes of the server's bytes."""

    def __init__(self, *, transformed: bool, refusing: bool, counted: bool) -> None:
        self.transformed = transformed
        self._refusing = refusing
        self._counted = counted
        self._states: dict[int, tuple[Any, State]] = {}

    def decoder(self) -> ObjectDecoder[Any]:
        """Bytes to objects; a bad one raises."""

        def decode(raw: Any) -> Any:
            if self._refusing and b'"bad":"1"' in bytes(raw):
                raise Refused("the simulation does not like it")
            obj = decode_unstructured(raw)
            return Counted(obj) if self._counted else obj

        if not self.transformed:
            return decode if self._refusing or self._counted else decode_unstructured
        return transformed(decode, count_times)

    def state_of(self, obj: Any) -> State:
        """What there is to know of an object of the store."""
        if isinstance(obj, Counted):
            return state_of_raw(obj.raw)
        known = self._states.get(id(obj))
        if known is not None and known[0] is obj:
            return known[1]
        state = state_of_raw(obj.raw, readable=not isinstance(obj, Undecodable))
        self._states[id(obj)] = (obj, state)
        return state

    def zone_of(self, obj: Any) -> str | None:
        """The value that the index has for it; None where it has none."""
        if isinstance(obj, Undecodable):
            return None
        return next(iter(zones(obj)), None)


def zones(obj: Any) -> Iterable[str]:
    """The index function."""
    found = _ZONE.search(obj.raw)
    return () if found is None else (found[1].decode(),)


def count_times(raw: bytes) -> bytes:
    """The transform: it counts how often it saw an object."""
    found = _TIMES.search(raw)
    if found is not None:
        more = b'"times":"%d",' % (int(found[1]) + 1)
        return raw[: found.start()] + more + raw[found.end() :]
    return raw.replace(b'"serial":"', b'"times":"1","serial":"', 1)
