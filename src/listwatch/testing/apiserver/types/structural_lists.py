"""Lists that are sets or maps, and objects inside of objects."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from ..validation.names import embedded_metadata_problems
from ..validation.problems import Problem, invalid_field, required_field
from .structural import Structural
from .structural_values import shown, shown_json

__all__ = ["embedded_problems", "list_problems"]

_LABEL = re.compile("[a-z]([-a-z0-9]*[a-z0-9])?")
_NO_KIND = (
    "may have mixed case, but should otherwise match: a DNS-1035 label must consist of lower case "
    "alphanumeric characters or '-', start with an alphabetic character, and end with an "
    "alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is "
    "'[a-z]([-a-z0-9]*[a-z0-9])?')"
)


def list_problems(value: Any, node: Structural, path: str = "") -> Iterator[Problem]:
    """Items that are there twice, in lists of the types `set` and `map`."""
    if not node.has_lists:
        return
    if isinstance(value, dict):
        for name, member in value.items():
            if name not in node.properties and isinstance(node.additional, Structural):
                yield from list_problems(member, node.additional, f"{path}[{name}]")
        for name in sorted(value.keys() & node.properties.keys()):
            below = f"{path}.{name}" if path else name
            yield from list_problems(value[name], node.properties[name], below)
    elif isinstance(value, list):
        if node.list_type == "set":
            for at in _repeated([shown_json(item) for item in value]):
                yield _duplicate(f"{path}[{at}]", value[at])
        elif node.list_type == "map":
            yield from _map_problems(value, node, path)
        if node.items is not None:
            for at, item in enumerate(value):
                yield from list_problems(item, node.items, f"{path}[{at}]")


def _repeated(texts: list[str]) -> Iterator[int]:
    """The second of each that is there more than once."""
    seen: dict[str, int] = {}
    for at, text in enumerate(texts):
        seen[text] = seen.get(text, 0) + 1
        if seen[text] == 2:
            yield at


def _duplicate(path: str, value: Any) -> Problem:
    return Problem(path, "FieldValueDuplicate", f"Duplicate value: {shown(value)}")


def _map_problems(value: list[Any], node: Structural, path: str) -> Iterator[Problem]:
    for at, item in enumerate(value):
        if item is not None and not isinstance(item, dict):
            text = "must be an object for an array of list-type map"
            message = f"Invalid value: {shown(item)}: {text}"
            yield Problem(f"{path}[{at}]", "FieldValueInvalid", message)
            return
    keys = [
        {name: item[name] for name in node.list_keys if name in item} if item else {}
        for item in value
    ]
    for at in _repeated([shown_json(key) for key in keys]):
        yield _duplicate(f"{path}[{at}]", keys[at])


def embedded_problems(value: Any, node: Structural, path: str = "") -> Iterator[Problem]:
    """What is wrong with the names of objects inside of an object."""
    if not node.has_embedded:
        return
    if isinstance(value, dict):
        if node.embedded:
            yield from _object_problems(value, path)
        for name, member in value.items():
            if name in node.properties:
                below = f"{path}.{name}" if path else name
                yield from embedded_problems(member, node.properties[name], below)
            elif isinstance(node.additional, Structural):
                yield from embedded_problems(member, node.additional, f"{path}[{name}]")
    elif isinstance(value, list) and node.items is not None:
        for at, item in enumerate(value):
            yield from embedded_problems(item, node.items, f"{path}[{at}]")


def _object_problems(value: dict[str, Any], path: str) -> Iterator[Problem]:
    for name in ("apiVersion", "kind"):
        if name not in value:
            yield required_field(f"{path}.{name}")
    for name in ("apiVersion", "kind"):
        found = value.get(name)
        if found is None:
            continue
        if not found:
            yield invalid_field(f"{path}.{name}", found, "must not be empty")
        elif name == "apiVersion" and found.count("/") > 1:
            text = f"unexpected GroupVersion string: {found}"
            yield invalid_field(f"{path}.{name}", found, text)
        elif name == "kind" and not (_LABEL.fullmatch(found.lower()) and len(found) < 64):
            yield invalid_field(f"{path}.{name}", found, _NO_KIND)
    metadata = value.get("metadata")
    if isinstance(metadata, dict):
        for problem in embedded_metadata_problems(metadata):
            yield Problem(f"{path}.{problem.field}", problem.reason, problem.message)
