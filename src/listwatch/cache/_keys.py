"""The keys that have one value of an index, in the order in which they came.

They take 8 bytes each while they are few, 20 to 40 where they are many, and nothing for one alone,
for which a dict of its own would take 200.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

__all__ = ["Keys", "each", "held", "newest", "with_key", "without_key"]

Keys: TypeAlias = str | tuple[str, ...] | dict[str, str]
"""One key, a few, or many, each under itself. There is no form for none.

A tuple is copied for each change, so it may be shared; and the GC soon leaves it alone, which it
does with no list.
"""

_FEW = 64
"""Most keys in a tuple: to search and copy it takes half a microsecond, and some more where the
keys are in no cache of the processor."""


def each(keys: Keys | None) -> Iterable[str]:
    """The keys."""
    if keys is None:
        return ()
    return (keys,) if isinstance(keys, str) else keys


def newest(keys: Keys) -> str:
    """The one that came last."""
    return keys if isinstance(keys, str) else next(reversed(keys))


def held(keys: Keys | None, key: str) -> str | None:
    """The very text under which `key` is among them; None if it is not."""
    if isinstance(keys, dict):
        return keys.get(key)
    if isinstance(keys, tuple):
        return keys[keys.index(key)] if key in keys else None
    return keys if keys == key else None


def with_key(keys: Keys | None, key: str) -> Keys:
    """These and one that is not among them. A dict is changed in place."""
    if keys is None:
        return key
    if isinstance(keys, dict):
        keys[key] = key
        return keys
    if isinstance(keys, str):
        return (keys, key)
    if len(keys) < _FEW:
        return (*keys, key)
    many = dict(zip(keys, keys, strict=True))
    many[key] = key
    return many


def without_key(keys: Keys | None, key: str) -> Keys | None:
    """The others; None where there are none. A dict is changed in place."""
    if isinstance(keys, dict):
        keys.pop(key, None)
        return keys if len(keys) > _FEW // 2 else tuple(keys)
    if isinstance(keys, tuple):
        try:
            at = keys.index(key)
        except ValueError:
            return keys
        left = keys[:at] + keys[at + 1 :]
        return left if len(left) > 1 else left[0] if left else None
    return None if keys == key else keys
