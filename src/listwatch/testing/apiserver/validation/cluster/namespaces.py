"""Namespaces."""

from __future__ import annotations

from collections.abc import Iterator

from ..basics import texts
from ..checks import Checks, Value
from ..names import finalizer_name_problems
from ..problems import Problem, invalid_field

__all__ = ["CHECKS"]


def _namespace(new: Value) -> Iterator[Problem]:
    for finalizer in (new.get("spec") or {}).get("finalizers") or ():
        yield from texts("spec.finalizers", finalizer, finalizer_name_problems(finalizer))


def _namespace_status(new: Value, old: Value) -> Iterator[Problem]:
    phase = (new.get("status") or {}).get("phase") or ""
    dying = new["metadata"].get("deletionTimestamp") is not None
    wanted = "Terminating" if dying else "Active"
    if phase != wanted:
        text = f"may only be '{wanted}' if `deletionTimestamp` is {'not ' if dying else ''}empty"
        yield invalid_field("status.Phase", phase, text)


def _finalize(new: Value, old: Value) -> Iterator[Problem]:
    """Those of the subresource that takes a namespace's last finalizers away."""
    for at, finalizer in enumerate((new.get("spec") or {}).get("finalizers") or ()):
        path = f"spec.finalizers[{at}]"
        yield from texts(path, finalizer, finalizer_name_problems(finalizer))


CHECKS = {
    "namespaces": Checks(
        create=_namespace,
        status=_namespace_status,
        subresources={"finalize": _finalize},
        metadata=2,
    )
}
