"""The defaults of pods, and of the templates that pods are made from."""

from __future__ import annotations

from typing import Any

from ..reading.spec_order import in_order

__all__ = ["fill_pod_spec", "fill_template", "late_pod_spec", "quality_of_service"]

Value = dict[str, Any]

_SPEC_ORDER = (
    "volumes",
    "initContainers",
    "containers",
    "ephemeralContainers",
    "restartPolicy",
    "terminationGracePeriodSeconds",
    "activeDeadlineSeconds",
    "dnsPolicy",
    "nodeSelector",
    "serviceAccountName",
    "serviceAccount",
    "automountServiceAccountToken",
    "nodeName",
    "hostNetwork",
    "hostPID",
    "hostIPC",
    "shareProcessNamespace",
    "securityContext",
    "imagePullSecrets",
    "hostname",
    "subdomain",
    "affinity",
    "schedulerName",
    "tolerations",
    "hostAliases",
    "priorityClassName",
    "priority",
    "dnsConfig",
    "readinessGates",
    "runtimeClassName",
    "enableServiceLinks",
    "preemptionPolicy",
)
_CONTAINER_ORDER = (
    "name",
    "image",
    "command",
    "args",
    "workingDir",
    "ports",
    "envFrom",
    "env",
    "resources",
    "resizePolicy",
    "restartPolicy",
    "volumeMounts",
    "volumeDevices",
    "livenessProbe",
    "readinessProbe",
    "startupProbe",
    "lifecycle",
    "terminationMessagePath",
    "terminationMessagePolicy",
    "imagePullPolicy",
    "securityContext",
)
_RESOURCES_ORDER = ("limits", "requests", "claims")
_SPEC = {
    "restartPolicy": "Always",
    "terminationGracePeriodSeconds": 30,
    "dnsPolicy": "ClusterFirst",
    "securityContext": {},
    "schedulerName": "default-scheduler",
}
_CONTAINER = {
    "resources": {},
    "terminationMessagePath": "/dev/termination-log",
    "terminationMessagePolicy": "File",
}
_PROBES = ("livenessProbe", "readinessProbe", "startupProbe")
_PROBE = {"timeoutSeconds": 1, "periodSeconds": 10, "successThreshold": 1, "failureThreshold": 3}
_TOLERATIONS = [
    {
        "key": f"node.kubernetes.io/{trouble}",
        "operator": "Exists",
        "effect": "NoExecute",
        "tolerationSeconds": 300,
    }
    for trouble in ("not-ready", "unreachable")
]


def fill_pod_spec(spec: Value, *, in_pod: bool = False) -> Value:
    """A complete copy, its members in the order in which they are written. What is in order
    already comes back itself.
    """
    complete = {**_SPEC, **spec}
    if in_pod:
        complete.setdefault("enableServiceLinks", True)
    for name in ("initContainers", "containers", "ephemeralContainers"):
        containers = complete.get(name)
        if isinstance(containers, list):
            complete[name] = [
                _container(found, in_pod=in_pod) if isinstance(found, dict) else found
                for found in containers
            ]
    volumes = complete.get("volumes")
    if isinstance(volumes, list):
        complete["volumes"] = [
            _volume(found) if isinstance(found, dict) else found for found in volumes
        ]
    ordered = in_order(complete, _SPEC_ORDER)
    return spec if ordered == spec and list(ordered) == list(spec) else ordered


def fill_template(template: Value) -> Value:
    """A pod template: metadata and the spec of its pods."""
    spec = template.get("spec")
    metadata = template.get("metadata") or {}
    return {"metadata": metadata, "spec": fill_pod_spec(spec if isinstance(spec, dict) else {})}


def late_pod_spec(spec: Value) -> Value:
    """What admission adds when a pod is created."""
    tolerations = spec.get("tolerations")
    keys = {
        found.get("key")
        for found in tolerations or ()
        if isinstance(found, dict) and found.get("effect", "") in ("", "NoExecute")
    }
    missing = [found for found in _TOLERATIONS if found["key"] not in keys and None not in keys]
    complete = {"priority": 0, "preemptionPolicy": "PreemptLowerPriority", **spec}
    if missing:
        complete["tolerations"] = [*(tolerations or ()), *missing]
    return in_order(complete, _SPEC_ORDER)


def quality_of_service(spec: Value) -> str:
    """`BestEffort` where no container asks for anything, `Guaranteed` where all ask for cpu and
    memory as much as they may have, else `Burstable`.
    """
    asked = False
    guaranteed = True
    for container in [*(spec.get("containers") or ()), *(spec.get("initContainers") or ())]:
        resources = container.get("resources") if isinstance(container, dict) else None
        resources = resources if isinstance(resources, dict) else {}
        limits, requests = resources.get("limits") or {}, resources.get("requests") or {}
        asked = asked or bool(limits or requests)
        for name in ("cpu", "memory"):
            if not limits.get(name) or requests.get(name, limits[name]) != limits[name]:
                guaranteed = False
    if not asked:
        return "BestEffort"
    return "Guaranteed" if guaranteed else "Burstable"


def _container(container: Value, *, in_pod: bool) -> Value:
    complete = {**_CONTAINER, **container}
    if not complete.get("imagePullPolicy"):
        _, _, last = str(complete.get("image") or "").rpartition("/")
        name, colon, tag = last.partition(":")
        latest = "@" not in last and (not colon or tag == "latest")
        complete["imagePullPolicy"] = "Always" if latest and name else "IfNotPresent"
    ports = complete.get("ports")
    if isinstance(ports, list):
        complete["ports"] = [
            {**port, "protocol": port.get("protocol") or "TCP"} if isinstance(port, dict) else port
            for port in ports
        ]
    env = complete.get("env")
    if isinstance(env, list):
        complete["env"] = [_variable(found) for found in env]
    for name in _PROBES:
        if isinstance(complete.get(name), dict):
            complete[name] = _probe(complete[name])
    if isinstance(complete["resources"], dict):
        complete["resources"] = _resources(complete["resources"], ask_for_limits=in_pod)
    return in_order(complete, _CONTAINER_ORDER)


def _resources(resources: Value, *, ask_for_limits: bool) -> Value:
    """A pod asks for what it is limited to, where it does not say what it asks for."""
    limits, requests = resources.get("limits"), resources.get("requests") or {}
    if ask_for_limits and isinstance(limits, dict) and isinstance(requests, dict):
        missing = {name: amount for name, amount in limits.items() if name not in requests}
        if missing:
            requests = dict(sorted({**requests, **missing}.items()))
            resources = {**resources, "requests": requests}
    return in_order(resources, _RESOURCES_ORDER)


def _variable(variable: Any) -> Any:
    source = variable.get("valueFrom") if isinstance(variable, dict) else None
    if not isinstance(source, dict):
        return variable
    field = source.get("fieldRef")
    if not isinstance(field, dict) or field.get("apiVersion"):
        return variable
    return {**variable, "valueFrom": {**source, "fieldRef": {"apiVersion": "v1", **field}}}


def _probe(probe: Value) -> Value:
    http = probe.get("httpGet")
    if isinstance(http, dict):
        probe = {**probe, "httpGet": {"path": "/", **http, "scheme": http.get("scheme") or "HTTP"}}
    return {**probe, **{name: value for name, value in _PROBE.items() if not probe.get(name)}}


def _volume(volume: Value) -> Value:
    for name in ("secret", "configMap", "downwardAPI", "projected"):
        found = volume.get(name)
        if isinstance(found, dict) and found.get("defaultMode") is None:
            return {**volume, name: {**found, "defaultMode": 0o644}}
    host_path = volume.get("hostPath")
    if isinstance(host_path, dict) and host_path.get("type") is None:
        return {**volume, "hostPath": {**host_path, "type": ""}}
    return volume
