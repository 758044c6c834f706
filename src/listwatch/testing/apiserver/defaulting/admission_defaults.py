"""The defaults of what configures admission: webhooks, policies, what binds them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["fill_binding", "fill_policy", "fill_webhooks"]

Value = dict[str, Any]

_SELECTING: Mapping[str, Any] = {
    "matchPolicy": "Equivalent",
    "namespaceSelector": {},
    "objectSelector": {},
}
_WEBHOOK: Mapping[str, Any] = {**_SELECTING, "failurePolicy": "Fail", "timeoutSeconds": 10}
_MUTATING = "MutatingWebhookConfiguration"


def fill_webhooks(value: Value) -> None:
    webhooks = value.get("webhooks")
    if isinstance(webhooks, list):
        again = value.get("kind") == _MUTATING
        value["webhooks"] = [
            _webhook(found, mutating=again) if isinstance(found, dict) else found
            for found in webhooks
        ]


def fill_policy(value: Value) -> None:
    spec = value.get("spec") or {}
    value["spec"] = _with(spec, {"failurePolicy": "Fail"})
    if isinstance(spec.get("matchConstraints"), dict):
        value["spec"]["matchConstraints"] = _matched(spec["matchConstraints"])


def fill_binding(value: Value) -> None:
    spec = value.get("spec") or {}
    if isinstance(spec.get("matchResources"), dict):
        value["spec"] = {**spec, "matchResources": _matched(spec["matchResources"])}


def _webhook(webhook: Value, *, mutating: bool) -> Value:
    complete = _with(webhook, _WEBHOOK)
    if mutating:
        complete = _with(complete, {"reinvocationPolicy": "Never"})
    client = complete.get("clientConfig")
    if isinstance(client, dict) and isinstance(client.get("service"), dict):
        complete["clientConfig"] = {**client, "service": _with(client["service"], {"port": 443})}
    return _with_scopes(complete, "rules")


def _matched(matched: Value) -> Value:
    complete = _with(matched, _SELECTING)
    return _with_scopes(_with_scopes(complete, "resourceRules"), "excludeResourceRules")


def _with_scopes(value: Value, member: str) -> Value:
    rules = value.get(member)
    if isinstance(rules, list):
        value[member] = [
            _with(rule, {"scope": "*"}) if isinstance(rule, dict) else rule for rule in rules
        ]
    return value


def _with(value: Value, defaults: Mapping[str, Any]) -> Value:
    """A copy that has them."""
    missing = {name: item for name, item in defaults.items() if value.get(name) is None}
    return {**value, **missing}
