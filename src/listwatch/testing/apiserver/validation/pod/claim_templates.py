"""Claims that are made for a pod: `ephemeral.volumeClaimTemplate` of a volume."""

from __future__ import annotations

from collections.abc import Iterator

from ..checks import Value
from ..problems import Problem, required_field
from ..template_metadata import template_metadata_problems

__all__ = ["ephemeral_problems"]


def ephemeral_problems(source: Value, path: str) -> Iterator[Problem]:
    """A volume whose claim lives as long as the pod."""
    template = source.get("volumeClaimTemplate")
    if template is None:
        yield required_field(f"{path}.volumeClaimTemplate")
    else:
        yield from _template(template, f"{path}.volumeClaimTemplate")


def _template(template: Value, path: str) -> Iterator[Problem]:
    from ..storage.claims import claim_spec_problems  # it is heavy, and few pods have such volumes

    metadata = template.get("metadata") or {}
    yield from template_metadata_problems(metadata, f"{path}.metadata")
    yield from claim_spec_problems(template.get("spec") or {}, f"{path}.spec")
