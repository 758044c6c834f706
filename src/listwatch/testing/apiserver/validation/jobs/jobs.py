"""Jobs, and the specs of those that CronJobs make."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...reading.object_selectors import selector_matches
from ..basics import non_negative, selector_at
from ..checks import Checks, Value
from ..domain_paths import domain_path_problems
from ..internal_values import internal
from ..names import byte_length, label_map_problems, label_name_problems
from ..pod.templates import template_problems, template_warnings
from ..problems import (
    Problem,
    invalid_field,
    required_field,
    too_long,
    unsupported_field,
)
from ..workloads.replicas import has_new_spec, labels_of, member, name_warnings, not_selected
from .job_policies import (
    failure_policy_problems,
    replacement_problems,
    success_policy_problems,
)
from .job_status import job_status_problems
from .job_updates import job_update_problems

__all__ = ["CHECKS", "job_spec_problems", "job_spec_warnings"]

_MANY = 100_000
"""Of completions, and the most pods at a time and failed indexes of a Job with indexes."""
_MOST_WITH_MANY = 10_000
_MOST_MANAGER = 63
_INDEXED = "Indexed"
_COUNTS = (
    "parallelism",
    "completions",
    "activeDeadlineSeconds",
    "backoffLimit",
    "ttlSecondsAfterFinished",
    "backoffLimitPerIndex",
    "maxFailedIndexes",
)
_LABELS = (
    "controller-uid",
    "job-name",
    "batch.kubernetes.io/controller-uid",
    "batch.kubernetes.io/job-name",
)


def _create(new: Value) -> Iterator[Problem]:
    yield from _generated(new, _LABELS)
    yield from _spec(new)
    yield from _last_hostname(new)


def _update(new: Value, old: Value) -> Iterator[Problem]:
    """The real server looks at the whole as if it were new, and then again."""
    had = labels_of(member(member(old, "spec"), "template")) or {}
    yield from _generated(new, _LABELS if all(name in had for name in _LABELS[2:]) else _LABELS[:2])
    found = list(_spec(new))
    yield from found
    yield from _last_hostname(new)
    yield from label_map_problems(member(new, "metadata"))
    yield from found
    yield from job_update_problems(new, old)


def _spec(new: Value) -> Iterator[Problem]:
    spec = member(new, "spec")
    yield from job_spec_problems(spec, "spec")
    yield from _selector(spec)


def _last_hostname(new: Value) -> Iterator[Problem]:
    """That of the pod with the highest index, which must be a name too."""
    spec = member(new, "spec")
    completions = spec.get("completions") or 0
    if spec.get("completionMode") == _INDEXED and completions > 0:
        name = member(new, "metadata").get("name") or ""
        hostname = f"{name}-{completions - 1}"
        if any(label_name_problems(hostname)):
            text = f"will not able to create pod with invalid DNS label: {hostname}"
            yield invalid_field("metadata.name", name, text)


def _generated(new: Value, names: Sequence[str]) -> Iterator[Problem]:
    """Labels by which a Job finds its pods, which must be its own."""
    spec, metadata = member(new, "spec"), member(new, "metadata")
    selector = spec.get("selector")
    if spec.get("manualSelector") or selector is None:
        return
    uid, name = metadata.get("uid") or "", metadata.get("name") or ""
    expected = dict(zip(names, (uid, name, uid, name), strict=False))
    labels = labels_of(member(spec, "template"))
    for key, text in expected.items():
        field = f"spec.template.metadata.labels[{key}]"
        if labels is None or key not in labels:
            yield required_field(field, f"must be '{text}'")
        elif labels[key] != text:
            yield invalid_field(field, labels, f"must be '{text}'")
    if not any(selector_at("", selector)) and not selector_matches(selector, expected):
        yield invalid_field("spec.selector", selector, "`selector` not auto-generated")


def _selector(spec: Value) -> Iterator[Problem]:
    selector = spec.get("selector")
    wrong = list(selector_at("spec.selector", selector))
    if selector is None:
        yield required_field("spec.selector")
    yield from wrong
    if not wrong:
        yield from not_selected(selector, member(spec, "template"), "spec.template")


def job_spec_problems(spec: Value, path: str) -> Iterator[Problem]:
    """What is wrong with a Job at `path`, besides its selector."""
    for name in _COUNTS:
        yield from non_negative(f"{path}.{name}", spec.get(name))
    per_index, most_failed = spec.get("backoffLimitPerIndex"), spec.get("maxFailedIndexes")
    if most_failed is not None and per_index is None:
        text = "when maxFailedIndexes is specified"
        yield required_field(f"{path}.backoffLimitPerIndex", text)
    yield from _manager(f"{path}.managedBy", spec.get("managedBy"))
    mode = spec.get("completionMode")
    if mode not in (None, "NonIndexed", _INDEXED):
        yield unsupported_field(f"{path}.completionMode", mode, ["NonIndexed", _INDEXED])
    if mode == _INDEXED:
        yield from _indexed(spec, path)
    elif mode in (None, "NonIndexed"):
        for name in ("backoffLimitPerIndex", "maxFailedIndexes"):
            if spec.get(name) is not None:
                field = f"{path}.{name}"
                yield invalid_field(field, spec[name], "requires indexed completion mode")
    if spec.get("podFailurePolicy") is not None:
        yield from failure_policy_problems(spec, f"{path}.podFailurePolicy")
    success = spec.get("successPolicy")
    if success is not None and mode == _INDEXED:
        if spec.get("completions") is not None:  # else the real server breaks
            yield from success_policy_problems(spec, f"{path}.successPolicy")
    elif success is not None:
        shown = internal("batch.v1.SuccessPolicy", success)
        yield invalid_field(f"{path}.successPolicy", shown, "requires indexed completion mode")
    yield from replacement_problems(spec, f"{path}.podReplacementPolicy")
    yield from template_problems(member(spec, "template"), f"{path}.template")
    yield from _restarts(spec, f"{path}.template.spec.restartPolicy")


def _manager(field: str, manager: str | None) -> Iterator[Problem]:
    if manager is not None:
        yield from domain_path_problems(field, manager)
        if byte_length(manager) > _MOST_MANAGER:
            yield too_long(field, _MOST_MANAGER)


def _indexed(spec: Value, path: str) -> Iterator[Problem]:
    """Limits of a Job that counts its pods, so that the list of indexes does not get too long."""
    completions, parallelism = spec.get("completions"), spec.get("parallelism")
    most_failed, field = spec.get("maxFailedIndexes"), f"{path}.maxFailedIndexes"
    most = "must be less than or equal to {}"
    if completions is None:
        yield required_field(f"{path}.completions", "when completion mode is Indexed")
    if parallelism is not None and parallelism > _MANY:
        text = f"{most.format(_MANY)} when completion mode is Indexed"
        yield invalid_field(f"{path}.parallelism", parallelism, text)
    if most_failed is not None:
        if completions is not None and most_failed > completions:
            yield invalid_field(field, most_failed, most.format("completions"))
        if most_failed > _MANY:
            yield invalid_field(field, most_failed, most.format(_MANY))
    if (completions or 0) <= _MANY or spec.get("backoffLimitPerIndex") is None:
        return
    text = (
        f"{most.format(_MOST_WITH_MANY)} when completions are above {_MANY} and used with backoff "
        "limit per index"
    )
    if most_failed is None:
        yield required_field(field, f"must be specified when completions is above {_MANY}")
    if parallelism is not None and parallelism > _MOST_WITH_MANY:
        yield invalid_field(f"{path}.parallelism", parallelism, text)
    if most_failed is not None and most_failed > _MOST_WITH_MANY:
        yield invalid_field(field, most_failed, text)


def _restarts(spec: Value, field: str) -> Iterator[Problem]:
    """Pods of a Job come to an end."""
    policy = member(member(spec, "template"), "spec").get("restartPolicy") or ""
    if policy in ("", "Always"):
        yield required_field(field, 'valid values: "OnFailure", "Never"')
    elif policy not in ("OnFailure", "Never"):
        yield unsupported_field(field, policy, ["OnFailure", "Never"])
    elif spec.get("podFailurePolicy") is not None and policy != "Never":
        text = 'only "Never" is supported when podFailurePolicy is specified'
        yield invalid_field(field, policy, text)


def _warnings(new: Value) -> Iterator[str]:
    yield from name_warnings(new)
    yield from job_spec_warnings(member(new, "spec"), "spec")


def job_spec_warnings(spec: Value, path: str) -> Iterator[str]:
    many = (spec.get("completions") or 0) > _MANY
    if (
        spec.get("completionMode") == _INDEXED
        and many
        and (spec.get("parallelism") or 0) > _MOST_WITH_MANY
    ):
        yield (
            f"{path}: In Indexed Jobs with a number of completions higher than 10^5 and a "
            "parallelism higher than 10^4, Kubernetes might not be able to track completedIndexes "
            "when a big number of indexes fail"
        )
    yield from template_warnings(member(spec, "template"), f"{path}.template")


def _update_warnings(new: Value, old: Value) -> Iterator[str]:
    if has_new_spec(new, old):
        yield from job_spec_warnings(member(new, "spec"), "spec")


CHECKS = {
    "batch/jobs": Checks(
        create=_create,
        update=_update,
        status=job_status_problems,
        warnings=_warnings,
        update_warnings=_update_warnings,
    )
}
