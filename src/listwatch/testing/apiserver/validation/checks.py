"""What is looked at in objects of one type, and how the checks of a type are found."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from typing import Any

from .problems import Problem

__all__ = ["Checks", "Value", "checks_of"]

Value = Mapping[str, Any]


def _nothing(new: Value) -> Iterable[Problem]:
    return ()


def _no_warning(new: Value) -> Iterable[str]:
    return ()


def _nothing_changed(new: Value, old: Value) -> Iterable[Problem]:
    return ()


@dataclass(frozen=True, slots=True)
class Checks:
    """The checks of one type. They are given whole objects with all their defaults, in the version
    of the request, whose members have the right JSON types; a member may always be missing or null.
    Metadata is looked at before them.
    """

    create: Callable[[Value], Iterable[Problem]] = _nothing
    update: Callable[[Value, Value], Iterable[Problem]] | None = None
    """Given the new and the old object. None: as when it is created."""
    status: Callable[[Value, Value], Iterable[Problem]] = _nothing_changed
    """Likewise, in a write of its status."""
    subresources: Mapping[str, Callable[[Value, Value], Iterable[Problem]]] = field(
        default_factory=dict
    )
    """Likewise, in writes of others by their names."""
    metadata: int = 1
    """How often an update has its metadata looked at, and what is wrong with it told."""
    warnings: Callable[[Value], Iterable[str]] = _no_warning
    """What a client is warned of in an object that is accepted."""
    update_warnings: Callable[[Value, Value], Iterable[str]] | None = None
    """Likewise, given the new and the old object. None: as when it is created."""
    status_warnings: Callable[[Value], Iterable[str]] = _no_warning
    """Likewise, of its status, in a write of that."""

    def of_update(self, new: Value, old: Value) -> Iterable[Problem]:
        return self.create(new) if self.update is None else self.update(new, old)

    def of_subresource(self, name: str, new: Value, old: Value) -> Iterable[Problem]:
        check = self.status if name == "status" else self.subresources.get(name, _nothing_changed)
        return check(new, old)

    def of_update_warnings(self, new: Value, old: Value) -> Iterable[str]:
        found = self.update_warnings
        return self.warnings(new) if found is None else found(new, old)


_NONE = Checks()
_STORAGES = {
    "admission.policies": "admissionregistration.k8s.io/mutatingadmissionpolicies "
    "admissionregistration.k8s.io/validatingadmissionpolicies",
    "admission.policy_bindings": "admissionregistration.k8s.io/mutatingadmissionpolicybindings "
    "admissionregistration.k8s.io/validatingadmissionpolicybindings",
    "admission.webhooks": "admissionregistration.k8s.io/mutatingwebhookconfigurations "
    "admissionregistration.k8s.io/validatingwebhookconfigurations",
    "cluster.api_services": "apiregistration.k8s.io/apiservices",
    "cluster.certificates": "certificates.k8s.io/certificatesigningrequests",
    "cluster.events": "events",
    "cluster.flow_control": "flowcontrol.apiserver.k8s.io/flowschemas "
    "flowcontrol.apiserver.k8s.io/prioritylevelconfigurations",
    "cluster.leases": "coordination.k8s.io/leases",
    "cluster.namespaces": "namespaces",
    "cluster.nodes": "nodes",
    "cluster.rbac": "rbac.authorization.k8s.io/clusterrolebindings "
    "rbac.authorization.k8s.io/clusterroles rbac.authorization.k8s.io/rolebindings "
    "rbac.authorization.k8s.io/roles",
    "cluster.runtime_classes": "node.k8s.io/runtimeclasses",
    "configuration.config_maps": "configmaps secrets serviceaccounts",
    "configuration.limits": "limitranges",
    "configuration.quotas": "resourcequotas",
    "configuration.scheduling": "scheduling.k8s.io/priorityclasses",
    "devices.device_slices": "resource.k8s.io/resourceslices",
    "devices.resource_claims": "resource.k8s.io/deviceclasses resource.k8s.io/resourceclaims "
    "resource.k8s.io/resourceclaimtemplates",
    "jobs.cron_jobs": "batch/cronjobs",
    "jobs.jobs": "batch/jobs",
    "network.endpoint_slices": "discovery.k8s.io/endpointslices",
    "network.endpoints": "endpoints",
    "network.ingresses": "networking.k8s.io/ingressclasses networking.k8s.io/ingresses",
    "network.network_policies": "networking.k8s.io/networkpolicies",
    "network.service_ranges": "networking.k8s.io/ipaddresses networking.k8s.io/servicecidrs",
    "network.services": "services",
    "pod.pods": "pods",
    "storage.claims": "persistentvolumeclaims",
    "storage.classes": "storage.k8s.io/storageclasses storage.k8s.io/volumeattachments "
    "storage.k8s.io/volumeattributesclasses",
    "storage.csi": "storage.k8s.io/csidrivers storage.k8s.io/csinodes "
    "storage.k8s.io/csistoragecapacities",
    "storage.persistent_volumes": "persistentvolumes",
    "workloads.autoscaling": "autoscaling/horizontalpodautoscalers",
    "workloads.controller_revisions": "apps/controllerrevisions podtemplates",
    "workloads.daemon_sets": "apps/daemonsets",
    "workloads.deployments": "apps/deployments apps/replicasets replicationcontrollers",
    "workloads.disruption": "policy/poddisruptionbudgets",
    "workloads.stateful_sets": "apps/statefulsets",
}
"""Modules of this package, each loaded when it is needed, and what they have the checks of."""
_MODULES = {
    storage: module for module, storages in _STORAGES.items() for storage in storages.split()
}


@cache
def checks_of(storage: str) -> Checks:
    """The checks of a type; there are none for custom ones, which have schemas."""
    module = _MODULES.get(storage)
    if module is None:
        return _NONE
    found: Checks = import_module(f".{module}", __package__).CHECKS.get(storage, _NONE)
    return found
