"""ownerReferences."""

from __future__ import annotations

from typing import Any

__all__ = ["without_duplicates"]


def without_duplicates(owners: list[dict[str, Any]]) -> tuple[list[dict[str, Any]], str]:
    """The references, each once, and what to warn of; empty: nothing."""
    kept: list[dict[str, Any]] = []
    uids: dict[str, None] = {}
    for owner in owners:
        if owner in kept:
            uids[str(owner.get("uid", ""))] = None
        else:
            kept.append(owner)
    if not uids:
        return kept, ""
    return kept, (
        ".metadata.ownerReferences contains duplicate entries; API server dedups owner references "
        "in 1.20+, and may reject such requests as early as 1.24; please fix your requests; "
        f"duplicate UID(s) observed: {', '.join(uids)}"
    )
