"""managedFields of an object and of its Scale: who owns the number in one owns it in the other.

A Scale is another kind, of another version: of the entries of its object it has those that own the
number. What has become of them there (they are changed as everybody's are) goes back into those of
the object: the number is taken from those who lost it, and who got it by way of the Scale has an
entry for it, without a time.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from .field_sets import LEAF, FieldSet, difference, is_member
from .managed_fields import Entries, identity, sorted_entries

__all__ = ["ScaleOwners"]

_VERSION = "autoscaling/v1"
_Identity = tuple[str, str, str, str]
_IN_SCALE = ("f:spec", "f:replicas")


class ScaleOwners:
    """The entries of an object whose number is at `path`, such as `.spec.replicas`.

    Of two entries of one owner, as the real server writes them here, it reads the later one only.
    """

    def __init__(self, entries: Entries, path: str, api_version: str) -> None:
        self._entries = list({identity(entry): entry for entry in entries}.values())
        self._path = tuple(f"f:{name}" for name in path.removeprefix(".").split("."))
        self._api_version = api_version

    def of_scale(self) -> Entries:
        """The entries that the Scale has."""
        fields = _at(_IN_SCALE)
        return sorted_entries(
            [
                {**entry, "apiVersion": _VERSION, "fieldsV1": fields}
                for entry in self._entries
                if _has(entry, self._path)
            ]
        )

    def of_object(self, of_scale: Entries) -> Entries:
        """The entries of the object, now that the Scale has these."""
        left: dict[_Identity, Mapping[str, Any]] = {identity(entry): entry for entry in of_scale}
        return sorted_entries([*self._kept(left), *self._new(left)])

    def _kept(self, of_scale: dict[_Identity, Mapping[str, Any]]) -> Entries:
        """Those that the object has already; what they have in `of_scale` is taken out there."""
        kept: list[Mapping[str, Any]] = []
        for entry in self._entries:
            if not _has(entry, self._path) or of_scale.pop(identity(entry), None) is not None:
                kept.append(entry)
            elif fields := difference(entry["fieldsV1"], _at(self._path)):
                kept.append({**entry, "fieldsV1": fields})
        return kept

    def _new(self, of_scale: Mapping[_Identity, Mapping[str, Any]]) -> Iterator[Any]:
        for entry in of_scale.values():
            if _has(entry, _IN_SCALE):
                fields = _at(self._path)
                made = {**entry, "apiVersion": self._api_version, "fieldsV1": fields}
                made.pop("time", None)
                yield made


def _at(path: tuple[str, ...]) -> FieldSet:
    fields: FieldSet = LEAF
    for name in reversed(path):
        fields = {name: fields}
    return fields


def _has(entry: Mapping[str, Any], path: tuple[str, ...]) -> bool:
    found: FieldSet | None = entry["fieldsV1"]
    for name in path:
        found = found.get(name) if found else None
    return is_member(found)
