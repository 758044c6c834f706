"""What stands behind a Service: which pods, with which addresses and ports."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, cast

from ..storage.log import Key, StoredObject, Write, WriteKind
from .client import Core
from .controller import Controller
from .owners import is_dying
from .pods import PODS, condition_of, is_finished, is_ready
from .queue import WorkQueue

__all__ = [
    "HEADLESS",
    "SERVICES",
    "TRIGGER",
    "ServiceEndpoints",
    "families_of",
    "has_address",
    "hostname_of",
    "ip_of",
    "is_headless",
    "ports_of",
    "reference_to",
    "with_trigger",
]

SERVICES = "services"
HEADLESS = "service.kubernetes.io/headless"
TRIGGER = "endpoints.kubernetes.io/last-change-trigger-time"
"""The annotation that says what has happened at what time, that an object says what it says."""
_DELAY = 0.02
_PER_POD = 0.001
"""Seconds that a look at a Service waits for more to happen, and those for each of its pods: to
write down a thousand of them takes a while.
"""


class ServiceEndpoints(Controller):
    """Looks at Services whose pods have changed, and at those whose endpoints somebody else did."""

    storage: ClassVar[str] = SERVICES
    made: ClassVar[str]
    """The storage of what it makes."""

    def __init__(self, core: Core, queue: WorkQueue) -> None:
        super().__init__(core, queue)
        self._times: dict[Key, _Times] = {}
        self._sizes: dict[Key, int] = {}
        self._at_work = False

    def start(self) -> None:
        self._times.clear()
        super().start()

    def observe(self, write: Write) -> None:
        if write.storage == SERVICES:
            self.plan(write.new.key, _DELAY)
        elif write.storage == PODS:
            if write.old is None or write.kind is WriteKind.DELETED:
                self._plan_services(write.new)
            elif _seen(write.old) != _seen(write.new):
                self._plan_services(write.new)
                if write.old.metadata.get("labels") != write.new.metadata.get("labels"):
                    self._plan_services(write.old)
        elif write.storage == self.made and not self._at_work:
            self.plan((write.new.key[0], self.service_of(write.new)), _DELAY)

    def service_of(self, made: StoredObject) -> str:
        """The name of the Service that something was made for."""
        raise NotImplementedError

    def sync(self, item: Hashable) -> None:
        key = cast("Key", item)
        service = self.client.get(SERVICES, key)
        if service is None:
            self._times.pop(key, None)
            self._sizes.pop(key, None)
            self.remove(key)
            return
        spec = service.value["spec"]
        if spec.get("type") == "ExternalName" or not spec.get("selector"):
            return  # somebody else says what is behind it
        pods = [pod for pod in self.client.list(PODS, key[0]) if _selects(service, pod)]
        self._sizes[key] = len(pods)
        trigger = self._times.setdefault(key, _Times()).trigger(service, pods)
        self._at_work = True
        try:
            done = self.reconcile(service, pods, trigger)
        finally:
            self._at_work = False
        if done:
            self.forget(key)
        else:
            self.retry(key)

    def reconcile(self, service: StoredObject, pods: Sequence[StoredObject], trigger: str) -> bool:
        """Bring what is made for `service` to what `pods` are; `trigger`: since when they are so,
        empty if nobody knows. False: to be tried again.
        """
        raise NotImplementedError

    def remove(self, key: Key) -> None:
        """Remove what was made for a Service that is gone."""

    def _plan_services(self, pod: StoredObject) -> None:
        for service in self.client.list(SERVICES, pod.key[0]):
            if _selects(service, pod):
                pods = self._sizes.get(service.key, 0)
                self.plan(service.key, _DELAY + _PER_POD * pods)


class _Times:
    """When that happened which was last seen of a Service."""

    def __init__(self) -> None:
        self._known = False
        self._service = ""
        self._pods: dict[str, str] = {}

    def trigger(self, service: StoredObject, pods: Sequence[StoredObject]) -> str:
        """The first time of what is new; of a Service not seen before the one of its creation."""
        created = str(service.metadata["creationTimestamp"])
        times = {pod.key[1]: time for pod in pods if (time := _ready_since(pod))}
        new = [time for name, time in times.items() if time > self._pods.get(name, "")]
        if created > self._service:
            new.append(created)
        known, self._known = self._known, True
        self._service, self._pods = created, times
        return min(new, default="") if known else created


def with_trigger(metadata: Mapping[str, Any], trigger: str) -> dict[str, Any]:
    """Metadata with that time in its annotations, or without any."""
    annotations = {
        name: value
        for name, value in (metadata.get("annotations") or {}).items()
        if name != TRIGGER
    }
    if trigger:
        annotations[TRIGGER] = trigger
    made = {name: value for name, value in metadata.items() if name != "annotations"}
    return {**made, "annotations": annotations} if annotations else made


def is_headless(service: Mapping[str, Any]) -> bool:
    return service["spec"].get("clusterIP") in (None, "", "None")


def families_of(service: Mapping[str, Any]) -> list[str]:
    """`IPv4`, `IPv6` or both, the one that comes first first."""
    spec = service["spec"]
    families = [str(family) for family in spec.get("ipFamilies") or ()]
    return families or ["IPv6" if ":" in (spec.get("clusterIP") or "") else "IPv4"]


def ip_of(pod: Mapping[str, Any], family: str) -> str:
    """The address of a pod in one family; empty: it has none."""
    status = pod.get("status") or {}
    found = (str(one.get("ip") or "") for one in status.get("podIPs") or ())
    return next((ip for ip in found if ip and (":" in ip) == (family == "IPv6")), "")


def has_address(pod: StoredObject) -> bool:
    """Whether it can be reached, or will be, or is still."""
    status = pod.value.get("status") or {}
    return not is_finished(pod.value) and bool(status.get("podIP") or status.get("podIPs"))


def hostname_of(pod: Mapping[str, Any], service: Mapping[str, Any]) -> str:
    """Its name in the domain of a Service; empty: it has none there."""
    spec = pod.get("spec") or {}
    if spec.get("subdomain") != service["metadata"]["name"]:
        return ""
    return str(spec.get("hostname") or "")


def ports_of(service: Mapping[str, Any], pod: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Where a pod listens to what is sent to the ports of a Service."""
    found = []
    for port in service["spec"].get("ports") or ():
        number = _target(pod, port)
        if number is not None:
            made = {
                "name": port.get("name") or "",
                "port": number,
                "protocol": port.get("protocol") or "TCP",
            }
            if port.get("appProtocol") is not None:
                made["appProtocol"] = port["appProtocol"]
            found.append(made)
    return sorted(found, key=lambda made: (made["port"], made["protocol"], made["name"]))


def reference_to(pod: StoredObject) -> dict[str, Any]:
    namespace, name = pod.key
    return {"kind": "Pod", "namespace": namespace, "name": name, "uid": pod.metadata["uid"]}


def _target(pod: Mapping[str, Any], port: Mapping[str, Any]) -> int | None:
    target = port.get("targetPort", port.get("port"))
    if isinstance(target, int):
        return target or port.get("port")
    protocol = port.get("protocol") or "TCP"
    for container in _containers(pod):
        for found in container.get("ports") or ():
            if found.get("name") == target and (found.get("protocol") or "TCP") == protocol:
                return int(found["containerPort"])
    return None


def _containers(pod: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    spec = pod.get("spec") or {}
    yield from spec.get("containers") or ()
    for container in spec.get("initContainers") or ():
        if container.get("restartPolicy") == "Always":
            yield container


def _selects(service: StoredObject, pod: StoredObject) -> bool:
    selector = service.value["spec"].get("selector")
    labels = pod.metadata.get("labels") or {}
    return bool(selector) and all(labels.get(key) == value for key, value in selector.items())


def _ready_since(pod: StoredObject) -> str:
    ready = condition_of(pod.value, "Ready") or {}
    return str(ready.get("lastTransitionTime") or "")


def _seen(pod: StoredObject) -> tuple[Any, ...]:
    """As much of a pod as endpoints tell."""
    spec, status = pod.value.get("spec") or {}, pod.value.get("status") or {}
    names = spec.get("hostname"), spec.get("subdomain")
    alive = is_dying(pod.metadata), is_finished(pod.value), is_ready(pod.value)
    return (pod.metadata.get("labels"), *names, *alive, status.get("podIPs"), status.get("podIP"))
