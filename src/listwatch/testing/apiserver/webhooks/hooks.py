"""The webhooks that configurations name, and which writes they want to be asked about."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ..reading.object_selectors import selector_matches
from ..storage.state import State
from ..types.served import ResourceType
from .attributes import Attributes

__all__ = ["MUTATING", "VALIDATING", "Hook", "hooks_for", "is_configured"]

MUTATING = "admissionregistration.k8s.io/mutatingwebhookconfigurations"
VALIDATING = "admissionregistration.k8s.io/validatingwebhookconfigurations"
_GROUP = "admissionregistration.k8s.io"
"""Nobody is asked about the configurations themselves, or a bad one could never be mended."""


@dataclass(frozen=True, slots=True)
class Hook:
    """One webhook, asked about one write."""

    configuration: str
    value: Mapping[str, Any]
    of: ResourceType
    """The version of the type in which it wants the objects (matchPolicy `Equivalent`)."""

    @property
    def name(self) -> str:
        return str(self.value.get("name", ""))

    @property
    def may_fail(self) -> bool:
        """Whether the write goes on where it cannot be asked."""
        return self.value.get("failurePolicy") == "Ignore"

    @property
    def timeout(self) -> float:
        """Seconds that it has."""
        return float(self.value.get("timeoutSeconds") or 10)

    @property
    def takes_dry_runs(self) -> bool:
        return self.value.get("sideEffects") in ("None", "NoneOnDryRun")


def is_configured(state: State) -> bool:
    """Whether there is any webhook to ask."""
    return bool(state.log.count(MUTATING) or state.log.count(VALIDATING))


def hooks_for(state: State, storage: str, attributes: Attributes) -> Iterator[Hook]:
    """Those of all configurations of one kind that want to be asked, in the order of the
    configurations' names.
    """
    if attributes.target.type.group == _GROUP:
        return
    for stored in state.log.objects(storage):
        for value in stored.value.get("webhooks") or ():
            if not _is_selected(state, value, attributes):
                continue
            of = _wanted(state, value, attributes)
            if of is not None:
                yield Hook(stored.key[1], value, of)


def _is_selected(state: State, value: Mapping[str, Any], attributes: Attributes) -> bool:
    selector = value.get("namespaceSelector") or {}
    if selector and (attributes.namespace or attributes.target.type.storage == "namespaces"):
        labels = _namespace_labels(state, attributes)
        if not selector_matches(selector, labels):
            return False
    selector = value.get("objectSelector") or {}
    return not selector or any(
        selector_matches(selector, (found.get("metadata") or {}).get("labels"))
        for found in (attributes.new, attributes.old)
        if found is not None
    )


def _namespace_labels(state: State, attributes: Attributes) -> Mapping[str, str]:
    target = attributes.target
    if target.type.storage == "namespaces" and not target.subresource and attributes.new:
        labels: Mapping[str, str] = attributes.new["metadata"].get("labels") or {}
        return labels
    found = state.log.get("namespaces", ("", attributes.namespace))
    return {} if found is None else found.metadata.get("labels") or {}


def _wanted(state: State, value: Mapping[str, Any], attributes: Attributes) -> ResourceType | None:
    """The version of the type that a rule names; None: no rule does."""
    own = attributes.target.type
    rules = value.get("rules") or ()
    if any(_names(rule, own, attributes) for rule in rules):
        return own
    if value.get("matchPolicy") == "Exact":
        return None
    others = [found for found in state.types.versions_of(own.storage) if found is not own]
    for rule in rules:
        for found in others:
            if _names(rule, found, attributes):
                return found
    return None


def _names(rule: Mapping[str, Any], of: ResourceType, attributes: Attributes) -> bool:
    scope = rule.get("scope") or "*"
    namespaced = of.namespaced and bool(attributes.namespace)
    if scope != "*" and (scope == "Namespaced") is not namespaced:
        return False
    return (
        _has(rule.get("operations"), attributes.operation)
        and _has(rule.get("apiGroups"), of.group)
        and _has(rule.get("apiVersions"), of.version)
        and any(
            _has_resource(text, of.plural, attributes.target.subresource)
            for text in rule.get("resources") or ()
        )
    )


def _has(names: Iterable[str] | None, name: str) -> bool:
    return any(found in ("*", name) for found in names or ())


def _has_resource(text: str, plural: str, subresource: str) -> bool:
    resource, _, below = text.partition("/")
    return resource in ("*", plural) and below in ("*", subresource)
