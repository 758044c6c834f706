"""Which address families a Service gets, in a cluster that has IPv4 alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..validation.network.addresses import is_ipv6
from ..validation.network.service_addresses import NO_ADDRESS, address_problems
from ..validation.problems import Problem, invalid_field

__all__ = ["choose_families"]

Spec = dict[str, Any]

_HERE = "IPv4"
_OTHER = {"IPv4": "IPv6", "IPv6": "IPv4"}
_POLICY = "spec.ipFamilyPolicy"


def _stays_as_it_is(spec: Mapping[str, Any], old: Mapping[str, Any] | None) -> bool:
    """Whether a Service that prefers both families stays as it is, whatever the cluster has."""
    return (
        old is not None
        and spec.get("type") == old.get("type") != "ExternalName"
        and spec.get("ipFamilyPolicy") == "PreferDualStack"
        and old.get("ipFamilyPolicy") in (None, "PreferDualStack")
        and (spec.get("clusterIPs") or []) == (old.get("clusterIPs") or [])
        and (spec.get("ipFamilies") or []) == (old.get("ipFamilies") or [])
    )


def choose_families(spec: Spec, old: Mapping[str, Any] | None) -> list[Problem]:
    """Fill in policy and families; what is wrong with those that are there already."""
    if spec.get("type") == "ExternalName" or _stays_as_it_is(spec, old):
        return []
    no_selector = spec.get("clusterIP") == NO_ADDRESS and not spec.get("selector")
    if spec.get("ipFamilyPolicy") is None:
        policy = (old or {}).get("ipFamilyPolicy")
        spec["ipFamilyPolicy"] = policy or ("RequireDualStack" if no_selector else "SingleStack")
    problems = list(address_problems(spec, old))
    if problems:
        return problems
    problems = _released(spec, old) + _too_many(spec)
    families = list(spec.get("ipFamilies") or ())
    ips: Sequence[str] = spec.get("clusterIPs") or ()
    for at, ip in enumerate(ips):
        if ip == NO_ADDRESS:
            break
        if at >= len(families):
            family = "IPv6" if is_ipv6(ip) else _HERE
            if family == _HERE:
                families.append(family)
            else:
                text = f"{family} is not configured on this cluster"
                problems.append(invalid_field(f"spec.clusterIPs[{at}]", ips, text))
    if problems:
        return problems
    if no_selector:
        families = families or [_HERE]
        if len(families) < 2 and spec["ipFamilyPolicy"] != "SingleStack":
            families.append(_OTHER[families[0]])
    else:
        if spec["ipFamilyPolicy"] == "RequireDualStack":
            text = "this cluster is not configured for dual-stack services"
            problems.append(invalid_field(_POLICY, spec["ipFamilyPolicy"], text))
        for at, family in enumerate(families):
            if family != _HERE:
                text = "not configured on this cluster"
                problems.append(invalid_field(f"spec.ipFamilies[{at}]", family, text))
        families = families or [_HERE]
    if not problems:
        spec["ipFamilies"] = families
    return problems


def _released(spec: Spec, old: Mapping[str, Any] | None) -> list[Problem]:
    """Give up the second ones where that is asked for; otherwise they stay."""
    if old is None:
        return []
    problems = []
    for name, what in (("clusterIPs", "cluster IP"), ("ipFamilies", "IP family")):
        before, after = old.get(name) or [], spec.get(name) or []
        if spec["ipFamilyPolicy"] == "SingleStack":
            if before == after and len(after) > 1:
                spec[name] = after[:1]
        elif after and len(after) < len(before):
            text = f"must be 'SingleStack' to release the secondary {what}"
            problems.append(invalid_field(_POLICY, spec["ipFamilyPolicy"], text))
    return problems


def _too_many(spec: Spec) -> list[Problem]:
    if spec["ipFamilyPolicy"] != "SingleStack":
        return []
    return [
        invalid_field(
            _POLICY,
            "SingleStack",
            f"must be 'RequireDualStack' or 'PreferDualStack' when multiple {what} are specified",
        )
        for name, what in (("clusterIPs", "cluster IPs"), ("ipFamilies", "IP families"))
        if len(spec.get(name) or ()) == 2
    ]
