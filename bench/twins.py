"""Types of other libraries with the fields of a msgspec Struct, for fair comparisons."""

from __future__ import annotations

import dataclasses
import types
from collections.abc import Callable
from functools import reduce
from operator import or_
from typing import Any, Union, get_args, get_origin, get_type_hints

import msgspec
from msgspec import Raw, Struct

__all__ = ["as_dataclass", "as_pydantic"]

_Field = tuple[str, str, Any, bool]
"""Its name, that in JSON, its type, and whether there must be one."""

_Make = Callable[[str, list[_Field]], type]


def as_dataclass(struct: type[Struct]) -> type:
    """A dataclass; its fields are named as in JSON, and its lists are lists."""
    return _twin(struct, _dataclass, {})


def as_pydantic(struct: type[Struct]) -> type:
    """A pydantic model, with aliases for the names in JSON."""
    return _twin(struct, _pydantic, {})


def _dataclass(name: str, fields: list[_Field]) -> type:
    made: list[Any] = []
    for _, encoded, type_, required in sorted(fields, key=lambda field: not field[3]):
        default = dataclasses.field() if required else dataclasses.field(default=None)
        made.append((encoded, type_, default))
    return dataclasses.make_dataclass(name, made)


def _pydantic(name: str, fields: list[_Field]) -> type:
    from pydantic import Field, create_model

    made: dict[str, Any] = {
        own: (type_, Field(... if required else None, alias=encoded))
        for own, encoded, type_, required in fields
    }
    model: type = create_model(name, **made)
    return model


def _twin(struct: type[Struct], make: _Make, known: dict[type, type]) -> type:
    if struct not in known:
        hints = get_type_hints(struct)
        fields: list[_Field] = []
        for field in msgspec.structs.fields(struct):
            type_ = _type(hints[field.name], make, known)
            optional = type_ if field.required else type_ | None
            fields.append((field.name, field.encode_name, optional, field.required))
        known[struct] = make(struct.__name__, fields)
    return known[struct]


def _type(hint: Any, make: _Make, known: dict[type, type]) -> Any:
    if hint is Raw:
        return Any
    if isinstance(hint, type) and issubclass(hint, Struct):
        return _twin(hint, make, known)
    inner = tuple(_type(each, make, known) for each in get_args(hint) if each is not Ellipsis)
    origin = get_origin(hint)
    if origin is tuple:
        return list[inner[0]]  # type: ignore[valid-type]
    if origin in (Union, types.UnionType):
        return reduce(or_, inner)
    return origin[inner] if origin is not None else hint
