"""Members that come twice in the same object of a YAML text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

__all__ = ["yaml_duplicates", "yaml_errors"]


def yaml_duplicates(body: bytes) -> list[str]:
    """What is said of each, with its line; empty where the text is no YAML. Costs a reading."""
    import yaml

    try:
        root = yaml.compose(body, yaml.SafeLoader)
    except (yaml.YAMLError, RecursionError):
        return []
    return list(_below(root))


def yaml_errors(duplicates: list[str]) -> str:
    """All of them in one message, as the real server's reader puts them."""
    return "\n  ".join(("yaml: unmarshal errors:", *duplicates))


def _below(node: Any) -> Iterator[str]:
    """In the order in which a reader finds them: a member is set once its value is read. The line
    is the value's.
    """
    import yaml

    if isinstance(node, yaml.MappingNode):
        seen: set[str] = set()
        for key, value in node.value:
            yield from _below(value)
            if key.value in seen:
                yield f'line {value.start_mark.line + 1}: key "{key.value}" already set in map'
            seen.add(key.value)
    elif isinstance(node, yaml.SequenceNode):
        for item in node.value:
            yield from _below(item)
