"""Compact: objects kept compressed, at a tenth of their size, and unpacked when they are read."""

from __future__ import annotations

from listwatch.api import Unstructured
from listwatch.api._lenient import JSONBytes

from ._compression import Algorithm, compression
from ._packed import Packed
from ._packer import Packer

__all__ = ["Compact", "CompactObject", "compact"]


class CompactObject(Packed, frozen=True, eq=False, gc=False):
    """Any Kubernetes object, as its own JSON, compressed: what `compact` makes.

    It is read as an `Unstructured` is, and equals the one of the same identity. Who it is can be
    read at once; whatever else is read, it is first unpacked, each time anew: some 10 us for a pod.
    It pickles as the `Unstructured` that it equals.
    """


class Compact:
    """The decoder that `compact` makes. Two of the same algorithm are equal."""

    __slots__ = ("_packer", "algorithm")

    reads_all = True
    takes_type_meta = True
    identifies = True

    def __init__(self, algorithm: Algorithm | None = None) -> None:
        self.algorithm = algorithm
        self._packer: Packer[CompactObject] = Packer(CompactObject, compression(algorithm))

    def __call__(self, raw: JSONBytes, *, api_version: str = "", kind: str = "") -> CompactObject:
        """Decode one object. Raises `MalformedObject`."""
        return self._packed(Unstructured.from_bytes(raw, api_version=api_version, kind=kind))

    def from_front(self, raw: bytes) -> CompactObject | None:
        """The same by a look at the front only, where that does: see `Unstructured.from_front`."""
        obj = Unstructured.from_front(raw)
        return None if obj is None else self._packed(obj)

    def _packed(self, obj: Unstructured) -> CompactObject:
        return self._packer.pack(
            obj.api_version,
            obj.kind,
            obj.namespace,
            obj.name,
            obj.uid,
            obj.resource_version,
            obj.raw,
        )

    def __eq__(self, other: object) -> bool:
        return self.algorithm == other.algorithm if isinstance(other, Compact) else NotImplemented

    def __hash__(self) -> int:
        return hash((Compact, self.algorithm))

    def __repr__(self) -> str:
        return f"compact({self.algorithm!r})" if self.algorithm else "compact()"


def compact(algorithm: Algorithm | None = None) -> Compact:
    """A decoder that keeps objects compressed, as `CompactObject`: a pod takes a fifth of its JSON.

    Each object is compressed on its way in, and unpacked when anything but key, name, namespace,
    uid and RV is read; `docs/stores.md` says what that costs. It is for large sets of which little
    is read.

    What the objects have in common is learned from the first of them, and kept once. The algorithm
    is zstd where it is there (Python 3.14, or the extra `compact`), else zlib; name one to have no
    other. Raises `ImportError` for zstd that is not there.

    >>> keep = compact()
    >>> pod = keep(b'{"kind":"Pod","apiVersion":"v1","metadata":{"name":"web-0"},"spec":{"a":1}}')
    >>> pod, pod["spec"]["a"]
    (<Pod web-0 rv=(none)>, 1)
    """
    return Compact(algorithm)
