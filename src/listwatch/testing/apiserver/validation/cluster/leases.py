"""Leases."""

from __future__ import annotations

from collections.abc import Iterator

from ..basics import non_negative
from ..checks import Checks, Value
from ..problems import Problem, invalid_field

__all__ = ["CHECKS"]


def _lease(new: Value) -> Iterator[Problem]:
    spec = new.get("spec") or {}
    seconds = spec.get("leaseDurationSeconds")
    if seconds is not None and seconds <= 0:
        yield invalid_field("spec.leaseDurationSeconds", seconds, "must be greater than 0")
    yield from non_negative("spec.leaseTransitions", spec.get("leaseTransitions"))


CHECKS = {"coordination.k8s.io/leases": Checks(create=_lease)}
