"""The objects that the guard measures with: seeded, of the shape and order that real servers send,
and its own, so that its figures stay comparable when other benchmarks get other data.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from random import Random
from typing import Any

__all__ = ["Data", "make"]

_SEED = 7
# fmt: off
_WORDS = [
    "alpha", "api", "auth", "batch", "billing", "blue", "cache", "canary", "cart", "catalog",
    "checkout", "core", "data", "edge", "events", "feed", "front", "gateway", "green",
    "index", "ingest", "job", "ledger", "mail", "media", "metrics", "north", "order",
    "payment", "proxy", "queue", "report", "search", "session", "south", "stage", "store",
    "stream", "sync", "tenant", "trace", "user", "web", "worker",
]
# fmt: on


@dataclass(frozen=True)
class Data:
    """JSON objects of one kind in three states: as listed first, and after one and two changes.
    The RVs grow from state to state, and within each.
    """

    base: list[bytes]
    first: list[bytes]
    second: list[bytes]


def make(half: int) -> dict[str, Data]:
    """`half` objects of each kind; fewer of those that are large."""
    rng = Random(_SEED)
    pods = [_pod(rng, number) for number in range(half)]
    widgets = [_widget(rng, number) for number in range(half)]
    large = [_large(rng, number) for number in range(max(half // 16, 4))]
    return {
        "pods": _states(pods, _compact),
        "widgets": _states([_sorted(widget) for widget in widgets], _compact),
        "pretty": _states(
            pods[: max(half // 8, 4)], lambda pod: json.dumps(pod, indent=2).encode()
        ),
        "late": _states([_late(pod) for pod in pods], _compact),
        "large": _states(large, _compact),
        "leases": _states([_lease(rng, number) for number in range(half)], _compact),
    }


def _states(objects: list[dict[str, Any]], encode: Any) -> Data:
    states: list[list[bytes]] = []
    for state in range(3):
        for number, value in enumerate(objects):
            value["metadata"]["resourceVersion"] = str(10_000_000 * (state + 1) + number * 7)
            if state and "status" in value:
                value["status"]["observedGeneration"] = state
        states.append([encode(value) for value in objects])
    return Data(*states)


def _compact(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()


def _sorted(value: dict[str, Any]) -> dict[str, Any]:
    """With its keys in alphabetical order, as custom resources come."""
    ordered: dict[str, Any] = json.loads(json.dumps(value, sort_keys=True))
    return ordered


def _late(pod: dict[str, Any]) -> dict[str, Any]:
    """With what routing needs at the end: no server that we know writes this, but one may."""
    return {name: pod[name] for name in ("spec", "status", "metadata", "apiVersion", "kind")}


def _words(rng: Random, count: int) -> str:
    return "-".join(rng.choices(_WORDS, k=count))


def _hex(rng: Random, digits: int) -> str:
    return f"{rng.getrandbits(4 * digits):0{digits}x}"


def _uid(rng: Random) -> str:
    return "-".join(_hex(rng, digits) for digits in (8, 4, 4, 4, 12))


def _time(rng: Random) -> str:
    return f"2026-03-{rng.randint(1, 28):02}T{rng.randint(0, 23):02}:{rng.randint(0, 59):02}:07Z"


def _managed(rng: Random, names: list[str], sections: tuple[str, ...]) -> list[dict[str, Any]]:
    """What API servers note of who wrote which field: about a third of a pod."""
    entries = []
    for manager in ("kube-controller-manager", "kubelet", _words(rng, 2))[: rng.randint(2, 3)]:
        fields: dict[str, Any] = {
            f"f:{section}": {
                f'k:{{"name":"{name}"}}': {
                    ".": {},
                    **{f"f:{rng.choice(_WORDS)}": {} for _ in range(rng.randint(4, 8))},
                }
                for name in names
            }
            for section in sections
        }
        entries.append(
            {
                "manager": manager,
                "operation": "Update",
                "apiVersion": "v1",
                "time": _time(rng),
                "fieldsType": "FieldsV1",
                "fieldsV1": fields,
            }
        )
    return entries


def _metadata(rng: Random, number: int, owner: str, managed: list[dict[str, Any]]) -> Any:
    app = _words(rng, 2)
    return {
        "name": f"{app}-{_hex(rng, 9)}-{number:05}",
        "generateName": f"{app}-{_hex(rng, 9)}-",
        "namespace": f"team-{rng.choice(_WORDS)}",
        "uid": _uid(rng),
        "resourceVersion": "1",
        "creationTimestamp": _time(rng),
        "labels": {
            "app.kubernetes.io/name": app,
            "app.kubernetes.io/version": f"{rng.randint(1, 9)}.{rng.randint(0, 30)}.0",
            "pod-template-hash": _hex(rng, 10),
            "team": rng.choice(_WORDS),
        },
        "annotations": {
            f"{rng.choice(_WORDS)}.example.com/{rng.choice(_WORDS)}": _words(rng, 4)
            for _ in range(rng.randint(1, 4))
        },
        "ownerReferences": [
            {
                "apiVersion": "apps/v1",
                "kind": owner,
                "name": f"{app}-{_hex(rng, 9)}",
                "uid": _uid(rng),
                "controller": True,
                "blockOwnerDeletion": True,
            }
        ],
        "managedFields": managed,
    }


def _container(rng: Random, name: str, variables: int) -> dict[str, Any]:
    return {
        "name": name,
        "image": f"registry.example.com/{_words(rng, 2)}@sha256:{_hex(rng, 64)}",
        "args": [f"--{_words(rng, 2)}={rng.randint(1, 9999)}" for _ in range(rng.randint(1, 4))],
        "ports": [{"name": "http", "containerPort": 8080, "protocol": "TCP"}],
        "env": [
            {"name": _words(rng, 2).upper(), "value": _words(rng, rng.randint(1, 5))}
            for _ in range(variables)
        ],
        "resources": {
            "limits": {"cpu": f"{rng.randint(1, 8)}", "memory": f"{rng.randint(64, 4096)}Mi"},
            "requests": {"cpu": f"{rng.randint(10, 900)}m", "memory": "64Mi"},
        },
        "volumeMounts": [
            {
                "name": f"kube-api-access-{_hex(rng, 5)}",
                "readOnly": True,
                "mountPath": "/var/run/secrets/kubernetes.io/serviceaccount",
            }
        ],
        "terminationMessagePath": "/dev/termination-log",
        "terminationMessagePolicy": "File",
        "imagePullPolicy": "IfNotPresent",
    }


def _pod_status(rng: Random, containers: list[dict[str, Any]]) -> dict[str, Any]:
    conditions = ("PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady")
    return {
        "observedGeneration": 0,
        "phase": rng.choice(("Running", "Running", "Pending", "Succeeded")),
        "conditions": [
            {
                "type": condition,
                "status": "True",
                "lastProbeTime": None,
                "lastTransitionTime": _time(rng),
            }
            for condition in (*conditions, "PodScheduled")
        ],
        "hostIP": f"10.0.{rng.randint(0, 255)}.{rng.randint(0, 255)}",
        "podIP": f"10.1.{rng.randint(0, 255)}.{rng.randint(0, 255)}",
        "startTime": _time(rng),
        "containerStatuses": [
            {
                "name": container["name"],
                "state": {"running": {"startedAt": _time(rng)}},
                "lastState": {},
                "ready": True,
                "restartCount": rng.randint(0, 5),
                "image": container["image"],
                "imageID": container["image"],
                "containerID": f"containerd://{_hex(rng, 64)}",
                "started": True,
            }
            for container in containers
        ],
        "qosClass": "Burstable",
    }


def _pod(rng: Random, number: int, *, variables: int = 4, containers: int = 0) -> dict[str, Any]:
    names = [f"{rng.choice(_WORDS)}-{each}" for each in range(containers or rng.randint(1, 3))]
    made = [_container(rng, name, rng.randint(variables // 2, variables * 2)) for name in names]
    managed = _managed(rng, names, ("metadata", "spec", "status"))
    return {
        "kind": "Pod",
        "apiVersion": "v1",
        "metadata": _metadata(rng, number, "ReplicaSet", managed),
        "spec": {
            "volumes": [{"name": f"kube-api-access-{_hex(rng, 5)}", "emptyDir": {}}],
            "containers": made,
            "restartPolicy": "Always",
            "terminationGracePeriodSeconds": 30,
            "dnsPolicy": "ClusterFirst",
            "serviceAccountName": rng.choice(_WORDS),
            "nodeName": f"node-{rng.randint(1, 40):03}",
            "securityContext": {},
            "schedulerName": "default-scheduler",
            "tolerations": [
                {
                    "key": f"node.kubernetes.io/{problem}",
                    "operator": "Exists",
                    "effect": "NoExecute",
                    "tolerationSeconds": 300,
                }
                for problem in ("not-ready", "unreachable")
            ],
        },
        "status": _pod_status(rng, made),
    }


def _widget(rng: Random, number: int) -> dict[str, Any]:
    parts = [f"{rng.choice(_WORDS)}-{each}" for each in range(rng.randint(2, 5))]
    return {
        "apiVersion": "bench.listwatch.dev/v1",
        "kind": "Widget",
        "metadata": _metadata(rng, number, "Fleet", _managed(rng, parts, ("spec", "status"))),
        "spec": {
            "replicas": rng.randint(1, 20),
            "parts": [
                {"name": part, "settings": {rng.choice(_WORDS): _words(rng, 6) for _ in range(5)}}
                for part in parts
            ],
        },
        "status": {
            "phase": rng.choice(("Ready", "Progressing")),
            "conditions": [{"type": "Ready", "status": "True", "lastTransitionTime": _time(rng)}],
            "observedGeneration": 0,
        },
    }


def _large(rng: Random, number: int) -> dict[str, Any]:
    """About 100 KB, half of it many small members, half of it one long text with escapes."""
    pod = _pod(rng, number, variables=70, containers=6)
    text = "".join(f'{_words(rng, 3)}: "{rng.randint(0, 9)}"\n' for _ in range(2200))
    pod["metadata"]["annotations"]["example.com/config"] = text
    return pod


def _lease(rng: Random, number: int) -> dict[str, Any]:
    """Half a kilobyte: most of what it costs is done once an event, whatever its size."""
    return {
        "kind": "Lease",
        "apiVersion": "coordination.k8s.io/v1",
        "metadata": {
            "name": f"node-{number:05}",
            "namespace": "kube-node-lease",
            "uid": _uid(rng),
            "resourceVersion": "1",
            "creationTimestamp": _time(rng),
            "ownerReferences": [
                {"apiVersion": "v1", "kind": "Node", "name": f"node-{number:05}", "uid": _uid(rng)}
            ],
        },
        "spec": {
            "holderIdentity": f"node-{number:05}",
            "leaseDurationSeconds": 40,
            "renewTime": _time(rng),
        },
    }
