"""Objects as those who make them send them: what the server fills in is left to it."""

from __future__ import annotations

from typing import Any

from .model import App, Group, Pod

__all__ = [
    "app_object",
    "group_object",
    "pod_object",
    "pod_template",
    "side_objects",
]

_TOKENS = "/var/run/secrets/kubernetes.io/serviceaccount"
_STORES = {"data": "/var/lib/data"}


def _labels(app: App) -> dict[str, str]:
    return {
        "app": app.name,
        "app.kubernetes.io/part-of": app.namespace,
        "team": app.blueprint.team,
    }


def pod_template(app: App) -> dict[str, Any]:
    """What a Deployment, a StatefulSet or a Job has of its pods."""
    batch = app.blueprint.kind == "CronJob"
    container = _container(app)
    spec: dict[str, Any] = {
        "volumes": [{"name": "config", "configMap": {"name": f"{app.name}-config"}}],
        "containers": [container],
        "restartPolicy": "Never" if batch else "Always",
        "terminationGracePeriodSeconds": 30,
        "serviceAccountName": app.name,
        "securityContext": {"runAsNonRoot": True, "runAsUser": 10001, "fsGroup": 10001},
    }
    if not batch:
        container |= _probes()
    annotations = {"prometheus.io/port": str(app.blueprint.port)}
    return {"metadata": {"labels": _labels(app), "annotations": annotations}, "spec": spec}


def _container(app: App) -> dict[str, Any]:
    blueprint = app.blueprint
    mounts = [{"name": "config", "readOnly": True, "mountPath": f"/etc/{app.name}"}]
    if blueprint.kind == "StatefulSet":
        mounts.append({"name": "data", "mountPath": _STORES["data"]})
    return {
        "name": blueprint.name,
        "image": app.image,
        "args": [f"--config=/etc/{app.name}/config.yaml", f"--listen=:{blueprint.port}"],
        "ports": [{"name": "main", "containerPort": blueprint.port, "protocol": "TCP"}],
        "env": [
            {"name": "POD_NAME", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}},
            {"name": "LOG_LEVEL", "value": "info"},
            {
                "name": "DATABASE_PASSWORD",
                "valueFrom": {"secretKeyRef": {"name": f"{app.name}-db", "key": "password"}},
            },
        ],
        "resources": {
            "limits": {"memory": blueprint.memory},
            "requests": {"cpu": blueprint.cpu, "memory": blueprint.memory},
        },
        "volumeMounts": mounts,
    }


def _probes() -> dict[str, Any]:
    return {
        "livenessProbe": {
            "httpGet": {"path": "/livez", "port": "main", "scheme": "HTTP"},
            "periodSeconds": 10,
        },
        "readinessProbe": {
            "httpGet": {"path": "/readyz", "port": "main", "scheme": "HTTP"},
            "periodSeconds": 5,
        },
    }


def pod_object(pod: Pod) -> dict[str, Any]:
    """A pod as its controller makes it, with the volume that every pod gets for its account."""
    group, app = pod.group, pod.app
    template = pod_template(app)
    metadata = template["metadata"]
    labels = metadata["labels"]
    spec = template["spec"]
    if group.kind == "ReplicaSet":
        labels["pod-template-hash"] = group.template_hash
    elif group.kind == "StatefulSet":
        ordinal = pod.name.rpartition("-")[2]
        labels |= {
            "apps.kubernetes.io/pod-index": ordinal,
            "statefulset.kubernetes.io/pod-name": pod.name,
        }
        spec["hostname"], spec["subdomain"] = pod.name, app.name
        claim = {"claimName": f"data-{pod.name}"}
        spec["volumes"].append({"name": "data", "persistentVolumeClaim": claim})
    else:
        labels |= {"batch.kubernetes.io/job-name": group.name, "job-name": group.name}
    _mount_token(spec, f"kube-api-access-{pod.token}")
    spec["containers"][0]["image"] = group.image
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": pod.name,
            "namespace": pod.namespace,
            "generateName": f"{group.name}-",
            "labels": labels,
            "annotations": metadata["annotations"],
            "ownerReferences": [_owner(group.kind, group.name, group.uid)],
        },
        "spec": spec,
    }


def _mount_token(spec: dict[str, Any], name: str) -> None:
    sources = [
        {"serviceAccountToken": {"expirationSeconds": 3607, "path": "token"}},
        {
            "configMap": {
                "name": "kube-root-ca.crt",
                "items": [{"key": "ca.crt", "path": "ca.crt"}],
            }
        },
    ]
    spec["volumes"].append({"name": name, "projected": {"sources": sources, "defaultMode": 420}})
    container = spec["containers"][0]
    container["volumeMounts"].append({"name": name, "readOnly": True, "mountPath": _TOKENS})


def _owner(kind: str, name: str, uid: str) -> dict[str, Any]:
    group = "batch/v1" if kind in ("Job", "CronJob") else "apps/v1"
    return {
        "apiVersion": group,
        "kind": kind,
        "name": name,
        "uid": uid,
        "controller": True,
        "blockOwnerDeletion": True,
    }


def app_object(app: App) -> dict[str, Any]:
    """The Deployment, StatefulSet or CronJob."""
    kind = app.blueprint.kind
    metadata: dict[str, Any] = {
        "name": app.name,
        "namespace": app.namespace,
        "labels": _labels(app),
    }
    spec: dict[str, Any]
    if kind == "CronJob":
        job = {
            "parallelism": app.replicas,
            "completions": app.replicas,
            "template": pod_template(app),
        }
        spec = {
            "schedule": "*/5 * * * *",
            "concurrencyPolicy": "Forbid",
            "jobTemplate": {"spec": job},
        }
    else:
        spec = {
            "replicas": app.replicas,
            "selector": {"matchLabels": {"app": app.name}},
            "template": pod_template(app),
        }
        if kind == "StatefulSet":
            spec |= {"serviceName": app.name, "volumeClaimTemplates": [_claim_template()]}
        else:
            spec["revisionHistoryLimit"] = 2
            metadata["annotations"] = {"deployment.kubernetes.io/revision": str(app.revision)}
    version = "batch/v1" if kind == "CronJob" else "apps/v1"
    return {"apiVersion": version, "kind": kind, "metadata": metadata, "spec": spec}


def _claim_template() -> dict[str, Any]:
    """The disk of each pod of a StatefulSet."""
    spec = {
        "accessModes": ["ReadWriteOnce"],
        "resources": {"requests": {"storage": "10Gi"}},
    }
    return {"metadata": {"name": "data"}, "spec": spec}


def group_object(group: Group) -> dict[str, Any]:
    """The ReplicaSet or Job that an app's controller makes."""
    app = group.app
    template = pod_template(app)
    spec: dict[str, Any]
    labels = _labels(app)
    if group.kind == "ReplicaSet":
        labels["pod-template-hash"] = group.template_hash
        template["metadata"]["labels"]["pod-template-hash"] = group.template_hash
        selector = {"app": app.name, "pod-template-hash": group.template_hash}
        spec = {"replicas": group.desired, "selector": {"matchLabels": selector}}
        version = "apps/v1"
    else:
        spec = {
            "parallelism": group.desired,
            "completions": group.desired,
            "backoffLimit": 2,
            "ttlSecondsAfterFinished": 60,
        }
        template["metadata"]["labels"]["job-name"] = group.name
        version = "batch/v1"
    return {
        "apiVersion": version,
        "kind": group.kind,
        "metadata": {
            "name": group.name,
            "namespace": app.namespace,
            "labels": labels,
            "ownerReferences": [_owner(app.blueprint.kind, app.name, app.uid)],
        },
        "spec": {**spec, "template": template},
    }


def side_objects(app: App) -> list[dict[str, Any]]:
    """What an app has beside its pods: a Service and its configuration."""
    port = app.blueprint.port
    metadata = {"namespace": app.namespace, "labels": _labels(app)}
    config = f"listen: :{port}\nlog:\n  level: info\n  format: json\n"
    found: list[dict[str, Any]] = [
        {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {**metadata, "name": f"{app.name}-config"},
            "data": {"config.yaml": config},
        }
    ]
    if app.blueprint.kind != "CronJob":
        ports = [{"name": "main", "port": 80, "protocol": "TCP", "targetPort": "main"}]
        spec: dict[str, Any] = {"ports": ports, "selector": {"app": app.name}, "type": "ClusterIP"}
        if app.blueprint.kind == "StatefulSet":
            spec |= {"clusterIP": "None", "clusterIPs": ["None"]}
        service = {"apiVersion": "v1", "kind": "Service"}
        found.append({**service, "metadata": {**metadata, "name": app.name}, "spec": spec})
    return found
