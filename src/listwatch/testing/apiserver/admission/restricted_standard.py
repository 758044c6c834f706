"""What no pod of the standard `restricted` does, besides."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from .judged_pods import (
    Finding,
    JudgedPod,
    added_capabilities,
    any_proc_mount,
    setters,
    wrong_seccomp,
)
from .standard_texts import containers_text, joined, many

__all__ = ["RESTRICTED"]

_VOLUMES = (
    *("configMap", "csi", "downwardAPI", "emptyDir", "ephemeral", "image"),
    *("persistentVolumeClaim", "projected", "secret"),
)


def _escalation(pod: JudgedPod) -> Iterator[Finding]:
    if pod.minor < 8 or pod.is_windows:
        return
    names = pod.those(lambda context: context.get("allowPrivilegeEscalation") is not False)
    if names:
        text = f"{containers_text(names)} must set securityContext.allowPrivilegeEscalation=false"
        yield Finding("allowPrivilegeEscalation != false", text)


def _few_capabilities(pod: JudgedPod) -> Iterator[Finding]:
    if pod.minor < 22 or pod.is_windows:
        return
    names = pod.those(
        lambda context: "ALL" not in ((context.get("capabilities") or {}).get("drop") or ())
    )
    said = []
    if names:
        text = 'must set securityContext.capabilities.drop=["ALL"]'
        said.append(f"{containers_text(names)} {text}")
    added = added_capabilities(pod, {"NET_BIND_SERVICE"})
    if added:
        said.append(added)
    if said:
        yield Finding("unrestricted capabilities", "; ".join(said))


def _own_proc_mount(pod: JudgedPod) -> Iterator[Finding]:
    if pod.minor >= 35:
        yield from any_proc_mount(pod)


def _volume_types(pod: JudgedPod) -> Iterator[Finding]:
    names, types = [], set()
    for volume in pod.spec.get("volumes") or ():
        given = [name for name, found in volume.items() if name != "name" and found is not None]
        if not any(name in _VOLUMES for name in given):
            names.append(volume.get("name") or "")
            types.add(given[0] if given else "unknown")
    if names:
        uses = "uses" if len(names) == 1 else "use"
        shown = f"{many('restricted volume type', len(types))} {joined(sorted(types))}"
        text = f"{many('volume', len(names))} {joined(names)} {uses} {shown}"
        yield Finding("restricted volume types", text)


def _non_root(pod: JudgedPod) -> Iterator[Finding]:
    if pod.has_own_users:
        return
    who = setters(pod, lambda context: context.get("runAsNonRoot") is False)
    reason = "runAsNonRoot != true"
    if who:
        yield Finding(reason, f"{who} must not set securityContext.runAsNonRoot=false")
    elif not pod.context.get("runAsNonRoot"):
        names = pod.those(lambda context: context.get("runAsNonRoot") is None)
        if names:
            text = f"pod or {containers_text(names)} must set securityContext.runAsNonRoot=true"
            yield Finding(reason, text)


def _user(pod: JudgedPod) -> Iterator[Finding]:
    if pod.minor < 23 or pod.has_own_users:
        return
    who = setters(pod, lambda context: context.get("runAsUser") == 0)
    if who:
        yield Finding("runAsUser=0", f"{who} must not set runAsUser=0")


def _some_seccomp(pod: JudgedPod) -> Iterator[Finding]:
    if pod.minor < 19 or pod.is_windows:
        return
    wrong = list(wrong_seccomp(pod))
    yield from wrong
    if not wrong and pod.context.get("seccompProfile") is None:
        names = pod.those(lambda context: context.get("seccompProfile") is None)
        if names:
            text = (
                f"pod or {containers_text(names)} must set securityContext.seccompProfile.type to "
                '"RuntimeDefault" or "Localhost"'
            )
            yield Finding("seccompProfile", text)


RESTRICTED: tuple[Callable[[JudgedPod], Iterator[Finding]], ...] = (
    _escalation,
    _few_capabilities,
    _own_proc_mount,
    _volume_types,
    _non_root,
    _user,
    _some_seccomp,
)
