"""On which node a pod runs: as much of a scheduler as small clusters need."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from ..storage.log import StoredObject

__all__ = ["best_node", "covers", "named_node", "on_node", "tolerates"]

_NO_SELECTOR = "node(s) didn't match Pod's node affinity/selector"
_TAINT = "node(s) had untolerated taint(s)"
_CORDONED = "node(s) were unschedulable"


def best_node(
    pod: Mapping[str, Any], nodes: Sequence[StoredObject], load: Mapping[str, int]
) -> tuple[str, str]:
    """The name of the node that takes it and has the fewest pods, by `load`; or none, and why."""
    reasons: Counter[str] = Counter()
    fit = []
    for node in nodes:
        why = _refusal(pod, node.value)
        if why:
            reasons[why] += 1
        else:
            fit.append(node.key[1])
    if fit:
        return min(fit, key=lambda name: (load.get(name, 0), name)), ""
    if not nodes:
        return "", "no nodes available to schedule pods"
    told = ", ".join(f"{count} {why}" for why, count in sorted(reasons.items()))
    return "", f"0/{len(nodes)} nodes are available: {told}."


def tolerates(
    spec: Mapping[str, Any],
    node: Mapping[str, Any],
    effects: Collection[str] = ("NoSchedule", "NoExecute"),
) -> bool:
    """Whether a pod may be where those taints are that keep pods away; with `NoExecute` alone:
    whether it may stay.
    """
    tolerations = spec.get("tolerations") or ()
    return all(
        any(covers(toleration, taint) for toleration in tolerations)
        for taint in (node.get("spec") or {}).get("taints") or ()
        if taint.get("effect") in effects
    )


def named_node(spec: Mapping[str, Any]) -> str:
    """The node that a pod's affinity names, as a DaemonSet's do; empty: none."""
    required = ((spec.get("affinity") or {}).get("nodeAffinity") or {}).get(
        "requiredDuringSchedulingIgnoredDuringExecution"
    ) or {}
    for term in required.get("nodeSelectorTerms") or ():
        for field in term.get("matchFields") or ():
            if field.get("key") == "metadata.name" and field.get("values"):
                return str(field["values"][0])
    return ""


def on_node(spec: Mapping[str, Any], node: Mapping[str, Any]) -> bool:
    """Whether a pod wants to be on that node, by its nodeSelector and the node it names."""
    labels = node["metadata"].get("labels") or {}
    if any(labels.get(key) != value for key, value in (spec.get("nodeSelector") or {}).items()):
        return False
    return named_node(spec) in ("", node["metadata"]["name"])


def _refusal(pod: Mapping[str, Any], node: Mapping[str, Any]) -> str:
    spec = pod.get("spec") or {}
    if (node.get("spec") or {}).get("unschedulable") and not _tolerates_cordon(spec):
        return _CORDONED
    if not on_node(spec, node):
        return _NO_SELECTOR
    return "" if tolerates(spec, node) else _TAINT


def _tolerates_cordon(spec: Mapping[str, Any]) -> bool:
    taint = {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}
    return any(covers(toleration, taint) for toleration in spec.get("tolerations") or ())


def covers(toleration: Mapping[str, Any], taint: Mapping[str, Any]) -> bool:
    """Whether a pod with that toleration bears that taint."""
    if toleration.get("effect") not in (None, "", taint.get("effect")):
        return False
    if toleration.get("operator") == "Exists":
        return toleration.get("key") in (None, "", taint.get("key"))
    same_key = toleration.get("key") == taint.get("key")
    return same_key and (toleration.get("value") or "") == (taint.get("value") or "")
