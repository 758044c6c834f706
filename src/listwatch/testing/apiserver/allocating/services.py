"""Services that are created and changed: what they are given, what they keep, what they lose.

It is done before they are looked at, and is nobody's in managedFields. Services of one type that do
not say what they were given before keep it; a change of type gives and takes what the new type
needs, unless the client has its say.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..storage.state import State
from ..types.go_structs import in_go_form
from ..validation.network.service_addresses import NO_ADDRESS
from ..validation.network.services import needs_health_check
from ..validation.problems import invalid_field
from .families import choose_families
from .pools import Addresses, NodePorts, Taken
from .ports import change_ports, give_health_check_port, give_ports
from .refusals import fail, refuse
from .type_changes import keep, lose

__all__ = ["allocated", "reallocated"]

Value = dict[str, Any]
Spec = dict[str, Any]

_WITH_NODE_PORTS = ("NodePort", "LoadBalancer")
_INTERNAL = ("Cluster", "Local")


def allocated(state: State, new: Value, *, dry_run: bool) -> Value:
    """A new Service with what it is given. Raises `Refused`."""
    spec = dict(new.get("spec") or {})
    name = new["metadata"].get("name") or ""
    if spec.get("clusterIP") and not spec.get("clusterIPs"):
        spec["clusterIPs"] = [spec["clusterIP"]]
    refuse(name, choose_families(spec, None))
    _give_addresses(Addresses(state, dry_run=dry_run), name, spec)
    ports = NodePorts(state, dry_run=dry_run)
    if spec.get("type") in _WITH_NODE_PORTS:
        give_ports(ports, name, spec)
    if needs_health_check(spec):
        give_health_check_port(ports, spec)
    return _done(new, spec)


def reallocated(state: State, old: Mapping[str, Any], new: Value, *, dry_run: bool) -> Value:
    """The next state of a Service, with what it keeps and is given. Raises `Refused`."""
    before: Mapping[str, Any] = old.get("spec") or {}
    spec = dict(new.get("spec") or {})
    name = old["metadata"]["name"]
    keep(spec, before)
    _match_addresses(spec, before)
    refuse(name, choose_families(spec, before))
    if before.get("type") == "ExternalName" != spec.get("type"):
        _give_addresses(Addresses(state, dry_run=dry_run), name, spec)
    ports = NodePorts(state, dry_run=dry_run)
    if spec.get("type") in _WITH_NODE_PORTS:
        change_ports(ports, name, spec, before)
    if needs_health_check(spec) and not needs_health_check(before):
        give_health_check_port(ports, spec)
    lose(spec, before)
    made = _done(new, spec)
    if spec.get("type") != "LoadBalancer" and (made.get("status") or {}).get("loadBalancer"):
        made["status"] = {**made["status"], "loadBalancer": {}}
    return made


def _done(new: Value, spec: Spec) -> Value:
    if spec.get("type") == "ExternalName" and spec.get("internalTrafficPolicy") in _INTERNAL:
        del spec["internalTrafficPolicy"]
    given = {name: found for name, found in spec.items() if found is not None}
    return in_go_form("v1", "Service", {**new, "spec": given}, {})


def _give_addresses(addresses: Addresses, name: str, spec: Spec) -> None:
    ips: list[str] = list(spec.get("clusterIPs") or ())
    if spec.get("type") == "ExternalName" or ips[:1] == [NO_ADDRESS]:
        return
    shown = [*ips, *("" for _ in spec["ipFamilies"][len(ips) :])]
    if ips:
        try:
            addresses.take(ips[0])
        except Taken as taken:
            text = f"failed to allocate IP {ips[0]}: {taken}"
            refuse(name, [invalid_field("spec.clusterIPs", shown, text)])
    else:
        try:
            ips = [addresses.any()]
        except Taken as taken:
            fail(f'failed to allocate a serviceIP for Service "{name}": {taken}')
    spec["clusterIPs"], spec["clusterIP"] = ips, ips[0]


def _match_addresses(spec: Spec, before: Mapping[str, Any]) -> None:
    """Clients that know only one of `clusterIP` and `clusterIPs` mean both."""
    ip, was = spec.get("clusterIP") or "", before.get("clusterIP") or ""
    ips, were = spec.get("clusterIPs") or [], before.get("clusterIPs") or []
    if ip == was:
        if were and not ips:
            spec["clusterIPs"] = were
    elif ips == were:
        spec["clusterIPs"] = [ip] if ip else None
