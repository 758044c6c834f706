"""What a client is warned of in containers that are accepted."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ..basics import byte_warnings
from ..checks import Value
from ..problems import go_quoted
from .annotations import APP_ARMOR, SECCOMP_CONTAINER
from .containers import containers_of
from .profiles import annotated_profile

__all__ = ["container_warnings"]


def container_warnings(spec: Value, path: str, metadata: Value | None = None) -> Iterator[str]:
    """The warnings about the containers of `spec`, which is at `path`; `metadata`: that of the pod
    or of the template.
    """
    annotations = (metadata or {}).get("annotations") or {}
    ports = False
    for at, container in containers_of(spec, path):
        if annotations:
            yield from _annotation_warnings(container, spec, path, annotations)
        if container.get("resources"):
            yield from _byte_warnings(container["resources"], f"{at}.resources")
        yield from _variable_warnings(container, at)
        ports = ports or bool(container.get("ports"))
    if ports:
        yield from _port_warnings(spec, path)
        yield from _port_name_warnings(spec, path)


def _annotation_warnings(
    container: Value, spec: Value, path: str, annotations: Value
) -> Iterator[str]:
    """Profiles that are told in annotations, where nothing looks any more."""
    context = container.get("securityContext") or {}
    name = container.get("name") or ""
    of_template, _, _ = path.rpartition("spec")
    key = SECCOMP_CONTAINER + name
    if key in annotations and context.get("seccompProfile") is None:
        yield (
            f"{of_template}metadata.annotations[{key}]: non-functional in v1.27+; use the "
            '"seccompProfile" field instead'
        )
    key = APP_ARMOR + name
    # Those of pods are told when they are created.
    if of_template and key in annotations and context.get("appArmorProfile") is None:
        profile = (spec.get("securityContext") or {}).get("appArmorProfile")
        if profile is None or profile != annotated_profile(annotations[key]):
            yield (
                f"{of_template}metadata.annotations[{key}]: deprecated since v1.30; use the "
                '"appArmorProfile" field instead'
            )


def _byte_warnings(resources: Value, path: str) -> Iterator[str]:
    """Parts of bytes."""
    for name in ("memory", "ephemeral-storage"):
        for side in ("limits", "requests"):
            amount = (resources.get(side) or {}).get(name)
            if amount is not None:
                yield from byte_warnings(f"{path}.{side}[{name}]", str(amount))


def _variable_warnings(container: Value, path: str) -> Iterator[str]:
    """Variables that take the place of others of the same name, without making use of them."""
    variables = container.get("env") or ()
    if len(variables) < 2:
        return
    seen: set[str] = set()
    for at, variable in enumerate(variables):
        name, value = variable.get("name") or "", variable.get("value") or ""
        if name not in seen:
            seen.add(name)
            continue
        reference = f"$({name})"
        if variable.get("valueFrom") is not None or value == reference or reference not in value:
            yield (
                f"{path}.env[{at}]: hides previous definition of {go_quoted(name)}, which may be "
                "dropped when using apply"
            )


@dataclass(frozen=True, slots=True)
class _Port:
    path: str
    ip: str
    host: int


def _port_warnings(spec: Value, path: str) -> Iterator[str]:
    """Ports that are in each other's way."""
    found: dict[tuple[int, str], list[_Port]] = {}
    for here, each in _ports(spec, path):
        port = _Port(here, each.get("hostIP") or "", each.get("hostPort") or 0)
        number, protocol = each.get("containerPort") or 0, each.get("protocol") or ""
        if port.ip and not port.host:
            yield (
                f"{here}: hostIP set without hostPort: {{Name:{each.get('name') or ''} HostPort:0 "
                f"ContainerPort:{number} Protocol:{protocol} HostIP:{port.ip}}}"
            )
        others = found.setdefault((number, protocol), [])
        for other in others:
            if (port.ip, port.host) == (other.ip, other.host):
                yield f"{here}: duplicate port definition with {other.path}"
            elif not port.host or not other.host:
                yield f"{here}: overlapping port definition with {other.path}"
            elif port.host == other.host and bool(port.ip) != bool(other.ip):
                yield f"{here}: dangerously ambiguous port definition with {other.path}"
        others.append(port)


def _port_name_warnings(spec: Value, path: str) -> Iterator[str]:
    """Names by which nobody can tell which port is meant."""
    first: dict[str, str] = {}
    for here, port in _ports(spec, path):
        name = port.get("name")
        if name and first.setdefault(name, here) != here:
            other = first[name]
            yield (
                f"{here}: duplicate port name {go_quoted(name)} with {other}, services and probes "
                f"that select ports by name will use {other}"
            )


def _ports(spec: Value, path: str) -> Iterator[tuple[str, Value]]:
    for at, container in containers_of(spec, path):
        for index, port in enumerate(container.get("ports") or ()):
            yield f"{at}.ports[{index}]", port
