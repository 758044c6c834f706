"""How a pod that is not to be scheduled yet may change its mind about nodes: what it asked for
stays, and more can come.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ..checks import Value
from ..internal_values import internal
from ..problems import Problem, invalid_field
from ..value_diffs import same
from .affinity import REQUIRED

__all__ = ["node_affinity_problems", "node_selector_change_problems"]

_TERMS = f"spec.affinity.nodeAffinity.{REQUIRED}.nodeSelectorTerms"


def node_selector_change_problems(
    new: Mapping[str, str] | None, old: Mapping[str, str] | None
) -> Iterator[Problem]:
    """Labels are only added to a `nodeSelector`."""
    now = new or {}
    if any(now.get(key) != value for key, value in (old or {}).items()):
        text = "only additions to spec.nodeSelector are allowed (no mutations or deletions)"
        yield invalid_field("spec.nodeSelector", new, text)


def node_affinity_problems(new: Value | None, old: Value | None) -> Iterator[Problem]:
    """Requirements are only added to the terms that there are."""
    before = _terms(old)
    if not before:
        return
    now = _terms(new)
    if len(now) != len(before):
        text = "no additions/deletions to non-empty NodeSelectorTerms list are allowed"
        yield invalid_field(_TERMS, _shown(now) if now else None, text)
        return
    for at, (term, other) in enumerate(zip(now, before, strict=True)):
        if not _only_adds(term, other):
            text = "only additions are allowed (no mutations or deletions)"
            yield invalid_field(f"{_TERMS}[{at}]", _shown([term])[0], text)


def _terms(affinity: Value | None) -> Sequence[Value]:
    required = (affinity or {}).get(REQUIRED) or {}
    return required.get("nodeSelectorTerms") or ()


def _only_adds(new: Value, old: Value) -> bool:
    names = ("matchExpressions", "matchFields")
    if not any(old.get(name) for name in names):
        return not any(new.get(name) for name in names)
    for name in names:
        before = old.get(name) or []
        if not same((new.get(name) or [])[: len(before)], before):
            return False
    return True


def _shown(terms: Sequence[Value]) -> list[object]:
    return [internal("core.v1.NodeSelectorTerm", term) for term in terms]
