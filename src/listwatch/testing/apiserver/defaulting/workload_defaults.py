"""The defaults of Deployments and the other workloads that are no jobs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from .members import with_defaults
from .pod_defaults import fill_template

__all__ = ["TEMPLATE_GENERATION", "WORKLOAD_DEFAULTS", "with_template"]

Value = dict[str, Any]

TEMPLATE_GENERATION = "deprecated.daemonset.template.generation"
_ROLLING = "RollingUpdate"
_DEPLOYMENT = {"replicas": 1, "revisionHistoryLimit": 10, "progressDeadlineSeconds": 600}
_STATEFUL_SET = {"replicas": 1, "revisionHistoryLimit": 10}
_DEPLOYMENT_UPDATE = {"maxUnavailable": "25%", "maxSurge": "25%"}
_DAEMON_SET_UPDATE = {"maxUnavailable": 1, "maxSurge": 0}
_RETENTION = {"whenDeleted": "Retain", "whenScaled": "Retain"}
_CLAIM = {"apiVersion": "v1", "kind": "PersistentVolumeClaim"}


def with_template(spec: Value) -> Value:
    """A spec whose template is complete."""
    template = spec.get("template")
    return {**spec, "template": fill_template(template if isinstance(template, dict) else {})}


def _object(value: Any) -> Value:
    return value if isinstance(value, dict) else {}


def _rolling(strategy: Any, update: Mapping[str, Any]) -> Value:
    """A strategy of Deployments or DaemonSets."""
    given = _object(strategy)
    made = {**given, "type": given.get("type") or _ROLLING}
    if made["type"] == _ROLLING:
        made["rollingUpdate"] = with_defaults(given.get("rollingUpdate"), update)
    return made


def _deployment(value: Value) -> None:
    spec = with_defaults(value.get("spec"), _DEPLOYMENT)
    strategy = _rolling(spec.get("strategy"), _DEPLOYMENT_UPDATE)
    value["spec"] = with_template({**spec, "strategy": strategy})


def _replica_set(value: Value) -> None:
    value["spec"] = with_template(with_defaults(value.get("spec"), {"replicas": 1}))


def _daemon_set(value: Value) -> None:
    spec = with_defaults(value.get("spec"), {"revisionHistoryLimit": 10})
    strategy = _rolling(spec.get("updateStrategy"), _DAEMON_SET_UPDATE)
    value["spec"] = with_template({**spec, "updateStrategy": strategy})
    annotations = value["metadata"].get("annotations") or {}
    if TEMPLATE_GENERATION not in annotations:
        annotations = {**annotations, TEMPLATE_GENERATION: "1"}
        value["metadata"] = {**value["metadata"], "annotations": annotations}


def _stateful_set(value: Value) -> None:
    spec = with_defaults(value.get("spec"), _STATEFUL_SET)
    strategy = _object(spec.get("updateStrategy"))
    if not strategy.get("type"):
        strategy = {**strategy, "type": _ROLLING}
        if strategy.get("rollingUpdate") is None:
            strategy["rollingUpdate"] = {}
    rolling = strategy.get("rollingUpdate")
    if strategy["type"] == _ROLLING and rolling is not None:
        # Without its feature gate, which is off, the real server forgets `maxUnavailable`.
        strategy = {**strategy, "rollingUpdate": {"partition": rolling.get("partition") or 0}}
    retention = _object(spec.get("persistentVolumeClaimRetentionPolicy"))
    missing = {name: found for name, found in _RETENTION.items() if not retention.get(name)}
    spec = {
        **spec,
        "podManagementPolicy": spec.get("podManagementPolicy") or "OrderedReady",
        "updateStrategy": strategy,
        "persistentVolumeClaimRetentionPolicy": {**retention, **missing},
    }
    claims = spec.get("volumeClaimTemplates")
    if isinstance(claims, list):
        spec["volumeClaimTemplates"] = [
            _claim(found) if isinstance(found, dict) else found for found in claims
        ]
    value["spec"] = with_template(spec)


def _claim(claim: Value) -> Value:
    spec = with_defaults(claim.get("spec"), {"volumeMode": "Filesystem"})
    status = _object(claim.get("status"))
    if not status.get("phase"):
        status = {**status, "phase": "Pending"}
    return {**claim, **_CLAIM, "spec": spec, "status": status}


def _replication_controller(value: Value) -> None:
    spec = with_defaults(value.get("spec"), {"replicas": 1})
    template = spec.get("template")
    if isinstance(template, dict):
        spec = with_template(spec)
        labels = spec["template"]["metadata"].get("labels")
        if labels:
            if not value["metadata"].get("labels"):
                value["metadata"] = {**value["metadata"], "labels": labels}
            if not spec.get("selector"):
                spec["selector"] = labels
    value["spec"] = spec


def _pod_template(value: Value) -> None:
    value["template"] = fill_template(_object(value.get("template")))


WORKLOAD_DEFAULTS: dict[str, Callable[[Value], None]] = {
    "podtemplates": _pod_template,
    "replicationcontrollers": _replication_controller,
    "apps/daemonsets": _daemon_set,
    "apps/deployments": _deployment,
    "apps/replicasets": _replica_set,
    "apps/statefulsets": _stateful_set,
}
"""What completes an object as it is read, by storage; `fill` calls it."""
