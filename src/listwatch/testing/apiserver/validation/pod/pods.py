"""The checks of pods."""

from __future__ import annotations

from collections.abc import Iterator

from ..checks import Checks, Value
from ..names import label_name_problems
from ..problems import Problem, forbidden_field
from .annotations import (
    MIRROR,
    annotation_update_problems,
    has_wrong_cost,
    pod_annotation_problems,
    profile_match_problems,
)
from .ephemeral_containers import added_container_problems
from .images import padding_problems
from .pod_resize import not_resizable, resized_problems
from .pod_spec import pod_spec_problems
from .pod_status import pod_status_problems, pod_status_warnings
from .pod_updates import changed_spec_problems
from .pod_warnings import pod_spec_warnings

__all__ = ["CHECKS", "pod_problems"]


def pod_problems(new: Value, old: Value | None = None) -> Iterator[Problem]:
    """What is wrong with a pod, new or in place of `old`, but for its metadata."""
    metadata, spec = new.get("metadata") or {}, new.get("spec") or {}
    annotations = metadata.get("annotations")
    before = old or {}
    any_cost = has_wrong_cost((before.get("metadata") or {}).get("annotations"))
    yield from pod_annotation_problems(annotations, spec, "metadata.annotations", any_cost=any_cost)
    yield from pod_spec_problems(spec, "spec", metadata, before.get("spec"))
    if not spec.get("serviceAccountName"):
        yield from _token_problems(spec)
    for kind in ("containers", "initContainers"):
        for at, container in enumerate(spec.get(kind) or ()):
            yield from padding_problems(container, f"spec.{kind}[{at}]")


def _token_problems(spec: Value) -> Iterator[Problem]:
    """Tokens of nobody."""
    for at, volume in enumerate(spec.get("volumes") or ()):
        sources = (volume.get("projected") or {}).get("sources") or ()
        for index, source in enumerate(sources):
            if source.get("serviceAccountToken") is not None:
                field = f"spec.volumes[{at}].projected.sources[{index}].serviceAccountToken"
                text = "must not be specified when serviceAccountName is not set"
                yield forbidden_field(field, text)


def _create(new: Value) -> Iterator[Problem]:
    yield from pod_problems(new)
    spec = new.get("spec") or {}
    if spec.get("ephemeralContainers"):
        yield forbidden_field("spec.ephemeralContainers", "cannot be set on create")
    if spec.get("nodeName") and spec.get("schedulingGates"):
        text = "cannot be set until all schedulingGates have been cleared"
        yield forbidden_field("spec.nodeName", text)
    annotations = (new.get("metadata") or {}).get("annotations")
    yield from profile_match_problems(annotations, spec, "spec")


def _update(new: Value, old: Value) -> Iterator[Problem]:
    annotations = (new.get("metadata") or {}).get("annotations")
    before = (old.get("metadata") or {}).get("annotations")
    spec = new.get("spec") or {}
    any_cost = has_wrong_cost(before)
    path = "metadata.annotations"
    yield from pod_problems(new, old)
    yield from annotation_update_problems(annotations, before, path)
    yield from pod_annotation_problems(annotations, spec, path, any_cost=any_cost)
    yield from changed_spec_problems(spec, old.get("spec") or {})


def _status(new: Value, old: Value) -> Iterator[Problem]:
    annotations = (new.get("metadata") or {}).get("annotations")
    before = (old.get("metadata") or {}).get("annotations")
    path = "metadata.annotations"
    yield from annotation_update_problems(annotations, before, path)
    yield from pod_annotation_problems(
        annotations, new.get("spec") or {}, path, any_cost=has_wrong_cost(before)
    )
    yield from pod_status_problems(new, old)


def _ephemeral_containers(new: Value, old: Value) -> Iterator[Problem]:
    if _is_mirror(old):
        yield forbidden_field("[]", "static pods do not support ephemeral containers")
        return
    yield from pod_problems(new, old)
    annotations = (new.get("metadata") or {}).get("annotations")
    spec = new.get("spec") or {}
    any_cost = has_wrong_cost(annotations)
    yield from pod_annotation_problems(annotations, spec, "metadata.annotations", any_cost=any_cost)
    yield from added_container_problems(spec, old.get("spec") or {})


def _resize(new: Value, old: Value) -> Iterator[Problem]:
    problem = not_resizable(old, is_mirror=_is_mirror(old))
    if problem is not None:
        yield problem
        return
    yield from pod_problems(new, old)
    yield from resized_problems(new, old)


def _is_mirror(pod: Value) -> bool:
    return MIRROR in ((pod.get("metadata") or {}).get("annotations") or ())


def _warnings(new: Value) -> Iterator[str]:
    metadata = new.get("metadata") or {}
    found = list(label_name_problems(metadata.get("name") or ""))
    if found:
        yield (
            "metadata.name: this is used in the Pod's hostname, which can result in surprising "
            f"behavior; a DNS label is recommended: [{' '.join(found)}]"
        )
    yield from pod_spec_warnings(new.get("spec") or {}, metadata)


def _quiet(new: Value, old: Value) -> Iterator[str]:
    """Nobody who changes a pod is a person who could be warned."""
    return iter(())


CHECKS = {
    "pods": Checks(
        create=_create,
        update=_update,
        status=_status,
        warnings=_warnings,
        update_warnings=_quiet,
        subresources={"ephemeralcontainers": _ephemeral_containers, "resize": _resize},
        status_warnings=pod_status_warnings,
        metadata=2,
    )
}
