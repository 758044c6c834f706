"""Nodes, namespaces, events, and the small types of the core group."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from listwatch.api.cells.reading import NONE, UNKNOWN, Obj, age, at, items, mapping, number, text

from .printer import AGE, NAME, Column, Printer, Printers, name_of, wide

__all__ = ["PRINTERS"]

_ROLE = "node-role.kubernetes.io/"


def _node(obj: Obj, now: datetime) -> list[Any]:
    info = mapping(obj, "status", "nodeInfo")
    kernel = text(info, "kernelVersion", default=UNKNOWN)
    if machine := text(info, "architecture"):
        kernel += f" ({machine})"
    return [
        name_of(obj),
        _node_status(obj),
        ",".join(sorted(_roles(obj))) or NONE,
        age(obj, now),
        text(info, "kubeletVersion"),
        _address(obj, "InternalIP"),
        _address(obj, "ExternalIP"),
        text(info, "osImage", default=UNKNOWN),
        kernel,
        text(info, "containerRuntimeVersion", default=UNKNOWN),
    ]


def _node_status(node: Obj) -> str:
    status = "Unknown"
    for condition in items(node, "status", "conditions"):
        if text(condition, "type") == "Ready":
            status = "Ready" if text(condition, "status") == "True" else "NotReady"
    cordoned = at(node, "spec", "unschedulable") is True
    return f"{status},SchedulingDisabled" if cordoned else status


def _roles(node: Obj) -> set[str]:
    roles = set()
    for label, value in mapping(node, "metadata", "labels").items():
        if label.startswith(_ROLE):
            roles.add(label.removeprefix(_ROLE))
        elif label == "kubernetes.io/role":
            roles.add(str(value))
    return roles - {""}


def _address(node: Obj, kind: str) -> str:
    for found in items(node, "status", "addresses"):
        if text(found, "type") == kind:
            return text(found, "address")
    return NONE


def _namespace(obj: Obj, now: datetime) -> list[Any]:
    return [name_of(obj), text(obj, "status", "phase"), age(obj, now)]


def _config_map(obj: Obj, now: datetime) -> list[Any]:
    return [
        name_of(obj),
        len(mapping(obj, "data")) + len(mapping(obj, "binaryData")),
        age(obj, now),
    ]


def _secret(obj: Obj, now: datetime) -> list[Any]:
    return [name_of(obj), text(obj, "type"), len(mapping(obj, "data")), age(obj, now)]


def _service_account(obj: Obj, now: datetime) -> list[Any]:
    return [name_of(obj), age(obj, now)]


def _component_status(obj: Obj, now: datetime) -> list[Any]:
    for condition in items(obj, "conditions"):
        if text(condition, "type") == "Healthy":
            status = "Healthy" if text(condition, "status") == "True" else "Unhealthy"
            return [name_of(obj), status, text(condition, "message"), text(condition, "error")]
    return [name_of(obj), "Unknown", "", ""]


def _resource_quota(obj: Obj, now: datetime) -> list[Any]:
    hard, used = mapping(obj, "status", "hard"), mapping(obj, "status", "used")
    parts: tuple[list[str], list[str]] = ([], [])
    for name in sorted(hard):
        shown = f"{name}: {used.get(name, '0')}/{hard[name]}"
        parts[name.startswith("limits.")].append(shown)
    return [name_of(obj), *(", ".join(part) for part in parts), age(obj, now)]


def _event(obj: Obj, now: datetime) -> list[Any]:
    """Of either group: the newer calls most of it something else."""

    def old(name: str) -> Any:
        newer = f"deprecated{name[0].upper()}{name[1:]}"
        return at(obj, name) if at(obj, name) is not None else at(obj, newer)

    times = {"first": old("firstTimestamp") or at(obj, "eventTime"), "last": old("lastTimestamp")}
    first = age(times, now, "first")
    last = age(times, now, "last") if times["last"] else first
    count = old("count") or 1
    if at(obj, "series") is not None:
        last = age(obj, now, "series", "lastObservedTime")
        count = number(obj, "series", "count")
    about = mapping(obj, "involvedObject") or mapping(obj, "regarding")
    names = (text(about, "kind").lower(), text(about, "name"))
    source = old("source")
    controller = text(obj, "reportingComponent") or text(obj, "reportingController")
    sources = (
        text(source, "component") or controller,
        text(source, "host") or text(obj, "reportingInstance"),
    )
    return [
        last,
        text(obj, "type"),
        text(obj, "reason"),
        "/".join(names) if names[1] else names[0],
        text(about, "fieldPath"),
        ", ".join(sources) if sources[1] else sources[0],
        (text(obj, "message") or text(obj, "note")).strip(),
        first,
        count,
        name_of(obj),
    ]


_EVENT = Printer(
    (
        Column("Last Seen", "How long ago it happened last."),
        Column("Type", "Whether it is normal, or a warning."),
        Column("Reason", "What happened, in a word."),
        Column("Object", "What it happened to."),
        wide(Column("Subobject", "The part of the object that it happened to.")),
        wide(Column("Source", "Who tells of it, and from where.")),
        Column("Message", "What happened, for people to read."),
        wide(Column("First Seen", "How long ago it happened first.")),
        wide(Column("Count", "How often it happened.")),
        wide(NAME),
    ),
    _event,
)

PRINTERS: Printers = {
    ("", "Node"): Printer(
        (
            NAME,
            Column("Status", "Whether the node is ready for pods."),
            Column("Roles", "The roles that its labels give it."),
            AGE,
            Column("Version", "The version of its kubelet."),
            wide(Column("Internal-IP", "Its address within the cluster.")),
            wide(Column("External-IP", "Its address outside of the cluster.")),
            wide(Column("OS-Image", "The operating system that it runs.")),
            wide(Column("Kernel-Version", "The version of its kernel, and its architecture.")),
            wide(Column("Container-Runtime", "What runs its containers, and in which version.")),
        ),
        _node,
    ),
    ("", "Namespace"): Printer(
        (NAME, Column("Status", "Whether the namespace is in use or being deleted."), AGE),
        _namespace,
    ),
    ("", "ConfigMap"): Printer(
        (NAME, Column("Data", "How many entries it has, texts and binaries."), AGE), _config_map
    ),
    ("", "Secret"): Printer(
        (
            NAME,
            Column("Type", "What the secret is for."),
            Column("Data", "How many entries it has."),
            AGE,
        ),
        _secret,
    ),
    ("", "ServiceAccount"): Printer((NAME, AGE), _service_account),
    ("", "ComponentStatus"): Printer(
        (
            NAME,
            Column("Status", "Whether the component is healthy."),
            Column("Message", "What the component says of itself."),
            Column("Error", "What is wrong with it."),
        ),
        _component_status,
    ),
    ("", "ResourceQuota"): Printer(
        (
            NAME,
            Column("Request", "What is used of each quota but those on limits."),
            Column("Limit", "What is used of the quotas on limits."),
            AGE,
        ),
        _resource_quota,
    ),
    ("", "Event"): _EVENT,
    ("events.k8s.io", "Event"): _EVENT,
}
