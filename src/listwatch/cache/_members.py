"""Members of objects of anybody's types, by their names in JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["member"]

_SNAKE = {"resourceVersion": "resource_version"}
_ALIASES = ("validation_alias", "alias", "serialization_alias")


def member(obj: Any, name: str) -> tuple[str, Any] | None:
    """Where an object has the member that is called so in JSON, and its value: a mapping under that
    name; else as an attribute of that name, in snake case or not, or as the field that a msgspec
    Struct or a pydantic model has for it. None where it has no such member.

    >>> from msgspec import Struct
    >>> class Meta(Struct, rename={"version": "resourceVersion"}):
    ...     version: str
    >>> member(Meta("7"), "resourceVersion")
    ('version', '7')
    """
    if isinstance(obj, Mapping):
        return (name, obj[name]) if name in obj else None
    for attribute in (_SNAKE.get(name, name), name, _field(type(obj), name)):
        if attribute:
            try:
                return attribute, getattr(obj, attribute)
            except AttributeError:
                pass  # it has none of that name, and may have one of the next
    return None


def _field(cls: type, name: str) -> str:
    """The field that stands for it; empty where there is none."""
    encoded = getattr(cls, "__struct_encode_fields__", ())
    if name in encoded:
        fields: tuple[str, ...] = getattr(cls, "__struct_fields__", ())
        return fields[encoded.index(name)]
    models: Any = getattr(cls, "__pydantic_fields__", None)
    if isinstance(models, Mapping):
        for field, info in models.items():
            if name in _aliases(info):
                return str(field)
    return ""


def _aliases(info: Any) -> list[str]:
    """Of a field of a pydantic model; a validation alias may be a choice of several."""
    found: list[str] = []
    for attribute in _ALIASES:
        alias: Any = getattr(info, attribute, None)
        found += [each for each in getattr(alias, "choices", (alias,)) if isinstance(each, str)]
    return found
