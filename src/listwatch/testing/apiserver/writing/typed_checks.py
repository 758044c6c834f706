"""Whether a configuration is what its type says, and what the real server says if not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from .strategic_merge import go_text
from .typed_items import TypedError, item_name, path_text
from .typed_types import ListType, Type

__all__ = ["type_problems"]


def type_problems(of: Type | None, value: Any, path: str = "") -> Iterator[str]:
    """What is wrong with a configuration, in the real server's words."""
    if of is None:
        yield f"{path}: field not declared in schema"
    elif value is None:
        return
    elif isinstance(value, dict):
        if of.map is None:
            yield f"{path}: {_expected(of, value)}"
        else:
            for name, member in sorted(value.items()):
                yield from type_problems(of.map.member(name), member, f"{path}.{name}")
    elif isinstance(value, list):
        if of.list is None:
            yield f"{path}: {_expected(of, value)}"
        else:
            yield from _item_problems(of.list, value, path)
    elif not _is_scalar(of.scalar, value):
        yield f"{path}: {_expected(of, value)}"


def _item_problems(of: ListType, value: Sequence[Any], path: str) -> Iterator[str]:
    seen: set[str] = set()
    for at, item in enumerate(value):
        here = f"{path}[{at}]"
        if not of.atomic:
            try:
                name = item_name(of, item)
            except TypedError as error:
                yield f"{path}: element {at}: {error}"
                return
            here = path + path_text((name,))
            if name in seen:
                yield f"{path}: duplicate entries for key {path_text((name,))}"
            seen.add(name)
        yield from type_problems(of.item, item, here)


def _is_scalar(scalar: str, value: Any) -> bool:
    if isinstance(value, bool):
        return scalar in ("boolean", "untyped")
    if isinstance(value, int | float):
        return scalar in ("numeric", "untyped")
    return scalar in ("string", "untyped")


def _expected(of: Type, value: Any) -> str:
    """As the real server's parts print what they got: each in its own way."""
    if of.map is not None:
        return f"expected map, got &{{{go_text(value)}}}"
    match of.scalar:
        case "string":
            return f"expected string, got &value.valueUnstructured{{Value:{_literal(value)}}}"
        case "numeric":
            return f"expected numeric (int or float), got {_go_type(value)}"
        case "boolean":
            return f"expected boolean, got &{{{go_text(value)}}}"
        case "untyped":
            return f"expected any scalar, got &{{{go_text(value)}}}"
    return f"expected list, got &{{{go_text(value)}}}"


def _go_type(value: Any) -> str:
    if isinstance(value, str):
        return "string"
    if isinstance(value, bool):
        return "bool"
    return "[]interface {}" if isinstance(value, list) else "map[string]interface {}"


def _literal(value: Any) -> str:
    """As Go prints a value with its types."""
    if value is None:
        return "interface {}(nil)"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        escaped = value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
        return f'"{escaped}"'
    if isinstance(value, dict):
        inside = ", ".join(f"{_literal(name)}:{_literal(value[name])}" for name in sorted(value))
        return f"map[string]interface {{}}{{{inside}}}"
    if isinstance(value, list):
        return f"[]interface {{}}{{{', '.join(map(_literal, value))}}}"
    return str(value)
