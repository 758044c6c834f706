"""EndpointSlices: the addresses of a Service's pods, a hundred to an object."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, ClassVar

from ..storage.log import StoredObject
from .owners import is_dying, owned_by
from .pods import PODS, is_ready
from .service_endpoints import (
    HEADLESS,
    SERVICES,
    ServiceEndpoints,
    families_of,
    has_address,
    hostname_of,
    ip_of,
    is_headless,
    ports_of,
    reference_to,
    with_trigger,
)
from .slice_packing import Packing

__all__ = ["EndpointSlices"]

_STORAGE, _NODES = "discovery.k8s.io/endpointslices", "nodes"
_SERVICE = "kubernetes.io/service-name"
_MANAGED, _MANAGER = "endpointslice.kubernetes.io/managed-by", "endpointslice-controller.k8s.io"
_PIECE = 0.015
"""Seconds for which it writes: to find out what there is to write takes a while, too."""
_ZONE = "topology.kubernetes.io/zone"
_RESERVED = frozenset({_SERVICE, _MANAGED, HEADLESS})
_Ports = tuple[tuple[tuple[str, Any], ...], ...]


class EndpointSlices(ServiceEndpoints):
    """Their names are made up; a label says of which Service they are, which owns them."""

    name: ClassVar[str] = "endpointslice"
    watched: ClassVar[frozenset[str] | None] = frozenset({SERVICES, PODS, _STORAGE})
    made: ClassVar[str] = _STORAGE

    def service_of(self, made: StoredObject) -> str:
        return str((made.metadata.get("labels") or {}).get(_SERVICE, ""))

    def reconcile(self, service: StoredObject, pods: Sequence[StoredObject], trigger: str) -> bool:
        there = [found for found in self._slices(service) if not is_dying(found.metadata)]
        families = families_of(service.value)
        work = _Work(service, trigger)
        done = True
        for family in families:
            of_family = [one for one in there if one.value.get("addressType") == family]
            done = self._reconcile_family(work, family, of_family, pods) and done
        gone = [one for one in there if one.value.get("addressType") not in families]
        return self._write(work, gone) and done

    def _slices(self, service: StoredObject) -> Iterator[StoredObject]:
        for found in self.client.list(_STORAGE, service.key[0]):
            labels = found.metadata.get("labels") or {}
            if labels.get(_SERVICE) == service.key[1] and labels.get(_MANAGED) == _MANAGER:
                yield found

    def _reconcile_family(
        self,
        work: _Work,
        family: str,
        there: Sequence[StoredObject],
        pods: Sequence[StoredObject],
    ) -> bool:
        """False: a pod is on a node that is not there, and left out until it is."""
        wanted: dict[_Ports, list[dict[str, Any]]] = {}
        done = True
        for pod in pods:
            if not has_address(pod):
                continue
            group = wanted.setdefault(_key(ports_of(work.service, pod.value)), [])
            node = self.client.get(_NODES, ("", pod.value["spec"].get("nodeName") or ""))
            if node is None and not work.service["spec"].get("publishNotReadyAddresses"):
                done = False
                continue
            endpoint = _endpoint(pod, node, work.service, family)
            if endpoint is not None:
                group.append(endpoint)
        by_ports: dict[_Ports, list[StoredObject]] = {}
        for found in there:
            if any(one["uid"] == work.uid for one in found.metadata.get("ownerReferences") or ()):
                by_ports.setdefault(_key(found.value.get("ports") or ()), []).append(found)
            else:
                work.gone.append((family, found))
        before = len(work.new)
        kept = 0
        for ports in {**by_ports, **wanted}:
            if ports not in wanted:
                work.gone += ((family, found) for found in by_ports[ports])
                continue
            packing = Packing(by_ports.get(ports, ()), wanted[ports])
            work.take(packing, by_ports.get(ports, ()), ports, family)
            kept += len(packing.changed) + len(packing.unchanged)
        if not kept and len(work.new) == before:
            work.placeholder(family)
        return done

    def _write(self, work: _Work, gone: Sequence[StoredObject]) -> bool:
        """As much as there is time for: what is left is found again at the next look."""
        work.reuse()
        is_over = self.piece(_PIECE)
        done = True
        for write in self._writes(work, gone):
            done = bool(write()) and done
            if is_over():
                self.plan((work.namespace, work.name))
                break
        return done

    def _writes(self, work: _Work, gone: Sequence[StoredObject]) -> Iterator[Callable[[], object]]:
        client = self.client
        if not is_dying(work.service["metadata"]):
            for value in work.new:
                yield partial(client.create, _STORAGE, work.namespace, work.stamped(value))
        for value in work.changed:
            yield partial(client.update, _STORAGE, work.stamped(value))
        for found in (*(one for _, one in work.gone), *gone):
            yield partial(client.delete, _STORAGE, found)


class _Work:
    """What has to be written for one Service."""

    def __init__(self, service: StoredObject, trigger: str) -> None:
        self.service = service.value
        self.namespace, self.name = service.key
        self.uid: str = service.metadata["uid"]
        self.new: list[dict[str, Any]] = []
        self.changed: list[dict[str, Any]] = []
        self.gone: list[tuple[str, StoredObject]] = []
        self._trigger = trigger
        self._labels = {
            name: value
            for name, value in (service.metadata.get("labels") or {}).items()
            if name not in _RESERVED
        }
        if is_headless(service.value):
            self._labels[HEADLESS] = ""
        self._labels |= {_SERVICE: service.key[1], _MANAGED: _MANAGER}

    def take(
        self,
        packing: Packing,
        slices: Sequence[StoredObject],
        ports: _Ports,
        family: str,
    ) -> None:
        changed = packing.changed
        for found in slices:
            name, metadata = found.key[1], {**found.metadata, "labels": self._labels}
            if name in changed:
                new = {**found.value, "metadata": metadata, "endpoints": changed[name]}
                self.changed.append(new)
            elif name in packing.unchanged and not self._labelled(found):
                self.changed.append({**found.value, "metadata": metadata})
        self.gone += ((family, found) for found in packing.empty)
        self.new += (self._slice(family, ports, endpoints) for endpoints in packing.new)

    def placeholder(self, family: str) -> None:
        """What says that there is nothing."""
        mine = [found for of, found in self.gone if of == family]
        if (
            len(mine) == 1
            and not mine[0].value.get("endpoints")
            and not mine[0].value.get("ports")
            and self._labelled(mine[0])
        ):
            self.gone.remove((family, mine[0]))
            return
        self.new.append(self._slice(family, (), ()))

    def reuse(self) -> None:
        """Write what is new into slices that would go."""
        for family, found in list(self.gone):
            owners = found.metadata.get("ownerReferences") or ()
            new = next((one for one in self.new[::-1] if one["addressType"] == family), None)
            if new is not None and any(one["uid"] == self.uid for one in owners):
                self.new.remove(new)
                self.gone.remove((family, found))
                new["metadata"]["name"] = found.key[1]
                self.changed.append(new)

    def stamped(self, value: Mapping[str, Any]) -> dict[str, Any]:
        return {**value, "metadata": with_trigger(value["metadata"], self._trigger)}

    def _slice(
        self, family: str, ports: _Ports, endpoints: Sequence[Mapping[str, Any]]
    ) -> dict[str, Any]:
        metadata = {
            "generateName": f"{self.service['metadata']['name']}-",
            "namespace": self.namespace,
            "labels": self._labels,
            "ownerReferences": [owned_by(self.service)],
        }
        return {
            "kind": "EndpointSlice",
            "apiVersion": "discovery.k8s.io/v1",
            "metadata": metadata,
            "addressType": family,
            "endpoints": list(endpoints) or None,
            "ports": [dict(port) for port in ports] or None,
        }

    def _labelled(self, found: StoredObject) -> bool:
        return bool(found.metadata.get("labels") == self._labels)


def _key(ports: Sequence[Mapping[str, Any]]) -> _Ports:
    return tuple(sorted(tuple(sorted(port.items())) for port in ports))


def _endpoint(
    pod: StoredObject,
    node: StoredObject | None,
    service: Mapping[str, Any],
    family: str,
) -> dict[str, Any] | None:
    ip = ip_of(pod.value, family)
    if not ip:
        return None
    serving, terminating = is_ready(pod.value), is_dying(pod.metadata)
    any_pod = bool(service["spec"].get("publishNotReadyAddresses"))
    conditions = {
        "ready": any_pod or (serving and not terminating),
        "serving": serving,
        "terminating": terminating,
    }
    endpoint = {"addresses": [ip], "conditions": conditions}
    hostname = hostname_of(pod.value, service)
    if hostname:
        endpoint["hostname"] = hostname
    endpoint["targetRef"] = reference_to(pod)
    if pod.value["spec"].get("nodeName"):
        endpoint["nodeName"] = pod.value["spec"]["nodeName"]
    zone = (node.metadata.get("labels") or {}).get(_ZONE) if node is not None else None
    if zone:
        endpoint["zone"] = zone
    return endpoint
