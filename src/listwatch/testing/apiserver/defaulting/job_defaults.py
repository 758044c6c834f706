"""The defaults of Jobs and CronJobs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .members import with_defaults
from .workload_defaults import with_template

__all__ = ["JOB_DEFAULTS", "missing_labels", "with_selector"]

Value = dict[str, Any]

_PREFIX = "batch.kubernetes.io/"
_CONTROLLER = "controller-uid"
_MANY = 2**31 - 1
_JOB = {"parallelism": 1, "completionMode": "NonIndexed", "suspend": False, "manualSelector": False}
_CRON_JOB = {"suspend": False, "successfulJobsHistoryLimit": 3, "failedJobsHistoryLimit": 1}


def _job(value: Value) -> None:
    spec = with_defaults(value.get("spec"), {})
    defaults: dict[str, Any] = dict(_JOB)
    if spec.get("parallelism") is None and spec.get("completions") is None:
        defaults["completions"] = 1
    per_index = spec.get("backoffLimitPerIndex") is not None
    defaults["backoffLimit"] = _MANY if per_index else 6
    has_policy = spec.get("podFailurePolicy") is not None
    defaults["podReplacementPolicy"] = "Failed" if has_policy else "TerminatingOrFailed"
    value["spec"] = _with_conditions(with_template(with_defaults(spec, defaults)))


def _with_conditions(spec: Value) -> Value:
    """A policy that names conditions of pods means those that are true."""
    policy = with_defaults(spec.get("podFailurePolicy"), {})
    rules = policy.get("rules")
    if not isinstance(rules, list):
        return spec
    filled = [_rule(found) if isinstance(found, dict) else found for found in rules]
    return {**spec, "podFailurePolicy": {**policy, "rules": filled}}


def _rule(rule: Value) -> Value:
    patterns = rule.get("onPodConditions")
    if not isinstance(patterns, list):
        return rule
    filled = [
        {**found, "status": found.get("status") or "True"} if isinstance(found, dict) else found
        for found in patterns
    ]
    return {**rule, "onPodConditions": filled}


def _cron_job(value: Value) -> None:
    spec = with_defaults(value.get("spec"), _CRON_JOB)
    template = spec.get("jobTemplate")
    template = template if isinstance(template, dict) else {}
    job = template.get("spec")
    job = _with_conditions(with_template(job if isinstance(job, dict) else {}))
    value["spec"] = {
        **spec,
        "concurrencyPolicy": spec.get("concurrencyPolicy") or "Allow",
        "jobTemplate": {"metadata": {}, **template, "spec": job},
    }


def with_selector(value: Value) -> None:
    """Make a new Job select its own pods, unless its client has said how it does. Its metadata are
    changed, not replaced.
    """
    if not value["spec"].get("manualSelector"):
        value["spec"] = _selecting(value["metadata"], value["spec"])
    value["metadata"] |= missing_labels(value)


def missing_labels(value: Value) -> Value:
    """The labels of a Job that has none: those of its pods, as a member of its metadata."""
    template = with_defaults(with_defaults(value.get("spec"), {}).get("template"), {})
    labels = with_defaults(template.get("metadata"), {}).get("labels")
    return {"labels": labels} if labels and not value["metadata"].get("labels") else {}


def _selecting(metadata: Value, spec: Value) -> Value:
    uid, name = metadata["uid"], metadata.get("name") or ""
    names = {_CONTROLLER: uid, "job-name": name}
    generated = {**{_PREFIX + key: text for key, text in names.items()}, **names}
    template = dict(spec["template"])
    of_template = template.get("metadata") or {}
    labels = dict(sorted({**generated, **(of_template.get("labels") or {})}.items()))
    template["metadata"] = {**of_template, "labels": labels}
    selector = spec.get("selector") or {}
    selected = {_PREFIX + _CONTROLLER: uid, **(selector.get("matchLabels") or {})}
    selector = {**selector, "matchLabels": dict(sorted(selected.items()))}
    return {**spec, "selector": selector, "template": template}


JOB_DEFAULTS: dict[str, Callable[[Value], None]] = {"batch/jobs": _job, "batch/cronjobs": _cron_job}
"""What completes an object as it is read, by storage; `fill` calls it."""
