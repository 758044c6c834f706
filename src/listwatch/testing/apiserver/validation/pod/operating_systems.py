"""What a pod may say if it says for which operating system it is."""

from __future__ import annotations

from collections.abc import Iterator

from ..checks import Value
from ..problems import Problem, forbidden_field, required_field, unsupported_field
from .containers import containers_of

__all__ = ["operating_system_problems"]

_NAMES = ("linux", "windows")
_OF_LINUX = "windows options cannot be set for a linux pod"
_OF_WINDOWS = "cannot be set for a windows pod"
_NOT_IN_POD = (
    ("securityContext", "appArmorProfile"),
    ("securityContext", "seLinuxOptions"),
    ("", "hostUsers"),
    ("", "hostPID"),
    ("", "hostIPC"),
    ("securityContext", "seccompProfile"),
    ("securityContext", "fsGroup"),
    ("securityContext", "fsGroupChangePolicy"),
    ("securityContext", "sysctls"),
    ("", "shareProcessNamespace"),
    ("securityContext", "runAsUser"),
    ("securityContext", "runAsGroup"),
    ("securityContext", "supplementalGroups"),
    ("securityContext", "supplementalGroupsPolicy"),
    ("securityContext", "seLinuxChangePolicy"),
)
_NOT_IN_CONTAINER = (
    "appArmorProfile",
    "seLinuxOptions",
    "seccompProfile",
    "capabilities",
    "readOnlyRootFilesystem",
    "privileged",
    "allowPrivilegeEscalation",
    "procMount",
    "runAsUser",
    "runAsGroup",
)
_FALSE_IS_NOTHING = frozenset({"hostPID", "hostIPC", "sysctls"})


def operating_system_problems(spec: Value, path: str) -> Iterator[Problem]:
    """What is wrong with `os`, and what only another system has."""
    system = spec.get("os")
    if system is None:
        return
    name = system.get("name") or ""
    if not name:
        yield required_field(f"{path}.os.name")
    elif name not in _NAMES:
        yield unsupported_field(f"{path}.os", name, _NAMES)
    elif name == "linux":
        yield from _linux(spec, path)
    else:
        yield from _windows(spec, path)


def _linux(spec: Value, path: str) -> Iterator[Problem]:
    if (spec.get("securityContext") or {}).get("windowsOptions") is not None:
        yield forbidden_field(f"{path}.securityContext.windowsOptions", _OF_LINUX)
    for here, container in containers_of(spec, path):
        if (container.get("securityContext") or {}).get("windowsOptions") is not None:
            yield forbidden_field(f"{here}.securityContext.windowsOptions", _OF_LINUX)


def _windows(spec: Value, path: str) -> Iterator[Problem]:
    context = spec.get("securityContext") or {}
    for place, name in _NOT_IN_POD:
        value = (context if place else spec).get(name)
        if value if name in _FALSE_IS_NOTHING else value is not None:
            yield forbidden_field(
                f"{path}.{place}.{name}" if place else f"{path}.{name}", _OF_WINDOWS
            )
    for here, container in containers_of(spec, path):
        own = container.get("securityContext") or {}
        for name in _NOT_IN_CONTAINER:
            if own.get(name) is not None:
                yield forbidden_field(f"{here}.securityContext.{name}", _OF_WINDOWS)
