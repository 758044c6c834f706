"""What a pod asks for as a whole, beside what its containers ask for."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from ...defaulting.pod_totals import summed
from ..checks import Value
from ..problems import Problem, forbidden_field, invalid_field, unsupported_field
from .resource_names import is_huge_pages, resource_name_problems
from .resources import amount_value, resource_problems

__all__ = ["pod_resource_problems"]

_SUPPORTED = ("cpu", "hugepages-", "memory")


def pod_resource_problems(spec: Value, path: str, claims: Collection[str]) -> Iterator[Problem]:
    """What is wrong with the `resources` of the spec at `path`; `claims`: the names of its own."""
    resources = spec.get("resources")
    if resources is None:
        return
    here = f"{path}.resources"
    if (spec.get("os") or {}).get("name") == "windows":
        yield forbidden_field(here, "may not be set for a windows pod")
        return
    if resources.get("claims") is not None:
        text = "claims may not be set for Resources at pod-level"
        yield forbidden_field(f"{here}.claims", text)
    yield from resource_problems(resources, here, claims, _name_problems)
    yield from _against_containers(spec, resources, here)


def _name_problems(field: str, name: str) -> Iterator[Problem]:
    wrong = list(resource_name_problems(field, name))
    yield from wrong
    if not wrong and not name.startswith(_SUPPORTED[1]) and name not in _SUPPORTED:
        yield unsupported_field(field, name, _SUPPORTED)


def _against_containers(spec: Value, resources: Value, path: str) -> Iterator[Problem]:
    requests, limits = resources.get("requests") or {}, resources.get("limits") or {}
    for name, total in sorted(summed(spec, "requests").items()):
        if name in requests and amount_value(total) > amount_value(requests[name]):
            text = f"must be greater than or equal to aggregate container requests of {total}"
            yield invalid_field(f"{path}.requests[{name}]", requests[name], text)
    for name, total in sorted(summed(spec, "limits").items()):
        wanted = is_huge_pages(name) and name in limits
        if wanted and amount_value(total) > amount_value(limits[name]):
            text = f"must be greater than or equal to aggregate container limits of {total}"
            yield invalid_field(f"{path}.limits[{name}]", limits[name], text)
    for at, container in enumerate(spec.get("containers") or ()):
        own = (container.get("resources") or {}).get("limits") or {}
        for name, amount in sorted(own.items()):
            if name in limits and amount_value(amount) > amount_value(limits[name]):
                text = f"must be less than or equal to pod limits of {limits[name]}"
                field = f"{path}.containers[{at}][{name}].limits"
                yield invalid_field(field, amount, text)
