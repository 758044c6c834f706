"""The metadata of templates of claims: labels and annotations, and nothing else."""

from __future__ import annotations

from collections.abc import Iterator

from .basics import label_map
from .checks import Value
from .names import annotation_map_problems
from .problems import Problem, forbidden_field

__all__ = ["template_metadata_problems"]

_GRACE = "deletionGracePeriodSeconds"
_OTHERS = (
    "name",
    "generateName",
    "namespace",
    "selfLink",
    "uid",
    "resourceVersion",
    "generation",
    "creationTimestamp",
    "deletionTimestamp",
    _GRACE,
    "ownerReferences",
    "finalizers",
    "managedFields",
)


def template_metadata_problems(metadata: Value, path: str) -> Iterator[Problem]:
    """What is wrong with the metadata at `path`."""
    yield from annotation_map_problems(f"{path}.annotations", metadata.get("annotations"))
    yield from label_map(f"{path}.labels", metadata.get("labels"))
    for name in _OTHERS:
        value = metadata.get(name)
        if value or (name == _GRACE and value is not None):
            told = "uID" if name == "uid" else name
            yield forbidden_field(f"{path}.{told}", "cannot be set")
