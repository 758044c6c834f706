"""The order of members in what a JSON patch has made, as refusals show it: a real server reads no
more of an object than the operations lead to, and what it has read it writes sorted.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

__all__ = ["operated_order"]


def operated_order(value: Any, operations: Iterable[Mapping[str, Any]]) -> Any:
    """`value` is what these operations of a JSON patch have made.

    >>> operated_order({"b": {"y": 1, "x": 2}, "a": {"z": 3}}, [{"op": "add", "path": "/b/x"}])
    {'a': {'z': 3}, 'b': {'x': 2, 'y': 1}}
    """
    entered: dict[str, Any] = {}
    for operation in operations:
        for pointer in (operation.get("path"), operation.get("from")):
            if isinstance(pointer, str):
                below = entered
                for step in pointer.split("/")[1:-1]:
                    name = step.replace("~1", "/").replace("~0", "~")
                    below = below.setdefault(name, {})
    return _entered(value, entered)


def _entered(value: Any, below: Mapping[str, Any]) -> Any:
    if isinstance(value, dict):
        return {
            name: _entered(value[name], below[name]) if name in below else value[name]
            for name in sorted(value)
        }
    if isinstance(value, list):
        return [
            _entered(item, below[str(at)]) if str(at) in below else item
            for at, item in enumerate(value)
        ]
    return value
