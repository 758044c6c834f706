"""Packing: objects of a kind compressed with what many of them have in common."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from threading import Lock
from typing import Generic, TypeVar

from ._compression import Compression
from ._packed import Form, Packed, pack

__all__ = ["Packer", "dictionary_of"]

P = TypeVar("P", bound=Packed)

_FIRST = 16
_GROWTH = 8
"""A dictionary is made of the first 16 objects, and anew whenever eight times as many were seen: so
a small store has none larger than itself, and of a large one seven eighths have the benefit of one
from an eighth of it. The old ones live as long as an object that needs them.
"""
_SAMPLES = 64
"""Objects, spread evenly over all that were seen, of which a dictionary is made."""
_LOOKED_AT = 1024 * 1024
"""Bytes of these, at most: it takes some 20 ms."""
_MOST_FORMS = 10_000


class Packer(Generic[P]):
    """Makes packed objects, of class `make`. Thread-safe.

    The bytes around a payload, which `around` gives for apiVersion and kind, are not kept with each
    object. Without `compression` the payload is kept as it is.
    """

    def __init__(
        self,
        make: Callable[[bytes, Form], P],
        compression: Compression | None,
        around: Callable[[str, str], tuple[bytes, bytes]] | None = None,
    ) -> None:
        self._make = make
        self._compression = compression
        self._around = around
        self._families: dict[tuple[str, str], _Family] = {}
        self._lock = Lock()

    def pack(
        self,
        api_version: str,
        kind: str,
        namespace: str,
        name: str,
        uid: str,
        resource_version: str,
        payload: bytes,
    ) -> P:
        with self._lock:
            family = self._families.get((api_version, kind))
            if family is None:
                around = self._around(api_version, kind) if self._around else None
                family = _Family(api_version, kind, self._compression, around)
                self._families[api_version, kind] = family
            form, packed = family.take(namespace, payload)
        return self._make(pack(name, uid, resource_version, packed), form)


class _Family:
    """The objects of one kind: their dictionary, and what it is made of."""

    def __init__(
        self,
        api_version: str,
        kind: str,
        compression: Compression | None,
        around: tuple[bytes, bytes] | None,
    ) -> None:
        self._type = api_version, kind
        self._compression = compression
        self._around = around
        self._codec = compression.codec(b"") if compression else None
        self._forms: dict[str, Form] = {}
        self._samples: list[tuple[bytes, Callable[[bytes], bytes]]] = []
        self._seen = 0
        self._each = 1
        self._due = _FIRST

    def take(self, namespace: str, payload: bytes) -> tuple[Form, bytes]:
        """The form of an object of that namespace, and its payload as it is kept."""
        form = self._forms.get(namespace)
        if form is None:
            if len(self._forms) >= _MOST_FORMS:
                self._forms.clear()  # of namespaces that came and went
            form = self._forms[namespace] = Form(*self._type, namespace, self._unpack())
        codec = self._codec
        if codec is None:
            return form, payload
        packed = codec.compress(payload)
        if self._seen % self._each == 0:
            self._samples.append((packed, codec.decompress))
            if len(self._samples) == _SAMPLES:
                del self._samples[::2]
                self._each *= 2
        self._seen += 1
        if self._seen == self._due:
            self._due *= _GROWTH
            self._renew()
        return form, packed

    def _renew(self) -> None:
        assert self._compression is not None
        samples = [decompress(packed) for packed, decompress in self._samples]
        self._codec = self._compression.codec(dictionary_of(samples, self._compression))
        self._forms = {}

    def _unpack(self) -> Callable[[bytes], bytes]:
        inner = self._codec.decompress if self._codec else _same
        if self._around is None:
            return inner
        before, after = self._around
        if inner is _same:
            return lambda payload: b"%b%b%b" % (before, payload, after)
        return lambda payload: b"%b%b%b" % (before, inner(payload), after)


def _same(payload: bytes) -> bytes:
    return payload


def dictionary_of(samples: Sequence[bytes], compression: Compression) -> bytes:
    """What is to be known beforehand of objects like these: some of them, one after another.

    A sample goes in that those before it do not bring below an eighth of its size; so many that are
    alike count once.
    """
    largest = compression.reach // 4
    found, looked_at = b"", 0
    compress = compression.codec(found).compress
    for sample in samples:
        looked_at += len(sample)
        if len(found) >= compression.reach or looked_at > _LOOKED_AT:
            break
        if len(compress(sample)) * 8 > len(sample):
            found = sample[:largest] + found
            compress = compression.codec(found).compress
    return found[: compression.reach]
