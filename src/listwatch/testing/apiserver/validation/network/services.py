"""The checks of Services."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..basics import in_range, label_map, one_of, subdomain_at, texts
from ..checks import Checks, Value
from ..names import key_problems
from ..problems import (
    Problem,
    forbidden_field,
    invalid_field,
    required_field,
    unsupported_field,
)
from .addresses import (
    endpoint_address_problems,
    legacy_address,
    legacy_range,
    warnings_of_address,
    warnings_of_range,
)
from .load_balancers import service_status, status_warnings
from .service_addresses import (
    NO_ADDRESS,
    address_problems,
    is_headless,
    kept_addresses,
    kept_families,
)
from .service_ports import port_problems, repeated_ports

__all__ = ["CHECKS", "is_external", "needs_health_check"]

_TYPES = ("ClusterIP", "ExternalName", "LoadBalancer", "NodePort")
_AFFINITIES = ("ClientIP", "None")
_POLICIES = ("Cluster", "Local")
_DISTRIBUTIONS = ("PreferClose", "PreferSameZone", "PreferSameNode")
_BALANCER = "LoadBalancer"
_ONLY_BALANCER = "may only be used when `type` is 'LoadBalancer'"
_LOCAL_BALANCER = (
    "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'"
)
_EXTERNAL_NAME = "may not be set for ExternalName services"
_OLD_HINTS = "service.kubernetes.io/topology-aware-hints"
_MODE = "service.kubernetes.io/topology-mode"
_RANGES = "service.beta.kubernetes.io/load-balancer-source-ranges"
_LONGEST_AFFINITY = 86400
"""Seconds."""


def is_external(spec: Value) -> bool:
    """Whether it can be reached from outside of the cluster."""
    kind = spec.get("type")
    shared = kind == "ClusterIP" and bool(spec.get("externalIPs"))
    return shared or kind in (_BALANCER, "NodePort")


def needs_health_check(spec: Value) -> bool:
    """Whether nodes are asked if they have endpoints."""
    return spec.get("type") == _BALANCER and spec.get("externalTrafficPolicy") == "Local"


def _annotations(value: Value) -> Value:
    found: Value = (value.get("metadata") or {}).get("annotations") or {}
    return found


def _create(new: Value) -> Iterator[Problem]:
    yield from _service(new, None)


def _update(new: Value, old: Value) -> Iterator[Problem]:
    spec, before = new.get("spec") or {}, old.get("spec") or {}
    yield from kept_addresses(spec, before)
    yield from kept_families(spec, before)
    balanced = spec.get("type") == before.get("type") == _BALANCER
    name = spec.get("loadBalancerClass")
    if balanced and name != before.get("loadBalancerClass"):
        yield invalid_field("spec.loadBalancerClass", name, "may not change once set")
    yield from _balancer_class(spec)
    if needs_health_check(spec) and needs_health_check(before):
        port, was = spec.get("healthCheckNodePort"), before.get("healthCheckNodePort")
        if (port or 0) != (was or 0):
            yield forbidden_field("spec.healthCheckNodePort", "field is immutable")
    yield from _service(new, old)


def _service(new: Value, old: Value | None) -> Iterator[Problem]:
    spec = new.get("spec") or {}
    before = (old or {}).get("spec") or {}
    yield from _topology(_annotations(new))
    kind, ports, headless = spec.get("type"), spec.get("ports") or [], is_headless(spec)
    if not ports and not headless and kind != "ExternalName":
        yield required_field("spec.ports")
    if kind in (_BALANCER, "NodePort") and headless:
        text = f"may not be set to 'None' for {kind} services"
        yield invalid_field("spec.clusterIPs[0]", NO_ADDRESS, text)
    elif kind == "ExternalName":
        yield from _external_name(spec)
    yield from port_problems("spec.ports", ports)
    yield from label_map("spec.selector", spec.get("selector"))
    yield from _affinity(spec)
    yield from address_problems(spec, before)
    yield from _external_ips(spec.get("externalIPs") or (), before.get("externalIPs") or ())
    yield from one_of("spec.type", kind, _TYPES)
    yield from repeated_ports("spec.ports", ports, kind)
    yield from _source_ranges(new, old)
    allocate = spec.get("allocateLoadBalancerNodePorts")
    if allocate is not None and kind != _BALANCER:
        yield forbidden_field("spec.allocateLoadBalancerNodePorts", _ONLY_BALANCER)
    if allocate is None and kind == _BALANCER:
        yield required_field("allocateLoadBalancerNodePorts")
    yield from _balancer_class(spec)
    yield from _traffic(spec)


def _topology(annotations: Value) -> Iterator[Problem]:
    mode, hints = annotations.get(_MODE), annotations.get(_OLD_HINTS)
    if mode is not None and hints is not None and mode != hints:
        text = f"must match annotations[{_OLD_HINTS}] when both are specified"
        yield invalid_field(f"metadata.annotations[{_MODE}]", mode, text)


def _external_name(spec: Value) -> Iterator[Problem]:
    if spec.get("clusterIPs"):
        yield forbidden_field("spec.clusterIPs", _EXTERNAL_NAME)
    if spec.get("ipFamilies"):
        yield forbidden_field("spec.ipFamilies", _EXTERNAL_NAME)
    if spec.get("ipFamilyPolicy") is not None:
        yield forbidden_field("spec.ipFamilyPolicy", _EXTERNAL_NAME)
    yield from subdomain_at("spec.externalName", (spec.get("externalName") or "").removesuffix("."))


def _affinity(spec: Value) -> Iterator[Problem]:
    affinity, config = spec.get("sessionAffinity"), spec.get("sessionAffinityConfig")
    yield from one_of("spec.sessionAffinity", affinity, _AFFINITIES)
    field = "spec.sessionAffinityConfig"
    if affinity == "None" and config is not None:
        yield forbidden_field(field, "must not be set when session affinity is None")
    if affinity != "ClientIP":
        return
    text = "when session affinity type is ClientIP"
    if config is None:
        yield required_field(field, text)
        return
    client = config.get("clientIP")
    if client is None:
        yield required_field(f"{field}.clientIP", text)
        return
    seconds = client.get("timeoutSeconds")
    if seconds is None:
        yield required_field(f"{field}.clientIP.timeoutSeconds", text)
    elif not 0 < seconds <= _LONGEST_AFFINITY:
        text = f"must be greater than 0 and less than {_LONGEST_AFFINITY}"
        yield invalid_field(f"{field}.clientIP.timeoutSeconds", seconds, text)


def _external_ips(ips: Any, known: Any) -> Iterator[Problem]:
    for at, ip in enumerate(ips):
        field = f"spec.externalIPs[{at}]"
        problem = None
        for problem in legacy_address(field, ip, known):
            yield problem
        if problem is None:
            yield from endpoint_address_problems(field, ip)


def _source_ranges(new: Value, old: Value | None) -> Iterator[Problem]:
    """In the field, whose first letter the real server spells large, or in an annotation."""
    spec, before = new.get("spec") or {}, (old or {}).get("spec") or {}
    ranges = spec.get("loadBalancerSourceRanges")
    annotation = _annotations(new).get(_RANGES)
    if ranges:
        field = "spec.LoadBalancerSourceRanges"
        if spec.get("type") != _BALANCER:
            yield forbidden_field(field, _ONLY_BALANCER)
        known = [text.strip() for text in before.get("loadBalancerSourceRanges") or ()]
        for at, text in enumerate(ranges):
            yield from legacy_range(f"{field}[{at}]", text.strip(), known)
    elif annotation is not None:
        field = f"metadata.annotations[{_RANGES}]"
        if spec.get("type") != _BALANCER:
            yield forbidden_field(field, _ONLY_BALANCER)
        if old is None or _annotations(old).get(_RANGES) != annotation:
            for text in annotation.split(",") if annotation.strip() else ():
                yield from legacy_range(field, text.strip())


def _balancer_class(spec: Value) -> Iterator[Problem]:
    name = spec.get("loadBalancerClass")
    if name is None:
        return
    if spec.get("type") == _BALANCER:
        yield from texts("spec.loadBalancerClass", name, key_problems(name))
    else:
        yield forbidden_field("spec.loadBalancerClass", _ONLY_BALANCER)


def _traffic(spec: Value) -> Iterator[Problem]:
    policy, field = spec.get("externalTrafficPolicy"), "spec.externalTrafficPolicy"
    if is_external(spec):
        yield from one_of(field, policy, _POLICIES)
    elif policy:
        yield invalid_field(field, policy, "may only be set for externally-accessible services")
    port, field = spec.get("healthCheckNodePort"), "spec.healthCheckNodePort"
    if needs_health_check(spec):
        if port:
            yield from in_range(field, port, 1, 65535)
        else:
            yield required_field(field)
    elif port:
        yield invalid_field(field, port, _LOCAL_BALANCER)
    internal, field = spec.get("internalTrafficPolicy"), "spec.internalTrafficPolicy"
    if internal is None:
        if spec.get("type") in ("NodePort", _BALANCER, "ClusterIP"):
            yield required_field(field)
    elif internal not in _POLICIES:
        yield unsupported_field(field, internal, _POLICIES)
    spread = spec.get("trafficDistribution")
    if spread is not None and spread not in _DISTRIBUTIONS:
        yield unsupported_field("spec.trafficDistribution", spread, _DISTRIBUTIONS, plain=True)


def _warnings(new: Value) -> Iterator[str]:
    spec = new.get("spec") or {}
    kind, external_ips = spec.get("type"), spec.get("externalIPs") or []
    headless = kind == "ClusterIP" and spec.get("clusterIP") == NO_ADDRESS
    if _OLD_HINTS in _annotations(new):
        yield f"annotation {_OLD_HINTS} is deprecated, please use {_MODE} instead"
    if kind != "ExternalName" and spec.get("clusterIP") != NO_ADDRESS:
        for at, ip in enumerate(spec.get("clusterIPs") or ()):
            yield from warnings_of_address(f"spec.clusterIPs[{at}]", ip)
    if headless:
        if spec.get("loadBalancerIP"):
            yield "spec.loadBalancerIP is ignored for headless services"
        if external_ips:
            yield "spec.externalIPs is ignored for headless services"
        if spec.get("sessionAffinity") != "None":
            yield "spec.SessionAffinity is ignored for headless services"
    for at, ip in enumerate(external_ips):
        yield from warnings_of_address(f"spec.externalIPs[{at}]", ip)
    if external_ips and not headless and kind != "ExternalName":
        yield "spec.externalIPs is deprecated and may no longer be implemented in some clusters"
    if spec.get("loadBalancerIP"):
        yield from warnings_of_address("spec.loadBalancerIP", spec["loadBalancerIP"])
    for at, text in enumerate(spec.get("loadBalancerSourceRanges") or ()):
        yield from warnings_of_range(f"spec.loadBalancerSourceRanges[{at}]", text)
    if kind == "ExternalName" and external_ips:
        yield 'spec.externalIPs is ignored when spec.type is "ExternalName"'
    if kind != "ExternalName" and spec.get("externalName"):
        yield 'spec.externalName is ignored when spec.type is not "ExternalName"'
    if spec.get("trafficDistribution") == "PreferClose":
        yield 'spec.trafficDistribution: "PreferClose" is deprecated; use "PreferSameZone"'


CHECKS = {
    "services": Checks(
        create=_create,
        update=_update,
        status=service_status,
        warnings=_warnings,
        status_warnings=status_warnings,
    )
}
