"""Pods, and what makes pods."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from listwatch.api.cells.pods import PodState
from listwatch.api.cells.reading import NONE, Obj, age, at, items, mapping, number, text
from listwatch.api.cells.workloads import cron_last, job_completions, job_duration, job_status

from .printer import (
    AGE,
    NAME,
    WORKLOAD,
    Column,
    Printer,
    Printers,
    container_cells,
    label_text,
    name_of,
    selector_text,
    whole,
    wide,
    yes_or_no,
)

__all__ = ["PRINTERS"]

_POD = ("spec", "template", "spec")
_ENDED = {
    "Succeeded": "The pod has completed successfully.",
    "Failed": "The pod failed.",
}


def _pod(pod: Obj, now: datetime) -> list[Any]:
    state = PodState.of(pod)
    addresses = items(pod, "status", "podIPs")
    return [
        name_of(pod),
        state.of_all,
        state.reason,
        state.restarts_text(now),
        age(pod, now),
        (text(addresses[0], "ip") if addresses else text(pod, "status", "podIP")) or NONE,
        text(pod, "spec", "nodeName", default=NONE),
        text(pod, "status", "nominatedNodeName", default=NONE),
        _gates(pod),
    ]


def _gates(pod: Obj) -> str:
    gates = items(pod, "spec", "readinessGates")
    if not gates:
        return NONE
    states: dict[str, str] = {}
    for condition in items(pod, "status", "conditions"):
        states.setdefault(text(condition, "type"), text(condition, "status"))
    open_gates = sum(states.get(text(gate, "conditionType")) == "True" for gate in gates)
    return f"{open_gates}/{len(gates)}"


def _pod_conditions(pod: Obj) -> list[dict[str, str]]:
    phase = text(pod, "status", "phase")
    if phase not in _ENDED:
        return []
    return [{"type": "Completed", "status": "True", "reason": phase, "message": _ENDED[phase]}]


def _template(obj: Obj, now: datetime) -> list[Any]:
    return [
        name_of(obj),
        *container_cells(obj, "template", "spec"),
        label_text(mapping(obj, "template", "metadata", "labels")),
    ]


def _replicas(obj: Obj, now: datetime) -> list[Any]:
    return [
        name_of(obj),
        number(obj, "spec", "replicas"),
        number(obj, "status", "replicas"),
        number(obj, "status", "readyReplicas"),
        age(obj, now),
        *container_cells(obj, *_POD),
    ]


def _replication_controller(obj: Obj, now: datetime) -> list[Any]:
    return [*_replicas(obj, now), label_text(mapping(obj, "spec", "selector"))]


def _replica_set(obj: Obj, now: datetime) -> list[Any]:
    return [*_replicas(obj, now), _selector(obj)]


def _deployment(obj: Obj, now: datetime) -> list[Any]:
    return [
        name_of(obj),
        _ready(obj),
        number(obj, "status", "updatedReplicas"),
        number(obj, "status", "availableReplicas"),
        age(obj, now),
        *container_cells(obj, *_POD),
        selector_text(at(obj, "spec", "selector")),
    ]


def _stateful_set(obj: Obj, now: datetime) -> list[Any]:
    return [name_of(obj), _ready(obj), age(obj, now), *container_cells(obj, *_POD)]


def _daemon_set(obj: Obj, now: datetime) -> list[Any]:
    counted = (
        "desiredNumberScheduled",
        "currentNumberScheduled",
        "numberReady",
        "updatedNumberScheduled",
        "numberAvailable",
    )
    return [
        name_of(obj),
        *(number(obj, "status", name) for name in counted),
        label_text(mapping(obj, *_POD, "nodeSelector")),
        age(obj, now),
        *container_cells(obj, *_POD),
        _selector(obj),
    ]


def _job(obj: Obj, now: datetime) -> list[Any]:
    return [
        name_of(obj),
        job_status(obj, now),
        job_completions(obj, now),
        job_duration(obj, now),
        age(obj, now),
        *container_cells(obj, *_POD),
        _selector(obj),
    ]


def _cron_job(obj: Obj, now: datetime) -> list[Any]:
    job = ("spec", "jobTemplate", "spec")
    suspended = at(obj, "spec", "suspend")
    return [
        name_of(obj),
        text(obj, "spec", "schedule"),
        str(at(obj, "spec", "timeZone") if at(obj, "spec", "timeZone") is not None else NONE),
        "<unset>" if suspended is None else str(suspended is True),
        len(items(obj, "status", "active")),
        cron_last(obj, now),
        age(obj, now),
        *container_cells(obj, *job, "template", "spec"),
        selector_text(at(obj, *job, "selector")) or NONE,
    ]


def _controller_revision(obj: Obj, now: datetime) -> list[Any]:
    owner = next(
        (each for each in items(obj, "metadata", "ownerReferences") if at(each, "controller")), None
    )
    controller = NONE
    if owner is not None:
        group, slash, _ = text(owner, "apiVersion").partition("/")
        kind = text(owner, "kind") + (f".{group}" if slash else "")
        controller = f"{kind.lower()}/{text(owner, 'name')}"
    return [name_of(obj), controller, number(obj, "revision"), age(obj, now)]


def _disruption_budget(obj: Obj, now: datetime) -> list[Any]:
    return [
        name_of(obj),
        text(obj, "spec", "minAvailable", default="N/A"),
        text(obj, "spec", "maxUnavailable", default="N/A"),
        number(obj, "status", "disruptionsAllowed"),
        age(obj, now),
    ]


def _ready(obj: Obj) -> str:
    return f"{number(obj, 'status', 'readyReplicas')}/{number(obj, 'spec', 'replicas')}"


def _selector(obj: Obj) -> str:
    return selector_text(at(obj, "spec", "selector")) or NONE


_COUNTS = (
    whole("Desired", "How many pods there are to be."),
    whole("Current", "How many pods there are."),
    whole("Ready", "How many of the pods are ready."),
)
_REPLICAS = (NAME, *_COUNTS, AGE, *WORKLOAD)

PRINTERS: Printers = {
    ("", "Pod"): Printer(
        (
            NAME,
            Column("Ready", "How many containers are ready, of all."),
            Column("Status", "What the pod is doing, or what keeps it from doing it."),
            Column("Restarts", "How often containers were restarted, and when last."),
            AGE,
            wide(Column("IP", "The address of the pod.")),
            wide(Column("Node", "The node that the pod is bound to.")),
            wide(Column("Nominated Node", "The node that the pod is to get by preemption.")),
            wide(Column("Readiness Gates", "How many readiness gates are passed, of all.")),
        ),
        _pod,
        _pod_conditions,
    ),
    ("", "PodTemplate"): Printer(
        (
            NAME,
            Column("Containers", "The names of the containers in the template."),
            Column("Images", "The images that these containers run."),
            Column("Pod Labels", "The labels in the template."),
        ),
        _template,
    ),
    ("", "ReplicationController"): Printer(_REPLICAS, _replication_controller),
    ("apps", "ReplicaSet"): Printer(_REPLICAS, _replica_set),
    ("apps", "Deployment"): Printer(
        (
            NAME,
            Column("Ready", "How many pods are ready, of those that there are to be."),
            Column("Up-to-date", "How many pods are of the newest template."),
            Column("Available", "How many pods have been ready for long enough."),
            AGE,
            *WORKLOAD,
        ),
        _deployment,
    ),
    ("apps", "StatefulSet"): Printer(
        (
            NAME,
            Column("Ready", "How many pods are ready, of those that there are to be."),
            AGE,
            *WORKLOAD[:2],
        ),
        _stateful_set,
    ),
    ("apps", "DaemonSet"): Printer(
        (
            NAME,
            whole("Desired", "How many nodes are to run a pod."),
            whole("Current", "How many of these nodes run one."),
            whole("Ready", "How many of the pods are ready."),
            whole("Up-to-date", "How many pods are of the newest template."),
            whole("Available", "How many pods have been ready for long enough."),
            Column("Node Selector", "The labels of the nodes that are to run a pod."),
            AGE,
            *WORKLOAD,
        ),
        _daemon_set,
    ),
    ("apps", "ControllerRevision"): Printer(
        (
            NAME,
            Column("Controller", "The object whose state it keeps."),
            Column("Revision", "The number of the state."),
            AGE,
        ),
        _controller_revision,
    ),
    ("batch", "Job"): Printer(
        (
            NAME,
            Column("Status", "How far the job has got."),
            Column("Completions", "How many pods have succeeded, of those that are to."),
            Column("Duration", "How long the job has run."),
            AGE,
            *WORKLOAD,
        ),
        _job,
    ),
    ("batch", "CronJob"): Printer(
        (
            NAME,
            Column("Schedule", "When jobs are made, in the words of cron."),
            Column("Timezone", "The time zone of the schedule."),
            yes_or_no("Suspend", "Whether no jobs are made at present."),
            whole("Active", "How many jobs are running."),
            Column("Last Schedule", "How long ago a job was made."),
            AGE,
            *WORKLOAD,
        ),
        _cron_job,
    ),
    ("policy", "PodDisruptionBudget"): Printer(
        (
            NAME,
            Column("Min Available", "How many pods must be left by an eviction."),
            Column("Max Unavailable", "How many pods an eviction may leave missing."),
            whole("Allowed Disruptions", "How many pods may be evicted now."),
            AGE,
        ),
        _disruption_budget,
    ),
}
