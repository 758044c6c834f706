"""What pods are made of: containers with their environment and probes, volumes, and the spec."""

from __future__ import annotations

import random
from typing import Any

from .forms import between, digest, gap

__all__ = [
    "Member",
    "container_of",
    "http_probe_of",
    "images_of",
    "proxy_of",
    "spec_of",
    "volume_of",
]

Member = dict[str, Any]

_VARIABLES = (
    *("LOG_LEVEL", "DATABASE_URL", "REDIS_ADDR", "KAFKA_BROKERS", "FEATURE_FLAGS", "REGION"),
    *("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_RESOURCE_ATTRIBUTES", "SENTRY_DSN", "HTTP_PORT"),
    *("MAX_CONNECTIONS", "REQUEST_TIMEOUT", "CACHE_TTL", "JAVA_TOOL_OPTIONS", "GOMAXPROCS"),
    *("S3_BUCKET", "AWS_REGION", "TENANT", "SHARD", "QUEUE_NAME", "WORKERS", "RETRY_LIMIT"),
    *("AUTH_ISSUER", "AUTH_AUDIENCE", "PUBLIC_HOST", "BASE_PATH", "STATSD_HOST", "LC_ALL"),
)
_SECRET = ("API_KEY", "DB_PASSWORD", "SIGNING_KEY", "CLIENT_SECRET", "SMTP_PASSWORD")
_QUANTITIES = ("50m", "100m", "250m", "500m", "1", "2", "1500m")
_MEMORIES = ("64Mi", "128Mi", "256Mi", "512Mi", "1Gi", "2Gi", "6Gi")


def container_of(rng: random.Random, namespace: str, name: str, *, variables: int) -> Member:
    env: list[Member] = []
    for number, variable in enumerate(_names(rng, variables)):
        if rng.random() < 0.25:
            key = rng.choice(_SECRET)
            value: Member = {
                "valueFrom": {"secretKeyRef": {"name": f"{name}-secrets", "key": key.lower()}}
            }
        elif rng.random() < 0.15:
            value = {"valueFrom": {"configMapKeyRef": {"name": f"{name}-config", "key": "k"}}}
        else:
            value = {"value": _value(rng, variable, number)}
        env.append({"name": variable, **value})
    if rng.random() < 0.3:
        env.append(
            {"name": "POD_NAME",
             "valueFrom": {"fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.name"}}}
        )  # fmt: skip
    limits = {"cpu": rng.choice(_QUANTITIES), "memory": rng.choice(_MEMORIES)}
    requests = {"cpu": rng.choice(_QUANTITIES), "memory": rng.choice(_MEMORIES)}
    mounts = [
        {"name": f"kube-api-access-{gap('token')}", "readOnly": True,
         "mountPath": "/var/run/secrets/kubernetes.io/serviceaccount"},
    ]  # fmt: skip
    tag = f"{rng.randint(0, 9)}.{rng.randint(0, 40)}.{rng.randint(0, 12)}"
    return {
        "name": name,
        "image": f"registry.example.com/{namespace}/{name}:{tag}",
        "env": env,
        "resources": {"limits": limits, "requests": requests} if rng.random() < 0.6 else {},
        "volumeMounts": mounts,
    }


def _names(rng: random.Random, count: int) -> list[str]:
    if count <= len(_VARIABLES):
        return rng.sample(_VARIABLES, count)
    return [*_VARIABLES, *(f"SETTING_{number:03}" for number in range(count - len(_VARIABLES)))]


def _value(rng: random.Random, variable: str, number: int) -> str:
    match variable:
        case "DATABASE_URL":
            database = between(rng, 4, 12)
            return f"postgres://app@db-{number}.internal:5432/{database}?sslmode=require&pool=8"
        case "KAFKA_BROKERS":
            return ",".join(f"kafka-{n}.kafka-headless.data-platform.svc:9092" for n in range(3))
        case "FEATURE_FLAGS":
            return (
                f'{{"newCart":true,"dark":"{between(rng, 4, 10)}","rate":0.{rng.randint(1, 99)}}}'
            )
        case "OTEL_RESOURCE_ATTRIBUTES":
            return "k8s.pod.name=$(POD_NAME),deployment.environment=prod"
    return rng.choice((str(rng.randint(1, 9000)), "true", between(rng, 4, 32), f"{number}s"))


def proxy_of(rng: random.Random, namespace: str, name: str) -> Member:
    proxy = container_of(rng, namespace, "istio-proxy", variables=2)
    proxy["image"] = "docker.io/istio/proxyv2:1.27.1"
    proxy["args"] = [
        "proxy", "sidecar", "--domain", "$(POD_NAMESPACE).svc.cluster.local",
        "--proxyLogLevel=warning", "--log_output_level=default:info",
    ]  # fmt: skip
    proxy["env"] += [
        {"name": "ISTIO_META_POD_PORTS", "value": '[\n    {"name":"http","containerPort":8080}\n]'},
        {"name": "ISTIO_META_WORKLOAD_NAME", "value": name},
        {"name": "ISTIO_META_OWNER",
         "value": f"kubernetes://apis/apps/v1/namespaces/{namespace}/deployments/{name}"},
    ]  # fmt: skip
    proxy["ports"] = [{"name": "http-envoy-prom", "containerPort": 15090, "protocol": "TCP"}]
    proxy["readinessProbe"] = http_probe_of(rng, 15021, "/healthz/ready")
    proxy["securityContext"] = {
        "capabilities": {"drop": ["ALL"]}, "privileged": False, "runAsUser": 1337,
        "runAsGroup": 1337, "runAsNonRoot": True, "readOnlyRootFilesystem": True,
        "allowPrivilegeEscalation": False,
    }  # fmt: skip
    return proxy


def http_probe_of(rng: random.Random, port: int, path: str) -> Member:
    return {
        "httpGet": {"path": path, "port": rng.choice((port, "http")), "scheme": "HTTP"},
        "initialDelaySeconds": rng.choice((5, 10, 30)),
        "timeoutSeconds": rng.choice((1, 3, 5)),
        "periodSeconds": 10,
        "successThreshold": 1,
        "failureThreshold": rng.choice((3, 5, 30)),
    }


def volume_of(rng: random.Random, name: str, number: int) -> Member:
    volume = f"vol-{number}"
    return rng.choice((
        {"name": volume, "configMap": {"name": f"{name}-config", "defaultMode": 420}},
        {"name": volume, "secret": {"secretName": f"{name}-tls", "defaultMode": 256}},
        {"name": volume, "emptyDir": {}},
        {"name": volume, "emptyDir": {"sizeLimit": "2Gi"}},
    ))  # fmt: skip


_CONTAINER_ORDER = (
    *("name", "image", "command", "args", "ports", "env", "resources", "volumeMounts"),
    *("livenessProbe", "readinessProbe", "startupProbe", "lifecycle", "terminationMessagePath"),
    *("terminationMessagePolicy", "imagePullPolicy", "securityContext"),
)
_SPEC_ORDER = (
    *("volumes", "initContainers", "containers", "restartPolicy", "terminationGracePeriodSeconds"),
    *("dnsPolicy", "nodeSelector", "serviceAccountName", "serviceAccount", "nodeName"),
    *("hostNetwork", "hostPID", "securityContext", "imagePullSecrets", "hostname", "subdomain"),
    *("affinity", "schedulerName", "tolerations", "priorityClassName", "priority"),
    *("enableServiceLinks", "preemptionPolicy", "topologySpreadConstraints"),
)
_TOLERATED = [
    {"key": f"node.kubernetes.io/{key}", "operator": "Exists", "effect": "NoExecute",
     "tolerationSeconds": 300}
    for key in ("not-ready", "unreachable")
]  # fmt: skip


def spec_of(
    rng: random.Random,
    volumes: list[Member],
    init: list[Member],
    containers: list[Member],
    more: Member,
) -> Member:
    """A pod's spec with what the server and its admission add, in the server's order."""
    account = containers[0]["name"] if rng.random() < 0.6 else "default"
    for container in (*init, *containers):
        container["volumeMounts"] = [
            *(
                {"name": found["name"], "mountPath": f"/mnt/{found['name']}"}
                for found in volumes[:1]
            ),
            *container["volumeMounts"],
        ]
        container |= {
            "terminationMessagePath": "/dev/termination-log",
            "terminationMessagePolicy": "File",
            "imagePullPolicy": "IfNotPresent",
        }
    token = {
        "name": f"kube-api-access-{gap('token')}",
        "projected": {
            "sources": [
                {"serviceAccountToken": {"expirationSeconds": 3607, "path": "token"}},
                {"configMap": {"name": "kube-root-ca.crt",
                               "items": [{"key": "ca.crt", "path": "ca.crt"}]}},
                {"downwardAPI": {"items": [{
                    "path": "namespace",
                    "fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.namespace"}}]}},
            ],
            "defaultMode": 420,
        },
    }  # fmt: skip
    spec: Member = {
        "volumes": [*volumes, token],
        "containers": [_ordered(container, _CONTAINER_ORDER) for container in containers],
        "restartPolicy": "Always",
        "terminationGracePeriodSeconds": rng.choice((30, 30, 60, 120)),
        "dnsPolicy": "ClusterFirst",
        "serviceAccountName": account,
        "serviceAccount": account,
        "nodeName": gap("node"),
        "securityContext": {},
        "schedulerName": "default-scheduler",
        "tolerations": _TOLERATED,
        "priority": 0,
        "enableServiceLinks": True,
        "preemptionPolicy": "PreemptLowerPriority",
    }
    if init:
        spec["initContainers"] = [_ordered(container, _CONTAINER_ORDER) for container in init]
    if rng.random() < 0.3:
        spec["imagePullSecrets"] = [{"name": "registry-pull"}]
    return _ordered({**spec, **more}, _SPEC_ORDER)


def _ordered(members: Member, order: tuple[str, ...]) -> Member:
    return {name: members[name] for name in order if name in members}


def images_of(rng: random.Random, spec: Member) -> tuple[str, ...]:
    return tuple(
        f"{container['image'].rpartition(':')[0]}@sha256:{digest(rng)}"
        for container in (*spec.get("initContainers", ()), *spec["containers"])
    )
