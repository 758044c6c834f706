"""Which columns a table of a kind has.

They are kubectl's, with the node of a pod and the address of a node added, for servers that make no
tables of their own. Each cell is a function of the object, in the form of its JSON, and of the
present, which is passed in.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple, TypeAlias

from listwatch.api.cells import network, storage
from listwatch.api.cells import workloads as workload
from listwatch.api.cells.pods import pod_ready, pod_restarts, pod_status
from listwatch.api.cells.reading import (
    NONE,
    UNKNOWN,
    UNSET,
    Obj,
    age,
    at,
    condition,
    items,
    mapping,
    span,
    text,
    time_at,
)

from .printable import printable

__all__ = ["COLUMNS", "Column", "cells", "columns_for"]

Cell: TypeAlias = Callable[[Obj, datetime], str]


class Column(NamedTuple):
    header: str
    cell: Cell


def _at(*path: str, default: str = NONE) -> Cell:
    return lambda obj, now: text(obj, *path, default=default)


def _count(*path: str) -> Cell:
    return lambda obj, now: text(obj, *path, default="0")


def _size(*paths: str) -> Cell:
    return lambda obj, now: str(sum(len(mapping(obj, path)) for path in paths))


NAME = Column("NAME", _at("metadata", "name"))
AGE = Column("AGE", lambda obj, now: age(obj, now))
NAMESPACE = Column("NAMESPACE", _at("metadata", "namespace"))


def _node_status(node: Obj, now: datetime) -> str:
    ready = text(condition(node, "Ready"), "status")
    state = {"": "Unknown", "True": "Ready"}.get(ready, "NotReady")
    return f"{state},SchedulingDisabled" if at(node, "spec", "unschedulable") is True else state


def _node_roles(node: Obj, now: datetime) -> str:
    prefix = "node-role.kubernetes.io/"
    roles = set()
    for label, value in mapping(node, "metadata", "labels").items():
        role = label.removeprefix(prefix) if label.startswith(prefix) else ""
        if label == "kubernetes.io/role":
            role = str(value)
        if role:
            roles.add(role)
    return ",".join(sorted(roles)) or NONE


def _node_address(node: Obj, now: datetime) -> str:
    for found in items(node, "status", "addresses"):
        if text(found, "type") == "InternalIP":
            return text(found, "address", default=NONE)
    return NONE


def _event_seen(event: Obj, now: datetime) -> str:
    for path in (
        ("series", "lastObservedTime"),
        ("lastTimestamp",),
        ("deprecatedLastTimestamp",),
        ("firstTimestamp",),
        ("deprecatedFirstTimestamp",),
        ("eventTime",),
    ):
        if time := time_at(event, *path):
            return span(time, now)
    return UNKNOWN


def _event_object(event: Obj, now: datetime) -> str:
    about = mapping(event, "involvedObject") or mapping(event, "regarding")
    return f"{text(about, 'kind').lower()}/{text(about, 'name')}"


def _event_message(event: Obj, now: datetime) -> str:
    return (text(event, "message") or text(event, "note")).strip()


_EVENTS = (
    Column("LAST SEEN", _event_seen),
    Column("TYPE", _at("type", default="")),
    Column("REASON", _at("reason", default="")),
    Column("OBJECT", _event_object),
    Column("MESSAGE", _event_message),
)

_REPLICAS = (
    NAME,
    Column("DESIRED", _count("spec", "replicas")),
    Column("CURRENT", _count("status", "replicas")),
    Column("READY", _count("status", "readyReplicas")),
    AGE,
)

COLUMNS: Mapping[tuple[str, str], Sequence[Column]] = {
    ("", "Pod"): (
        NAME,
        Column("READY", pod_ready),
        Column("STATUS", pod_status),
        Column("RESTARTS", pod_restarts),
        AGE,
        Column("NODE", _at("spec", "nodeName")),
    ),
    ("", "Node"): (
        NAME,
        Column("STATUS", _node_status),
        Column("ROLES", _node_roles),
        AGE,
        Column("VERSION", _at("status", "nodeInfo", "kubeletVersion", default="")),
        Column("INTERNAL-IP", _node_address),
    ),
    ("", "Namespace"): (NAME, Column("STATUS", _at("status", "phase", default="")), AGE),
    ("", "Service"): (
        NAME,
        Column("TYPE", _at("spec", "type")),
        Column("CLUSTER-IP", _at("spec", "clusterIP")),
        Column("EXTERNAL-IP", network.service_external),
        Column("PORT(S)", network.service_ports),
        AGE,
    ),
    ("", "Endpoints"): (NAME, Column("ENDPOINTS", network.endpoints), AGE),
    ("", "ConfigMap"): (NAME, Column("DATA", _size("data", "binaryData")), AGE),
    ("", "Secret"): (
        NAME,
        Column("TYPE", _at("type", default="")),
        Column("DATA", _size("data")),
        AGE,
    ),
    ("", "ServiceAccount"): (NAME, AGE),
    ("", "Event"): _EVENTS,
    ("events.k8s.io", "Event"): _EVENTS,
    ("", "ReplicationController"): _REPLICAS,
    ("", "PersistentVolumeClaim"): (
        NAME,
        Column("STATUS", storage.claim_status),
        Column("VOLUME", _at("spec", "volumeName", default="")),
        Column("CAPACITY", storage.claim_capacity),
        Column("ACCESS MODES", storage.claim_access_modes),
        Column("STORAGECLASS", _at("spec", "storageClassName", default="")),
        Column("VOLUMEATTRIBUTESCLASS", _at("spec", "volumeAttributesClassName", default=UNSET)),
        AGE,
    ),
    ("", "PersistentVolume"): (
        NAME,
        Column("CAPACITY", _at("spec", "capacity", "storage", default="")),
        Column("ACCESS MODES", storage.volume_access_modes),
        Column("RECLAIM POLICY", _at("spec", "persistentVolumeReclaimPolicy", default="")),
        Column("STATUS", storage.volume_status),
        Column("CLAIM", storage.volume_claim),
        Column("STORAGECLASS", _at("spec", "storageClassName", default="")),
        Column("VOLUMEATTRIBUTESCLASS", _at("spec", "volumeAttributesClassName", default=UNSET)),
        Column("REASON", _at("status", "reason", default="")),
        AGE,
    ),
    ("apps", "Deployment"): (
        NAME,
        Column("READY", workload.ready_of_wanted),
        Column("UP-TO-DATE", _count("status", "updatedReplicas")),
        Column("AVAILABLE", _count("status", "availableReplicas")),
        AGE,
    ),
    ("apps", "ReplicaSet"): _REPLICAS,
    ("apps", "StatefulSet"): (NAME, Column("READY", workload.ready_of_wanted), AGE),
    ("apps", "DaemonSet"): (
        NAME,
        Column("DESIRED", _count("status", "desiredNumberScheduled")),
        Column("CURRENT", _count("status", "currentNumberScheduled")),
        Column("READY", _count("status", "numberReady")),
        Column("UP-TO-DATE", _count("status", "updatedNumberScheduled")),
        Column("AVAILABLE", _count("status", "numberAvailable")),
        Column("NODE SELECTOR", workload.node_selector),
        AGE,
    ),
    ("batch", "Job"): (
        NAME,
        Column("STATUS", workload.job_status),
        Column("COMPLETIONS", workload.job_completions),
        Column("DURATION", workload.job_duration),
        AGE,
    ),
    ("batch", "CronJob"): (
        NAME,
        Column("SCHEDULE", _at("spec", "schedule", default="")),
        Column("TIMEZONE", _at("spec", "timeZone")),
        Column("SUSPEND", workload.cron_suspended),
        Column("ACTIVE", workload.cron_active),
        Column("LAST SCHEDULE", workload.cron_last),
        AGE,
    ),
    ("networking.k8s.io", "Ingress"): (
        NAME,
        Column("CLASS", _at("spec", "ingressClassName")),
        Column("HOSTS", network.ingress_hosts),
        Column("ADDRESS", network.ingress_address),
        Column("PORTS", network.ingress_ports),
        AGE,
    ),
    ("discovery.k8s.io", "EndpointSlice"): (
        NAME,
        Column("ADDRESSTYPE", _at("addressType", default="")),
        Column("PORTS", network.slice_ports),
        Column("ENDPOINTS", network.slice_endpoints),
        AGE,
    ),
    ("coordination.k8s.io", "Lease"): (
        NAME,
        Column("HOLDER", _at("spec", "holderIdentity", default="")),
        AGE,
    ),
    ("apiextensions.k8s.io", "CustomResourceDefinition"): (
        NAME,
        Column("CREATED AT", _at("metadata", "creationTimestamp", default="")),
    ),
}
"""By API group and kind."""

_DEFAULT: Sequence[Column] = (NAME, AGE)


def columns_for(group: str, kind: str, *, with_namespace: bool) -> Sequence[Column]:
    """The columns of a kind; name and age where we know no better."""
    columns = COLUMNS.get((group, kind), _DEFAULT)
    return (NAMESPACE, *columns) if with_namespace else columns


def cells(columns: Sequence[Column], obj: Obj, now: datetime) -> list[str]:
    """One row: what an object has in each column, each on one line and printable."""
    return [_shown(column.cell(obj, now)) for column in columns]


def _shown(cell: str) -> str:
    """A message may hold any character: kubectl shows its first line only, and so do we."""
    if cell.isprintable():
        return cell
    line, *more = cell.splitlines() or [""]
    return f"{printable(line)}..." if any(more) else printable(line)
