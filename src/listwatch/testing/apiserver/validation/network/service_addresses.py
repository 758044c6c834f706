"""`clusterIP`, `clusterIPs`, `ipFamilies` and `ipFamilyPolicy` of a Service: what fits together,
and what must stay.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..checks import Value
from ..problems import Problem, duplicate_field, invalid_field, required_field, unsupported_field
from .addresses import is_ipv6, legacy_address

__all__ = ["NO_ADDRESS", "address_problems", "is_headless", "kept_addresses", "kept_families"]

NO_ADDRESS = "None"
_FAMILIES = ("IPv4", "IPv6")
_POLICIES = ("PreferDualStack", "RequireDualStack", "SingleStack")
_SET_ONCE = "may not change once set"
_IPS = "spec.clusterIPs"
_FAMILY = "spec.ipFamilies"
_POLICY = "spec.ipFamilyPolicy"


def is_headless(spec: Value) -> bool:
    return spec.get("clusterIPs") == [NO_ADDRESS]


def address_problems(spec: Value, old: Value | None) -> Iterator[Problem]:
    """What does not fit together; `old`: the spec before, if there was one."""
    if spec.get("type") == "ExternalName":
        return
    ips, families = spec.get("clusterIPs") or [], spec.get("ipFamilies") or []
    yield from _same_first(spec.get("clusterIP"), spec.get("clusterIPs"))
    for at, family in enumerate(families):
        if family not in _FAMILIES:
            yield unsupported_field(f"{_FAMILY}[{at}]", family, _FAMILIES)
        if family in families[:at]:
            yield duplicate_field(f"{_FAMILY}[{at}]", family)
    policy = spec.get("ipFamilyPolicy")
    if policy is not None and policy not in _POLICIES:
        yield unsupported_field(_POLICY, policy, _POLICIES)

    known = (old or {}).get("clusterIPs") or ()
    sound = True
    for at, ip in enumerate(ips):
        if at == 0 and ip == NO_ADDRESS:
            if len(ips) > 1:
                sound = False
                yield invalid_field(_IPS, ips, "'None' must be the first and only value")
            continue
        for problem in legacy_address(f"{_IPS}[{at}]", ip, known):
            sound = False
            yield problem
    if len(ips) > 2:
        yield invalid_field(_IPS, ips, "may only hold up to 2 values")
    if not sound:
        return
    if len(ips) > 1 and len({is_ipv6(ip) for ip in ips}) < 2:
        yield invalid_field(_IPS, ips, "may specify no more than one IP for each IP family")
    if not is_headless(spec):
        for at, (ip, family) in enumerate(zip(ips, families, strict=False)):
            if family in _FAMILIES and (family == "IPv6") != is_ipv6(ip):
                text = f"expected an {family} value as indicated by `ipFamilies[{at}]`"
                yield invalid_field(f"{_IPS}[{at}]", ip, text)


def _same_first(ip: str | None, ips: Any) -> Iterator[Problem]:
    if not ip:
        if ips:
            yield invalid_field(_IPS, ips, "must be empty when `clusterIP` is not specified")
    elif not ips:
        yield required_field(_IPS)
    elif ips[0] != ip:
        yield invalid_field(_IPS, ips, "first value must match `clusterIP`")


def kept_addresses(spec: Value, old: Value) -> Iterator[Problem]:
    """Addresses that an update takes away or changes."""
    if "ExternalName" in (spec.get("type"), old.get("type")):
        return
    if is_headless(spec) and is_headless(old):
        return
    before, after = old.get("clusterIPs") or [], spec.get("clusterIPs") or []
    shown = spec.get("clusterIPs")
    if len(before) == len(after):
        for at, (was, ip) in enumerate(zip(before, after, strict=True)):
            if was != ip:
                yield invalid_field(f"{_IPS}[{at}]", shown, _SET_ONCE)
        return
    if not after:
        yield invalid_field(f"{_IPS}[0]", shown, "primary clusterIP can not be unset")
    if before and after and before[0] != after[0]:
        yield invalid_field(f"{_IPS}[0]", shown, _SET_ONCE)
    if len(before) > len(after) == 1:
        yield from _single_stack(spec, "clusterIP")


def kept_families(spec: Value, old: Value) -> Iterator[Problem]:
    """Likewise of their families. The real server shows the addresses where the first family
    changes.
    """
    if "ExternalName" in (spec.get("type"), old.get("type")):
        return
    if is_headless(spec) or is_headless(old):
        return
    before, after = old.get("ipFamilies") or [], spec.get("ipFamilies") or []
    shown = spec.get("ipFamilies")
    if len(before) == len(after):
        for was, family in zip(before, after, strict=True):
            if was != family:
                yield invalid_field(f"{_FAMILY}[0]", shown, _SET_ONCE)
        return
    if len(before) > len(after) and not spec.get("clusterIPs"):
        yield invalid_field(f"{_FAMILY}[0]", shown, "primary ipFamily can not be unset")
    if before and after and before[0] != after[0]:
        yield invalid_field(f"{_FAMILY}[0]", spec.get("clusterIPs"), _SET_ONCE)
    if len(before) > len(after) == 1:
        yield from _single_stack(spec, "ipFamily")


def _single_stack(spec: Value, what: str) -> Iterator[Problem]:
    policy = spec.get("ipFamilyPolicy")
    if policy != "SingleStack":
        text = f"must be set to 'SingleStack' when releasing the secondary {what}"
        yield invalid_field(_POLICY, policy, text)
