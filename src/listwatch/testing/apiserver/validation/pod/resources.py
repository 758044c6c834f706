"""What containers ask for and what they are limited to."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

from ...types.quantities import quantity_value
from ..basics import NOT_NEGATIVE, texts
from ..checks import Value
from ..names import label_name_problems
from ..problems import (
    Problem,
    duplicate_field,
    forbidden_field,
    invalid_field,
    not_found_field,
    required_field,
    unsupported_field,
)
from .resource_names import (
    container_resource_problems,
    is_counted,
    is_huge_pages,
    may_be_overcommitted,
)

__all__ = ["amount_problems", "amount_value", "resize_problems", "resource_problems"]

_COMPUTE = ("cpu", "memory")
_RESTARTS = ("NotRequired", "RestartContainer")


def resource_problems(
    resources: Value,
    path: str,
    claims: Collection[str] = (),
    name_problems: Callable[[str, str], Iterator[Problem]] = container_resource_problems,
) -> Iterator[Problem]:
    """`resources` at `path`; `claims`: the names of those of the pod. `name_problems` is given a
    field and the name of a resource.
    """
    limits: Mapping[str, Any] = resources.get("limits") or {}
    requests: Mapping[str, Any] = resources.get("requests") or {}
    for name in sorted(limits):
        field = f"{path}.limits[{name}]"
        yield from name_problems(field, name)
        yield from amount_problems(field, name, limits[name])
        yield from _page_problems(field, name, limits[name])
    for name in sorted(requests):
        field = f"{path}.requests[{name}]"
        yield from name_problems(field, name)
        yield from amount_problems(field, name, requests[name])
        yield from _limit_problems(path, name, requests[name], limits.get(name))
        yield from _page_problems(field, name, requests[name])
    names = limits.keys() | requests.keys()
    if any(map(is_huge_pages, names)) and not any(name in names for name in _COMPUTE):
        yield forbidden_field(path, "HugePages require cpu or memory")
    if resources.get("claims"):
        yield from _claim_problems(resources["claims"], f"{path}.claims", claims)


def amount_problems(field: str, name: str, amount: Any) -> Iterator[Problem]:
    """How much there is of the resource `name`."""
    value = amount_value(amount)
    if value.numerator < 0:
        yield invalid_field(field, str(amount), NOT_NEGATIVE)
    if is_counted(name) and math.ceil(value * 1000) % 1000:
        yield invalid_field(field, str(amount), "must be an integer")


def _limit_problems(path: str, name: str, amount: Any, limit: Any) -> Iterator[Problem]:
    """What is asked for beyond what is allowed."""
    flexible = may_be_overcommitted(name)
    if limit is None:
        if not flexible:
            text = "Limit must be set for non overcommitable resources"
            yield required_field(f"{path}.limits", text)
        return
    if amount == limit:
        return
    asked, allowed = amount_value(amount), amount_value(limit)
    if asked != allowed and not flexible:
        text = f"must be equal to {name} limit of {limit}"
        yield invalid_field(f"{path}.requests", str(amount), text)
    elif asked > allowed:
        text = f"must be less than or equal to {name} limit of {limit}"
        yield invalid_field(f"{path}.requests", str(amount), text)


def _page_problems(field: str, name: str, amount: Any) -> Iterator[Problem]:
    """Huge pages come whole."""
    if not is_huge_pages(name):
        return
    try:
        size = quantity_value(name.removeprefix("hugepages-"))
    except ValueError:
        size = Fraction(0)
    # Rounded up, as the real server has whole bytes.
    if size <= 0 or size.denominator != 1 or -(-amount_value(amount) // 1) % size:
        text = f"{amount} is not positive integer multiple of {name}"
        yield invalid_field(field, str(amount), text)


def amount_value(amount: Any) -> Fraction:
    """How much it is; nothing where it is no quantity."""
    try:
        return quantity_value(str(amount))
    except ValueError:  # which is told elsewhere
        return Fraction(0)


def _claim_problems(
    claims: Sequence[Value], path: str, known: Collection[str]
) -> Iterator[Problem]:
    """Claims of the pod, or requests in them, each of them once."""
    seen: set[str] = set()
    for at, claim in enumerate(claims):
        here = f"{path}[{at}]"
        name, request = claim.get("name") or "", claim.get("request") or ""
        if not name:
            yield required_field(here)
            continue
        if name in seen:
            yield duplicate_field(here, name)
        else:
            key = name
            if request:
                yield from texts(f"{here}.request", request, label_name_problems(request))
                key = f"{name}/{request}"
            if key in seen:
                yield duplicate_field(here, key)
            elif not request:
                for _ in filter(lambda other: other.startswith(f"{name}/"), seen):
                    yield duplicate_field(here, name)
            seen.add(key)
        if name not in known:
            yield _unknown_claim(here, name, known)


def _unknown_claim(field: str, name: str, known: Collection[str]) -> Problem:
    names = f": {', '.join(sorted(known))}" if known else " which is empty"
    found = not_found_field(field, name)
    text = f"{found.message}: must be one of the names in pod.spec.resourceClaims{names}"
    return Problem(found.field, found.reason, text)


def resize_problems(
    policies: Sequence[Value], path: str, restart_policy: str | None
) -> Iterator[Problem]:
    """The `resizePolicy` of a container; `restart_policy`: that of its pod."""
    seen: set[str] = set()
    for at, policy in enumerate(policies):
        name, restart = policy.get("resourceName") or "", policy.get("restartPolicy") or ""
        if name in seen:
            yield duplicate_field(f"{path}[{at}]", name)
        seen.add(name)
        for value, supported in ((name, _COMPUTE), (restart, _RESTARTS)):
            if not value:
                yield required_field(path)
            elif value not in supported:
                yield unsupported_field(path, value, supported)
        if restart_policy == "Never" and restart != "NotRequired":
            text = "must be 'NotRequired' when pod `restartPolicy` is 'Never'"
            yield invalid_field(path, restart, text)
