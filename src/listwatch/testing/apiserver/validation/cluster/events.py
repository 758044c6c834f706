"""The checks of Events. Those of `v1` are lenient, as they always were; those of the new API,
`events.k8s.io/v1`, which has other names for the same members, are strict.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ..basics import immutable, texts
from ..checks import Checks, Value
from ..internal_values import internal
from ..names import (
    finalizer_name_problems,
    key_problems,
    label_map_problems,
    subdomain_problems,
)
from ..problems import Problem, invalid_field, required_field

__all__ = ["CHECKS"]

_SOME_LENGTH = 128
_NOTE_LENGTH = 1024
_NOT_THERE = "does not match event.namespace"
_LOOKED_AT = ("labels", "annotations", "ownerReferences", "finalizers")
_UNSET = "needs to be unset"


@dataclass(frozen=True, slots=True)
class _Names:
    """What members are called in one of the two APIs."""

    strict: bool
    object: str
    note: str
    source: str
    first: str
    last: str
    count: str
    controller: str


_OLD = _Names(
    strict=False,
    object="involvedObject",
    note="message",
    source="source",
    first="firstTimestamp",
    last="lastTimestamp",
    count="count",
    controller="reportingComponent",
)
_NEW = _Names(
    strict=True,
    object="regarding",
    note="note",
    source="deprecatedSource",
    first="deprecatedFirstTimestamp",
    last="deprecatedLastTimestamp",
    count="deprecatedCount",
    controller="reportingController",
)


def _names(event: Value) -> _Names:
    return _OLD if event.get("apiVersion") == "v1" else _NEW


def _create(new: Value) -> Iterator[Problem]:
    names = _names(new)
    yield from _always(new, names)
    if not names.strict:
        return
    metadata = new["metadata"]
    start, name = metadata.get("generateName") or "", metadata.get("name") or ""
    if start:
        as_name = start[:-2] + "a" if len(start) > 1 and start.endswith("-") else start
        yield from texts("metadata.generateName", start, subdomain_problems(as_name))
    yield from texts("metadata.name", name, subdomain_problems(name))
    yield from _series(new)
    if not new.get("eventTime"):
        yield required_field("eventTime")
    kind = new.get("type") or ""
    if kind not in ("Normal", "Warning"):
        yield invalid_field("type", "", f"has invalid value: {kind}")
    source = new.get(names.source) or {}
    for field, value in (
        ("firstTimestamp", new.get(names.first)),
        ("lastTimestamp", new.get(names.last)),
        ("count", new.get(names.count)),
        ("source", source.get("component") or source.get("host")),
    ):
        if value:
            yield invalid_field(field, "", _UNSET)


def _update(new: Value, old: Value) -> Iterator[Problem]:
    """Nothing but the series may change, and what is metadata's."""
    names = _names(old)
    yield from _always(new, names)
    if not names.strict:
        return
    metadata, before = new["metadata"], old["metadata"]
    if any(metadata.get(name) != before.get(name) for name in _LOOKED_AT):
        yield from label_map_problems(metadata)
        for at, finalizer in enumerate(metadata.get("finalizers") or ()):
            found = finalizer_name_problems(finalizer)
            yield from texts(f"metadata.finalizers[{at}]", finalizer, found)
    if new.get("series") != old.get("series"):
        yield from _series(new)
    yield from _same_struct("involvedObject", names.object, "core.v1.ObjectReference", new, old)
    yield from _same("reason", "reason", new, old)
    yield from _same("message", names.note, new, old)
    yield from _same_struct("source", names.source, "core.v1.EventSource", new, old)
    yield from _same("firstTimestamp", names.first, new, old, None)
    yield from _same("lastTimestamp", names.last, new, old, None)
    yield from _same("count", names.count, new, old, 0)
    yield from _same("reason", "reason", new, old)
    yield from _same("type", "type", new, old)
    yield from _same("eventTime", "eventTime", new, old, None)
    yield from _same("action", "action", new, old)
    if new.get("related") or old.get("related"):
        yield from _same_struct("related", "related", "core.v1.ObjectReference", new, old)
    yield from _same("reportingController", names.controller, new, old)
    yield from _same("reportingInstance", "reportingInstance", new, old)


def _same(field: str, name: str, new: Value, old: Value, zero: Any = "") -> Iterator[Problem]:
    yield from immutable(field, new.get(name) or zero, old.get(name) or zero)


def _same_struct(field: str, name: str, struct: str, new: Value, old: Value) -> Iterator[Problem]:
    now, before = new.get(name), old.get(name)
    if (now or {}) != (before or {}):
        pointer_to_nothing = name == "related" and now is None
        shown = None if pointer_to_nothing else internal(struct, now)
        yield from immutable(field, shown, internal(struct, before))


def _series(event: Value) -> Iterator[Problem]:
    series = event.get("series")
    if series is None:
        return
    if (series.get("count") or 0) < 2:
        yield invalid_field("series.count", "", "should be at least 2")
    if not series.get("lastObservedTime"):
        yield required_field("series.lastObservedTime")


def _always(event: Value, names: _Names) -> Iterator[Problem]:
    namespace = event["metadata"].get("namespace") or ""
    of = (event.get(names.object) or {}).get("namespace") or ""
    if event.get("eventTime"):
        if not of and namespace not in ("default", "kube-system"):
            yield invalid_field("involvedObject.namespace", of, _NOT_THERE)
        yield from _report(event, names)
    elif (namespace not in ("", "default")) if not of else namespace != of:
        yield invalid_field("involvedObject.namespace", of, _NOT_THERE)
    yield from texts("namespace", namespace, subdomain_problems(namespace))


def _report(event: Value, names: _Names) -> Iterator[Problem]:
    """What an event must have that tells its time in the new way."""
    controller = event.get(names.controller) or ""
    if not controller:
        yield required_field(names.controller)
    yield from texts(names.controller, controller, key_problems(controller))
    for name in ("reportingInstance", "action", "reason"):
        value = event.get(name) or ""
        if not value:
            yield required_field(name)
        if len(value.encode()) > _SOME_LENGTH:
            yield invalid_field(name, "", f"can have at most {_SOME_LENGTH} characters")
    if len((event.get(names.note) or "").encode()) > _NOTE_LENGTH:
        yield invalid_field("message", "", f"can have at most {_NOTE_LENGTH} characters")


CHECKS = {"events": Checks(create=_create, update=_update, metadata=0)}
