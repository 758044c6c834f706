"""The spec of a pod: what is wrong with it, in the order in which the real server looks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from ..basics import in_range, label_map, texts
from ..checks import Value
from ..names import label_name_problems, subdomain_problems
from ..problems import (
    Problem,
    invalid_field,
    required_field,
    unsupported_field,
)
from .affinity import affinity_problems
from .containers import container_problems
from .dns import (
    dns_config_problems,
    dns_policy_problems,
    host_alias_problems,
    hostname_override_problems,
)
from .env import file_volume_problems
from .operating_systems import operating_system_problems
from .pod_resources import pod_resource_problems
from .pod_security import (
    host_process_problems,
    host_user_problems,
    pod_security_problems,
)
from .resources import resource_problems
from .scheduling import (
    gate_problems,
    readiness_gate_problems,
    resource_claim_problems,
    spread_problems,
)
from .tolerations import toleration_problems
from .volumes import valid_volumes

__all__ = ["pod_spec_problems"]

_RESTARTS = ("Always", "OnFailure", "Never")
_PREEMPTIONS = ("PreemptLowerPriority", "Never")
_LONGEST_RUN = (1 << 31) - 1

NameProblems = Callable[[str], Iterable[str]]


def pod_spec_problems(
    spec: Value, path: str, metadata: Value | None = None, old: Value | None = None
) -> Iterator[Problem]:
    """What is wrong with `spec`, which is at `path` ("spec", "spec.template.spec"). `metadata`: of
    the pod, where it is one; templates have none. `old`: the spec that it takes the place of.
    """
    if spec.get("terminationGracePeriodSeconds") is None:
        yield required_field(f"{path}.terminationGracePeriodSeconds")
    volumes, problems = valid_volumes(spec.get("volumes"), f"{path}.volumes", metadata)
    yield from problems
    claims = spec.get("resourceClaims")
    if claims:
        yield from resource_claim_problems(claims, f"{path}.resourceClaims", metadata)
    yield from container_problems(spec, path, {volume["name"]: volume for volume in volumes})
    if spec.get("resources"):
        names = {claim["name"] for claim in claims or () if claim.get("name")}
        yield from pod_resource_problems(spec, path, names)
    if spec.get("hostNetwork"):
        yield from _host_port_problems(spec, path, in_pod=metadata is not None)
    policy = spec.get("restartPolicy") or ""
    yield from _choice(f"{path}.restartPolicy", policy, _RESTARTS)
    dns = spec.get("dnsPolicy") or ""
    yield from dns_policy_problems(dns, f"{path}.dnsPolicy")
    yield from label_map(f"{path}.nodeSelector", spec.get("nodeSelector"))
    yield from pod_security_problems(spec, path, old)
    yield from affinity_problems(spec.get("affinity"), f"{path}.affinity")
    yield from dns_config_problems(spec.get("dnsConfig"), dns, f"{path}.dnsConfig")
    yield from readiness_gate_problems(spec.get("readinessGates"), f"{path}.readinessGates")
    yield from gate_problems(spec.get("schedulingGates"), f"{path}.schedulingGates")
    yield from spread_problems(
        spec.get("topologySpreadConstraints"), f"{path}.topologySpreadConstraints"
    )
    yield from host_process_problems(spec, path)
    yield from host_user_problems(spec, path)
    yield from hostname_override_problems(spec, path)
    yield from _name_problems(spec, path, ("serviceAccountName", "nodeName"), subdomain_problems)
    yield from in_range(
        f"{path}.activeDeadlineSeconds", spec.get("activeDeadlineSeconds"), 1, _LONGEST_RUN
    )
    yield from _name_problems(spec, path, ("hostname", "subdomain"), label_name_problems)
    yield from toleration_problems(spec.get("tolerations"), f"{path}.tolerations")
    yield from host_alias_problems(spec.get("hostAliases"), f"{path}.hostAliases")
    yield from _name_problems(spec, path, ("priorityClassName",), subdomain_problems)
    yield from _last_problems(spec, path)


def _choice(field: str, value: str, supported: Sequence[str]) -> Iterator[Problem]:
    """One of some words, which are named in this order."""
    if not value:
        yield required_field(field)
    elif value not in supported:
        yield unsupported_field(field, value, supported)


def _name_problems(
    spec: Value, path: str, members: Sequence[str], problems: NameProblems
) -> Iterator[Problem]:
    for member in members:
        name = spec.get(member)
        if name:
            yield from texts(f"{path}.{member}", name, problems(name))


def _host_port_problems(spec: Value, path: str, *, in_pod: bool) -> Iterator[Problem]:
    """In the network of the node a port is the node's: a template may leave that to its pods."""
    for index, container in enumerate(spec.get("containers") or ()):
        for at, port in enumerate(container.get("ports") or ()):
            host, own = port.get("hostPort") or 0, port.get("containerPort") or 0
            if (in_pod or host) and host != own:
                text = "must match `containerPort` when `hostNetwork` is true"
                yield invalid_field(f"{path}.containers[{index}].ports[{at}].hostPort", host, text)


def _last_problems(spec: Value, path: str) -> Iterator[Problem]:
    """What few pods say."""
    name = spec.get("runtimeClassName")
    if name is not None:
        yield from texts(f"{path}.runtimeClassName", name, subdomain_problems(name))
    policy = spec.get("preemptionPolicy")
    if policy is not None:
        yield from _choice(f"{path}.preemptionPolicy", policy, _PREEMPTIONS)
    if spec.get("overhead"):
        yield from resource_problems({"limits": spec["overhead"]}, f"{path}.overhead")
    yield from operating_system_problems(spec, path)
    for kind in ("initContainers", "containers", "ephemeralContainers"):
        yield from file_volume_problems(
            spec.get(kind) or (), f"{path}.{kind}", spec.get("volumes") or ()
        )
