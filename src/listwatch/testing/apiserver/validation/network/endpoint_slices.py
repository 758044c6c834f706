"""The checks of EndpointSlices."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..basics import PROTOCOLS, immutable, label_map, texts
from ..checks import Checks, Value
from ..names import key_problems, label_name_problems, subdomain_problems, value_problems
from ..problems import (
    Problem,
    duplicate_field,
    invalid_field,
    required_field,
    too_many,
    unsupported_field,
)
from .addresses import (
    canonical_address_problems,
    endpoint_address_problems,
    is_ipv6,
    legacy_address,
    warnings_of_address,
)

__all__ = ["CHECKS", "is_managed_by"]

_TYPES = ("FQDN", "IPv4", "IPv6")
_ENDPOINTS = 1000
_ADDRESSES = 100
_PORTS = 20000
_HINTS = 8
_CONTROLLERS = ("endpointslice-controller.k8s.io", "endpointslicemirroring-controller.k8s.io")
_MANAGERS = {
    "Endpoints": "endpoints.kubernetes.io/managed-by",
    "EndpointSlice": "endpointslice.kubernetes.io/managed-by",
}


def is_managed_by(value: Value, *names: str) -> bool:
    """Whether its label says that one of these controllers has made it."""
    labels = (value.get("metadata") or {}).get("labels") or {}
    return labels.get(_MANAGERS.get(value.get("kind") or "")) in names


def _create(new: Value) -> Iterator[Problem]:
    yield from _top(new)
    yield from _endpoints(new.get("endpoints") or (), new.get("addressType"))


def _update(new: Value, old: Value) -> Iterator[Problem]:
    """Endpoints that have not changed stay as they are."""
    yield from _top(new)
    endpoints, kind = new.get("endpoints") or [], new.get("addressType")
    if endpoints != (old.get("endpoints") or []):
        yield from _endpoints(endpoints, kind)
    yield from immutable("addressType", kind or "", old.get("addressType") or "")


def _top(new: Value) -> Iterator[Problem]:
    kind = new.get("addressType")
    if not kind:
        yield required_field("addressType")
    elif kind not in _TYPES:
        yield unsupported_field("addressType", kind, _TYPES)
    yield from _ports(new.get("ports") or ())


def _ports(ports: Sequence[Value]) -> Iterator[Problem]:
    if len(ports) > _PORTS:
        yield too_many("ports", len(ports), _PORTS)
        return
    names: set[str] = set()
    for at, port in enumerate(ports):
        path = f"ports[{at}]"
        name, protocol = port.get("name") or "", port.get("protocol")
        if name:
            yield from texts(f"{path}.name", name, label_name_problems(name))
        if name in names:
            yield duplicate_field(f"{path}.name", name)
        names.add(name)
        if protocol is None:
            yield required_field(f"{path}.protocol")
        elif protocol not in PROTOCOLS:
            yield unsupported_field(f"{path}.protocol", protocol, PROTOCOLS)
        application = port.get("appProtocol")
        if application is not None:
            yield from texts(f"{path}.appProtocol", application, key_problems(application))


def _endpoints(endpoints: Sequence[Value], kind: str | None) -> Iterator[Problem]:
    if len(endpoints) > _ENDPOINTS:
        yield too_many("endpoints", len(endpoints), _ENDPOINTS)
        return
    for at, endpoint in enumerate(endpoints):
        path = f"endpoints[{at}]"
        addresses = endpoint.get("addresses") or ()
        if not addresses:
            yield required_field(f"{path}.addresses", "must contain at least 1 address")
        elif len(addresses) > _ADDRESSES:
            yield too_many(f"{path}.addresses", len(addresses), _ADDRESSES)
        for index, address in enumerate(addresses):
            yield from _address(f"{path}.addresses", index, address or "", kind)
        node, host = endpoint.get("nodeName"), endpoint.get("hostname")
        if node is not None:
            yield from texts(f"{path}.nodeName", node, subdomain_problems(node))
        yield from label_map(f"{path}.deprecatedTopology", endpoint.get("deprecatedTopology"))
        if host is not None:
            yield from texts(f"{path}.hostname", host, label_name_problems(host))
        hints = endpoint.get("hints")
        if hints is not None:
            yield from _hints(f"{path}.hints", hints)


def _address(path: str, at: int, address: str, kind: str | None) -> Iterator[Problem]:
    """The family is a matter of the whole list, in the words of the real server."""
    field = f"{path}[{at}]"
    if kind == "FQDN":
        yield from _domain(field, address)
        return
    if kind == "IPv4":
        problems = list(legacy_address(field, address))
    elif kind == "IPv6":
        problems = list(texts(field, address, canonical_address_problems(address)))
    else:
        return
    yield from problems
    if not problems:
        if is_ipv6(address) != (kind == "IPv6"):
            yield invalid_field(path, address, f"must be an {kind} address")
        yield from endpoint_address_problems(field, address)


def _domain(field: str, name: str) -> Iterator[Problem]:
    if not name:
        yield required_field(field)
        return
    name = name.removesuffix(".")
    problems = ",".join(subdomain_problems(name))
    labels = name.split(".")
    if problems:
        yield invalid_field(field, name, problems)
    elif len(labels) < 2:
        text = "should be a domain with at least two segments separated by dots"
        yield invalid_field(field, name, text)
    else:
        for label in labels:
            problems = ",".join(label_name_problems(label))
            if problems:
                yield invalid_field(field, label, problems)
                return


def _hints(path: str, hints: Value) -> Iterator[Problem]:
    for member, problems in (("forZones", value_problems), ("forNodes", subdomain_problems)):
        found = hints.get(member) or ()
        if len(found) > _HINTS:
            yield too_many(f"{path}.{member}", len(found), _HINTS)
            return
        names: set[str] = set()
        for at, hint in enumerate(found):
            field, name = f"{path}.{member}[{at}].name", hint.get("name") or ""
            if name in names:
                yield duplicate_field(field, name)
            names.add(name)
            yield from texts(field, name, problems(name))


def _warnings(new: Value) -> Iterator[str]:
    if new.get("addressType") == "FQDN":
        yield "spec.addressType: FQDN endpoints are deprecated"
    yield from _address_warnings(new, new)


def _address_warnings(new: Value, old: Value) -> Iterator[str]:
    if is_managed_by(new, *_CONTROLLERS):
        return
    for at, endpoint in enumerate(new.get("endpoints") or ()):
        for index, address in enumerate(endpoint.get("addresses") or ()):
            field = f"endpoints[{at}].addresses[{index}]"
            yield from warnings_of_address(field, address or "")


CHECKS = {
    "discovery.k8s.io/endpointslices": Checks(
        create=_create, update=_update, warnings=_warnings, update_warnings=_address_warnings
    )
}
