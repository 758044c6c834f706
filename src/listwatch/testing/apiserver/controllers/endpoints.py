"""Endpoints: the addresses of a Service's pods in one object, as clients knew them first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from ..storage.log import Key, StoredObject
from .endpoint_subsets import packed, truncated
from .owners import is_dying
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

__all__ = ["EndpointsOfServices"]

_STORAGE = "endpoints"
_MANAGED = "endpoints.kubernetes.io/managed-by"
_CAPACITY = "endpoints.kubernetes.io/over-capacity"


class EndpointsOfServices(ServiceEndpoints):
    """Each has the name of its Service, and goes with it."""

    name: ClassVar[str] = "endpoints"
    watched: ClassVar[frozenset[str] | None] = frozenset({SERVICES, PODS, _STORAGE})
    made: ClassVar[str] = _STORAGE

    def service_of(self, made: StoredObject) -> str:
        return made.key[1]

    def reconcile(self, service: StoredObject, pods: Sequence[StoredObject], trigger: str) -> bool:
        spec = service.value["spec"]
        any_pod = bool(spec.get("publishNotReadyAddresses"))
        family = families_of(service.value)[0]
        found = []
        for pod in pods:
            ip = ip_of(pod.value, family)
            ports = ports_of(service.value, pod.value)
            if not ip or not has_address(pod) or (is_dying(pod.metadata) and not any_pod):
                continue
            if not ports and (spec.get("ports") or spec.get("clusterIP") != "None"):
                continue
            address: dict[str, Any] = {"ip": ip}
            hostname = hostname_of(pod.value, service.value)
            if hostname:
                address["hostname"] = hostname
            address["nodeName"] = (pod.value.get("spec") or {}).get("nodeName") or ""
            address["targetRef"] = reference_to(pod)
            named = [{name: value for name, value in one.items() if value} for one in ports]
            found.append((address, named, any_pod or is_ready(pod.value)))
        return self._write(service, packed(found), trigger)

    def remove(self, key: Key) -> None:
        found = self.client.get(_STORAGE, key)
        if found is not None and not is_dying(found.metadata):
            self.client.delete(_STORAGE, found)

    def _write(self, service: StoredObject, subsets: list[dict[str, Any]], trigger: str) -> bool:
        namespace, name = service.key
        labels = dict(service.metadata.get("labels") or {})
        labels.pop(HEADLESS, None)
        if is_headless(service.value):
            labels[HEADLESS] = ""
        labels[_MANAGED] = "endpoint-controller"
        before = self.client.get(_STORAGE, service.key)
        less = truncated(subsets)
        metadata: Mapping[str, Any] = {"name": name, "namespace": namespace}
        if before is not None:
            metadata = before.metadata
        if (
            before is not None
            and (before.value.get("subsets") or []) == (less or subsets)
            and metadata.get("labels") == labels
            and (_CAPACITY in (metadata.get("annotations") or {})) == (less is not None)
        ):
            return True
        new = with_trigger(metadata, trigger)
        annotations = dict(new.get("annotations") or {})
        annotations.pop(_CAPACITY, None)
        if less is not None:
            annotations[_CAPACITY] = "truncated"
        value = {
            "kind": "Endpoints",
            "apiVersion": "v1",
            "metadata": {**new, "labels": labels, "annotations": annotations or None},
            "subsets": (less or subsets) or None,
        }
        if before is None:
            made = self.client.create(_STORAGE, namespace, value)
            return made is not None or is_dying(service.metadata)
        return self.client.update(_STORAGE, value) is not None
