"""When containers are started again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..checks import Value
from ..problems import Problem, required_field, too_many, unsupported_field

__all__ = ["restart_problems"]

_POLICIES = ("Always", "Never", "OnFailure")
_ACTIONS = ("Restart", "RestartAllContainers")
_OPERATORS = ("In", "NotIn")
_MOST_RULES = 20
_MOST_CODES = 255


def restart_problems(container: Value, path: str, *, is_init: bool = False) -> Iterator[Problem]:
    """`restartPolicy` and `restartPolicyRules` of a container."""
    policy = container.get("restartPolicy")
    rules: Sequence[Value] = container.get("restartPolicyRules") or ()
    if policy is None:
        if not rules:
            return
        text = "must specify restartPolicy when restart rules are used"
        yield required_field(f"{path}.restartPolicy", text)
        if is_init:
            return
    elif policy not in _POLICIES:
        yield unsupported_field(f"{path}.restartPolicy", policy, _POLICIES)
    if len(rules) > _MOST_RULES:
        yield too_many(f"{path}.restartPolicyRules", len(rules), _MOST_RULES)
    for at, rule in enumerate(rules):
        yield from _rule_problems(rule, f"{path}.restartPolicyRules[{at}]")


def _rule_problems(rule: Value, path: str) -> Iterator[Problem]:
    action = rule.get("action") or ""
    if action not in _ACTIONS:
        yield unsupported_field(f"{path}.action", action, _ACTIONS)
    codes = rule.get("exitCodes")
    if codes is None:
        yield required_field(f"{path}.exitCodes", "must be specified")
        return
    operator = codes.get("operator") or ""
    if operator not in _OPERATORS:
        yield unsupported_field(f"{path}.exitCodes.operator", operator, _OPERATORS)
    values = codes.get("values") or ()
    if len(values) > _MOST_CODES:
        yield too_many(f"{path}.exitCodes.values", len(values), _MOST_CODES)
