"""The addresses and the node ports that are free: all that no stored object says are taken.

Nothing is kept beside the objects themselves, so what is free is right whatever the store is turned
back to. Addresses are taken by IPAddresses, ports by the Services themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network
from random import Random
from typing import Any

from ..storage.state import State
from ..validation.network.addresses import address_of, range_of

__all__ = ["ADDRESSES", "Addresses", "NodePorts", "Taken", "network_of"]

ADDRESSES = "networking.k8s.io/ipaddresses"
_RANGES = "networking.k8s.io/servicecidrs"
_PORTS = range(30000, 32768)
_WITH_PORTS = ("NodePort", "LoadBalancer")
_KEPT_PORTS = 86
"""How many are given out only when there are no others: for those who ask for one by its number."""
_DRY_PORT = 32768
"""The port before the first that a dry run is given."""
_FULL = "range is full"


class Taken(Exception):
    """What is asked for cannot be had; the text is the real server's."""


@lru_cache(maxsize=8)
def network_of(text: str) -> IPv4Network:
    return IPv4Network(text)


class Addresses:
    """Those of one request. A dry run takes nothing, and does not even look at who has what."""

    def __init__(self, state: State, *, dry_run: bool) -> None:
        self._state = state
        self._dry_run = dry_run
        self._network = network_of(state.settings.service_range)
        """The first of them, of which a real server's dry run picks any."""

    def take(self, text: str) -> None:
        """Raises `Taken`."""
        address = address_of(text)
        number = int(address) if address is not None and address.version == 4 else 0
        if self._dry_run:
            if number not in _hosts(self._network):
                raise Taken(self._not_in_range(str(address)))
        elif not any(number in _hosts(network) for network in self._networks()):
            raise Taken("the provided network does not match the current range")
        elif not self._is_free(number):
            raise Taken("provided IP is already allocated")

    def any(self) -> str:
        """Raises `Taken` where there is none."""
        if self._dry_run:
            return str(self._network[0])
        for network in self._networks():
            numbers = _hosts(network)
            kept = min(max(16, len(numbers) // 16), 256) if len(numbers) > 16 else 0
            found = _any_of(self._state.rng, numbers, kept, self._is_free)
            if found is not None:
                return str(IPv4Address(found))
        raise Taken(_FULL)

    def _networks(self) -> Iterator[IPv4Network]:
        """That of the server, and those that ServiceCIDRs have added."""
        yield self._network
        for stored in self._state.log.objects(_RANGES):
            if _is_ready(stored.value):
                for text in (stored.value.get("spec") or {}).get("cidrs") or ():
                    found = range_of(text)
                    if found is not None and found.first.version == 4:
                        yield IPv4Network((int(found.first), found.bits))

    def _is_free(self, number: int) -> bool:
        return self._state.log.get(ADDRESSES, ("", str(IPv4Address(number)))) is None

    def _not_in_range(self, text: str) -> str:
        return (
            f"the provided IP ({text}) is not in the valid range. The range of valid IPs is "
            f"{self._network}"
        )


class NodePorts:
    """Likewise; a dry run does look, but not whether a port is in the range."""

    def __init__(self, state: State, *, dry_run: bool) -> None:
        self._state = state
        self._dry_run = dry_run
        self._own: list[int] = []
        self._seen: set[int] | None = None

    def take(self, port: int) -> None:
        """Raises `Taken`."""
        if not self._dry_run and port not in _PORTS:
            raise Taken(
                "provided port is not in the valid range. The range of valid ports is "
                f"{_PORTS[0]}-{_PORTS[-1]}"
            )
        if not self._is_free(port):
            raise Taken("provided port is already allocated")
        self._own.append(port)

    def any(self) -> int:
        """Raises `Taken` where there is none."""
        if self._dry_run:
            port = max(self._own, default=_DRY_PORT) + 1
        else:
            found = _any_of(self._state.rng, _PORTS, _KEPT_PORTS, self._is_free)
            if found is None:
                raise Taken(_FULL)
            port = found
        self._own.append(port)
        return port

    def _is_free(self, port: int) -> bool:
        if self._seen is None:
            self._seen = _node_ports(self._state)
        return port not in self._seen and port not in self._own


def _node_ports(state: State) -> set[int]:
    """Those of all Services."""
    found: set[int] = set()
    for stored in state.log.objects("services"):
        spec = stored.value.get("spec")
        if spec and spec.get("type") in _WITH_PORTS:
            found.update(port.get("nodePort") or 0 for port in spec.get("ports") or ())
            found.add(spec.get("healthCheckNodePort") or 0)
    return found


def _hosts(network: IPv4Network) -> range:
    """All addresses but the first and the last."""
    return range(int(network[0]) + 1, int(network[-1]))


def _is_ready(service_range: Mapping[str, Any]) -> bool:
    if service_range["metadata"].get("deletionTimestamp") is not None:
        return False
    conditions = (service_range.get("status") or {}).get("conditions") or ()
    return all(
        found.get("status") == "True" for found in conditions if found.get("type") == "Ready"
    )


def _any_of(rng: Random, numbers: range, kept: int, is_free: Callable[[int], bool]) -> int | None:
    """One that is free, from anywhere in the range; the `kept` first ones come last."""
    for part in (numbers[kept:], numbers[:kept]):
        offset = rng.randrange(len(part)) if part else 0
        for at in range(len(part)):
            number = part[(offset + at) % len(part)]
            if is_free(number):
                return number
    return None
