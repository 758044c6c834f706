"""Which nodes something is for: terms of labels and fields of nodes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from .basics import texts
from .checks import Value
from .names import key_problems, subdomain_problems, value_problems
from .problems import Problem, forbidden_field, invalid_field, required_field

__all__ = ["DEPRECATED_LABELS", "node_selector_problems", "node_selector_warnings"]

_NO_OPERATOR = "not a valid selector operator"
DEPRECATED_LABELS = {
    "beta.kubernetes.io/arch": 'deprecated since v1.14; use "kubernetes.io/arch" instead',
    "beta.kubernetes.io/os": 'deprecated since v1.14; use "kubernetes.io/os" instead',
    "failure-domain.beta.kubernetes.io/region": 'deprecated since v1.17; use "topology.kubernetes.'
    'io/region" instead',
    "failure-domain.beta.kubernetes.io/zone": 'deprecated since v1.17; use "topology.kubernetes.io'
    '/zone" instead',
    "beta.kubernetes.io/instance-type": 'deprecated since v1.17; use "node.kubernetes.io/instance-'
    'type" instead',
    "app.kubernetes.io/created-by": "deprecated since v1.9",
    "scheduler.alpha.kubernetes.io/preferAvoidPods": "deprecated since v1.22; use Taints and "
    "Tolerations instead",
    "node-role.kubernetes.io/master": 'use "node-role.kubernetes.io/control-plane" instead',
}
"""Labels of nodes that have another name now, and what is said of them."""


def node_selector_problems(
    selector: Value, path: str, *, any_values: bool = False
) -> Iterator[Problem]:
    """What is wrong with `nodeSelectorTerms`; `any_values`: invalid values of labels are taken."""
    terms = selector.get("nodeSelectorTerms") or ()
    if not terms:
        yield required_field(
            f"{path}.nodeSelectorTerms", "must have at least one node selector term"
        )
    for at, term in enumerate(terms):
        here = f"{path}.nodeSelectorTerms[{at}]"
        for index, each in enumerate((term or {}).get("matchExpressions") or ()):
            yield from _expression(each or {}, f"{here}.matchExpressions[{index}]", any_values)
        for index, each in enumerate((term or {}).get("matchFields") or ()):
            yield from _field(each or {}, f"{here}.matchFields[{index}]")


def _expression(each: Mapping[str, Any], path: str, any_values: bool) -> Iterator[Problem]:
    operator, values = each.get("operator") or "", each.get("values") or ()
    if operator in ("In", "NotIn"):
        if not values:
            text = "must be specified when `operator` is 'In' or 'NotIn'"
            yield required_field(f"{path}.values", text)
    elif operator in ("Exists", "DoesNotExist"):
        if values:
            text = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"
            yield forbidden_field(f"{path}.values", text)
    elif operator in ("Gt", "Lt"):
        if len(values) != 1:
            text = "must be specified single value when `operator` is 'Lt' or 'Gt'"
            yield required_field(f"{path}.values", text)
    else:
        yield invalid_field(f"{path}.operator", operator, _NO_OPERATOR)
    key = each.get("key") or ""
    yield from texts(f"{path}.key", key, key_problems(key))
    if not any_values:
        for index, value in enumerate(values):
            yield from texts(f"{path}.values[{index}]", value, value_problems(value))


def _field(each: Mapping[str, Any], path: str) -> Iterator[Problem]:
    operator, values = each.get("operator") or "", each.get("values") or ()
    if operator not in ("In", "NotIn"):
        yield invalid_field(f"{path}.operator", operator, _NO_OPERATOR)
    elif len(values) != 1:
        text = "must be only one value when `operator` is 'In' or 'NotIn' for node field selector"
        yield required_field(f"{path}.values", text)
    key = each.get("key") or ""
    if key != "metadata.name":
        yield invalid_field(f"{path}.key", key, "not a valid field selector key")
        return
    for index, value in enumerate(values):
        yield from texts(f"{path}.values[{index}]", value, subdomain_problems(value))


def node_selector_warnings(selector: Value, path: str) -> Iterator[str]:
    """That labels have another name now."""
    for at, term in enumerate(selector.get("nodeSelectorTerms") or ()):
        for index, each in enumerate((term or {}).get("matchExpressions") or ()):
            key = (each or {}).get("key")
            if key in DEPRECATED_LABELS:
                here = f"{path}.nodeSelectorTerms[{at}].matchExpressions[{index}].key"
                yield f"{here}: {key} is {DEPRECATED_LABELS[key]}"
