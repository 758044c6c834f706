"""What load balancers tell in the status of Services and Ingresses: where they can be reached."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..basics import texts
from ..checks import Value
from ..names import subdomain_problems
from ..problems import (
    Problem,
    forbidden_field,
    invalid_field,
    required_field,
    unsupported_field,
)
from .addresses import address_of, legacy_address, warnings_of_address

__all__ = ["host_problems", "ingress_status", "service_status", "status_warnings"]

_MODES = ("Proxy", "VIP")
_FIELD = "status.loadBalancer.ingress"
_NO_ADDRESS = "must be a DNS name, not an IP address"


def _points(value: Value) -> Sequence[Value]:
    found: Sequence[Value] = ((value.get("status") or {}).get("loadBalancer") or {}).get(
        "ingress"
    ) or ()
    return found


def _known(old: Value) -> list[str]:
    return [point["ip"] for point in _points(old) if point.get("ip")]


def service_status(new: Value, old: Value) -> Iterator[Problem]:
    points, known = _points(new), _known(old)
    if points and (new.get("spec") or {}).get("type") != "LoadBalancer":
        yield forbidden_field(_FIELD, "may only be used when `spec.type` is 'LoadBalancer'")
        return
    for at, point in enumerate(points):
        path = f"{_FIELD}[{at}]"
        ip, mode = point.get("ip"), point.get("ipMode")
        if ip:
            yield from legacy_address(f"{path}.ip", ip, known)
        if mode is None:
            if ip:
                yield required_field(f"{path}.ipMode", "must be specified when `ip` is set")
        elif not ip:
            yield forbidden_field(f"{path}.ipMode", "may not be specified when `ip` is not set")
        elif mode not in _MODES:
            yield unsupported_field(f"{path}.ipMode", mode, _MODES)
        yield from _hostname(path, point)


def ingress_status(new: Value, old: Value) -> Iterator[Problem]:
    known = _known(old)
    for at, point in enumerate(_points(new)):
        path = f"{_FIELD}[{at}]"
        if point.get("ip"):
            yield from legacy_address(f"{path}.ip", point["ip"], known)
        yield from _hostname(path, point)


def _hostname(path: str, point: Value) -> Iterator[Problem]:
    name = point.get("hostname")
    if name:
        yield from texts(f"{path}.hostname", name, subdomain_problems(name))
        yield from host_problems(f"{path}.hostname", name)


def host_problems(field: str, name: str) -> Iterator[Problem]:
    """An address where a name must be."""
    if address_of(name) is not None:
        yield invalid_field(field, name, _NO_ADDRESS)


def status_warnings(new: Value) -> Iterator[str]:
    for at, point in enumerate(_points(new)):
        if point.get("ip"):
            yield from warnings_of_address(f"{_FIELD}[{at}]", point["ip"])
