"""Which objects one LIST or WATCH is about: its namespace and its selectors (K38, K39)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from listwatch.api import FieldSelector, LabelSelector
from listwatch.api.fields import FieldOperator, field_value

from ..storage.log import StoredObject, Write, WriteKind
from ..storage.state import Target
from ..types.served import ResourceType
from ..validation.problems import bad_request
from .list_options import ANY_FIELDS, ANY_LABELS, ListOptions

__all__ = ["EventKind", "Selection", "selectable_value"]


class EventKind(StrEnum):
    """What a write is to one watch."""

    ADDED = "added"
    """Made, or come into the selection."""
    MODIFIED = "modified"
    DELETED = "deleted"
    LEFT = "left"
    """Still there, but out of the selection: DELETED with the object as it was when it belonged to
    it, and the RV of the write.
    """


_PLAIN = {
    WriteKind.CREATED: EventKind.ADDED,
    WriteKind.UPDATED: EventKind.MODIFIED,
    WriteKind.DELETED: EventKind.DELETED,
}
_NAME, _NAMESPACE = "metadata.name", "metadata.namespace"
_NO_NAME = re.compile(r"[/%]|^\.\.?$")
_NAMESPACE_NAME = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")


@dataclass(frozen=True, slots=True)
class Selection:
    """Hashable: watches with an equal one are told the same."""

    type: ResourceType
    namespace: str = ""
    """Empty: all of them, or the type has none."""
    labels: LabelSelector = ANY_LABELS
    fields: FieldSelector = ANY_FIELDS

    @classmethod
    def of(cls, target: Target, options: ListOptions) -> Selection:
        """Raises `Refused` for a field that the type does not select by, and for a name in the
        path that the selector contradicts.
        """
        found, fields = target.type, options.fields
        unknown = [each for each in fields.requirements if each.field not in found.selectable]
        if unknown:
            raise bad_request(found.field_refusal(min(unknown, key=str).field))
        if target.name:
            if not fields:
                fields = FieldSelector.from_fields({_NAME: target.name})
            elif _required(fields, _NAME) != target.name:
                raise bad_request("fieldSelector metadata.name doesn't match requested name")
        namespace = target.namespace
        if found.namespaced and not namespace:
            # A selector for one namespace makes it a list of that one, tokens included.
            selected = _required(fields, _NAMESPACE) or ""
            namespace = selected if _NAMESPACE_NAME.fullmatch(selected) else ""
        return cls(found, namespace, options.labels, fields)

    @property
    def name(self) -> str | None:
        """The one name that can be meant, where the namespace is known too."""
        if self.type.namespaced and not self.namespace:
            return None
        name = _required(self.fields, _NAME)
        return name if name and not _NO_NAME.search(name) else None

    @property
    def is_everything(self) -> bool:
        """Whether there is no selector: then a page says how many objects remain."""
        return not self.labels and not self.fields

    def matches(self, found: StoredObject) -> bool:
        """Whether an object is meant, its namespace included."""
        if self.namespace and found.key[0] != self.namespace:
            return False
        if self.labels and not self.labels.matches(found.metadata.get("labels")):
            return False
        return all(
            (selectable_value(self.type, found, requirement.field) == requirement.value)
            is (requirement.operator is FieldOperator.EQUALS)
            for requirement in self.fields.requirements
        )

    def select(self, objects: Iterable[StoredObject]) -> list[StoredObject]:
        """Those that are meant, of objects of its namespace."""
        if self.is_everything:
            return list(objects)
        return [found for found in objects if self.matches(found)]

    def event_of(self, write: Write) -> EventKind | None:
        """What a watch is told of a write. Nothing where the object was not meant before and is not
        now.
        """
        if self.namespace and write.new.key[0] != self.namespace:
            return None
        if self.is_everything:
            return _PLAIN[write.kind]
        if write.kind is WriteKind.DELETED:
            return EventKind.DELETED if self.matches(write.new) else None
        was_meant = write.old is not None and self.matches(write.old)
        if self.matches(write.new):
            return EventKind.MODIFIED if was_meant else EventKind.ADDED
        return EventKind.LEFT if was_meant else None


def selectable_value(of: ResourceType, found: StoredObject, path: str) -> str:
    """The text that a field selector compares with."""
    if path == _NAME:
        return found.key[1]
    if path == _NAMESPACE:
        return found.key[0]
    value = of.shown(found.value)
    if not of.custom and (special := _SPECIAL.get((of.plural, path))):
        return special(value)
    return field_value(value, path)


def _required(fields: FieldSelector, path: str) -> str | None:
    """The value that the field must have, where there is one."""
    for requirement in fields.requirements:
        if requirement.field == path and requirement.operator is FieldOperator.EQUALS:
            return requirement.value
    return None


def _flag(path: str) -> Callable[[Mapping[str, Any]], str]:
    return lambda value: field_value(value, path) or "false"


def _number(path: str) -> Callable[[Mapping[str, Any]], str]:
    return lambda value: field_value(value, path) or "0"


def _pod_ip(value: Mapping[str, Any]) -> str:
    ips = (value.get("status") or {}).get("podIPs")
    if isinstance(ips, list) and ips and isinstance(ips[0], dict):
        return field_value(ips[0], "ip")
    return field_value(value, "status.podIP")


def _event_source(value: Mapping[str, Any]) -> str:
    return field_value(value, "source.component") or field_value(value, "reportingComponent")


_SPECIAL: Mapping[tuple[str, str], Callable[[Mapping[str, Any]], str]] = {
    ("events", "source"): _event_source,
    ("jobs", "status.successful"): _number("status.succeeded"),
    ("nodes", "spec.unschedulable"): _flag("spec.unschedulable"),
    ("pods", "spec.hostNetwork"): _flag("spec.hostNetwork"),
    ("pods", "status.podIP"): _pod_ip,
    ("pods", "status.podIPs"): lambda _: "",  # it may be asked for, and never has a value
    ("replicationcontrollers", "status.replicas"): _number("status.replicas"),
}
"""Where it is not simply the field at that path."""
