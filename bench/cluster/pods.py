"""Pods in every state of their lives, as kube-apiserver writes them."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import Any

from .forms import Form, digest, gap, number, stamp, suffix, uuid
from .managed_fields import entry, owned
from .workloads import Workload

__all__ = ["NODES", "Pod", "PodWriter"]

NODES = 400

_Forms = tuple[Form, Form]


@dataclass(slots=True)
class Pod:
    """One pod. `state` is pending, scheduled, creating, running, unready, crashed, ending, or
    done.
    """

    workload: Workload
    name: str
    uid: str
    node: int
    created: int
    """Seconds since the benchmark's epoch."""
    changed: int
    state: str
    version: int
    restarts: int = 0
    ids: list[str] = field(default_factory=list)
    """Of its containers."""
    address: str = ""
    token: str = ""

    @property
    def key(self) -> tuple[str, str]:
        return self.workload.namespace, self.name

    @classmethod
    def born(
        cls, rng: random.Random, workload: Workload, ordinal: int, at: int, state: str, version: int
    ) -> Pod:
        ending = str(ordinal) if workload.numbered else suffix(rng)
        return cls(
            workload=workload,
            name=f"{workload.name}-{ending}",
            uid=uuid(rng),
            node=rng.randrange(NODES),
            created=at,
            changed=at,
            state=state,
            version=version,
            ids=[digest(rng) for _ in workload.images],
            address=f"10.{rng.randint(0, 255)}.{rng.randint(0, 255)}.{rng.randint(1, 254)}",
            token=suffix(rng),
        )


class PodWriter:
    """Metadata, and what follows it, of pods. What a workload's pods share is encoded once."""

    def __init__(self) -> None:
        self._forms: dict[tuple[int, str, int], _Forms] = {}

    def write(self, pod: Pod) -> tuple[bytes, bytes]:
        """The object that is its metadata, and its other members without the braces around them."""
        workload = pod.workload
        key = (id(workload), pod.state, min(pod.restarts, 1))
        forms = self._forms.get(key)
        if forms is None:
            forms = self._forms[key] = _forms_of(workload, pod.state, pod.restarts)
        values = {
            "name": pod.name,
            "index": pod.name.rpartition("-")[2],
            "uid": pod.uid,
            "version": str(pod.version),
            "created": stamp(pod.created),
            "started": stamp(pod.created + 4),
            "changed": stamp(pod.changed),
            "node": f"ip-10-0-{pod.node // 100}-{pod.node % 100}.eu-west-1.compute.internal",
            "host": f"10.0.{pod.node // 100}.{pod.node % 100}",
            "ip": pod.address,
            "token": pod.token,
            "restarts": str(pod.restarts),
            **{f"id_{at}": text for at, text in enumerate(pod.ids)},
        }
        metadata, rest = forms
        return metadata.fill(values), rest.fill(values)[1:-1]


def _forms_of(workload: Workload, state: str, restarts: int) -> _Forms:
    status = _status(workload, state, restarts)
    spec = workload.spec
    if state == "pending":
        spec = {name: value for name, value in spec.items() if name != "nodeName"}
    owners = [
        {
            "apiVersion": "batch/v1" if workload.owner == "Job" else "apps/v1",
            "kind": workload.owner,
            "name": workload.owner_name,
            "uid": workload.owner_uid,
            "controller": True,
            "blockOwnerDeletion": True,
        }
    ]
    metadata: dict[str, Any] = {
        "name": gap("name"),
        "generateName": f"{workload.name}-",
        "namespace": workload.namespace,
        "uid": gap("uid"),
        "resourceVersion": gap("version"),
        "generation": 1,
        "creationTimestamp": gap("created"),
    }
    if state == "ending":
        metadata |= {"deletionTimestamp": gap("changed"), "deletionGracePeriodSeconds": 30}
    metadata["labels"] = workload.labels
    if workload.annotations:
        metadata["annotations"] = workload.annotations
    metadata["ownerReferences"] = owners
    if workload.ends:
        metadata["finalizers"] = ["batch.kubernetes.io/job-tracking"]
    metadata["managedFields"] = _managed(metadata, spec, status, state)
    return Form(metadata), Form({"spec": spec, "status": status})


def _managed(
    metadata: dict[str, Any], spec: dict[str, Any], status: dict[str, Any], state: str
) -> list[dict[str, Any]]:
    annotations = metadata.get("annotations", {})
    plugin = {name for name in annotations if name.startswith("k8s.v1.cni")}
    names = ("generateName", "labels", "annotations", "ownerReferences", "finalizers")
    set_first = {name: metadata[name] for name in names if name in metadata}
    if plugin:
        kept = {name: text for name, text in annotations.items() if name not in plugin}
        set_first = {**set_first, "annotations": kept}
        if not kept:
            del set_first["annotations"]
    # What admission adds after the object was decoded is nobody's.
    added = ("nodeName", "priority", "preemptionPolicy", "tolerations")
    first = {name: value for name, value in spec.items() if name not in added}
    first["volumes"] = [v for v in first["volumes"] if not v["name"].startswith("kube-api-access")]
    for containers in ("initContainers", "containers"):
        if containers in first:
            first[containers] = [_without_token(container) for container in first[containers]]
    if not first["volumes"]:
        del first["volumes"]
    entries = [
        entry(
            "kube-controller-manager", gap("created"), owned({"metadata": set_first, "spec": first})
        )
    ]
    if plugin:
        fields = {"f:metadata": {"f:annotations": {f"f:{name}": {} for name in sorted(plugin)}}}
        entries.append(entry("multus-daemon", gap("started"), fields, subresource="status"))
    if state == "pending":
        scheduled = owned({"status": {"conditions": status["conditions"]}})
        entries.append(entry("kube-scheduler", gap("created"), scheduled, subresource="status"))
    else:
        kubelet = {name: value for name, value in status.items() if name != "qosClass"}
        kubelet["conditions"] = [
            found for found in kubelet["conditions"] if found["type"] != "PodScheduled"
        ]
        entries.append(
            entry("kubelet", gap("changed"), owned({"status": kubelet}), subresource="status")
        )
    return entries


def _without_token(container: dict[str, Any]) -> dict[str, Any]:
    mounts = [m for m in container["volumeMounts"] if not m["name"].startswith("kube-api-access")]
    rest = {name: value for name, value in container.items() if name != "volumeMounts"}
    return {**rest, **({"volumeMounts": mounts} if mounts else {})}


def _status(workload: Workload, state: str, restarts: int) -> dict[str, Any]:
    spec = workload.spec
    burstable = any(container["resources"] for container in spec["containers"])
    quality = "Burstable" if burstable else "BestEffort"
    if state == "pending":
        unschedulable = {
            "type": "PodScheduled", "status": "False", "lastProbeTime": None,
            "lastTransitionTime": gap("created"), "reason": "Unschedulable",
            "message": "0/400 nodes are available: 12 Insufficient cpu, 388 node(s) didn't match"
            " Pod's node affinity/selector. preemption: 0/400 nodes are available.",
        }  # fmt: skip
        return {"phase": "Pending", "conditions": [unschedulable], "qosClass": quality}
    if state == "scheduled":
        conditions = [_condition("PodScheduled", True, "created")]
        return {"phase": "Pending", "conditions": conditions, "qosClass": quality}
    phase = {"creating": "Pending", "done": "Succeeded"}.get(state, "Running")
    ready = state in ("running", "ending")
    why = "PodCompleted" if state == "done" else "ContainersNotReady"
    conditions = [
        _condition("Initialized", True, "started", "PodCompleted" if state == "done" else ""),
        _condition("Ready", ready, "changed", "" if ready else why),
        _condition("ContainersReady", ready, "changed", "" if ready else why),
        _condition("PodScheduled", True, "created"),
    ]
    if not ready and why == "ContainersNotReady":
        names = " ".join(container["name"] for container in spec["containers"])
        for condition in conditions[1:3]:
            condition["message"] = f"containers with unready status: [{names}]"
    address = gap("host") if spec.get("hostNetwork") else gap("ip")
    status: dict[str, Any] = {
        "phase": phase,
        "conditions": conditions,
        "hostIP": gap("host"),
        "hostIPs": [{"ip": gap("host")}],
        "podIP": address,
        "podIPs": [{"ip": address}],
        "startTime": gap("created"),
    }
    if state == "creating" and not spec.get("hostNetwork"):
        del status["podIP"], status["podIPs"]
    init = spec.get("initContainers", [])
    both = [*init, *spec["containers"]]
    statuses = [
        _container_status(workload, at, both[at], state, restarts, initial=at < len(init))
        for at in range(len(both))
    ]
    if init:
        status["initContainerStatuses"] = statuses[: len(init)]
    status["containerStatuses"] = statuses[len(init) :]
    status["qosClass"] = quality
    return status


def _condition(kind: str, true: bool, since: str, reason: str = "") -> dict[str, Any]:
    return {
        "type": kind,
        "status": "True" if true else "False",
        "lastProbeTime": None,
        "lastTransitionTime": gap(since),
        **({"reason": reason} if reason else {}),
    }


def _container_status(
    workload: Workload,
    at: int,
    container: dict[str, Any],
    state: str,
    restarts: int,
    *,
    initial: bool,
) -> dict[str, Any]:
    identity = f"containerd://{gap(f'id_{at}')}"
    ended = {
        "exitCode": 0 if initial or state == "done" else 137,
        "reason": "Completed" if initial or state == "done" else "OOMKilled",
        "startedAt": gap("created"),
        "finishedAt": gap("started") if initial else gap("changed"),
        "containerID": identity,
    }
    running = {"running": {"startedAt": gap("started")}}
    last: dict[str, Any] = {"terminated": ended} if restarts and not initial else {}
    if initial or state == "done":
        now: dict[str, Any] = {"terminated": ended}
        last = {}
    elif state == "creating":
        now = {"waiting": {"reason": "ContainerCreating"}}
    elif state == "crashed":
        now = {"waiting": {
            "reason": "CrashLoopBackOff",
            "message": f"back-off 5m0s restarting failed container={container['name']}"
            f" pod={gap('name')}_{workload.namespace}({gap('uid')})",
        }}  # fmt: skip
    else:
        now = running
    found: dict[str, Any] = {
        "name": container["name"],
        "state": now,
        "lastState": last,
        "ready": initial or state in ("running", "ending"),
        "restartCount": 0 if initial else number("restarts"),
        "image": container["image"],
        "imageID": "" if state == "creating" and not initial else workload.images[at],
    }
    if "running" in now or "terminated" in now:
        found["containerID"] = identity
    found["started"] = "running" in now
    return found
