"""RVs within one epoch: which of two states is late (I3)."""

from __future__ import annotations

from listwatch.api import compare_resource_versions

__all__ = ["is_late", "is_version", "moved"]


def is_late(version: str, seen: str) -> bool:
    """Whether RV `version` is known to be no newer than `seen`. RVs that cannot be compared are
    never late.
    """
    # Where it is longer or greater it is newer, or cannot be compared.
    if len(version) > len(seen) or (len(version) == len(seen) and version > seen):
        return False
    return compare_resource_versions(version, seen) is not None


def is_version(version: str) -> bool:
    """Whether it names a state: the empty RV and "0" do not."""
    return version not in ("", "0")


def moved(version: str, to: str) -> str:
    """The RV of a store at `version` that reads `to`: it never goes back. What cannot be compared
    is carried along (A2), but for what is no version.
    """
    return version if not is_version(to) or is_late(to, version) else to
