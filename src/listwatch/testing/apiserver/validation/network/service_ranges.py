"""The checks of IPAddresses and ServiceCIDRs: addresses of Services, and where they are from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..basics import IMMUTABLE, immutable, texts
from ..checks import Checks, Value
from ..internal_values import internal
from ..names import path_segment_problems, subdomain_problems
from ..problems import Problem, invalid_field, required_field
from .addresses import canonical_range_problems, range_of

__all__ = ["CHECKS"]

_CIDRS = "spec.cidrs"
_PARENT = "spec.parentRef"


def _parent(value: Value) -> Value | None:
    found: Value | None = (value.get("spec") or {}).get("parentRef")
    return found


def _address(new: Value) -> Iterator[Problem]:
    parent = _parent(new)
    if parent is None:
        yield required_field(_PARENT)
        return
    if parent.get("group"):
        yield from texts(f"{_PARENT}.group", parent["group"], subdomain_problems(parent["group"]))
    for member in ("resource", "name", "namespace"):
        found = parent.get(member)
        if found:
            yield from texts(f"{_PARENT}.{member}", found, path_segment_problems(found))
        elif member != "namespace":
            yield required_field(f"{_PARENT}.{member}")


def _changed_address(new: Value, old: Value) -> Iterator[Problem]:
    yield from _address(new)
    parent = _parent(new)
    for _ in immutable(_PARENT, parent, _parent(old)):
        shown = None if parent is None else internal("networking.v1.ParentReference", parent)
        yield invalid_field(_PARENT, shown, IMMUTABLE)


def _ranges(value: Value) -> Sequence[str]:
    found: Sequence[str] = (value.get("spec") or {}).get("cidrs") or []
    return found


def _range(new: Value) -> Iterator[Problem]:
    ranges = _ranges(new)
    if not ranges:
        yield required_field(_CIDRS, "at least one CIDR required")
        return
    if len(ranges) > 2:
        yield invalid_field(_CIDRS, {"CIDRs": ranges}, "may only hold up to 2 values")
        return
    for at, text in enumerate(ranges):
        yield from canonical_range_problems(f"{_CIDRS}[{at}]", text)
    found = [range_of(text) for text in ranges]
    if len(found) == 2 and all(found):
        families = {each.first.version for each in found if each is not None}
        if len(families) == 1:
            text = (
                "may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and "
                "2001:db8::/64"
            )
            yield invalid_field(_CIDRS, ranges, text)


def _changed_range(new: Value, old: Value) -> Iterator[Problem]:
    """Nothing may change, but that one of the other family comes after the first."""
    before, after = _ranges(old), _ranges(new)
    if len(before) == len(after):
        for at, (was, text) in enumerate(zip(before, after, strict=True)):
            yield from immutable(f"{_CIDRS}[{at}]", text, was)
    elif len(before) == 1 and len(after) == 2:
        yield from immutable(f"{_CIDRS}[0]", after[0], before[0])
        yield from _range(new)
    else:
        shown = (new.get("spec") or {}).get("cidrs")
        yield invalid_field(_CIDRS, shown, IMMUTABLE)


CHECKS = {
    "networking.k8s.io/ipaddresses": Checks(create=_address, update=_changed_address, metadata=2),
    "networking.k8s.io/servicecidrs": Checks(create=_range, update=_changed_range),
}
