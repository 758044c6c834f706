"""Resource versions: opaque on the wire, comparable where they are plain decimals (A2)."""

from __future__ import annotations

__all__ = ["compare_resource_versions", "is_newer"]


def compare_resource_versions(a: str, b: str) -> int | None:
    """-1, 0 or 1 as RV `a` is older than, the same as, or newer than `b`; None if nobody knows.

    Two RVs of one resource, from one server, are comparable when both are decimals of any length
    without leading zeros, as Kubernetes guarantees since 1.35. Anything else is not: other text,
    the empty RV, and `"0"`, which is no version but the request for any. Two equal texts that are
    no decimals give None too.

    >>> compare_resource_versions("9", "10"), compare_resource_versions("10", "abc")
    (-1, None)
    """
    if not _is_comparable(a) or not _is_comparable(b):
        return None
    # Lengths first: int() of unbounded text is slow, and refused above 4,300 digits.
    left, right = (len(a), a), (len(b), b)
    return (left > right) - (left < right)


def is_newer(a: str, b: str) -> bool:
    """Whether RV `a` is known to be newer than `b`; False where they cannot be compared."""
    return compare_resource_versions(a, b) == 1


def _is_comparable(rv: str) -> bool:
    return rv.isascii() and rv.isdigit() and rv[0] != "0"
