"""JSON merge patch (RFC 7396)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["merge_patch"]


def merge_patch(target: Any, patch: Any) -> Any:
    """`target` with `patch` merged in. Neither is changed; what the patch does not name is shared
    with the result.

    >>> merge_patch({"a": {"b": 1, "c": 2}, "d": [1]}, {"a": {"b": None, "e": 3}, "d": [2]})
    {'a': {'c': 2, 'e': 3}, 'd': [2]}
    """
    if not isinstance(patch, dict):
        return patch
    merged = dict(target) if isinstance(target, Mapping) else {}
    for name, value in patch.items():
        if value is None:
            merged.pop(name, None)
        elif isinstance(value, dict):
            merged[name] = merge_patch(merged.get(name), value)
        else:
            merged[name] = value
    return merged
