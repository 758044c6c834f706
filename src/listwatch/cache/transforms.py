"""Transforms: what is cut from an object's bytes before anybody decodes or keeps it (I4).

A transform gets the JSON of one whole object and returns JSON of it. It is part of the decoder, so
that it runs once, on the way in, whatever the way; but it may see its own output, as when an
object that was read here is written back, so doing it twice must do no more than doing it once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeAlias, TypeVar

from listwatch.api import APIResource, GroupVersionResource, Unstructured
from listwatch.api._lenient import JSONBytes
from listwatch.wire import ObjectDecoder, decode_unstructured
from listwatch.wire.decoders import reads_all, reads_of, takes_type_meta
from listwatch.wire.media import JSON

from ._cuts import Cuts, encoded, members_of
from .asking import asked_form, for_resource

__all__ = [
    "Transform",
    "drop_annotations",
    "drop_managed_fields",
    "keep_metadata",
    "transformed",
]

T = TypeVar("T")

Transform: TypeAlias = Callable[[bytes], bytes]
"""A whole object's JSON in, JSON out. What it raises counts as the decoder's error (D6)."""

_KEPT = ("kind", "apiVersion", "metadata")
_MANAGED_FIELDS = Cuts(managed_fields=True)


def drop_managed_fields(raw: bytes) -> bytes:
    """Without `metadata.managedFields`: who wrote which field, a third of many an object.

    Raises `MalformedObject`, as all of these do, where `raw` is no JSON object.
    """
    return _MANAGED_FIELDS(raw)


def drop_annotations(*names: str) -> Transform:
    """Without the annotations of these names, such as
    `kubectl.kubernetes.io/last-applied-configuration`, which repeats the object.
    """
    return Cuts(annotations=frozenset(names))


def keep_metadata(raw: bytes) -> bytes:
    """Kind, apiVersion and metadata only. Where nothing else is wanted of a whole type, asking the
    server for no more (`PartialObjectMetadata`) saves its work, too.
    """
    members = members_of(raw)
    kept = {name: members[name] for name in _KEPT if name in members}
    return raw if len(kept) == len(members) else encoded(kept)


def transformed(decoder: ObjectDecoder[T], *transforms: Transform) -> ObjectDecoder[T]:
    """`decoder`, with `transforms` before it, in their order.

    What the last of them and `decode_unstructured` must know of an object is read in one look.

    >>> from listwatch.wire import decode_dict
    >>> transformed(decode_dict, keep_metadata)(b'{"metadata":{"name":"web-0"},"spec":{}}')
    {'metadata': {'name': 'web-0'}}
    """
    steps = [_MANAGED_FIELDS if step is drop_managed_fields else step for step in transforms]
    cuts: Cuts | None = None
    if decoder == decode_unstructured:
        while steps and isinstance(step := steps[-1], Cuts):
            cuts = step | cuts if cuts else step
            steps.pop()
    last: ObjectDecoder[Any] = decoder if cuts is None else WithCuts(cuts)
    return Transformed(last, steps) if steps else last


class Transformed(Generic[T]):
    """A decoder with transforms before it. What it says of itself is what the decoder says, as long
    as the transforms are ours, which miss nothing that is wrong with the bytes.
    """

    __slots__ = ("_steps", "asks_for", "decoder", "reads_all", "takes_type_meta")

    def __init__(self, decoder: ObjectDecoder[T], steps: Sequence[Transform]) -> None:
        if JSON not in reads_of(decoder):
            raise TypeError(f"transforms work on JSON, which {decoder!r} does not read")
        if hasattr(decoder, "for_answer"):
            raise TypeError(f"transforms work on objects, and {decoder!r} reads whole answers")
        self.decoder = decoder
        self._steps = tuple(steps)
        ours = all(isinstance(step, Cuts) or step is keep_metadata for step in steps)
        self.reads_all = ours and reads_all(decoder)
        self.takes_type_meta = ours and takes_type_meta(decoder)
        self.asks_for = asked_form(decoder)

    def of(self, resource: APIResource | GroupVersionResource) -> Transformed[T]:
        """The same for one resource (`for_resource`)."""
        return Transformed(for_resource(self.decoder, resource), self._steps)

    def __call__(self, raw: JSONBytes, **told: str) -> T:
        data = raw if type(raw) is bytes else bytes(raw)
        for step in self._steps:
            data = step(data)
        return self.decoder(data, **told)


class WithCuts:
    """`decode_unstructured` after some cuts, in one look through the bytes instead of two."""

    __slots__ = ("cuts",)

    reads_all = True
    takes_type_meta = True

    def __init__(self, cuts: Cuts) -> None:
        self.cuts = cuts

    def __call__(self, raw: JSONBytes, *, api_version: str = "", kind: str = "") -> Unstructured:
        own, head = self.cuts.look(raw if type(raw) is bytes else bytes(raw))
        return Unstructured._of(own, head, api_version, kind)
