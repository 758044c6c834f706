"""The controllers by name, as kube-controller-manager's `--controllers` knows them."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from typing import TYPE_CHECKING

from listwatch.api import ListWatchError

if TYPE_CHECKING:
    from .controller import Controller

__all__ = ["CONTROLLERS", "UnknownController", "controller_classes", "controller_names"]

_MODULES = {
    "serviceaccount": "service_accounts:ServiceAccounts",
    "root-ca-certificate-publisher": "root_ca:RootCertificates",
    "namespace": "namespaces:Namespaces",
    "garbage-collector": "garbage_collector:GarbageCollector",
    "deployment": "deployments:Deployments",
    "replicaset": "replica_sets:ReplicaSets",
    "replicationcontroller": "replication_controllers:ReplicationControllers",
    "statefulset": "stateful_sets:StatefulSets",
    "daemonset": "daemon_sets:DaemonSets",
    "job": "jobs:Jobs",
    "cronjob": "cron_jobs:CronJobs",
    "ttl-after-finished": "ttl_after_finished:FinishedJobs",
    "endpoints": "endpoints:EndpointsOfServices",
    "endpointslice": "endpoint_slices:EndpointSlices",
    "disruption": "disruption:Disruptions",
    "resourcequota": "resource_quotas:ResourceQuotas",
    "clusterrole-aggregation": "cluster_roles:AggregatedRoles",
    "persistentvolumeclaim-protection": "storage_protection:ClaimProtection",
    "persistentvolume-protection": "storage_protection:VolumeProtection",
    "volumeattributesclass-protection": "storage_protection:AttributesClassProtection",
    "node-lifecycle": "node_lifecycle:NodeLifecycle",
    "taint-eviction": "taint_eviction:TaintEviction",
    "pod-garbage-collector": "pod_gc:PodCollector",
    "kubelet": "kubelet:Kubelets",
}
CONTROLLERS: tuple[str, ...] = tuple(_MODULES)
"""All of them. `kubelet` is none of kube-controller-manager's: it schedules pods and runs them."""
_ALIASES = {
    "garbagecollector": "garbage-collector",
    "root-ca-cert-publisher": "root-ca-certificate-publisher",
    "pvc-protection": "persistentvolumeclaim-protection",
    "pv-protection": "persistentvolume-protection",
    "nodelifecycle": "node-lifecycle",
    "podgc": "pod-garbage-collector",
}


class UnknownController(ListWatchError, ValueError):
    """There is no controller of that name here."""


def controller_names(names: Iterable[str]) -> tuple[str, ...]:
    """The controllers that are meant, each once, in an order of our own; `*` and `all` mean all. A
    name may end in `-controller`. Raises `UnknownController`.
    """
    wanted: set[str] = set()
    for name in names:
        if name in ("*", "all"):
            wanted.update(CONTROLLERS)
            continue
        short = name.strip().removesuffix("-controller")
        short = _ALIASES.get(short, short)
        if short not in _MODULES:
            known = ", ".join(CONTROLLERS)
            raise UnknownController(f"there is no controller {name!r}; there are {known}")
        wanted.add(short)
    return tuple(name for name in CONTROLLERS if name in wanted)


def controller_classes(names: Iterable[str]) -> list[type[Controller]]:
    """Their classes. Raises `UnknownController`."""
    return [_load(_MODULES[name]) for name in controller_names(names)]


def _load(place: str) -> type[Controller]:
    module, _, name = place.partition(":")
    found: type[Controller] = getattr(import_module(f".{module}", __package__), name)
    return found
