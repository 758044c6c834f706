"""Cells of volumes and claims."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from .reading import Obj, at, items, text

__all__ = [
    "claim_access_modes",
    "claim_capacity",
    "claim_status",
    "volume_access_modes",
    "volume_claim",
    "volume_status",
]

_MODES = {
    "ReadWriteOnce": "RWO",
    "ReadOnlyMany": "ROX",
    "ReadWriteMany": "RWX",
    "ReadWriteOncePod": "RWOP",
}


def claim_status(claim: Obj, now: datetime) -> str:
    return _phase(claim)


def volume_status(volume: Obj, now: datetime) -> str:
    return _phase(volume)


def claim_capacity(claim: Obj, now: datetime) -> str:
    # What a claim asks for is not what it has: an unbound one has nothing yet.
    return text(claim, "status", "capacity", "storage") if _is_bound(claim) else ""


def claim_access_modes(claim: Obj, now: datetime) -> str:
    return _modes(items(claim, "status", "accessModes")) if _is_bound(claim) else ""


def volume_access_modes(volume: Obj, now: datetime) -> str:
    return _modes(items(volume, "spec", "accessModes"))


def volume_claim(volume: Obj, now: datetime) -> str:
    name = text(volume, "spec", "claimRef", "name")
    return f"{text(volume, 'spec', 'claimRef', 'namespace')}/{name}" if name else ""


def _is_bound(claim: Obj) -> bool:
    return bool(text(claim, "spec", "volumeName"))


def _modes(modes: Sequence[object]) -> str:
    return ",".join(short for mode, short in _MODES.items() if mode in modes)


def _phase(obj: Obj) -> str:
    return (
        "Terminating" if at(obj, "metadata", "deletionTimestamp") else text(obj, "status", "phase")
    )
