"""Workloads: what a controller has made pods from. Pods of one are alike, workloads are not."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass

from .containers import (
    Member,
    container_of,
    http_probe_of,
    images_of,
    proxy_of,
    spec_of,
    volume_of,
)
from .forms import between, digest, gap, suffix, uuid

__all__ = ["NAMESPACES", "Workload", "make_workload"]

TEAMS = ("checkout", "search", "billing", "identity", "media", "growth", "risk", "logistics")
NAMESPACES = (
    *(f"{team}-{stage}" for team in TEAMS for stage in ("prod", "staging")),
    *(
        "kube-system",
        "monitoring",
        "istio-system",
        "ingress",
        "ci",
        "data-platform",
        "ml",
        "sandbox",
    ),
)
_WORDS = (
    *("api", "gateway", "ledger", "cart", "session", "profile", "catalog", "index", "ranking"),
    *("feed", "notify", "export", "import", "audit", "quota", "token", "webhook", "thumb", "geo"),
    *("price", "stock", "invoice", "refund", "score", "graph", "queue", "stream", "batch", "sync"),
)


@dataclass(frozen=True, slots=True)
class Workload:
    """What its pods have in common."""

    namespace: str
    name: str
    """What the names of its pods begin with."""
    owner: str
    """The kind of its pods' owner."""
    owner_name: str
    owner_uid: str
    labels: dict[str, str]
    annotations: dict[str, str]
    spec: Member
    """With gaps: `node` and `token`."""
    images: tuple[str, ...] = ()
    """The digest of each container's image, those of initContainers first."""
    numbered: bool = False
    """Its pods are numbered, as a StatefulSet's are."""
    ends: bool = False
    """Its pods end of themselves."""


def make_workload(rng: random.Random, namespace: str, *, large: bool = False) -> Workload:
    """Another one, of a kind that such a namespace has."""
    name = "-".join(rng.sample(_WORDS, rng.randint(1, 3)))
    kinds: list[tuple[Callable[..., Workload], int]] = [
        (_web, 48), (_worker, 22), (_database, 6), (_agent, 10), (_job, 14),
    ]  # fmt: skip
    if namespace in ("kube-system", "monitoring"):
        kinds = [(_agent, 60), (_web, 30), (_database, 10)]
    make = rng.choices([kind for kind, _ in kinds], [weight for _, weight in kinds])[0]
    return make(rng, namespace, name, 12 if large else 1)


def _web(rng: random.Random, namespace: str, name: str, scale: int) -> Workload:
    port = rng.choice((8080, 8000, 3000, 9000, 8443))
    main = container_of(rng, namespace, name, variables=rng.randint(0, 4) * scale)
    main["ports"] = [{"name": "http", "containerPort": port, "protocol": "TCP"}]
    if rng.random() < 0.5:
        main["ports"].append({"name": "metrics", "containerPort": 9090, "protocol": "TCP"})
    if rng.random() < 0.6:
        main["livenessProbe"] = http_probe_of(rng, port, "/healthz")
    if rng.random() < 0.7:
        main["readinessProbe"] = http_probe_of(
            rng, port, rng.choice(("/readyz", "/ready?deep=1&x=<y>"))
        )
    if rng.random() < 0.15:
        main["startupProbe"] = http_probe_of(rng, port, "/startup")
    if rng.random() < 0.2:
        main["lifecycle"] = {"preStop": {"exec": {"command": ["/bin/sh", "-c", "sleep 15"]}}}
    containers = [main]
    init: list[Member] = []
    volumes = [volume_of(rng, name, number) for number in range(rng.randint(0, 1))]
    if rng.random() < 0.15:
        containers.append(proxy_of(rng, namespace, name))
        volumes += [{"name": "istio-envoy", "emptyDir": {"medium": "Memory"}}]
    containers += [
        container_of(rng, namespace, f"{name}-{number}", variables=3 * scale)
        for number in range(2 * (scale - 1) // 3)
    ]
    if rng.random() < 0.1:
        init.append(container_of(rng, namespace, f"{name}-migrate", variables=rng.randint(1, 4)))
    annotations = _annotations(rng, name, port, scale)
    return _deployed(rng, namespace, name, annotations, volumes, init, containers, {
        "affinity": {"podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [{
            "weight": 100,
            "podAffinityTerm": {
                "labelSelector": {"matchLabels": {"app.kubernetes.io/name": name}},
                "topologyKey": "kubernetes.io/hostname",
            },
        }]}},
    } if rng.random() < 0.2 else {})  # fmt: skip


def _worker(rng: random.Random, namespace: str, name: str, scale: int) -> Workload:
    main = container_of(rng, namespace, name, variables=rng.randint(0, 5) * scale)
    main["args"] = ["work", f"--queue={name}", f"--concurrency={rng.choice((1, 4, 16))}"]
    probe = {
        "exec": {"command": ["/bin/check", "--fresh", "60s"]},
        "initialDelaySeconds": 15, "timeoutSeconds": 5, "periodSeconds": 30,
        "successThreshold": 1, "failureThreshold": 3,
    }  # fmt: skip
    if rng.random() < 0.4:
        main["livenessProbe"] = probe
    volumes = [volume_of(rng, name, number) for number in range(rng.randint(0, 1))]
    extra = [
        container_of(rng, namespace, f"{name}-{n}", variables=3 * scale) for n in range(scale // 2)
    ]
    annotations = _annotations(rng, name, 0, scale)
    return _deployed(rng, namespace, name, annotations, volumes, [], [main, *extra], {})


def _database(rng: random.Random, namespace: str, name: str, scale: int) -> Workload:
    engine = rng.choice(("postgres", "redis", "kafka", "elasticsearch"))
    name = f"{name}-{engine}"
    main = container_of(rng, namespace, engine, variables=rng.randint(1, 4) * scale)
    main["command"] = ["/usr/bin/dumb-init", "--", f"/opt/{engine}/bin/{engine}"]
    main["ports"] = [{"name": engine, "containerPort": 5432, "protocol": "TCP"}]
    probe = {
        "exec": {"command": ["/bin/sh", "-c", f'test "$({engine}-cli ping)" = "PONG" && exit 0']},
        "initialDelaySeconds": 30, "timeoutSeconds": 10, "periodSeconds": 10,
        "successThreshold": 1, "failureThreshold": 6,
    }  # fmt: skip
    main["livenessProbe"] = probe
    main["readinessProbe"] = probe
    extra = [
        container_of(rng, namespace, f"side-{n}", variables=3 * scale) for n in range(scale // 2)
    ]
    init: list[Member] = []
    if rng.random() < 0.4:
        exporter = container_of(rng, namespace, "exporter", variables=1)
        exporter["ports"] = [{"name": "metrics", "containerPort": 9187, "protocol": "TCP"}]
        extra.append(exporter)
    if rng.random() < 0.3:
        init = [container_of(rng, namespace, "permissions", variables=1)]
        init[0]["securityContext"] = {"runAsUser": 0}
    volumes = [
        {"name": "data", "persistentVolumeClaim": {"claimName": f"data-{gap('name')}"}},
        volume_of(rng, name, 0),
    ]
    labels = {
        "app.kubernetes.io/component": engine,
        **_labels(rng, name),
        "apps.kubernetes.io/pod-index": gap("index"),
        "controller-revision-hash": f"{name}-{suffix(rng, 10)}",
        "statefulset.kubernetes.io/pod-name": gap("name"),
    }
    spec = spec_of(rng, volumes, init, [main, *extra], {
        "hostname": gap("name"), "subdomain": f"{name}-headless",
        "securityContext": {"runAsUser": 1001, "runAsNonRoot": True, "fsGroup": 1001},
        "topologySpreadConstraints": [{
            "maxSkew": 1, "topologyKey": "topology.kubernetes.io/zone",
            "whenUnsatisfiable": "ScheduleAnyway", "labelSelector": {"matchLabels": {"app": name}},
        }],
    })  # fmt: skip
    return Workload(
        namespace, name, "StatefulSet", name, uuid(rng), dict(sorted(labels.items())),
        _annotations(rng, name, 9187, scale), spec, images=images_of(rng, spec), numbered=True,
    )  # fmt: skip


def _agent(rng: random.Random, namespace: str, name: str, scale: int) -> Workload:
    name = f"{name}-agent"
    main = container_of(rng, namespace, name, variables=rng.randint(0, 3) * scale)
    main["env"].append(
        {"name": "NODE_NAME",
         "valueFrom": {"fieldRef": {"apiVersion": "v1", "fieldPath": "spec.nodeName"}}}
    )  # fmt: skip
    main["securityContext"] = {
        "capabilities": {"add": ["NET_ADMIN", "SYS_PTRACE"]},
        "privileged": True,
    }
    paths = rng.sample(
        ("/proc", "/sys", "/var/log", "/run/containerd", "/etc/cni/net.d", "/lib/modules"),
        rng.randint(1, 2),
    )
    volumes: list[Member] = []
    for path in paths:
        host = path.strip("/").replace("/", "-").replace(".", "-")
        volumes.append({"name": host, "hostPath": {"path": path, "type": ""}})
        main["volumeMounts"].insert(
            0, {"name": host, "readOnly": True, "mountPath": f"/host{path}"}
        )
    extra = [
        container_of(rng, namespace, f"side-{n}", variables=4 * scale) for n in range(scale // 2)
    ]
    labels = {
        **_labels(rng, name),
        "controller-revision-hash": suffix(rng, 10),
        "pod-template-generation": str(rng.randint(1, 40)),
    }
    tolerations = [
        {"operator": "Exists"},
        *(
            {"key": f"node.kubernetes.io/{key}", "operator": "Exists", "effect": effect}
            for key, effect in (
                ("not-ready", "NoExecute"), ("unreachable", "NoExecute"),
                ("disk-pressure", "NoSchedule"), ("memory-pressure", "NoSchedule"),
                ("pid-pressure", "NoSchedule"), ("unschedulable", "NoSchedule"),
                ("network-unavailable", "NoSchedule"),
            )
        ),
    ]  # fmt: skip
    term = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": [gap("node")]}]}
    spec = spec_of(rng, volumes, [], [main, *extra], {
        "hostNetwork": True, "hostPID": True, "dnsPolicy": "ClusterFirstWithHostNet",
        "affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {
            "nodeSelectorTerms": [term]}}},
        "tolerations": tolerations,
        "priorityClassName": "system-node-critical", "priority": 2_000_001_000,
    })  # fmt: skip
    return Workload(
        namespace, name, "DaemonSet", name, uuid(rng), dict(sorted(labels.items())),
        _annotations(rng, name, 9100, scale), spec, images=images_of(rng, spec),
    )  # fmt: skip


def _job(rng: random.Random, namespace: str, name: str, scale: int) -> Workload:
    owner = f"{name}-{rng.randint(29_000_000, 29_600_000)}"
    main = container_of(rng, namespace, name, variables=rng.randint(0, 6) * scale)
    main["command"] = ["/bin/bash", "-ec"]
    main["args"] = [
        f"set -o pipefail\nfor part in $(seq 1 {rng.randint(2, 40)}); do\n"
        f'  /opt/{name}/run --part "$part" --out "s3://{between(rng, 8, 12)}/$part" 2>&1'
        " | tee log\ndone"
    ]
    extra = [
        container_of(rng, namespace, f"side-{n}", variables=4 * scale) for n in range(scale // 2)
    ]
    uid = uuid(rng)
    labels = {
        **_labels(rng, name),
        "batch.kubernetes.io/controller-uid": uid,
        "batch.kubernetes.io/job-name": owner,
        "controller-uid": uid,
        "job-name": owner,
    }
    spec = spec_of(rng, [volume_of(rng, name, 0)], [], [main, *extra], {
        "restartPolicy": rng.choice(("Never", "OnFailure")),
        "nodeSelector": {"pool": rng.choice(("spot", "batch")), "kubernetes.io/arch": "amd64"},
    })  # fmt: skip
    annotations = _annotations(rng, name, 0, scale)
    return Workload(
        namespace, owner, "Job", owner, uid, dict(sorted(labels.items())), annotations, spec,
        images=images_of(rng, spec), ends=True,
    )  # fmt: skip


def _deployed(
    rng: random.Random,
    namespace: str,
    name: str,
    annotations: dict[str, str],
    volumes: list[Member],
    init: list[Member],
    containers: list[Member],
    more: Member,
) -> Workload:
    generation = suffix(rng, 10)
    labels = dict(sorted({**_labels(rng, name), "pod-template-hash": generation}.items()))
    spec = spec_of(rng, volumes, init, containers, more)
    owner = f"{name}-{generation}"
    return Workload(
        namespace, owner, "ReplicaSet", owner, uuid(rng), labels, annotations, spec,
        images=images_of(rng, spec),
    )  # fmt: skip


def _labels(rng: random.Random, name: str) -> dict[str, str]:
    labels = {"app": name}
    if rng.random() < 0.4:
        labels |= {
            "app.kubernetes.io/instance": name,
            "app.kubernetes.io/managed-by": rng.choice(("Helm", "argocd", "flux")),
            "app.kubernetes.io/name": name,
            "app.kubernetes.io/version": f"{rng.randint(0, 4)}.{rng.randint(0, 30)}.0",
            "helm.sh/chart": f"{name}-{rng.randint(0, 9)}.{rng.randint(0, 30)}.0",
        }
    if rng.random() < 0.4:
        labels |= {"team": rng.choice(TEAMS), "cost-center": f"cc-{rng.randint(1000, 9999)}"}
    return labels


def _annotations(rng: random.Random, name: str, port: int, scale: int) -> dict[str, str]:
    annotations: dict[str, str] = {}
    if rng.random() < 0.7:
        annotations["checksum/config"] = digest(rng)
    if rng.random() < 0.3:
        annotations["checksum/secret"] = digest(rng)
    if port and rng.random() < 0.4:
        annotations |= {
            "prometheus.io/path": "/metrics",
            "prometheus.io/port": str(port),
            "prometheus.io/scrape": "true",
        }
    if rng.random() < 0.35:
        annotations["k8s.v1.cni.cncf.io/network-status"] = (
            '[{\n    "name": "cilium",\n    "interface": "eth0",\n    "ips": [\n        "@ip@"\n'
            "    ],"
            f'\n    "mac": "{rng.randint(10, 99)}:1f:ab:{rng.randint(10, 99)}:07:9c",'
            '\n    "default": true,\n    "dns": {}\n}]'
        )
    if rng.random() < 0.2:
        annotations["sidecar.istio.io/status"] = (
            f'{{"initContainers":["istio-init"],"containers":["istio-proxy"],"revision":"{name}",'
            '"volumes":["istio-envoy","istio-data","istio-podinfo"],"imagePullSecrets":null}'
        )
    if rng.random() < 0.2:
        annotations["kubectl.kubernetes.io/restartedAt"] = "2026-02-1" + "3T09:12:44+01:00"
    if scale > 1:
        rules = ",".join(
            f'{{"match":"/{between(rng, 4, 20)}/*","to":"{between(rng, 8, 24)}",'
            f'"weight":{rng.randint(0, 99)}}}'
            for _ in range(33 * scale)
        )
        annotations["routing.example.com/rules"] = f'{{"version":3,"rules":[{rules}]}}'
    return dict(sorted(annotations.items()))
