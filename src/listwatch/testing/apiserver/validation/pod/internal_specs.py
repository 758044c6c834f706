"""Pods' specs and templates as the real server has them inside, which is what it shows of them.

The structs there are those that are sent, but for the order of a few members, and for what a pod
shares with its node: that is in the security context there.
"""

from __future__ import annotations

from typing import Any

from ..checks import Value
from ..internal_values import internal

__all__ = ["internal_container", "internal_pod_spec", "internal_template"]

_SHARED = ("HostNetwork", "HostPID", "HostIPC", "ShareProcessNamespace", "HostUsers")
_NAMES = """
    Volumes InitContainers Containers EphemeralContainers RestartPolicy
    TerminationGracePeriodSeconds ActiveDeadlineSeconds DNSPolicy NodeSelector ServiceAccountName
    AutomountServiceAccountToken NodeName SecurityContext ImagePullSecrets Hostname Subdomain
    SetHostnameAsFQDN Affinity SchedulerName Tolerations HostAliases PriorityClassName Priority
    PreemptionPolicy DNSConfig ReadinessGates RuntimeClassName Overhead EnableServiceLinks
"""
_FIRST = tuple(_NAMES.split())
"""The members of the spec up to those that are in the same order anyway."""


def internal_pod_spec(spec: Value) -> dict[str, Any]:
    """A pod's spec, with its defaults."""
    shown = internal("core.v1.PodSpec", spec)
    context = _context(shown)
    del shown["ServiceAccount"]
    shown["SecurityContext"] = context
    if shown["Volumes"]:
        shown["Volumes"] = [_volume(volume) for volume in shown["Volumes"]]
    first = {name: shown.pop(name) for name in _FIRST}
    return {**first, **shown}


def internal_template(template: Value) -> dict[str, Any]:
    """A template of pods. Its metadata is no member of it there, but is told member by member."""
    metadata = template.get("metadata") or {}
    return {**metadata, "Spec": internal_pod_spec(template.get("spec") or {})}


def internal_container(container: Value) -> dict[str, Any]:
    """An ephemeral container."""
    shown: dict[str, Any] = internal("core.v1.EphemeralContainer", container)
    return shown


def _context(shown: dict[str, Any]) -> dict[str, Any]:
    shared = {name: shown.pop(name) for name in _SHARED}
    own = shown["SecurityContext"] or internal("core.v1.PodSecurityContext", {})
    return shared | _after(own, "FSGroupChangePolicy", "Sysctls")


def _volume(shown: dict[str, Any]) -> dict[str, Any]:
    for projection in (shown["Projected"] or {}).get("Sources") or ():
        token = projection["ServiceAccountToken"]
        if token is not None and token["ExpirationSeconds"] is None:
            token["ExpirationSeconds"] = 0
    return _after(shown, "RBD", "Quobyte")


def _after(shown: dict[str, Any], place: str, name: str) -> dict[str, Any]:
    """The members with one of them behind another one."""
    made: dict[str, Any] = {}
    for each, value in shown.items():
        if each != name:
            made[each] = value
        if each == place:
            made[name] = shown[name]
    return made
