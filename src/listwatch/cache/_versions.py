"""RVs within one epoch: which of two states is late (I3)."""

from __future__ import annotations

from listwatch.api import compare_resource_versions

__all__ = ["is_late", "moved"]


def is_late(version: str, seen: str) -> bool:
    """Whether RV `version` is known to be no newer than `seen`. RVs that cannot be compared are
    never late.
    """
    # Where it is longer or greater it is newer, or cannot be compared.
    if len(version) > len(seen) or (len(version) == len(seen) and version > seen):
        return False
    return compare_resource_versions(version, seen) is not None


def moved(version: str, to: str) -> str:
    """The RV of a store at `version` that reads `to`: it never goes back. What cannot be compared
    is carried along (A2); the empty RV and "0" are no versions.
    """
    return version if to in ("", "0") or is_late(to, version) else to
