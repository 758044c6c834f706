"""The node ports of a Service."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..validation.problems import internal_error, invalid_field
from .pools import NodePorts, Taken
from .refusals import fail, refuse

__all__ = ["change_ports", "give_health_check_port", "give_ports", "node_ports"]

Spec = dict[str, Any]


def _wants_ports(spec: Spec) -> bool:
    return spec["type"] == "NodePort" or spec.get("allocateLoadBalancerNodePorts") is not False


def give_ports(pool: NodePorts, name: str, spec: Spec) -> None:
    """One port of the nodes for each number, whatever its protocols."""
    ports = [dict(port) for port in spec.get("ports") or ()]
    given: dict[Any, int] = {}
    for at, port in enumerate(ports):
        own = port.get("nodePort") or 0
        if not own and not _wants_ports(spec):
            continue
        number = port.get("port")
        shared = given.get(number)
        if shared is None:
            asked = next(
                (
                    each["nodePort"]
                    for each in ports
                    if each.get("port") == number and each.get("nodePort")
                ),
                0,
            )
            if asked:
                _take_port(pool, name, at, asked)
            port["nodePort"] = given[number] = asked or _any_port(pool)
        elif not own:
            port["nodePort"] = shared
        elif own != shared:
            _take_port(pool, name, at, own)
    if ports:
        spec["ports"] = ports


def change_ports(pool: NodePorts, name: str, spec: Spec, before: Mapping[str, Any]) -> None:
    ports = [dict(port) for port in spec.get("ports") or ()]
    had = node_ports(before)
    taken: set[int] = set()
    seen: set[tuple[Any, int]] = set()
    for at, port in enumerate(ports):
        number = port.get("nodePort") or 0
        if not number and not _wants_ports(spec):
            continue
        if not number:
            number = port["nodePort"] = _any_port(pool)
        elif number not in had and number not in taken:
            _take_port(pool, name, at, number)
            taken.add(number)
        key = (port.get("protocol"), number)
        if key in seen:
            raise internal_error(f"duplicate nodePort: {{{key[0]} {key[1]}}}")
        seen.add(key)
    if ports:
        spec["ports"] = ports


def _take_port(pool: NodePorts, name: str, at: int, number: int) -> None:
    try:
        pool.take(number)
    except Taken as taken:
        problem = invalid_field(f"spec.ports[{at}].nodePort", number, str(taken))
        refuse(name, [problem])


def _any_port(pool: NodePorts) -> int:
    try:
        return pool.any()
    except Taken as taken:
        fail(f"failed to allocate a nodePort: {taken}")


def give_health_check_port(pool: NodePorts, spec: Spec) -> None:
    asked = spec.get("healthCheckNodePort")
    try:
        if asked:
            pool.take(asked)
        else:
            spec["healthCheckNodePort"] = pool.any()
    except Taken as taken:
        what = f"requested HealthCheck NodePort {asked}" if asked else "a HealthCheck NodePort 0"
        fail(f"failed to allocate {what}: {taken}")


def node_ports(spec: Mapping[str, Any]) -> set[int]:
    return {port["nodePort"] for port in spec.get("ports") or () if port.get("nodePort")}
