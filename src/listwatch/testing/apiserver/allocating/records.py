"""IPAddresses: the objects that tell which Service has which address; and what a cluster starts
with of both.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from typing import Any

from ..storage.log import Key, Write, WriteKind
from ..storage.state import State
from ..validation.network.addresses import address_of
from ..writing.managed_fields import Manager, after_create
from ..writing.metadata import new_uid, timestamp
from .pools import ADDRESSES, network_of

__all__ = ["AddressRecords", "first_objects"]

_SERVICES = "services"
_MANAGER = Manager("kube-apiserver", "networking.k8s.io/v1", "", custom=False)
_PORT = 6443
"""Where real API servers listen by default."""


class AddressRecords:
    """Follows the Services with IPAddresses, and takes the Endpoints of those that go.

    A real server writes the IPAddress before the Service; here it is written once what was asked
    for is done.
    """

    def __init__(self, state: State) -> None:
        self._state = state
        self._writes: deque[Write] = deque()
        state.log.listeners.append(self._on_write)

    def settle(self) -> None:
        """Write what the writes of Services since the last time have led to."""
        while self._writes:
            write = self._writes.popleft()
            new = None if write.kind is WriteKind.DELETED else write.new.value
            before = set(_addresses(write.old.value if write.old else None))
            after = set(_addresses(new))
            for address in sorted(before - after):
                self._remove(ADDRESSES, ("", address))
            for address in sorted(after - before):
                self._record(address, write.new.key)
            if new is None:
                self._remove("endpoints", write.new.key)

    def _on_write(self, write: Write) -> None:
        if write.storage == _SERVICES:
            self._writes.append(write)

    def _remove(self, storage: str, key: Key) -> None:
        if self._state.log.get(storage, key) is not None:
            self._state.log.delete(storage, key)

    def _record(self, address: str, service: Key) -> None:
        state, key = self._state, ("", address)
        if state.log.get(ADDRESSES, key) is not None:
            return
        of = state.types.find_kind("networking.k8s.io/v1", "IPAddress")
        if of is None:
            return  # it is not served: nobody can see it
        namespace, name = service
        family = "IPv6" if ":" in address else "IPv4"
        now = timestamp(state.wall())
        metadata: dict[str, Any] = {
            "name": address,
            "uid": new_uid(state.rng),
            "creationTimestamp": now,
            "labels": {
                "ipaddress.kubernetes.io/ip-family": family,
                "ipaddress.kubernetes.io/managed-by": "ipallocator.k8s.io",
            },
        }
        value = {
            "kind": of.kind,
            "apiVersion": of.api_version,
            "metadata": metadata,
            "spec": {"parentRef": {"resource": _SERVICES, "namespace": namespace, "name": name}},
        }
        metadata["managedFields"] = list(after_create(_MANAGER, of.zero_members, value, now))
        state.log.put(ADDRESSES, key, of.as_stored(of.ordered(value)))


def _addresses(service: Mapping[str, Any] | None) -> Iterator[str]:
    """As they are named, which need not be as the Service spells them."""
    spec = (service or {}).get("spec") or {}
    if spec.get("type") != "ExternalName":
        for text in spec.get("clusterIPs") or ():
            address = address_of(text)
            if address is not None:
                yield str(address)


def first_objects(state: State) -> Iterator[dict[str, Any]]:
    """The range of the addresses, and the Service by which pods reach the API server."""
    network = network_of(state.settings.service_range)
    ready = {
        "type": "Ready",
        "status": "True",
        "lastTransitionTime": timestamp(state.wall()),
        "reason": "",
        "message": "Kubernetes default Service CIDR is ready",
    }
    yield {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "ServiceCIDR",
        "metadata": {"name": "kubernetes"},
        "spec": {"cidrs": [str(network)]},
        "status": {"conditions": [ready]},
    }
    address = str(network[1])
    yield {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {
            "name": "kubernetes",
            "namespace": "default",
            "labels": {"component": "apiserver", "provider": "kubernetes"},
        },
        "spec": {
            "ports": [{"name": "https", "protocol": "TCP", "port": 443, "targetPort": _PORT}],
            "clusterIP": address,
            "clusterIPs": [address],
            "type": "ClusterIP",
            "sessionAffinity": "None",
            "ipFamilies": ["IPv4"],
            "ipFamilyPolicy": "SingleStack",
            "internalTrafficPolicy": "Cluster",
        },
        "status": {"loadBalancer": {}},
    }
