"""Which nodes something is for: terms of labels and fields of nodes, and labels of old names."""

from __future__ import annotations

from collections.abc import Iterator

from .checks import Value
from .pod.affinity import node_selector_problems

__all__ = ["DEPRECATED_LABELS", "node_selector_problems", "node_selector_warnings"]

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
        for index, each in enumerate((term or {}).get("matchExpressions") or ()):
            key = (each or {}).get("key")
            if key in DEPRECATED_LABELS:
                here = f"{path}.nodeSelectorTerms[{at}].matchExpressions[{index}].key"
                yield f"{here}: {key} is {DEPRECATED_LABELS[key]}"
