"""Cells of services, endpoints and ingresses."""

from __future__ import annotations

from datetime import datetime

from .reading import NONE, UNKNOWN, UNSET, Obj, items, joined, number, text

__all__ = [
    "endpoints",
    "ingress_address",
    "ingress_hosts",
    "ingress_ports",
    "service_external",
    "service_ports",
    "slice_endpoints",
    "slice_ports",
]

_MOST = 3
"""Addresses and ports in one cell, as in kubectl; more are counted."""


def service_external(service: Obj, now: datetime) -> str:
    kind = text(service, "spec", "type")
    external = [str(address) for address in items(service, "spec", "externalIPs")]
    if kind == "ExternalName":
        return text(service, "spec", "externalName", default=NONE)
    if kind == "LoadBalancer":
        return ",".join([*_given_addresses(service), *external]) or "<pending>"
    if kind in ("ClusterIP", "NodePort", ""):
        return joined(external)
    return UNKNOWN


def service_ports(service: Obj, now: datetime) -> str:
    ports = []
    for port in items(service, "spec", "ports"):
        node = number(port, "nodePort")
        shown = f"{number(port, 'port')}:{node}" if node else text(port, "port")
        ports.append(f"{shown}/{text(port, 'protocol', default='TCP')}")
    return joined(ports)


def endpoints(obj: Obj, now: datetime) -> str:
    found = []
    for subset in items(obj, "subsets"):
        addresses = [text(address, "ip") for address in items(subset, "addresses")]
        ports = [text(port, "port") for port in items(subset, "ports")]
        found += (
            [f"{_bracketed(ip)}:{port}" for port in ports for ip in addresses]
            if ports
            else addresses
        )
    return joined(found, most=_MOST) if found or not items(obj, "subsets") else ""


def slice_ports(obj: Obj, now: datetime) -> str:
    ports = items(obj, "ports")
    shown = [text(port, "port") or text(port, "name", default="*") for port in ports]
    return joined(shown, most=_MOST) if shown else UNSET


def slice_endpoints(obj: Obj, now: datetime) -> str:
    addresses = [
        str(address)
        for endpoint in items(obj, "endpoints")
        for address in items(endpoint, "addresses")
    ]
    return joined(addresses, most=_MOST) if addresses else UNSET


def ingress_hosts(ingress: Obj, now: datetime) -> str:
    rules = items(ingress, "spec", "rules")
    hosts: list[str] = []
    for rule in rules:
        if len(hosts) == _MOST:
            return f"{','.join(hosts)} + {len(rules) - _MOST} more..."
        if host := text(rule, "host"):
            hosts.append(host)
    return joined(hosts) if hosts else "*"


def ingress_address(ingress: Obj, now: datetime) -> str:
    return ",".join(_given_addresses(ingress))


def ingress_ports(ingress: Obj, now: datetime) -> str:
    return "80, 443" if items(ingress, "spec", "tls") else "80"


def _given_addresses(obj: Obj) -> list[str]:
    """What a load balancer gave."""
    given = items(obj, "status", "loadBalancer", "ingress")
    addresses = [text(each, "ip") or text(each, "hostname") for each in given]
    return sorted({address for address in addresses if address})


def _bracketed(address: str) -> str:
    return f"[{address}]" if ":" in address else address
