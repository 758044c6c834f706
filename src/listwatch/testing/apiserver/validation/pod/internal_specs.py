"""Pods' specs and templates as the real server shows them, which is not as they are sent."""

from __future__ import annotations

from typing import Any

from ..checks import Value
from ..internal_values import internal

__all__ = ["internal_pod_spec", "internal_template"]

_MOVED = ("HostNetwork", "HostPID", "HostIPC", "ShareProcessNamespace", "HostUsers")
"""Members of the spec that are in its security context inside."""
_ORDERS = {
    "spec": """Volumes InitContainers Containers EphemeralContainers RestartPolicy
        TerminationGracePeriodSeconds ActiveDeadlineSeconds DNSPolicy NodeSelector
        ServiceAccountName AutomountServiceAccountToken NodeName SecurityContext ImagePullSecrets
        Hostname Subdomain SetHostnameAsFQDN Affinity SchedulerName Tolerations HostAliases
        PriorityClassName Priority PreemptionPolicy DNSConfig ReadinessGates RuntimeClassName
        Overhead EnableServiceLinks TopologySpreadConstraints OS SchedulingGates ResourceClaims
        Resources HostnameOverride SchedulingGroup""",
    "security": """SELinuxOptions WindowsOptions RunAsUser RunAsGroup RunAsNonRoot
        SupplementalGroups SupplementalGroupsPolicy FSGroup FSGroupChangePolicy Sysctls
        SeccompProfile AppArmorProfile SELinuxChangePolicy""",
    "volume": """Name HostPath EmptyDir GCEPersistentDisk AWSElasticBlockStore GitRepo Secret NFS
        ISCSI Glusterfs PersistentVolumeClaim RBD Quobyte FlexVolume Cinder CephFS Flocker
        DownwardAPI FC AzureFile ConfigMap VsphereVolume AzureDisk PhotonPersistentDisk Projected
        PortworxVolume ScaleIO StorageOS CSI Ephemeral Image""",
}
_IN_ORDER = {name: tuple(text.split()) for name, text in _ORDERS.items()}


def internal_pod_spec(spec: Value) -> dict[str, Any]:
    """With the names and in the order of the Go struct."""
    found = internal("core.v1.PodSpec", spec)
    security = found.get("SecurityContext")
    if security is not None:
        order = {name: security[name] for name in _IN_ORDER["security"]}
        found["SecurityContext"] = {**{name: found[name] for name in _MOVED}, **order}
    volumes = found["Volumes"]
    if volumes:
        found["Volumes"] = [{name: each[name] for name in _IN_ORDER["volume"]} for each in volumes]
    return {name: found[name] for name in _IN_ORDER["spec"]}


def internal_template(template: Value) -> dict[str, Any]:
    """With the members of its metadata, which is no member itself."""
    metadata = template.get("metadata") or {}
    return {**metadata, "Spec": internal_pod_spec(template.get("spec") or {})}
