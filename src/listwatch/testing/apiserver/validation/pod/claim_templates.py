"""Claims that are made for a pod: `ephemeral.volumeClaimTemplate` of a volume."""

from __future__ import annotations

from collections.abc import Iterator

from ..basics import label_map
from ..checks import Value
from ..problems import Problem, forbidden_field, required_field
from .annotations import annotation_map_problems

__all__ = ["claim_template_problems", "ephemeral_problems"]

_POINTER = "deletionGracePeriodSeconds"
_OTHER_METADATA = (
    "name",
    "generateName",
    "namespace",
    "selfLink",
    "uid",
    "resourceVersion",
    "generation",
    "creationTimestamp",
    "deletionTimestamp",
    _POINTER,
    "ownerReferences",
    "finalizers",
    "managedFields",
)


def ephemeral_problems(source: Value, path: str) -> Iterator[Problem]:
    """A volume whose claim lives as long as the pod."""
    template = source.get("volumeClaimTemplate")
    if template is None:
        yield required_field(f"{path}.volumeClaimTemplate")
    else:
        yield from claim_template_problems(template, f"{path}.volumeClaimTemplate")


def claim_template_problems(template: Value, path: str) -> Iterator[Problem]:
    """A template of a claim, which has no metadata but labels and annotations."""
    from ..storage.claims import claim_spec_problems  # it is heavy, and few pods have such volumes

    metadata = template.get("metadata") or {}
    yield from annotation_map_problems(f"{path}.metadata.annotations", metadata.get("annotations"))
    yield from label_map(f"{path}.metadata.labels", metadata.get("labels"))
    for name in _OTHER_METADATA:
        value = metadata.get(name)
        if value or (name == _POINTER and value is not None):
            told = "uID" if name == "uid" else name
            yield forbidden_field(f"{path}.metadata.{told}", "cannot be set")
    yield from claim_spec_problems(template.get("spec") or {}, f"{path}.spec")
