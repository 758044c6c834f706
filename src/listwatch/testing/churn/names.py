"""Names as clusters make them, all from a random generator."""

from __future__ import annotations

from random import Random

__all__ = ["pod_suffix", "template_hash"]

_ALPHABET = "bcdfghjklmnpqrstvwxz2456789"


def pod_suffix(rng: Random) -> str:
    """What tells one pod of a ReplicaSet from another: `x2x9k`."""
    return "".join(rng.choices(_ALPHABET, k=5))


def template_hash(rng: Random) -> str:
    """What tells one ReplicaSet of a Deployment from another: `7c9d8b6f5`, or one digit more."""
    return "".join(rng.choices(_ALPHABET, k=rng.choice((9, 10))))
