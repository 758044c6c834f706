"""Which nodes something is for: terms of labels and fields of nodes, and labels of old names."""

from __future__ import annotations

from collections.abc import Iterator

from .checks import Value
from .names import value_problems
from .pod.affinity import node_selector_problems

__all__ = [
    "DEPRECATED_LABELS",
    "label_warnings",
    "node_selector_problems",
    "node_selector_warnings",
    "term_warnings",
]

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


def node_selector_warnings(selector: Value, path: str) -> Iterator[str]:
    """That labels have another name now."""
    for at, term in enumerate(selector.get("nodeSelectorTerms") or ()):
        yield from term_warnings(term, f"{path}.nodeSelectorTerms[{at}]")


def term_warnings(term: Value, path: str, *, values: bool = False) -> Iterator[str]:
    """Likewise, of one of the terms; `values`: also of those that no label can have."""
    for at, expression in enumerate(term.get("matchExpressions") or ()):
        here = f"{path}.matchExpressions[{at}]"
        yield from label_warnings(f"{here}.key", expression.get("key") or "")
        for index, value in enumerate((values and expression.get("values")) or ()):
            for text in value_problems(value):
                yield f"{here}.values[{index}]: {value} is invalid, {text}"


def label_warnings(field: str, label: str) -> Iterator[str]:
    """Likewise, of one label."""
    if label in DEPRECATED_LABELS:
        yield f"{field}: {label} is {DEPRECATED_LABELS[label]}"
