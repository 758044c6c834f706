"""What the status of a pod may say of its claims for devices."""

from __future__ import annotations

from collections.abc import Iterator

from ..basics import texts
from ..checks import Value
from ..names import label_name_problems, subdomain_problems
from ..problems import Problem, duplicate_field, invalid_field, required_field

__all__ = ["claim_status_problems", "extended_claim_problems"]

_NO_RESOURCE = (
    "must match the extended resource name of an entry in spec.initContainers.resources.requests "
    "or spec.containers.resources.requests"
)
_NO_CONTAINER = (
    "must match the name of an entry in spec.initContainers.name or spec.containers.name"
)


def claim_status_problems(status: Value, spec: Value) -> Iterator[Problem]:
    """The claims that were made for those of the spec."""
    known = {claim.get("name") or "" for claim in spec.get("resourceClaims") or ()}
    seen: set[str] = set()
    for at, claim in enumerate(status.get("resourceClaimStatuses") or ()):
        path = f"status.resourceClaimStatuses[{at}]"
        name = claim.get("name") or ""
        if name not in known:
            text = "must match the name of an entry in `spec.resourceClaims`"
            yield invalid_field(f"{path}.name", name, text)
        if name in seen:
            yield duplicate_field(f"{path}.name", name)
        seen.add(name)
        made = claim.get("resourceClaimName")
        if made is not None:
            yield from texts(f"{path}.resourceClaimName", made, subdomain_problems(made))


def extended_claim_problems(status: Value | None, spec: Value) -> Iterator[Problem]:
    """The claim that stands for extended resources."""
    if status is None:
        return
    path = "status.extendedResourceClaimStatus"
    containers = {
        container.get("name") or "": container
        for kind in ("initContainers", "containers")
        for container in spec.get(kind) or ()
    }
    mappings = status.get("requestMappings") or ()
    if not mappings:
        yield required_field(f"{path}.requestMappings", "at least one request mapping is required")
    seen: set[tuple[str, str, str]] = set()
    for at, mapping in enumerate(mappings):
        here = f"{path}.requestMappings[{at}]"
        key = tuple(
            mapping.get(name) or "" for name in ("containerName", "resourceName", "requestName")
        )
        container, resource, request = key
        if container not in containers:
            yield invalid_field(f"{here}.containerName", container, _NO_CONTAINER)
        elif resource not in ((containers[container].get("resources") or {}).get("requests") or ()):
            yield invalid_field(f"{here}.resourceName", resource, _NO_RESOURCE)
        yield from texts(f"{path}.requestName", request, label_name_problems(request))
        if key in seen:
            yield duplicate_field(f"{here}.containerName", container)
            yield duplicate_field(f"{here}.resourceName", resource)
            yield duplicate_field(f"{here}.requestName", request)
        seen.add((container, resource, request))
    name = status.get("resourceClaimName") or ""
    if not name:
        yield required_field(f"{path}.resourceClaimName")
    else:
        yield from texts(f"{path}.resourceClaimName", name, subdomain_problems(name))
