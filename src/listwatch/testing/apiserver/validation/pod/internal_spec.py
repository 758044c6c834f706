"""The spec of a pod as the real server has it inside, which is what it shows of one.

Its structs there are those that are sent, but for some names, the order of a few members, and what
a pod shares with its node: that is in the security context there.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..checks import Value
from ..internal_values import internal

__all__ = ["internal_container", "internal_pod_spec"]

_SHARED = ("HostNetwork", "HostPID", "HostIPC", "ShareProcessNamespace", "HostUsers")
_FIRST = """
    Volumes InitContainers Containers EphemeralContainers RestartPolicy
    TerminationGracePeriodSeconds ActiveDeadlineSeconds DNSPolicy NodeSelector ServiceAccountName
    AutomountServiceAccountToken NodeName SecurityContext ImagePullSecrets Hostname Subdomain
    SetHostnameAsFQDN Affinity SchedulerName Tolerations HostAliases PriorityClassName Priority
    PreemptionPolicy DNSConfig ReadinessGates RuntimeClassName Overhead EnableServiceLinks
""".split
_NAMES = {
    "Glusterfs": {"Endpoints": "EndpointsName"},
    "RBD": {
        "Monitors": "CephMonitors",
        "Image": "RBDImage",
        "Pool": "RBDPool",
        "User": "RadosUser",
    },
}


def internal_pod_spec(spec: Value) -> dict[str, Any]:
    """A pod's spec, with its defaults."""
    shown = internal("core.v1.PodSpec", spec)
    context = _context(shown)
    del shown["ServiceAccount"]
    shown["SecurityContext"] = context
    if shown["Volumes"]:
        shown["Volumes"] = [_volume(volume) for volume in shown["Volumes"]]
    first = {name: shown.pop(name) for name in _FIRST()}
    return {**first, **shown}


def internal_container(container: Value) -> dict[str, Any]:
    """An ephemeral container."""
    shown: dict[str, Any] = internal("core.v1.EphemeralContainer", container)
    return shown


def _context(shown: dict[str, Any]) -> dict[str, Any]:
    shared = {name: shown.pop(name) for name in _SHARED}
    own = shown["SecurityContext"] or internal("core.v1.PodSecurityContext", {})
    sysctls = own.pop("Sysctls")
    made = dict(shared)
    for name, value in own.items():
        made[name] = value
        if name == "FSGroupChangePolicy":
            made["Sysctls"] = sysctls
    return made


def _volume(shown: dict[str, Any]) -> dict[str, Any]:
    quobyte = shown.pop("Quobyte")
    made: dict[str, Any] = {}
    for name, source in shown.items():
        special = _SPECIAL.get(name)
        made[name] = special(source) if special and source is not None else source
        if name == "RBD":
            made["Quobyte"] = quobyte
    return made


def _renamed(names: dict[str, str]) -> Callable[[dict[str, Any]], dict[str, Any]]:
    return lambda source: {names.get(name, name): value for name, value in source.items()}


def _ephemeral(source: dict[str, Any]) -> dict[str, Any]:
    template = source["VolumeClaimTemplate"]
    if template is None:
        return source
    metadata, spec = template["Metadata"], template["Spec"]
    return {**source, "VolumeClaimTemplate": {**metadata, "Spec": spec}}


def _projected(source: dict[str, Any]) -> dict[str, Any]:
    for projection in source["Sources"] or ():
        token = projection["ServiceAccountToken"]
        if token is not None and token["ExpirationSeconds"] is None:
            token["ExpirationSeconds"] = 0
    return source


_SPECIAL: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
    **{name: _renamed(names) for name, names in _NAMES.items()},
    "Ephemeral": _ephemeral,
    "Projected": _projected,
}
