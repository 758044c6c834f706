"""PersistentVolumeClaimResize: a claim grows where its class allows it."""

from __future__ import annotations

from fractions import Fraction

from ..storage.state import State, Target
from ..types.quantities import quantity_value
from ..validation.problems import forbidden
from .amounts import Value

__all__ = ["check_growth", "class_of_claim"]

_BETA_CLASS = "volume.beta.kubernetes.io/storage-class"


def check_growth(state: State, target: Target, new: Value, old: Value | None) -> None:
    """Refuse a larger claim that is not bound, or whose class says nothing of growing."""
    if old is None or _size(new) <= _size(old):
        return
    text = ""
    if (old.get("status") or {}).get("phase") != "Bound":
        text = "Only bound persistent volume claims can be expanded"
    elif not _may_grow(state, class_of_claim(new), class_of_claim(old)):
        text = (
            "only dynamically provisioned pvc can be resized and the storageclass that provisions "
            "the pvc must support resize"
        )
    if text:
        raise forbidden(target.type, new["metadata"].get("name") or "", text)


def _may_grow(state: State, name: str, before: str) -> bool:
    if not name or name != before:
        return False
    found = state.log.get("storage.k8s.io/storageclasses", ("", name))
    return found is not None and bool(found.value.get("allowVolumeExpansion"))


def class_of_claim(claim: Value) -> str:
    """The name of its class, in the old way or the new; empty: it has none."""
    annotations = (claim.get("metadata") or {}).get("annotations") or {}
    if _BETA_CLASS in annotations:
        return annotations[_BETA_CLASS] or ""
    return (claim.get("spec") or {}).get("storageClassName") or ""


def _size(claim: Value) -> Fraction:
    requests = ((claim.get("spec") or {}).get("resources") or {}).get("requests") or {}
    return quantity_value(requests.get("storage") or "0")
