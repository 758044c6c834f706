"""The containers of a pod: those that run side by side, those before them, and those that are
added later.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ..checks import Value
from ..names import label_name_problems
from ..problems import (
    Problem,
    duplicate_field,
    forbidden_field,
    invalid_field,
    not_found_field,
    required_field,
)
from .container_parts import Surroundings, part_problems
from .handlers import lifecycle_problems, probe_problems
from .images import padding_problems
from .ports import host_port_problems
from .restarts import restart_problems

__all__ = ["container_problems", "containers_of"]

_RUNNING = ("lifecycle", "livenessProbe", "readinessProbe", "startupProbe")
"""What only containers have that are there to stay."""
_NOT_LATER = (
    "ports",
    "resources",
    "resizePolicy",
    "restartPolicy",
    "restartPolicyRules",
    "livenessProbe",
    "readinessProbe",
    "startupProbe",
    "lifecycle",
)
"""What ephemeral containers cannot have."""
_ARE_THERE = frozenset(_NOT_LATER) - {"resources"}
"""Members that are there even if nothing is in them."""


def container_problems(
    spec: Value, path: str, volumes: Mapping[str, Value] | None = None
) -> Iterator[Problem]:
    """What is wrong with the containers of `spec`, which is at `path`. `volumes`: those that are
    valid, by name; if not given, all that have a valid name.
    """
    pod = Surroundings(
        volumes=_named(spec.get("volumes") or ()) if volumes is None else volumes,
        claims=frozenset(
            filter(None, (each.get("name") for each in spec.get("resourceClaims") or ()))
        ),
        grace=spec.get("terminationGracePeriodSeconds"),
        restart_policy=spec.get("restartPolicy"),
        host_users=spec.get("hostUsers") is not False,
    )
    yield from _regular(spec, f"{path}.containers", pod)
    if spec.get("initContainers"):
        yield from _init(spec, f"{path}.initContainers", pod)
    if spec.get("ephemeralContainers"):
        yield from _ephemeral(spec, f"{path}.ephemeralContainers", pod)


def containers_of(spec: Value, path: str) -> Iterator[tuple[str, Value]]:
    """All containers of a spec, each with its path, in the order in which the real server goes
    through them.
    """
    for kind in ("initContainers", "containers", "ephemeralContainers"):
        for at, container in enumerate(spec.get(kind) or ()):
            yield f"{path}.{kind}[{at}]", container


def _named(volumes: Sequence[Value]) -> dict[str, Value]:
    found: dict[str, Value] = {}
    for volume in volumes:
        name = volume.get("name") or ""
        if not any(label_name_problems(name)):
            found.setdefault(name, volume)
    return found


def _names(containers: Sequence[Value] | None) -> set[str]:
    return {container.get("name") or "" for container in containers or ()}


def _regular(spec: Value, path: str, pod: Surroundings) -> Iterator[Problem]:
    containers: Sequence[Value] = spec.get("containers") or ()
    if not containers:
        yield required_field(path)
        return
    names: set[str] = set()
    for at, container in enumerate(containers):
        here = f"{path}[{at}]"
        yield from part_problems(container, here, pod)
        name = container.get("name") or ""
        if name in names:
            yield duplicate_field(f"{here}.name", name)
        names.add(name)
        yield from _running_problems(container, here, pod)
        yield from restart_problems(container, here)
    yield from host_port_problems(containers, path)


def _running_problems(container: Value, path: str, pod: Surroundings) -> Iterator[Problem]:
    lifecycle = container.get("lifecycle")
    if lifecycle is not None:
        yield from lifecycle_problems(lifecycle, f"{path}.lifecycle", pod.grace)
    yield from probe_problems(container, path)


def _init(spec: Value, path: str, pod: Surroundings) -> Iterator[Problem]:
    names = _names(spec.get("containers"))
    for at, container in enumerate(spec["initContainers"]):
        here = f"{path}[{at}]"
        yield from part_problems(container, here, pod)
        yield from restart_problems(container, here, is_init=True)
        name = container.get("name") or ""
        if name in names:
            yield duplicate_field(f"{here}.name", name)
        elif name:
            names.add(name)
        # The real server counts them from 0 each time.
        yield from host_port_problems((container,), path)
        is_sidecar = container.get("restartPolicy") == "Always"
        if is_sidecar:
            yield from _running_problems(container, here, pod)
            continue
        for member in _RUNNING:
            if container.get(member) is not None:
                text = "may not be set for init containers without restartPolicy=Always"
                yield forbidden_field(f"{here}.{member}", text)
        for index, policy in enumerate(container.get("resizePolicy") or ()):
            if policy.get("restartPolicy") == "RestartContainer":
                field = f"{here}.resizePolicy[{index}].restartPolicy"
                text = "must not be set to 'RestartContainer' for non-sidecar initContainers"
                yield invalid_field(field, "RestartContainer", text)


def _ephemeral(spec: Value, path: str, pod: Surroundings) -> Iterator[Problem]:
    text = "cannot be set for an Ephemeral Container"
    others = _names(spec.get("containers")) | _names(spec.get("initContainers"))
    names = set(others)
    for at, container in enumerate(spec["ephemeralContainers"]):
        here = f"{path}[{at}]"
        yield from part_problems(container, here, pod)
        yield from padding_problems(container, here)
        name = container.get("name") or ""
        if name in names:
            yield duplicate_field(f"{here}.name", name)
        names.add(name)
        target = container.get("targetContainerName")
        if target and target not in others:
            yield not_found_field(f"{here}.targetContainerName", target)
        for member in _NOT_LATER:
            value = container.get(member)
            if value or (value is not None and member in _ARE_THERE):
                yield forbidden_field(f"{here}.{member}", text)
        for index, mount in enumerate(container.get("volumeMounts") or ()):
            for member in ("subPath", "subPathExpr"):
                if mount.get(member):
                    yield forbidden_field(f"{here}.volumeMounts[{index}].{member}", text)
