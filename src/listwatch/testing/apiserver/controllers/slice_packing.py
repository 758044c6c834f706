"""How endpoints are spread over EndpointSlices, so that a change of one writes few of them."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any

from ..storage.log import StoredObject

__all__ = ["MOST", "Packing", "identity"]

MOST = 100
"""Endpoints of one slice."""
Endpoint = Mapping[str, Any]


def identity(endpoint: Endpoint) -> Hashable:
    """By what an endpoint is the same one, whatever its conditions are."""
    target = endpoint.get("targetRef") or {}
    addresses = tuple(sorted(endpoint.get("addresses") or ()))
    return addresses, endpoint.get("hostname"), target.get("namespace"), target.get("name")


class Packing:
    """Of the endpoints that have the same ports: first everyone stays where they are, then free
    places are filled, in slices that change anyway, then in others, then in new ones.
    """

    def __init__(self, slices: Iterable[StoredObject], wanted: Iterable[Endpoint]) -> None:
        left = {identity(endpoint): endpoint for endpoint in wanted}
        self._contents: dict[str, list[Endpoint]] = {}
        self._changed: set[str] = set()
        self.empty: list[StoredObject] = []
        """Slices of which nothing is left."""
        for found in slices:
            before = list(found.value.get("endpoints") or ())
            kept = [left.pop(key) for one in before if (key := identity(one)) in left]
            if not kept and before:
                self.empty.append(found)
                continue
            self._contents[found.key[1]] = kept
            if kept != before:
                self._changed.add(found.key[1])
        self._rest = list(left.values())
        for name in sorted(self._changed, key=lambda name: -len(self._contents[name])):
            self._fill(name)
        if self._rest and len(self._rest) < MOST:
            self._fill_one_other()
        starts = range(0, len(self._rest), MOST)
        self.new: Sequence[list[Endpoint]] = [self._rest[at : at + MOST] for at in starts]
        """What is in slices that are not there yet."""

    @property
    def changed(self) -> dict[str, list[Endpoint]]:
        """What is in slices that were different, by their names."""
        return {name: self._contents[name] for name in sorted(self._changed)}

    @property
    def unchanged(self) -> list[str]:
        return [name for name in self._contents if name not in self._changed]

    def _fill(self, name: str) -> None:
        content = self._contents[name]
        free = MOST - len(content)
        content += self._rest[:free]
        del self._rest[:free]

    def _fill_one_other(self) -> None:
        """All that is left goes into the fullest slice that has a place for it."""
        spaces = {name: MOST - len(self._contents[name]) for name in self.unchanged}
        fit = {name: space for name, space in spaces.items() if space >= len(self._rest)}
        if fit:
            name = min(fit, key=lambda name: fit[name])
            self._fill(name)
            self._changed.add(name)
