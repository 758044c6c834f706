"""StatefulSets."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..basics import label_map, name_at, non_negative, selector_at
from ..checks import Checks, Value
from ..names import annotation_map_problems
from ..pod.annotations import pod_annotation_problems
from ..pod.templates import template_problems, template_warnings
from ..problems import Problem, forbidden_field, invalid_field, required_field, unsupported_field
from ..storage.claims import claim_spec_problems, claim_spec_warnings
from .replicas import (
    at_most,
    changed_workload_warnings,
    collision_problems,
    count_problems,
    endless_pod_problems,
    member,
    not_selected,
    selector_problems,
    template_of,
)
from .rollouts import stateful_set_strategy_problems

__all__ = ["CHECKS"]

_COUNTS = (
    "replicas",
    "readyReplicas",
    "currentReplicas",
    "updatedReplicas",
    "availableReplicas",
    "observedGeneration",
    "collisionCount",
)
_CHANGEABLE = (
    "replicas",
    "template",
    "updateStrategy",
    "minReadySeconds",
    "ordinals",
    "revisionHistoryLimit",
    "persistentVolumeClaimRetentionPolicy",
)
_UNCHANGEABLE_TEXT = (
    "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', "
    "'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and "
    "'minReadySeconds' are forbidden"
)
_HISTORY_TEXT = (
    "spec.revisionHistoryLimit: a negative value retains all historical revisions; a value >= 0 is "
    "recommended"
)
_RETENTIONS = ("Retain", "Delete")


def _create(new: Value) -> Iterator[Problem]:
    yield from _spec(member(new, "spec"), of_update=False)


def _update(new: Value, old: Value) -> Iterator[Problem]:
    """What cannot be changed is not looked at again."""
    now, before = member(new, "spec"), member(old, "spec")
    yield from _spec(now, of_update=True)
    if _unchangeable(now) != _unchangeable(before):
        yield forbidden_field("spec", _UNCHANGEABLE_TEXT)


def _unchangeable(spec: Value) -> dict[str, Any]:
    return {
        name: found
        for name, found in spec.items()
        if name not in _CHANGEABLE and found not in (None, "", [])
    }


def _spec(spec: Value, *, of_update: bool) -> Iterator[Problem]:
    policy = spec.get("podManagementPolicy")
    if not policy:
        yield required_field("spec.podManagementPolicy")
    elif policy not in ("OrderedReady", "Parallel"):
        text = "must be 'OrderedReady' or 'Parallel'"
        yield invalid_field("spec.podManagementPolicy", policy, text)
    yield from stateful_set_strategy_problems(member(spec, "updateStrategy"), "spec.updateStrategy")
    retention = spec.get("persistentVolumeClaimRetentionPolicy")
    if retention is not None:
        for name in ("whenDeleted", "whenScaled"):
            if retention.get(name) not in _RETENTIONS:
                field = f"spec.persistentVolumeClaimRetentionPolicy.{name}"
                yield unsupported_field(field, retention.get(name) or "", _RETENTIONS)
    if not of_update:
        for at, claim in enumerate(spec.get("volumeClaimTemplates") or ()):
            path = f"spec.volumeClaimTemplates[{at}].spec"
            yield from claim_spec_problems(member(claim, "spec"), path)
    yield from non_negative("spec.replicas", spec.get("replicas"))
    yield from non_negative("spec.minReadySeconds", spec.get("minReadySeconds"))
    yield from non_negative("spec.ordinals.start", member(spec, "ordinals").get("start"))
    if not of_update and spec.get("serviceName"):
        yield from name_at("spec.serviceName", spec["serviceName"])
    selector = spec.get("selector")
    yield from selector_problems(selector, "spec.selector", "statefulset")
    template = member(spec, "template")
    if any(selector_at("", selector)):
        yield invalid_field("spec.selector", selector, "")
    else:
        if selector != {}:
            yield from not_selected(selector, template, "spec.template")
        yield from template_problems(_as_made(spec, template), "spec.template")
        yield from _metadata_again(template, "spec.template")
    yield from endless_pod_problems(member(template, "spec"), "spec.template.spec", "StatefulSet")


def _metadata_again(template: Value, path: str) -> Iterator[Problem]:
    """The real server looks at labels and annotations twice."""
    metadata = member(template, "metadata")
    annotations, field = metadata.get("annotations"), f"{path}.annotations"
    yield from label_map(f"{path}.labels", metadata.get("labels"))
    yield from annotation_map_problems(field, annotations)
    yield from pod_annotation_problems(annotations, member(template, "spec"), field)


def _as_made(spec: Value, template: Value) -> dict[str, Any]:
    """The template with what its pods get: a name each, and their claims as volumes."""
    pod = dict(member(template, "spec"))
    pod.pop("subdomain", None)
    pod.pop("hostname", None)
    claims = {
        member(claim, "metadata").get("name") or "": None
        for claim in spec.get("volumeClaimTemplates") or ()
    }
    if claims:
        own = [{"name": name, "persistentVolumeClaim": {"claimName": name}} for name in claims]
        others = [each for each in pod.get("volumes") or () if each.get("name") not in claims]
        pod["volumes"] = own + others
    return {**template, "spec": pod}


def _status(new: Value, old: Value) -> Iterator[Problem]:
    status = member(new, "status")
    yield from count_problems(status, _COUNTS)
    for name in ("readyReplicas", "currentReplicas", "updatedReplicas", "availableReplicas"):
        yield from at_most(status, name, "replicas", "status.replicas")
    yield from at_most(status, "availableReplicas", "readyReplicas", "status.readyReplicas")
    yield from collision_problems(status, member(old, "status"))


def _warnings(new: Value) -> Iterator[str]:
    yield from template_warnings(template_of(new), "spec.template")
    yield from _other_warnings(new, "")


def _update_warnings(new: Value, old: Value) -> Iterator[str]:
    yield from changed_workload_warnings(new, old)
    yield from _other_warnings(new, ".Spec")  # as they write it there


def _other_warnings(new: Value, of_claim: str) -> Iterator[str]:
    spec = member(new, "spec")
    for at, claim in enumerate(spec.get("volumeClaimTemplates") or ()):
        path = f"spec.volumeClaimTemplates[{at}]{of_claim}"
        yield from claim_spec_warnings(member(claim, "spec"), path)
    if (spec.get("revisionHistoryLimit") or 0) < 0:
        yield _HISTORY_TEXT


CHECKS = {
    "apps/statefulsets": Checks(
        create=_create,
        update=_update,
        status=_status,
        warnings=_warnings,
        update_warnings=_update_warnings,
    )
}
