"""The checks of Endpoints."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..basics import PROTOCOLS, one_of, port_number, texts
from ..checks import Checks, Value
from ..names import key_problems, label_name_problems, subdomain_problems
from ..problems import Problem, required_field
from .addresses import endpoint_address_problems, legacy_address, warnings_of_address
from .endpoint_slices import is_managed_by

__all__ = ["CHECKS"]

_KINDS = ("addresses", "notReadyAddresses")


def _create(new: Value) -> Iterator[Problem]:
    for at, subset in enumerate(new.get("subsets") or ()):
        yield from _subset(f"subsets[{at}]", subset)


def _update(new: Value, old: Value) -> Iterator[Problem]:
    """What has not changed stays as it is."""
    if (new.get("subsets") or []) != (old.get("subsets") or []):
        yield from _create(new)


def _subset(path: str, subset: Value) -> Iterator[Problem]:
    if not any(subset.get(kind) for kind in _KINDS):
        yield required_field(path, "must specify `addresses` or `notReadyAddresses`")
    for kind in _KINDS:
        for at, address in enumerate(subset.get(kind) or ()):
            yield from _address(f"{path}.{kind}[{at}]", address)
    ports: Sequence[Value] = subset.get("ports") or ()
    for at, port in enumerate(ports):
        yield from _port(f"{path}.ports[{at}]", port, named=len(ports) > 1)


def _address(path: str, address: Value) -> Iterator[Problem]:
    ip, host, node = address.get("ip") or "", address.get("hostname"), address.get("nodeName")
    yield from legacy_address(f"{path}.ip", ip)
    if host:
        yield from texts(f"{path}.hostname", host, label_name_problems(host))
    if node is not None:
        yield from texts(f"{path}.nodeName", node, subdomain_problems(node))
    yield from endpoint_address_problems(f"{path}.ip", ip)


def _port(path: str, port: Value, *, named: bool) -> Iterator[Problem]:
    name, protocol = port.get("name"), port.get("appProtocol")
    if name:
        yield from texts(f"{path}.name", name, label_name_problems(name))
    elif named:
        yield required_field(f"{path}.name")
    yield from port_number(f"{path}.port", port.get("port"))
    yield from one_of(f"{path}.protocol", port.get("protocol"), PROTOCOLS)
    if protocol is not None:
        yield from texts(f"{path}.appProtocol", protocol, key_problems(protocol))


def _warnings(new: Value) -> Iterator[str]:
    if is_managed_by(new, "endpoint-controller"):
        return
    for at, subset in enumerate(new.get("subsets") or ()):
        for kind in _KINDS:
            for index, address in enumerate(subset.get(kind) or ()):
                field = f"subsets[{at}].{kind}[{index}].ip"
                yield from warnings_of_address(field, address.get("ip") or "")


CHECKS = {
    "endpoints": Checks(create=_create, update=_update, metadata=2, warnings=_warnings),
}
