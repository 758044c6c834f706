"""What autoscalers look at, and how much of it they want."""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum

from ...types.quantities import quantity_value
from ..basics import name_at, texts
from ..checks import Value
from ..names import path_segment_problems
from ..pod.resource_names import container_resource_problems
from ..problems import (
    Problem,
    forbidden_field,
    invalid_field,
    required_field,
    unsupported_field,
)
from .replicas import member

__all__ = ["Target", "metric_problems", "reference_problems"]


class Target(Enum):
    """What a reference must say of the version of an object."""

    ANY = "anything"
    VERSION = "a version, or nothing"
    GROUP = "a version of a group that has a name"


_SOURCES = {
    "Object": "object",
    "External": "external",
    "Pods": "pods",
    "Resource": "resource",
    "ContainerResource": "containerResource",
}
"""The types, with the member that each has; in the order in which they are looked at."""
_TYPES = tuple(sorted(_SOURCES))
_TARGET_TYPES = ("Utilization", "Value", "AverageValue")


def reference_problems(reference: Value, path: str, target: Target) -> Iterator[Problem]:
    """An object by its kind, name and version."""
    for name in ("kind", "name"):
        yield from name_at(f"{path}.{name}", reference.get(name), path_segment_problems)
    version = reference.get("apiVersion") or ""
    if target is Target.ANY:
        return
    if version.count("/") > 1:
        text = f"unexpected GroupVersion string: {version}"
        yield invalid_field(f"{path}.apiVersion", version, text)
    elif target is Target.GROUP and not version.rpartition("/")[0]:
        yield invalid_field(f"{path}.apiVersion", version, "apiVersion must specify API group")


def metric_problems(metric: Value, path: str, described: Target) -> Iterator[Problem]:
    """`described`: what must be said of the version of an object that is looked at."""
    kind = metric.get("type") or ""
    if not kind:
        yield required_field(f"{path}.type", "must specify a metric source type")
    if kind not in _TYPES:
        yield unsupported_field(f"{path}.type", kind, _TYPES)
    present = [name for name in _SOURCES.values() if metric.get(name) is not None]
    if present:
        first = present[0]
        yield from _source(first, metric[first], f"{path}.{first}", described)
    expected = _SOURCES.get(kind)
    if expected is None:
        yield unsupported_field(f"{path}.type", kind, _TYPES)
    elif metric.get(expected) is None:
        text = "must populate information for the given metric source"
        yield required_field(f"{path}.{expected}", text)
    if len(present) != 1:
        for name in present:
            if name != expected:
                text = "must populate the given metric source only"
                yield forbidden_field(f"{path}.{name}", text)


def _source(name: str, source: Value, path: str, described: Target) -> Iterator[Problem]:
    target, field = member(source, "target"), f"{path}.target"
    if name == "object":
        yield from reference_problems(
            member(source, "describedObject"), f"{path}.describedObject", described
        )
    if name in ("resource", "containerResource"):
        yield from _resource(source, path, in_container=name == "containerResource")
    else:
        yield from _identifier(member(source, "metric"), f"{path}.metric")
    yield from _target(target, field)
    value, average = target.get("value"), target.get("averageValue")
    if name == "object":
        if value is None and average is None:
            text = "must set either a target value or averageValue"
            yield required_field(f"{field}.averageValue", text)
    elif name == "external":
        if value is None and average is None:
            text = "must set either a target value for metric or a per-pod target"
            yield required_field(f"{field}.averageValue", text)
        if value is not None and average is not None:
            text = "may not set both a target value for metric and a per-pod target"
            yield forbidden_field(f"{field}.value", text)
    elif name == "pods":
        if average is None:
            text = "must specify a positive target averageValue"
            yield required_field(f"{field}.averageValue", text)
    else:
        use = target.get("averageUtilization")
        if use is None and average is None:
            text = "must set either a target raw value or a target utilization"
            yield required_field(f"{field}.averageUtilization", text)
        if use is not None and average is not None:
            text = "may not set both a target raw value and a target utilization"
            yield forbidden_field(f"{field}.averageValue", text)


def _resource(source: Value, path: str, *, in_container: bool) -> Iterator[Problem]:
    name, container = source.get("name"), source.get("container")
    if not name:
        yield required_field(f"{path}.name", "must specify a resource name")
    elif in_container:
        yield from container_resource_problems(f"{path}.name", name)
    if not in_container:
        return
    if not container:
        yield required_field(f"{path}.container", "must specify a container")
    else:
        yield from name_at(f"{path}.container", container)


def _identifier(metric: Value, path: str) -> Iterator[Problem]:
    name = metric.get("name")
    if not name:
        yield required_field(f"{path}.name", "must specify a metric name")
    else:
        yield from texts(f"{path}.name", name, path_segment_problems(name))


def _target(target: Value, path: str) -> Iterator[Problem]:
    kind = target.get("type") or ""
    if not kind:
        yield required_field(f"{path}.type", "must specify a metric target type")
    if kind not in _TARGET_TYPES:
        text = "must be either Utilization, Value, or AverageValue"
        yield invalid_field(f"{path}.type", kind, text, named=True)
    for name in ("value", "averageValue"):
        amount = target.get(name)
        if amount is not None and quantity_value(amount) <= 0:
            yield invalid_field(f"{path}.{name}", amount, "must be positive")
    use = target.get("averageUtilization")
    if use is not None and use < 1:
        yield invalid_field(f"{path}.averageUtilization", use, "must be greater than 0")
