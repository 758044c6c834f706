"""The subsets of Endpoints: which addresses have which ports."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

__all__ = ["CAPACITY", "Address", "packed", "truncated"]

CAPACITY = 1000
"""Addresses of one Endpoints object, at the most."""
Address = tuple[Mapping[str, Any], Sequence[Mapping[str, Any]], bool]
"""An address, its ports, and whether it is ready."""
_Port = tuple[tuple[str, Any], ...]


def packed(addresses: Iterable[Address]) -> list[dict[str, Any]]:
    """As few subsets as can tell it: ports that the same addresses have are in one.

    What the real controller sorts by a hash of how Go prints it is sorted by port and address here.
    """
    members: dict[_Port, dict[tuple[str, str], bool]] = {}
    known: dict[tuple[str, str], Mapping[str, Any]] = {}
    for address, ports, ready in addresses:
        key = (str(address["ip"]), str((address.get("targetRef") or {}).get("uid", "")))
        known.setdefault(key, address)
        for port in ports or ({},):
            group = members.setdefault(tuple(port.items()), {})
            group[key] = ready and group.get(key, True)
    ports_of: dict[frozenset[tuple[tuple[str, str], bool]], list[_Port]] = {}
    for one, group in members.items():
        ports_of.setdefault(frozenset(group.items()), []).append(one)
    subsets = []
    for found, offered in ports_of.items():
        subset: dict[str, Any] = {}
        for name, wanted in (("addresses", True), ("notReadyAddresses", False)):
            keys = sorted(key for key, ready in found if ready is wanted)
            if keys:
                subset[name] = [known[key] for key in keys]
        numbered = [dict(port) for port in offered if port]
        if numbered:
            subset["ports"] = sorted(numbered, key=lambda port: (port["port"], str(port)))
        subsets.append(subset)
    return sorted(subsets, key=str)


def truncated(subsets: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]] | None:
    """The same with no more addresses than one object may have: those that are not ready go first,
    and each subset loses as large a part. None: they are not too many.
    """
    ready = sum(len(subset.get("addresses") or ()) for subset in subsets)
    others = sum(len(subset.get("notReadyAddresses") or ()) for subset in subsets)
    if ready + others <= CAPACITY:
        return None
    of = "addresses" if ready > CAPACITY else "notReadyAddresses"
    space, count = (CAPACITY, ready) if ready > CAPACITY else (CAPACITY - ready, others)
    left, made = space, []
    for subset in subsets:
        addresses = list(subset.get(of) or ())
        kept = min(-(-len(addresses) * space // count), left)
        left -= min(kept, len(addresses))
        cut = {**subset, of: addresses[:kept]}
        if of == "addresses":
            cut.pop("notReadyAddresses", None)
        made.append({name: value for name, value in cut.items() if value})
    return made
