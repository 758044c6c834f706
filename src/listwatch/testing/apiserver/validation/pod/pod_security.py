"""The security context of a pod, and what it shares with its node."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ..checks import Value
from ..names import byte_length
from ..problems import (
    Problem,
    duplicate_field,
    forbidden_field,
    invalid_field,
    required_field,
    unsupported_field,
)
from .containers import containers_of
from .profiles import app_armor_problems, id_problems, seccomp_problems, windows_problems

__all__ = ["host_process_problems", "host_user_problems", "pod_security_problems"]

_LONGEST_SYSCTL = 253
_SEGMENT = "[a-z0-9]([-_a-z0-9]*[a-z0-9])?"
_SYSCTL = rf"({_SEGMENT}[\./])*{_SEGMENT}"
_is_sysctl = re.compile(_SYSCTL).fullmatch
_SYSCTL_TEXT = f"must have at most {_LONGEST_SYSCTL} characters and match regex ^{_SYSCTL}$"
_IPC_NAMES = "sem shmall shmmax shmmni shm_rmid_forced shm msgmax msgmnb msgmni msg"
_OF_IPC = frozenset(f"kernel.{name}" for name in _IPC_NAMES.split())
_SWAPPED = str.maketrans("./", "/.")
_NOT_SHARED = "when `hostUsers` is false"
_ALL_OR_NONE = (
    "If pod contains any hostProcess containers then all containers must be HostProcess containers"
)
_CHANGES = ("Always", "OnRootMismatch")
_SE_LINUX = "seLinuxChangePolicy"
_CHOICES: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("supplementalGroupsPolicy", ("Merge", "Strict")),
    (_SE_LINUX, ("Recursive",)),
)


def pod_security_problems(spec: Value, path: str, old: Value | None = None) -> Iterator[Problem]:
    """What is wrong with the `securityContext` of the spec at `path`, which takes the place of
    `old`.
    """
    context = spec.get("securityContext") or {}
    share = spec.get("shareProcessNamespace")
    if not context and not share:
        return
    here = f"{path}.securityContext"
    for name in ("fsGroup", "runAsUser", "runAsGroup"):
        yield from id_problems(f"{here}.{name}", context.get(name))
    for at, group in enumerate(context.get("supplementalGroups") or ()):
        yield from id_problems(f"{here}.supplementalGroups[{at}]", group)
    if share and spec.get("hostPID"):
        text = "ShareProcessNamespace and HostPID cannot both be enabled"
        yield invalid_field(f"{here}.shareProcessNamespace", share, text)
    yield from _sysctl_problems(context.get("sysctls") or (), f"{here}.sysctls", spec)
    policy = context.get("fsGroupChangePolicy")
    if policy is not None and policy not in _CHANGES:
        yield unsupported_field(f"{here}.fsGroupChangePolicy", policy, _CHANGES)
    yield from seccomp_problems(context.get("seccompProfile"), f"{here}.seccompProfile")
    yield from windows_problems(context.get("windowsOptions"), f"{here}.windowsOptions")
    yield from app_armor_problems(context.get("appArmorProfile"), f"{here}.appArmorProfile")
    for name, supported in _CHOICES:
        choice = context.get(name)
        if choice is not None and choice not in supported:
            before = ((old or {}).get("securityContext") or {}).get(name)
            if name == _SE_LINUX and before is not None:  # the other is taken then
                if choice == "MountOption":
                    continue
                supported = ("MountOption", *supported)
            yield unsupported_field(f"{here}.{name}", choice, supported)


def _sysctl_problems(sysctls: Sequence[Value], path: str, spec: Value) -> Iterator[Problem]:
    names: set[str] = set()
    for at, sysctl in enumerate(sysctls):
        name = sysctl.get("name") or ""
        field = f"{path}[{at}].name"
        if not name:
            yield required_field(field)
        elif byte_length(name) > _LONGEST_SYSCTL or not _is_sysctl(name):
            yield invalid_field(field, name, _SYSCTL_TEXT)
        elif name in names:
            yield duplicate_field(field, name)
        yield from _host_sysctl(field, name, spec)
        names.add(name)


def _host_sysctl(field: str, name: str, spec: Value) -> Iterator[Problem]:
    """One that is the node's, where the pod shares that with it."""
    slash, dot = name.find("/"), name.find(".")
    plain = name.translate(_SWAPPED) if slash >= 0 and (dot < 0 or slash < dot) else name
    plain = plain.partition("*")[0]
    if spec.get("hostNetwork") and plain.startswith("net."):
        yield invalid_field(field, name, "may not be specified when 'hostNetwork' is true")
    elif spec.get("hostIPC") and (plain in _OF_IPC or plain.startswith("fs.mqueue.")):
        yield invalid_field(field, name, "may not be specified when 'hostIPC' is true")


def host_process_problems(spec: Value, path: str) -> Iterator[Problem]:
    """Containers that are processes of a Windows node: all of them, or none."""
    of_pod = ((spec.get("securityContext") or {}).get("windowsOptions") or {}).get("hostProcess")
    count = processes = 0
    for here, container in containers_of(spec, path):
        count += 1
        context = container.get("securityContext")
        options = context.get("windowsOptions") if context else None
        own = options.get("hostProcess") if options else None
        if of_pod is not None and own is not None and own != of_pod:
            text = (
                "pod hostProcess value must be identical if both are specified, was "
                f"{str(of_pod).lower()}"
            )
            yield invalid_field(f"{here}.securityContext.windowsOptions.hostProcess", own, text)
        if own or (own is None and of_pod):
            processes += 1
    if not processes:
        return
    if processes != count:
        yield invalid_field(path, "", _ALL_OR_NONE)
    if not spec.get("hostNetwork"):
        text = "hostNetwork must be true if pod contains any hostProcess containers"
        yield invalid_field(f"{path}.hostNetwork", False, text)


def host_user_problems(spec: Value, path: str) -> Iterator[Problem]:
    """What a pod with users of its own cannot share with its node."""
    if spec.get("hostUsers") is not False:
        return
    for name, told in (
        ("hostNetwork", "hostNetwork"),
        ("hostPID", "HostPID"),
        ("hostIPC", "HostIPC"),
    ):
        if spec.get(name):
            yield forbidden_field(f"{path}.{told}", _NOT_SHARED)
    for here, container in containers_of(spec, path):
        if container.get("volumeDevices"):
            yield forbidden_field(f"{here}.volumeDevices", _NOT_SHARED)
