"""Which requests webhooks and policies of admission are for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ..basics import selector_at, texts
from ..checks import Value
from ..names import key_problems, path_segment_problems
from ..problems import (
    Problem,
    duplicate_field,
    invalid_field,
    required_field,
    too_many,
    unsupported_field,
)
from .expressions import expression_problems

__all__ = [
    "FAILURE_POLICIES",
    "MATCH_POLICIES",
    "MUTATING_OPERATIONS",
    "condition_problems",
    "known",
    "operations_problems",
    "resources_problems",
    "rule_problems",
]

FAILURE_POLICIES = ("Fail", "Ignore")
MATCH_POLICIES = ("Equivalent", "Exact")
_OPERATIONS = ("*", "CONNECT", "CREATE", "DELETE", "UPDATE")
MUTATING_OPERATIONS = ("*", "CONNECT", "CREATE", "UPDATE")
_SCOPES = ("*", "Cluster", "Namespaced")
_MAX_CONDITIONS = 64


def known(field: str, value: Any, supported: Sequence[str]) -> Iterator[Problem]:
    """Where a member that need not be there is none of the words that it may be."""
    if value is not None and value not in supported:
        yield unsupported_field(field, value, supported)


def rule_problems(field: str, rule: Value) -> Iterator[Problem]:
    operations = rule.get("operations") or []
    if not operations:
        yield required_field(f"{field}.operations")
    yield from _alone(f"{field}.operations", operations, "operations")
    for at, operation in enumerate(operations):
        yield from known(f"{field}.operations[{at}]", operation, _OPERATIONS)
    groups, versions = rule.get("apiGroups") or [], rule.get("apiVersions") or []
    if not groups:
        yield required_field(f"{field}.apiGroups")
    yield from _alone(f"{field}.apiGroups", groups, "API groups")
    if not versions:
        yield required_field(f"{field}.apiVersions")
    yield from _alone(f"{field}.apiVersions", versions, "API versions")
    for at, version in enumerate(versions):
        if not version:
            yield required_field(f"{field}.apiVersions[{at}]")
    yield from _resources(f"{field}.resources", rule.get("resources") or [])
    yield from known(f"{field}.scope", rule.get("scope"), _SCOPES)


def _alone(field: str, names: list[str], what: str) -> Iterator[Problem]:
    if len(names) > 1 and "*" in names:
        yield invalid_field(field, names, f"if '*' is present, must not specify other {what}")


def _resources(field: str, resources: list[str]) -> Iterator[Problem]:
    if not resources:
        yield required_field(field)
    everywhere: set[str] = set()
    of_all: set[str] = set()
    plain = False
    for at, name in enumerate(resources):
        if not name:
            yield required_field(f"{field}[{at}]")
            continue
        resource, slash, below = name.partition("/")
        if not slash:
            plain = name != "*"
            continue
        wider = [f"{resource}/*"] * (resource in everywhere) + [f"*/{below}"] * (below in of_all)
        for found in wider:
            text = f"if '{found}' is present, must not specify {name}"
            yield invalid_field(f"{field}[{at}]", name, text)
        if below == "*":
            everywhere.add(resource)
        if resource == "*":
            of_all.add(below)
    if len(resources) > 1 and "*/*" in resources:
        text = "if '*/*' is present, must not specify other resources"
        yield invalid_field(field, resources, text)
    if "*" in resources and plain:
        text = "if '*' is present, must not specify other resources without subresources"
        yield invalid_field(field, resources, text)


def condition_problems(field: str, conditions: Sequence[Value] | None) -> Iterator[Problem]:
    """`matchConditions`."""
    conditions = conditions or ()
    if len(conditions) > _MAX_CONDITIONS:
        yield too_many(field, len(conditions), _MAX_CONDITIONS)
    seen: set[str] = set()
    for at, condition in enumerate(conditions):
        path = f"{field}[{at}]"
        expression = (condition.get("expression") or "").strip()
        name = condition.get("name") or ""
        if not expression:
            yield required_field(f"{path}.expression")
        else:
            yield from expression_problems(f"{path}.expression", expression)
        if not name:
            yield required_field(f"{path}.name")
        else:
            yield from texts(f"{path}.name", name, key_problems(name))
            if name in seen:
                yield duplicate_field(f"{path}.name", name)
            seen.add(name)


def resources_problems(field: str, matched: Value | None) -> Iterator[Problem]:
    """`matchConstraints` and `matchResources`."""
    if matched is None:
        return
    policy = matched.get("matchPolicy")
    if policy is None:
        yield required_field(f"{field}.matchPolicy")
    yield from known(f"{field}.matchPolicy", policy, MATCH_POLICIES)
    for name in ("namespaceSelector", "objectSelector"):
        selector = matched.get(name)
        if selector is None:
            yield required_field(f"{field}.{name}")
        yield from selector_at(f"{field}.{name}", selector)
    for name in ("resourceRules", "excludeResourceRules"):
        for at, rule in enumerate(matched.get(name) or ()):
            yield from _named_rule(f"{field}.{name}[{at}]", rule)


def _named_rule(field: str, rule: Value) -> Iterator[Problem]:
    names = rule.get("resourceNames") or []
    for at, name in enumerate(names):
        path = f"{field}.resourceNames[{at}]"
        yield from texts(path, name, path_segment_problems(name))
        if name in names[:at]:
            yield duplicate_field(path, name)
    yield from rule_problems(field, rule)


def operations_problems(field: str, matched: Value, operations: Sequence[str]) -> Iterator[Problem]:
    """Not every one, where there is no object to change."""
    if not operations:
        return
    for rule in matched.get("resourceRules") or ():
        for operation in rule.get("operations") or ():
            yield from known(f"{field}.resourceRules.operations", operation, operations)
