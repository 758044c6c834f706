"""Templates of pods, as workloads have them."""

from __future__ import annotations

from collections.abc import Iterator

from ..basics import label_map
from ..checks import Value
from ..names import annotation_map_problems
from ..problems import Problem, forbidden_field
from .annotations import (
    pod_annotation_problems,
    profile_match_problems,
)
from .pod_spec import pod_spec_problems
from .pod_warnings import pod_spec_warnings

__all__ = ["template_problems", "template_warnings"]


def template_problems(template: Value, path: str) -> Iterator[Problem]:
    """What is wrong with a template at `path` ("spec.template")."""
    metadata, spec = template.get("metadata") or {}, template.get("spec") or {}
    annotations = metadata.get("annotations")
    yield from label_map(f"{path}.labels", metadata.get("labels"))
    yield from annotation_map_problems(f"{path}.annotations", annotations)
    yield from pod_annotation_problems(annotations, spec, f"{path}.annotations")
    yield from pod_spec_problems(spec, f"{path}.spec")
    yield from profile_match_problems(annotations, spec, f"{path}.spec")
    if spec.get("ephemeralContainers"):
        text = "ephemeral containers not allowed in pod template"
        yield forbidden_field(f"{path}.spec.ephemeralContainers", text)


def template_warnings(template: Value, path: str) -> Iterator[str]:
    """What a client is warned of in a template at `path`."""
    metadata, spec = template.get("metadata") or {}, template.get("spec") or {}
    yield from pod_spec_warnings(spec, metadata, f"{path}.")
