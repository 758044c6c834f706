"""When a Job gives up, and when it has succeeded."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

from ..basics import non_negative, texts
from ..checks import Value
from ..names import byte_length, key_problems
from ..problems import (
    Problem,
    duplicate_field,
    go_quoted,
    invalid_field,
    required_field,
    too_long,
    too_many,
    unsupported_field,
)
from .index_intervals import IntervalError, count_of_indexes

__all__ = ["failure_policy_problems", "replacement_problems", "success_policy_problems"]

_ACTIONS = ("Count", "FailIndex", "FailJob", "Ignore")
_OPERATORS = ("In", "NotIn")
_STATUSES = ("False", "True", "Unknown")
_MOST_RULES = 20
_MOST_CODES = 255
_MOST_PATTERNS = 20
_MOST_BYTES = 64 * 1024


def failure_policy_problems(spec: Value, path: str) -> Iterator[Problem]:
    rules = (spec.get("podFailurePolicy") or {}).get("rules") or ()
    if len(rules) > _MOST_RULES:
        yield too_many(f"{path}.rules", len(rules), _MOST_RULES)
    pod = (spec.get("template") or {}).get("spec") or {}
    names = {
        container.get("name") or ""
        for member in ("containers", "initContainers")
        for container in pod.get(member) or ()
    }
    for at, rule in enumerate(rules):
        yield from _failure_rule(spec, rule, f"{path}.rules[{at}]", names)


def _failure_rule(spec: Value, rule: Value, path: str, names: set[str]) -> Iterator[Problem]:
    action = rule.get("action")
    if action == "FailIndex":
        if spec.get("backoffLimitPerIndex") is None:
            text = "requires the backoffLimitPerIndex to be set"
            yield invalid_field(f"{path}.action", action, text)
    else:
        yield from _one_of(f"{path}.action", action, _ACTIONS)
    codes, conditions = rule.get("onExitCodes"), rule.get("onPodConditions")
    if codes is not None:
        yield from _exit_codes(codes, f"{path}.onExitCodes", names)
    if conditions:
        yield from _conditions(conditions, f"{path}.onPodConditions")
    both = "specifying both OnExitCodes and OnPodConditions is not supported"
    neither = "specifying one of OnExitCodes and OnPodConditions is required"
    if (codes is not None) == bool(conditions):
        text = both if conditions else neither
        yield Problem(path, "FieldValueInvalid", f"Invalid value: {text}")


def _exit_codes(codes: Value, path: str, names: set[str]) -> Iterator[Problem]:
    operator = codes.get("operator")
    yield from _one_of(f"{path}.operator", operator, _OPERATORS)
    container = codes.get("containerName")
    if container is not None and container not in names:
        text = "must be one of the container or initContainer names in the pod template"
        yield invalid_field(f"{path}.containerName", container, text)
    field, values = f"{path}.values", codes.get("values") or []
    if not values:
        yield invalid_field(field, codes.get("values"), "at least one value is required")
    elif len(values) > _MOST_CODES:
        yield too_many(field, len(values), _MOST_CODES)
    seen: set[int] = set()
    for at, value in enumerate(values):
        if operator == "In" and value == 0:
            yield invalid_field(f"{field}[{at}]", value, "must not be 0 for the In operator")
        if value in seen:
            yield duplicate_field(f"{field}[{at}]", value)
        seen.add(value)
    if any(second < first for first, second in pairwise(values)):
        yield invalid_field(field, values, "must be ordered")


def _conditions(patterns: Sequence[Value], path: str) -> Iterator[Problem]:
    if len(patterns) > _MOST_PATTERNS:
        yield too_many(path, len(patterns), _MOST_PATTERNS)
    for at, pattern in enumerate(patterns):
        name = pattern.get("type") or ""
        yield from texts(f"{path}[{at}].type", name, key_problems(name))
        yield from _one_of(f"{path}[{at}].status", pattern.get("status"), _STATUSES)


def _one_of(field: str, value: str | None, supported: Sequence[str]) -> Iterator[Problem]:
    """A word that must be there; which it can be is said in any case."""
    if not value:
        names = " ".join(go_quoted(name) for name in supported)
        yield required_field(field, f"valid values: [{names}]")
    elif value not in supported:
        yield unsupported_field(field, value, supported)


def replacement_problems(spec: Value, field: str) -> Iterator[Problem]:
    """When pods are replaced. With a failure policy they must have failed."""
    policy = spec.get("podReplacementPolicy")
    has_policy = spec.get("podFailurePolicy") is not None
    supported = ["Failed"] if has_policy else ["Failed", "TerminatingOrFailed"]
    if policy is not None and policy not in supported:
        yield unsupported_field(field, policy, supported)


def success_policy_problems(spec: Value, path: str) -> Iterator[Problem]:
    """Of a Job with indexes."""
    rules = (spec.get("successPolicy") or {}).get("rules") or ()
    if not rules:
        text = "at least one rules must be specified when the successPolicy is specified"
        yield required_field(f"{path}.rules", text)
    if len(rules) > _MOST_RULES:
        yield too_many(f"{path}.rules", len(rules), _MOST_RULES)
    for at, rule in enumerate(rules):
        yield from _success_rule(rule, f"{path}.rules[{at}]", spec.get("completions") or 0)


def _success_rule(rule: Value, path: str, completions: int) -> Iterator[Problem]:
    count: Any = rule.get("succeededCount")
    indexes: Any = rule.get("succeededIndexes")
    if count is None and indexes is None:
        text = "at least one of succeededCount or succeededIndexes must be specified"
        yield required_field(path, text)
    total = 0
    if indexes is not None:
        field = f"{path}.succeededIndexes"
        if byte_length(indexes) > _MOST_BYTES:
            yield too_long(field, _MOST_BYTES)
        try:
            total = count_of_indexes(indexes, completions)
        except IntervalError as error:
            yield invalid_field(field, indexes, f"error parsing succeededIndexes: {error}")
    if count is None:
        return
    field = f"{path}.succeededCount"
    yield from non_negative(field, count)
    most = "must be less than or equal to {} (the number of {})"
    if count > completions:
        yield invalid_field(field, count, most.format(completions, "specified completions"))
    if indexes is not None and count > total:
        what = "indexes in the specified succeededIndexes field"
        yield invalid_field(field, count, most.format(total, what))
