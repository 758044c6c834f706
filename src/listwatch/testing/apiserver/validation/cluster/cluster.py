"""The checks of what a cluster is made of: namespaces, nodes, leases, events, further servers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..basics import label_map, name_at, texts
from ..checks import Checks, Value
from ..internal_values import internal
from ..names import (
    finalizer_name_problems,
    label_name_problems,
    path_segment_problems,
    rfc_1035_problems,
    subdomain_problems,
)
from ..node_selectors import DEPRECATED_LABELS
from ..pod.resources import resource_problems
from ..pod.tolerations import toleration_problems
from ..problems import Problem, duplicate_field, invalid_field, required_field, unsupported_field
from .events import EVENTS
from .nodes import NODES

__all__ = ["CHECKS"]

_STATES = ("True", "False", "Unknown")
_NAME_OF_SERVICE = 'must be `spec.version+"."+spec.group`'


# Namespaces


def _namespace(new: Value) -> Iterator[Problem]:
    for finalizer in (new.get("spec") or {}).get("finalizers") or ():
        yield from texts("spec.finalizers", finalizer, finalizer_name_problems(finalizer))


def _namespace_status(new: Value, old: Value) -> Iterator[Problem]:
    phase = (new.get("status") or {}).get("phase") or ""
    dying = new["metadata"].get("deletionTimestamp") is not None
    wanted = "Terminating" if dying else "Active"
    if phase != wanted:
        text = f"may only be '{wanted}' if `deletionTimestamp` is {'not ' if dying else ''}empty"
        yield invalid_field("status.Phase", phase, text)


def _finalize(new: Value, old: Value) -> Iterator[Problem]:
    """Those of the subresource that takes a namespace's last finalizers away."""
    for at, finalizer in enumerate((new.get("spec") or {}).get("finalizers") or ()):
        path = f"spec.finalizers[{at}]"
        yield from texts(path, finalizer, finalizer_name_problems(finalizer))


# Leases


def _lease(new: Value) -> Iterator[Problem]:
    spec = new.get("spec") or {}
    seconds, transitions = spec.get("leaseDurationSeconds"), spec.get("leaseTransitions")
    if seconds is not None and seconds <= 0:
        yield invalid_field("spec.leaseDurationSeconds", seconds, "must be greater than 0")
    if transitions is not None and transitions < 0:
        text = "must be greater than or equal to 0"
        yield invalid_field("spec.leaseTransitions", transitions, text)


# Runtime classes


def _runtime_class(new: Value) -> Iterator[Problem]:
    yield from name_at("handler", new.get("handler"), label_name_problems)
    overhead, scheduling = new.get("overhead"), new.get("scheduling")
    if overhead is not None:
        yield from resource_problems({"limits": overhead.get("podFixed")}, "overhead")
    if scheduling is not None:
        yield from label_map("scheduling.nodeSelector", scheduling.get("nodeSelector"))
        yield from _tolerations(scheduling.get("tolerations") or ())


def _tolerations(tolerations: Sequence[Value]) -> Iterator[Problem]:
    path = "scheduling.tolerations"
    yield from toleration_problems(tolerations, path)
    seen = set()
    for at, each in enumerate(tolerations):
        key = tuple(each.get(name) or "" for name in ("key", "operator", "value", "effect"))
        if key in seen:
            yield duplicate_field(f"{path}[{at}]", internal("core.v1.Toleration", each))
        seen.add(key)


def _runtime_class_warnings(new: Value) -> Iterator[str]:
    for key in (new.get("scheduling") or {}).get("nodeSelector") or ():
        told = DEPRECATED_LABELS.get(key)
        if told:
            yield f"scheduling.nodeSelector: {told}"


def _runtime_class_update(new: Value, old: Value) -> Iterator[Problem]:
    yield from _runtime_class(new)
    handler = new.get("handler") or ""
    if handler != (old.get("handler") or ""):
        yield invalid_field("handler", handler, "field is immutable")


# Further servers


def _api_service(new: Value) -> Iterator[Problem]:
    spec, name = new.get("spec") or {}, new["metadata"].get("name") or ""
    group, version = spec.get("group") or "", spec.get("version") or ""
    wanted = f"{version}.{group}"
    if name and name != wanted and not any(path_segment_problems(name)):
        yield invalid_field("metadata.name", name, f'{_NAME_OF_SERVICE}: "{wanted}"')
    if group:
        yield from texts("spec.group", group, subdomain_problems(group))
    elif version != "v1":
        text = "only v1 may have an empty group and it better be legacy kube"
        yield required_field("spec.group", text)
    yield from texts("spec.version", version, rfc_1035_problems(version))
    for member, most in (("groupPriorityMinimum", 20000), ("versionPriority", 1000)):
        value = spec.get(member) or 0
        if not 0 < value <= most:
            text = f"must be positive and less than {most}"
            yield invalid_field(f"spec.{member}", value, text)
    yield from _address(spec)


def _address(spec: Value) -> Iterator[Problem]:
    """Where a further server is, and whether it is trusted."""
    bundle, insecure = spec.get("caBundle") or "", bool(spec.get("insecureSkipTLSVerify"))
    service = spec.get("service")
    if service is None:
        if bundle:
            size = len(bundle) * 3 // 4 - bundle.count("=")
            text = "local APIServices may not have a caBundle"
            yield invalid_field("spec.caBundle", f"{size} bytes", text)
        if insecure:
            text = "local APIServices may not have insecureSkipTLSVerify"
            yield invalid_field("spec.insecureSkipTLSVerify", insecure, text)
        return
    for member in ("namespace", "name"):
        if not service.get(member):
            yield required_field(f"spec.service.{member}")
    port = service.get("port")
    port = 443 if port is None else port
    if not 0 < port <= 65535:
        text = "port is not valid: must be between 1 and 65535, inclusive"
        yield invalid_field("spec.service.port", port, text)
    if insecure and bundle:
        text = "may not be true if caBundle is present"
        yield invalid_field("spec.insecureSkipTLSVerify", insecure, text)


def _api_service_status(new: Value, old: Value) -> Iterator[Problem]:
    for at, condition in enumerate((new.get("status") or {}).get("conditions") or ()):
        status = condition.get("status") or ""
        if status not in _STATES:
            yield unsupported_field(f"status.conditions[{at}].status", status, _STATES)


CHECKS = {
    "events": EVENTS,
    "namespaces": Checks(
        create=_namespace,
        status=_namespace_status,
        subresources={"finalize": _finalize},
        metadata=2,
    ),
    "nodes": NODES,
    "apiregistration.k8s.io/apiservices": Checks(
        create=_api_service, status=_api_service_status, metadata=2
    ),
    "coordination.k8s.io/leases": Checks(create=_lease),
    "node.k8s.io/runtimeclasses": Checks(
        create=_runtime_class,
        update=_runtime_class_update,
        metadata=2,
        warnings=_runtime_class_warnings,
    ),
}
