"""The parts of typed objects: bytes of their own, and of equal parts only one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any, TypeAlias

from msgspec import Raw, Struct, inspect
from msgspec.structs import force_setattr

from listwatch.api import FrozenDict

__all__ = ["Pool", "Step", "step_for"]

Step: TypeAlias = Callable[[Any], Any]
"""From a part to what is kept in its place."""

_MOST_SHARED = 20_000

_CLASSES: dict[type[inspect.Type], type] = {
    inspect.RawType: Raw,
    inspect.StrType: str,
    inspect.VarTupleType: tuple,
    inspect.ListType: list,
    inspect.DictType: dict,
}
_ATOMS = (
    inspect.StrType,
    inspect.IntType,
    inspect.FloatType,
    inspect.BoolType,
    inspect.NoneType,
    inspect.EnumType,
    inspect.LiteralType,
    inspect.DateTimeType,
)


class Pool(dict[Any, Any]):
    """One of each of the values that were met. It forgets all when it has met too many, most of
    them but once: what repeats is there again soon.
    """

    def share(self, value: Any) -> Any:
        """The one that is equal to `value`."""
        try:
            known = self.get(value)
        except TypeError:
            return value  # something in it has no hash
        if known is not None:
            return known
        if len(self) >= _MOST_SHARED:
            self.clear()
        self[value] = value
        return value


def step_for(type_: type, pool: Pool | None) -> Step | None:
    """What is to be done with each object of that type; None for nothing.

    A `Raw` is a view into the bytes that it was decoded from: it gets bytes of its own. With
    `pool`, strings, Structs with a hash, tuples of these, and dicts of these, which become
    FrozenDicts, are replaced by what is equal to them; but for the object itself, and what is right
    below it, which never is. Raises `TypeError` for a Raw where it would not be found.
    """
    if pool is None:
        return _plain_step(type_)
    return _Steps(pool).of(inspect.type_info(type_), depth=0)


@lru_cache(maxsize=256)
def _plain_step(type_: type) -> Step | None:
    return _Steps(None).of(inspect.type_info(type_), depth=0)


class _Steps:
    def __init__(self, pool: Pool | None) -> None:
        self._pool = pool
        self._structs: dict[type, Step | None] = {}

    def of(self, info: inspect.Type, depth: int) -> Step | None:
        match info:
            case inspect.RawType():
                return _own
            case inspect.StrType():
                return self._pool.share if self._pool is not None else None
            case inspect.StructType() | inspect.DataclassType():
                return self._struct(info, depth)
            case inspect.UnionType():
                return self._union(info, depth)
            case inspect.VarTupleType():
                return self._tuple(info, depth)
            case inspect.ListType():
                step = self.of(info.item_type, depth)
                return _each(step) if step is not None else None
            case inspect.DictType():
                return self._dict(info, depth)
        if any(isinstance(part, inspect.RawType) for part in _parts(info)):
            name = type(info).__name__.removesuffix("Type")
            raise TypeError(f"a Raw in a {name} would keep the bytes of the whole object alive")
        return None

    def _union(self, info: inspect.UnionType, depth: int) -> Step | None:
        steps: dict[type, Step] = {}
        for member in info.types:
            step = self.of(member, depth)
            if step is not None:
                steps[getattr(member, "cls", None) or _CLASSES[type(member)]] = step
        if not steps:
            return None

        def one_of(value: Any) -> Any:
            step = steps.get(type(value))
            return step(value) if step is not None else value

        return one_of

    def _tuple(self, info: inspect.VarTupleType, depth: int) -> Step | None:
        pool, step = self._pool, self.of(info.item_type, depth)
        if step is None:
            return None
        if pool is None or not _is_told_apart(info):
            return lambda value: tuple([step(item) for item in value])
        plain = _is_plain(info)

        def items(value: Any) -> Any:
            known = pool.get(value) if plain else None
            return known or pool.share(tuple([step(item) for item in value]))

        return items

    def _dict(self, info: inspect.DictType, depth: int) -> Step | None:
        pool, step = self._pool, self.of(info.value_type, depth)
        if step is None:
            return None

        shared = _is_told_apart(info)

        def members(value: Any) -> Any:
            for name, item in value.items():
                value[name] = step(item)
            if pool is None:
                return value
            return pool.share(FrozenDict(value)) if shared else FrozenDict(value)

        return members

    def _struct(self, info: inspect.StructType | inspect.DataclassType, depth: int) -> Step | None:
        cls = info.cls
        if cls in self._structs:
            return self._structs[cls]

        def again(value: Any) -> Any:
            step = self._structs[cls]
            return step(value) if step is not None else value

        self._structs[cls] = again  # for where it has itself in it, somewhere below
        found = [(field.name, self.of(field.type, depth + 1)) for field in info.fields]
        steps = [(name, step) for name, step in found if step is not None and step is not again]
        self._structs[cls] = self._fields(info, steps, depth)
        return self._structs[cls]

    def _texts(
        self, info: inspect.StructType | inspect.DataclassType, steps: list[tuple[str, Step]]
    ) -> tuple[list[str], list[tuple[str, Step]]]:
        """The steps of fields that are texts or None, most of all, apart: they need no call."""
        texts = [
            field.name
            for field in info.fields
            if all(
                isinstance(part, inspect.StrType | inspect.NoneType | inspect.UnionType)
                for part in _parts(field.type)
            )
        ]
        if self._pool is None:
            return [], steps
        return texts, [(name, step) for name, step in steps if name not in texts]

    def _fields(
        self,
        info: inspect.StructType | inspect.DataclassType,
        steps: list[tuple[str, Step]],
        depth: int,
    ) -> Step | None:
        put = force_setattr if issubclass(info.cls, Struct) else object.__setattr__
        pool = self._pool if depth > 1 and _is_exact(info) else None
        if not steps:
            return pool.share if pool is not None else None
        plain = pool is not None and _is_plain(info)
        texts, steps = self._texts(info, steps)
        texts_pool = self._pool if self._pool is not None else Pool()
        known_text, share = texts_pool.get, texts_pool.share

        def fields(value: Any) -> Any:
            if plain and pool is not None:
                known = pool.get(value)
                if known is not None:
                    return known
            for name in texts:
                old = getattr(value, name)
                if old:
                    new = known_text(old) or share(old)
                    if new is not old:
                        put(value, name, new)
            for name, step in steps:
                old = getattr(value, name)
                if old or type(old) is dict:
                    new = step(old)
                    if new is not old:
                        put(value, name, new)
            return value if pool is None else pool.share(value)

        return fields


def _own(raw: Any) -> Any:
    return raw.copy()


def _each(step: Step) -> Step:
    def items(value: Any) -> Any:
        value[:] = [step(item) for item in value]
        return value

    return items


_EXACT = (
    inspect.StrType,
    inspect.BytesType,
    inspect.NoneType,
    inspect.BoolType,
    inspect.IntType,
    inspect.EnumType,
    inspect.RawType,
    inspect.UnionType,
    inspect.ListType,
    inspect.VarTupleType,
    inspect.DictType,
    inspect.StructType,
    inspect.DataclassType,
)
_NUMBERS = (inspect.BoolType, inspect.IntType)


def _is_exact(info: inspect.Type) -> bool:
    """Whether two of the type that are equal are the same: 0.0 is equal to -0.0, a time to one in
    another zone, and where both may stand, 1 to True.
    """
    return all(
        isinstance(part, _EXACT)
        and not (isinstance(part, inspect.UnionType) and _numbers(*part.types) > 1)
        for part in _parts(info)
    )


def _is_told_apart(info: inspect.VarTupleType | inspect.DictType) -> bool:
    """The same for what has no class of its own, so that one of numbers may meet one of truths."""
    item = info.value_type if isinstance(info, inspect.DictType) else info.item_type
    members = item.types if isinstance(item, inspect.UnionType) else (item,)
    return _is_exact(info) and not _numbers(*members)


def _numbers(*types: inspect.Type) -> int:
    return sum(isinstance(each, _NUMBERS) for each in types)


def _is_plain(info: inspect.Type) -> bool:
    """Whether it has a hash as it was decoded."""
    return all(
        (part.cls.__hash__ is not None)
        if isinstance(part, inspect.StructType | inspect.DataclassType)
        else isinstance(part, (*_ATOMS, inspect.VarTupleType, inspect.UnionType))
        for part in _parts(info)
    )


def _parts(info: inspect.Type) -> Iterator[inspect.Type]:
    """A type, and every type in it."""
    seen: set[int] = set()
    waiting = [info]
    while waiting:
        part = waiting.pop()
        if id(part) in seen:
            continue
        seen.add(id(part))
        yield part
        inner = [getattr(part, name, None) for name in ("item_type", "key_type", "value_type")]
        waiting += [found for found in inner if found is not None]
        waiting += getattr(part, "item_types", ())
        waiting += getattr(part, "types", ())
        waiting += [field.type for field in getattr(part, "fields", ())]
