"""Keys whose values a pod's selectors take from the pod itself when it is created:
`matchLabelKeys` and `mismatchLabelKeys`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["with_label_keys"]

Value = dict[str, Any]

_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


def with_label_keys(spec: Value, labels: Mapping[str, str]) -> Value:
    """A pod's spec whose selectors ask for the values that the pod has; itself if none does."""
    changed: Value = {}
    constraints = spec.get("topologySpreadConstraints")
    if isinstance(constraints, list):
        changed["topologySpreadConstraints"] = [_merged(each, labels) for each in constraints]
    affinity = spec.get("affinity")
    if isinstance(affinity, dict):
        found = {
            name: _terms(affinity[name], labels)
            for name in ("podAffinity", "podAntiAffinity")
            if isinstance(affinity.get(name), dict)
        }
        changed["affinity"] = {**affinity, **found}
    return {**spec, **changed} if changed else spec


def _terms(affinity: Value, labels: Mapping[str, str]) -> Value:
    changed = dict(affinity)
    if isinstance(affinity.get(_REQUIRED), list):
        changed[_REQUIRED] = [_merged(term, labels) for term in affinity[_REQUIRED]]
    if isinstance(affinity.get(_PREFERRED), list):
        changed[_PREFERRED] = [_weighted(term, labels) for term in affinity[_PREFERRED]]
    return changed


def _weighted(weighted: Any, labels: Mapping[str, str]) -> Any:
    term = weighted.get("podAffinityTerm") if isinstance(weighted, dict) else None
    return weighted if term is None else {**weighted, "podAffinityTerm": _merged(term, labels)}


def _merged(term: Any, labels: Mapping[str, str]) -> Any:
    """A term that asks for them. One without a selector matches nothing, and goes on so."""
    selector = term.get("labelSelector") if isinstance(term, dict) else None
    if not isinstance(selector, dict):
        return term
    added = [
        {"key": key, "operator": operator, "values": [labels[key]]}
        for name, operator in (("matchLabelKeys", "In"), ("mismatchLabelKeys", "NotIn"))
        for key in term.get(name) or ()
        if key in labels
    ]
    if not added:
        return term
    expressions = [*(selector.get("matchExpressions") or ()), *added]
    return {**term, "labelSelector": {**selector, "matchExpressions": expressions}}
