"""Typed: objects decoded once, on the way in, to what they are read as (D6)."""

from dataclasses import is_dataclass
from typing import Any, Generic, TypeVar

import msgspec
from msgspec import Struct
from msgspec.structs import force_setattr

from listwatch.api import MalformedObject
from listwatch.api._lenient import JSONBytes, lenient_decoder

from ._parts import Pool, step_for

__all__ = ["Typed", "typed"]

T = TypeVar("T")

_NEEDED = {"name": "name", "uid": "uid", "resource_version": "resourceVersion"}


class Typed(Generic[T]):
    """The decoder that `typed` makes. Two of the same type are equal."""

    __slots__ = ("_decode", "_fills", "_step", "share", "type")

    reads_all = True
    takes_type_meta = True

    def __init__(self, type: type[T], *, share: bool = False) -> None:
        self.type = type
        self.share = share
        self._decode = lenient_decoder(type)
        self._step = step_for(type, Pool() if share else None)
        self._fills = _type_fields(type)

    def __call__(self, raw: JSONBytes, *, api_version: str = "", kind: str = "") -> T:
        """Decode one object. Raises `MalformedObject` where it does not fit."""
        try:
            obj = self._decode(raw)
        except (msgspec.DecodeError, RecursionError) as error:
            raise MalformedObject(f"this does not fit {self.type.__name__}: {error}") from error
        if kind:
            for name, text in zip(self._fills, (kind, api_version), strict=True):
                if name and not getattr(obj, name):
                    _put(obj, name, text)
        if self._step is not None:
            self._step(obj)
        return obj

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Typed):
            return NotImplemented
        return (self.type, self.share) == (other.type, other.share)

    def __hash__(self) -> int:
        return hash((Typed, self.type, self.share))

    def __repr__(self) -> str:
        return f"typed({self.type.__qualname__}{', share=True' if self.share else ''})"


def typed(type: type[T], *, share: bool = False) -> Typed[T]:
    """A decoder to a msgspec Struct or a dataclass, whose fields mirror the object's JSON.

    The object is decoded once, when it comes; reading it costs nothing. What the type does not
    declare is not kept, and null counts as absent. A field of type `msgspec.Raw` keeps its part of
    the JSON as bytes of its own.

    Let its Structs be `frozen=True`, so that no reader can change it for another (A6), and
    `gc=False` with tuples for lists, so that the garbage collector has nothing to track: with
    50,000 pods it would cost more than all else.

    With `share`, equal strings, Structs and tuples of many objects are kept once, and dicts become
    `FrozenDict`s, which are shared too: of pods this saves half of the memory, for four times the
    time on the way in.

    Raises `TypeError` for a type that is neither, or by which a store cannot tell objects and their
    states apart: it needs a `metadata` with `name`, `uid` and `resource_version` (in JSON
    `resourceVersion`, so that a Struct has `rename="camel"`), and `namespace` where the objects
    have one.

    >>> class Metadata(Struct, frozen=True, gc=False, rename="camel"):
    ...     name: str
    ...     uid: str = ""
    ...     resource_version: str = ""
    >>> class Node(Struct, frozen=True, gc=False):
    ...     metadata: Metadata
    >>> typed(Node)(b'{"metadata":{"name":"n1","resourceVersion":"7","labels":{}},"spec":{}}')
    Node(metadata=Metadata(name='n1', uid='', resource_version='7'))
    """
    if not is_dataclass(type) and not issubclass(type, Struct):
        raise TypeError(f"typed() takes a msgspec Struct or a dataclass, not {type!r}")
    _check(type)
    return Typed(type, share=share)


_Type = type


def _fields(type_: Any) -> dict[str, tuple[str, msgspec.inspect.Type]]:
    """Its name in JSON, and its type, of each field."""
    info: Any = msgspec.inspect.type_info(type_)
    return {field.name: (field.encode_name, field.type) for field in info.fields}


def _check(type_: type) -> None:
    _, metadata = _fields(type_).get("metadata", ("", None))
    members = metadata.types if isinstance(metadata, msgspec.inspect.UnionType) else (metadata,)
    for member in members:
        if isinstance(member, msgspec.inspect.StructType | msgspec.inspect.DataclassType):
            there = {field.name: field.encode_name for field in member.fields}
            lacking = [name for name, text in _NEEDED.items() if there.get(name) != text]
            if not lacking:
                return
            raise TypeError(
                f"the metadata of {type_.__name__}, {member.cls.__name__}, has no"
                f" {' and no '.join(f'{name} (in JSON {_NEEDED[name]})' for name in lacking)}:"
                " a store needs them to tell objects and their states apart"
            )
    raise TypeError(
        f"{type_.__name__} has no metadata that is a Struct or dataclass: a store needs it to tell"
        " objects and their states apart"
    )


def _type_fields(type_: type) -> tuple[str, str]:
    """The fields that kind and apiVersion are in, as far as it has them."""
    names = {text: name for name, (text, _) in _fields(type_).items()}
    return names.get("kind", ""), names.get("apiVersion", "")


def _put(obj: Any, name: str, text: str) -> None:
    if isinstance(obj, Struct):
        force_setattr(obj, name, text)
    else:
        object.__setattr__(obj, name, text)
