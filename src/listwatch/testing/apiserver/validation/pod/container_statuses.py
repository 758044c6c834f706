"""What the status of a pod may say of its containers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..checks import Value
from ..problems import (
    Problem,
    duplicate_field,
    forbidden_field,
    invalid_field,
    required_field,
    too_long,
    unsupported_field,
)
from .profiles import id_problems

__all__ = ["allocated_problems", "restart_problems", "user_problems"]

_SPECS = {"containerStatuses": "containers", "initContainerStatuses": "initContainers"}
_EPHEMERAL = "ephemeralContainerStatuses"
_HEALTH = ("Healthy", "Unhealthy", "Unknown")
_LONGEST_MESSAGE = 1024
_CLAIM = "claim:"
_NO_CLAIM = (
    "must match one of the container's resource claims in a format 'claim:<claimName>/<request>' "
    "or 'claim:<claimName>' if request is empty"
)
_NO_REQUEST = "must match one of the container's resource requests"


def restart_problems(
    new: Sequence[Value], old: Sequence[Value], kind: str, spec: Value
) -> Iterator[Problem]:
    """Containers that ended for good, and run again."""
    if kind != _EPHEMERAL and _all_may_restart(spec):
        return
    running = [status.get("name") or "" for status in new if _ended(status) is None]
    for at, status in enumerate(old):
        ended = _ended(status)
        name = status.get("name") or ""
        if ended is None or name not in running:
            continue
        if kind == _EPHEMERAL:
            count = running.count(name)
        else:
            count = not _may_restart(name, kind, spec, ended.get("exitCode") or 0)
        for _ in range(count):
            text = "may not be transitioned to non-terminated state"
            yield forbidden_field(f"status.{kind}[{at}].state", text)


def _ended(status: Value) -> Value | None:
    found: Value | None = (status.get("state") or {}).get("terminated")
    return found


def _all_may_restart(spec: Value) -> bool:
    return any(
        rule.get("action") == "RestartAllContainers"
        for kind in _SPECS.values()
        for container in spec.get(kind) or ()
        for rule in container.get("restartPolicyRules") or ()
    )


def _may_restart(name: str, kind: str, spec: Value, code: int) -> bool:
    container = _named(name, kind, spec)
    if container is None:
        return False
    policy = container.get("restartPolicy")
    if policy is not None:
        for rule in container.get("restartPolicyRules") or ():
            codes = rule.get("exitCodes")
            if codes is not None:
                found = code in (codes.get("values") or ())
                if found == (codes.get("operator") == "In"):
                    if rule.get("action") in ("Restart", "RestartAllContainers"):
                        return True
                    break
    for known in (policy, spec.get("restartPolicy")):
        if known in ("Always", "OnFailure", "Never"):
            return bool(known == "Always" or (known == "OnFailure" and code != 0))
    return True


def _named(name: str, kind: str, spec: Value) -> Value | None:
    containers: Sequence[Value] = spec.get(_SPECS[kind]) or ()
    return next((each for each in containers if (each.get("name") or "") == name), None)


def user_problems(statuses: Sequence[Value], kind: str, spec: Value) -> Iterator[Problem]:
    """Who runs a container."""
    system = (spec.get("os") or {}).get("name") or "linux"
    for at, status in enumerate(statuses):
        linux = (status.get("user") or {}).get("linux")
        if linux is None:
            continue
        path = f"status.{kind}[{at}].user.linux"
        if system == "windows":
            yield forbidden_field(path, "cannot be set for a windows pod")
        elif system == "linux":
            for name in ("uid", "gid"):
                yield from id_problems(f"{path}.{name}", linux.get(name) or 0)
            for index, group in enumerate(linux.get("supplementalGroups") or ()):
                yield from id_problems(f"{path}.supplementalGroups[{index}]", group)


def allocated_problems(statuses: Sequence[Value], kind: str, spec: Value) -> Iterator[Problem]:
    """The health of what a container was given."""
    for at, status in enumerate(statuses):
        path = f"status.{kind}[{at}].allocatedResourcesStatus"
        allocated = status.get("allocatedResourcesStatus") or ()
        if kind == _EPHEMERAL:
            if allocated:
                yield forbidden_field(path, "must not be specified in container status")
            continue
        container = _named(status.get("name") or "", kind, spec)
        for index, resource in enumerate(allocated):
            here = f"{path}[{index}]"
            if container is not None:
                yield from _given(resource.get("name") or "", container, f"{here}.name")
            yield from _health(resource.get("resources") or (), f"{here}.resources")


def _given(name: str, container: Value, field: str) -> Iterator[Problem]:
    resources = container.get("resources") or {}
    if not name.startswith(_CLAIM):
        if name not in (resources.get("requests") or ()):
            yield invalid_field(field, name, _NO_REQUEST)
        return
    claims = resources.get("claims") or ()
    names = {
        _CLAIM + "/".join(filter(None, (claim.get("name"), claim.get("request"))))
        for claim in claims
    }
    if name not in names:
        yield invalid_field(field, name, _NO_CLAIM)


def _health(resources: Sequence[Value], path: str) -> Iterator[Problem]:
    seen: set[str] = set()
    for at, resource in enumerate(resources):
        here = f"{path}[{at}]"
        health, message = resource.get("health") or "", resource.get("message")
        if health not in _HEALTH:
            yield unsupported_field(f"{here}.health", health, _HEALTH)
        if message is not None:
            if not message:
                yield required_field(f"{here}.message", "must be non-empty if specified")
            elif len(message.encode()) > _LONGEST_MESSAGE:
                yield too_long(f"{here}.message", _LONGEST_MESSAGE)
        identity = resource.get("resourceID") or ""
        if identity in seen:
            yield duplicate_field(f"{here}.resourceID", identity)
        seen.add(identity)
