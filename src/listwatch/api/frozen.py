"""Values nobody can change: read-only mappings, and tuples for lists (A6, A7)."""

from __future__ import annotations

from copy import deepcopy
from typing import Any, Never, TypeVar

__all__ = ["FrozenDict", "freeze"]

K = TypeVar("K")
V = TypeVar("V")


class FrozenDict(dict[K, V]):
    """A `dict` that refuses to be changed.

    It is a real `dict`, so it equals one, and every JSON or YAML encoder takes it. Every method
    that would change it raises `TypeError`. It is hashable when its values are, pickles, and a deep
    copy is the object itself as long as its values are immutable too, which `freeze` guarantees.
    `copy()` and `|` give a plain, mutable `dict`.

    >>> labels = FrozenDict(app="web")
    >>> labels["app"]
    'web'
    >>> labels["app"] = "db"
    Traceback (most recent call last):
        ...
    TypeError: this mapping is read-only; change a copy: dict(...), or edit() of the object
    """

    __slots__ = ()

    def _refuse(self, *args: object, **kwargs: object) -> Never:
        raise TypeError(
            "this mapping is read-only; change a copy: dict(...), or edit() of the object"
        )

    __setitem__ = _refuse
    __delitem__ = _refuse
    __ior__ = _refuse
    clear = _refuse
    pop = _refuse
    popitem = _refuse
    setdefault = _refuse
    update = _refuse

    def __hash__(self) -> int:  # type: ignore[override]  # dict sets it to None
        return hash(frozenset(self.items()))

    def __reduce__(self) -> tuple[Any, ...]:
        # The default way fills the new mapping item by item, which is refused here.
        return type(self), (dict(self),)

    def __copy__(self) -> FrozenDict[K, V]:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> FrozenDict[K, V]:
        copied = {key: deepcopy(value, memo) for key, value in self.items()}
        if all(copied[key] is value for key, value in self.items()):
            return self
        return type(self)(copied)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({dict.__repr__(self)})"


def freeze(value: Any) -> Any:
    """`value`, as JSON decodes to, made immutable all the way down.

    Dicts become `FrozenDict`, lists become tuples; everything else is returned as it is. `value`
    itself is not touched, and shares nothing mutable with the result.

    >>> freeze({"ports": [{"port": 80}]})
    FrozenDict({'ports': (FrozenDict({'port': 80}),)})
    """
    kind = type(value)
    if kind is dict or kind is FrozenDict:
        # Copied whole, then only what is not frozen yet is set: most values are text and numbers.
        frozen: FrozenDict[Any, Any] = FrozenDict(value)
        for key, item in value.items():
            if type(item) in _CONTAINERS:
                dict.__setitem__(frozen, key, freeze(item))
        return frozen
    if kind is list or kind is tuple:
        return tuple([freeze(item) if type(item) in _CONTAINERS else item for item in value])
    return value


_CONTAINERS = frozenset({dict, list, tuple, FrozenDict})
