"""Whose types these are, told without importing a package that they are not of."""

from __future__ import annotations

import sys
from dataclasses import is_dataclass
from typing import Any, get_origin, is_typeddict

from msgspec import Struct

from listwatch.api import ObjectView

__all__ = [
    "OFFICIAL",
    "is_for_msgspec",
    "is_lightkube_dict",
    "is_of",
    "is_openapi",
    "is_pydantic",
]

OFFICIAL = ("kubernetes", "kubernetes_asyncio")
"""The packages whose models the generator of the official client has made."""


def is_of(type_: type, *packages: str) -> bool:
    """Whether it, or what it is derived from, was defined in one of these packages."""
    return any(base.__module__.partition(".")[0] in packages for base in type_.__mro__)


def is_pydantic(type_: object) -> bool:
    if not isinstance(type_, type):
        return False
    pydantic: Any = sys.modules.get("pydantic")
    if pydantic is not None and issubclass(type_, getattr(pydantic, "BaseModel", ())):
        return hasattr(type_, "model_validate_json")  # which version 1 has not
    return is_dataclass(type_) and hasattr(type_, "__pydantic_validator__")


def is_openapi(type_: object) -> bool:
    """Whether it is a model as the official client's generator made them up to version 36."""
    return (
        isinstance(type_, type)
        and is_of(type_, *OFFICIAL)
        and hasattr(type_, "openapi_types")
        and hasattr(type_, "attribute_map")
    )


def is_lightkube_dict(type_: object) -> bool:
    """Whether it is of lightkube, and no Struct: a generic resource, or of a version below 1."""
    return (
        isinstance(type_, type)
        and not issubclass(type_, Struct)
        and is_of(type_, "lightkube")
        and hasattr(type_, "from_dict")
    )


def is_for_msgspec(type_: Any) -> bool:
    origin = get_origin(type_) or type_
    if is_typeddict(origin):
        return True
    if not isinstance(origin, type) or issubclass(origin, ObjectView):
        return False
    return issubclass(origin, Struct) or is_dataclass(origin) or hasattr(origin, "__attrs_attrs__")
