"""The defaults of the containers of a pod."""

from __future__ import annotations

import re
from typing import Any

from ..types.quantities import quantity_in_thousandths

__all__ = ["fill_containers", "tag_is_latest"]

Value = dict[str, Any]

_PROBES = ("livenessProbe", "readinessProbe", "startupProbe")
_PROBE = {"timeoutSeconds": 1, "periodSeconds": 10, "successThreshold": 1, "failureThreshold": 3}

# The grammar of references to images, of which only the tag matters here.
_WORD = "[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*"
_HOST_PART = "[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?"
_HOST = rf"(?:{_HOST_PART}(?:\.{_HOST_PART})*|\[[a-fA-F0-9:]+\])(?::[0-9]+)?"
_DIGEST = "[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,}"
_image = re.compile(
    rf"(?:{_HOST}/)?{_WORD}(?:/{_WORD})*(?::(?P<tag>\w[\w.-]{{0,127}}))?(?P<digest>@{_DIGEST})?",
    re.ASCII,
).fullmatch
_tail = re.compile(r"(:[\w.-]+)?(@.*)?$", re.ASCII).sub
_LONGEST_PATH = 255
_is_identifier = re.compile("[a-f0-9]{64}").fullmatch


def fill_containers(spec: Value, *, in_pod: bool) -> None:
    """Complete the containers of a spec, in place of those that are there."""
    host_network = in_pod and bool(spec.get("hostNetwork"))
    for kind in ("initContainers", "containers", "ephemeralContainers"):
        containers = spec.get(kind)
        if isinstance(containers, list):
            in_workload = in_pod and kind != "ephemeralContainers"
            spec[kind] = [
                _container(found, in_pod=in_workload, host_network=host_network and in_workload)
                if isinstance(found, dict)
                else found
                for found in containers
            ]


def tag_is_latest(image: str) -> bool:
    """Whether an image can change under its name: what is no name of one cannot.

    >>> tag_is_latest("nginx"), tag_is_latest("nginx:1"), tag_is_latest("Not valid")
    (True, False, False)
    """
    found = _image(image)
    if found is None or _is_identifier(image) or _is_too_long(image):
        return False
    return found["tag"] == "latest" or (found["tag"] is None and found["digest"] is None)


def _is_too_long(image: str) -> bool:
    """Whether the path of an image, without where it is, its tag and its digest, is none."""
    if len(image) <= _LONGEST_PATH:
        return False
    path = _tail("", image)
    first, slash, rest = path.partition("/")
    is_host = bool(slash) and (
        "." in first or ":" in first or first == "localhost" or not first.islower()
    )
    return len(rest if is_host else path) > _LONGEST_PATH


def _container(container: Value, *, in_pod: bool, host_network: bool) -> Value:
    complete = dict(container)
    if not complete.get("terminationMessagePath"):
        complete["terminationMessagePath"] = "/dev/termination-log"
    if not complete.get("terminationMessagePolicy"):
        complete["terminationMessagePolicy"] = "File"
    if not complete.get("imagePullPolicy"):
        latest = tag_is_latest(str(complete.get("image") or ""))
        complete["imagePullPolicy"] = "Always" if latest else "IfNotPresent"
    ports = complete.get("ports")
    if isinstance(ports, list):
        complete["ports"] = [_port(port, host_network=host_network) for port in ports]
    env = complete.get("env")
    if isinstance(env, list):
        complete["env"] = [_variable(found) for found in env]
    for name in _PROBES:
        if isinstance(complete.get(name), dict):
            complete[name] = _probe(complete[name])
    lifecycle = complete.get("lifecycle")
    if isinstance(lifecycle, dict) and lifecycle:
        complete["lifecycle"] = _lifecycle(lifecycle)
        if not complete["lifecycle"]:
            del complete["lifecycle"]
    resources = complete.get("resources")
    if resources is None:
        complete["resources"] = {}
    elif isinstance(resources, dict) and resources:
        complete["resources"] = _resources(resources, ask_for_limits=in_pod)
    return complete


def _port(port: Any, *, host_network: bool) -> Any:
    if not isinstance(port, dict):
        return port
    complete = {**port, "protocol": port.get("protocol") or "TCP"}
    if host_network and not complete.get("hostPort") and complete.get("containerPort"):
        complete["hostPort"] = complete["containerPort"]
    return complete


def _variable(variable: Any) -> Any:
    source = variable.get("valueFrom") if isinstance(variable, dict) else None
    if not isinstance(source, dict):
        return variable
    field, file = source.get("fieldRef"), source.get("fileKeyRef")
    if isinstance(field, dict) and not field.get("apiVersion"):
        source = {**source, "fieldRef": {**field, "apiVersion": "v1"}}
    if isinstance(file, dict) and file.get("optional") is None:
        source = {**source, "fileKeyRef": {**file, "optional": False}}
    return variable if source is variable["valueFrom"] else {**variable, "valueFrom": source}


def _probe(probe: Value) -> Value:
    probe = _handler(probe)
    grpc = probe.get("grpc")
    if isinstance(grpc, dict) and grpc.get("service") is None:
        probe = {**probe, "grpc": {**grpc, "service": ""}}
    return {**probe, **{name: value for name, value in _PROBE.items() if not probe.get(name)}}


def _handler(handler: Value) -> Value:
    http = handler.get("httpGet")
    if not isinstance(http, dict):
        return handler
    filled = {"path": http.get("path") or "/", "scheme": http.get("scheme") or "HTTP"}
    return {**handler, "httpGet": {**http, **filled}}


def _lifecycle(lifecycle: Value) -> Value:
    """Without what is not served yet."""
    return {
        name: _handler(found) if isinstance(found, dict) else found
        for name, found in lifecycle.items()
        if name != "stopSignal"
    }


def _resources(resources: Value, *, ask_for_limits: bool) -> Value:
    """A pod asks for what it is limited to, where it does not say what it asks for."""
    limits, requests = resources.get("limits"), resources.get("requests") or {}
    complete = dict(resources)
    if ask_for_limits and isinstance(limits, dict) and isinstance(requests, dict):
        missing = {name: amount for name, amount in limits.items() if name not in requests}
        if missing:
            complete["requests"] = dict(sorted({**requests, **missing}.items()))
    for name in ("limits", "requests"):
        amounts = complete.get(name)
        if isinstance(amounts, dict):
            complete[name] = {key: _in_thousandths(amount) for key, amount in amounts.items()}
    return complete


def _in_thousandths(amount: Any) -> Any:
    if amount is None:
        return None
    try:
        return quantity_in_thousandths(str(amount))
    except ValueError:  # which is told elsewhere
        return amount
