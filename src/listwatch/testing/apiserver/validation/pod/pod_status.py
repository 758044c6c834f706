"""What is wrong with the status of a pod, and with how it has changed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..basics import immutable, texts
from ..checks import Value
from ..internal_values import internal
from ..names import key_problems, subdomain_problems
from ..network.addresses import address_of, legacy_address, warnings_of_address
from ..problems import Problem, forbidden_field, invalid_field
from .claim_statuses import claim_status_problems, extended_claim_problems
from .container_statuses import allocated_problems, restart_problems, user_problems

__all__ = ["pod_status_problems", "pod_status_warnings"]

_SYSTEM = frozenset({"PodScheduled", "Ready", "Initialized"})
_NO_NUMBER = "must be a non-negative integer"
_KINDS = ("containerStatuses", "initContainerStatuses", "ephemeralContainerStatuses")


def pod_status_problems(new: Value, old: Value) -> Iterator[Problem]:
    """`new` and `old` are whole pods, which differ in their statuses."""
    status, before = new.get("status") or {}, old.get("status") or {}
    spec = new.get("spec") or {}
    yield from _condition_problems(status.get("conditions") or ())
    yield from _nomination_problems(status, before, old.get("spec") or {})
    generation = status.get("observedGeneration") or 0
    if generation < 0:
        yield invalid_field("status.observedGeneration", generation, _NO_NUMBER)
    quality = before.get("qosClass") or ""
    yield from immutable("status.qosClass", status.get("qosClass") or "", quality)
    for kind in _KINDS:
        yield from restart_problems(status.get(kind) or (), before.get(kind) or (), kind, spec)
    yield from claim_status_problems(status, spec)
    yield from extended_claim_problems(status.get("extendedResourceClaimStatus"), spec)
    yield from _address_problems(status, before, "podIPs")
    yield from _host_address_problems(status, before)
    for kind in _KINDS:
        yield from user_problems(status.get(kind) or (), kind, spec)
    for kind in _KINDS:
        yield from allocated_problems(status.get(kind) or (), kind, spec)


def _condition_problems(conditions: Sequence[Value]) -> Iterator[Problem]:
    for at, condition in enumerate(conditions):
        path = f"status.conditions[{at}]"
        generation = condition.get("observedGeneration") or 0
        if generation < 0:
            yield invalid_field(f"{path}.observedGeneration", generation, _NO_NUMBER)
        kind = condition.get("type") or ""
        if kind not in _SYSTEM:
            yield from texts(f"{path}.Type", kind, key_problems(kind))


def _nomination_problems(status: Value, before: Value, spec: Value) -> Iterator[Problem]:
    """The node that a pod may get, as long as it has none."""
    name = status.get("nominatedNodeName") or ""
    if not name or name == (before.get("nominatedNodeName") or ""):
        return
    field = "status.nominatedNodeName"
    yield from texts(field, name, subdomain_problems(name))
    if spec.get("nodeName"):
        yield forbidden_field(field, "may not be set on pods that are already bound to a node")


def _host_address_problems(status: Value, before: Value) -> Iterator[Problem]:
    addresses = status.get("hostIPs")
    if not addresses:
        return
    first = addresses[0].get("ip") or ""
    if (status.get("hostIP") or "") != first:
        yield invalid_field("status.hostIPs[0].ip", first, "must be equal to `hostIP`")
    yield from _address_problems(status, before, "hostIPs")


def _address_problems(status: Value, before: Value, name: str) -> Iterator[Problem]:
    """Addresses, one of each family at most."""
    found, path = _ips(status, name), f"status.{name}"
    known = _ips(before, name)
    for at, text in enumerate(found):
        yield from legacy_address(f"{path}[{at}]", text, known)
    if len(found) < 2:
        return
    families = [getattr(address_of(text), "version", None) for text in found]
    if None in families:
        at = families.index(None)
        text = f"invalid IP[{at}]: {found[at]}"
        message = f"Internal error: failed to check for dual stack with error:{text}"
        yield Problem(path, "InternalError", message)
    if len(found) > 2 or not {4, 6} <= set(families):
        kind = "core.v1.PodIP" if name == "podIPs" else "core.v1.HostIP"
        shown = [internal(kind, address) for address in status[name]]
        text = "may specify no more than one IP for each IP family"
        yield invalid_field(path, shown, text)


def _ips(status: Mapping[str, Any], name: str) -> list[str]:
    return [address.get("ip") or "" for address in status.get(name) or ()]


def pod_status_warnings(new: Value) -> Iterator[str]:
    """Addresses that are usually written in another way."""
    status = new.get("status") or {}
    for name in ("podIPs", "hostIPs"):
        for at, text in enumerate(_ips(status, name)):
            yield from warnings_of_address(f"status.{name}[{at}].ip", text)
