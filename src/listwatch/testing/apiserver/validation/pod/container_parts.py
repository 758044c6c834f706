"""What is asked of every container, of whichever kind it is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ..basics import name_at
from ..checks import Value
from ..problems import Problem, required_field, unsupported_field
from .container_security import security_problems
from .env import env_from_problems, env_problems
from .images import image_problems, pull_policy_problems
from .mounts import device_problems, mount_problems
from .ports import port_problems
from .resources import resize_problems, resource_problems

__all__ = ["Surroundings", "part_problems"]

_MESSAGES = ("File", "FallbackToLogsOnError")


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a pod says that matters to its containers."""

    volumes: Mapping[str, Value]
    """Those that are valid, by name."""
    claims: frozenset[str]
    """The names of its resource claims."""
    grace: int | None
    """How many seconds it has to end."""
    restart_policy: str | None
    host_users: bool
    """Whether its users are those of the node."""


def part_problems(container: Value, path: str, pod: Surroundings) -> Iterator[Problem]:
    """What is wrong with a container, in the order in which the real server looks."""
    yield from name_at(f"{path}.name", container.get("name"))
    yield from image_problems(container, path)
    policy = container.get("terminationMessagePolicy")
    if not policy:
        yield required_field(f"{path}.terminationMessagePolicy")
    elif policy not in _MESSAGES:
        yield unsupported_field(f"{path}.terminationMessagePolicy", policy, _MESSAGES)
    if ports := container.get("ports"):
        yield from port_problems(ports, f"{path}.ports")
    if variables := container.get("env"):
        yield from env_problems(variables, f"{path}.env")
    if sources := container.get("envFrom"):
        yield from env_from_problems(sources, f"{path}.envFrom")
    yield from mount_problems(container, f"{path}.volumeMounts", pod.volumes)
    yield from device_problems(container, f"{path}.volumeDevices", pod.volumes)
    yield from pull_policy_problems(container, path)
    if resources := container.get("resources"):
        yield from resource_problems(resources, f"{path}.resources", pod.claims)
    if policies := container.get("resizePolicy"):
        yield from resize_problems(policies, f"{path}.resizePolicy", pod.restart_policy)
    context = container.get("securityContext")
    yield from security_problems(context, f"{path}.securityContext", host_users=pod.host_users)
