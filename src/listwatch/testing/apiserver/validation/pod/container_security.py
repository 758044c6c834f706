"""The security contexts of containers."""

from __future__ import annotations

from collections.abc import Iterator

from ..checks import Value
from ..internal_values import internal
from ..problems import Problem, invalid_field, unsupported_field
from .profiles import app_armor_problems, id_problems, seccomp_problems, windows_problems

__all__ = ["security_problems"]

_PROC_MOUNTS = ("Default", "Unmasked")


def security_problems(
    context: Value | None, path: str, *, host_users: bool = True
) -> Iterator[Problem]:
    """A `securityContext`; `host_users`: whether its pod's users are those of the node.
    Privileged containers are allowed, as in clusters that anybody has.
    """
    if not context:
        return
    yield from id_problems(f"{path}.runAsUser", context.get("runAsUser"))
    yield from id_problems(f"{path}.runAsGroup", context.get("runAsGroup"))
    mount = context.get("procMount")
    if mount is not None:
        if mount not in _PROC_MOUNTS:
            yield unsupported_field(f"{path}.procMount", mount, _PROC_MOUNTS)
        elif mount == "Unmasked" and host_users:
            text = "`hostUsers` must be false to use `Unmasked`"
            yield invalid_field(f"{path}.procMount", mount, text)
    yield from seccomp_problems(context.get("seccompProfile"), f"{path}.seccompProfile")
    if context.get("allowPrivilegeEscalation") is False:
        yield from _escalation_problems(context, path)
    yield from windows_problems(context.get("windowsOptions"), f"{path}.windowsOptions")
    yield from app_armor_problems(context.get("appArmorProfile"), f"{path}.appArmorProfile")


def _escalation_problems(context: Value, path: str) -> Iterator[Problem]:
    """What a container that may not get more rights has already."""
    shown = internal("core.v1.SecurityContext", context)
    text = "cannot set `allowPrivilegeEscalation` to false and "
    if context.get("privileged"):
        yield invalid_field(path, shown, f"{text}`privileged` to true")
    for name in (context.get("capabilities") or {}).get("add") or ():
        if name == "CAP_SYS_ADMIN":
            yield invalid_field(path, shown, f"{text}`capabilities.Add` CAP_SYS_ADMIN")
