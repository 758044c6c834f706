"""JSON patch (RFC 6902), as the real server takes it.

It is laxer than the RFC: `replace` adds a member that is missing, an operation without `value`
means null, a missing member tests as null, and negative indices count from the end of an array.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from typing import Any

from ..reading.encoding import go_json

__all__ = ["JSONPatchError", "json_patch"]

_OPERATIONS = ("add", "remove", "replace", "test", "move", "copy")
_MOST_COPIED = 3 * 1024 * 1024
"""Bytes of JSON that the operations `copy` of one patch may add."""


class JSONPatchError(Exception):
    """An operation cannot be done: why, in the words of a real server, which tells them where the
    patch is a webhook's.
    """


class _Missing(Exception):
    """A path leads to nothing."""


def json_patch(document: Any, operations: list[dict[str, Any]]) -> Any:
    """`document` with the operations done, in order. It is not changed; what no path leads to is
    shared with the result. Raises `JSONPatchError`.

    >>> json_patch({"a": [1, 2]}, [{"op": "add", "path": "/a/-", "value": 3}])
    {'a': [1, 2, 3]}
    >>> json_patch({"a": 1}, [{"op": "test", "path": "/a", "value": 2}])  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    listwatch.testing.apiserver.writing.json_patch.JSONPatchError: testing value /a failed: test...
    """
    work = _Patching(document)
    for operation in operations:
        work.do(operation)
    return work.document


class _Patching:
    """A document while operations are done. What it has copied once belongs to it, and is changed
    in place from then on: so a patch takes no longer than its operations and the document do.
    """

    def __init__(self, document: Any) -> None:
        self.document = document
        self._copied = 0
        self._own: set[int] = set()
        """The ids of containers that were made here: nobody else has them."""

    def do(self, operation: dict[str, Any]) -> None:
        op, path = operation.get("op"), operation.get("path")
        if op not in _OPERATIONS:
            raise JSONPatchError(f"Unexpected kind: {op if isinstance(op, str) else 'unknown'}")
        if not isinstance(path, str):
            raise JSONPatchError(f"{op} operation failed to decode path: missing value")
        try:
            self._do(op, path, operation)
        except _Missing:
            text = f'{op} operation does not apply: doc is missing path: "{path}": missing value'
            raise JSONPatchError(text) from None

    def _do(self, op: str, path: str, operation: dict[str, Any]) -> None:
        value = operation.get("value")
        match op:
            case "add":
                if not path:
                    raise JSONPatchError("add: no place for another document")
                self._change(path, lambda parent, key: _add(parent, key, value))
            case "remove":
                self._change(path, partial(_remove, path=path))
            case "replace":
                self._replace(path, value)
            case "test":
                found = _get(self.document, path, missing_is_null=True)
                if not _equal(found, value):
                    raise JSONPatchError(f"testing value {path} failed: test failed")
            case "move" | "copy":
                source = operation.get("from")
                if not isinstance(source, str):
                    raise JSONPatchError(f"{op}: no from")
                found = _get(self.document, source, missing_is_null=op == "copy")
                if op == "move":
                    self._change(source, partial(_remove, path=source))
                else:
                    found = self._copy(found)
                self._change(path, lambda parent, key: _add(parent, key, found))

    def _replace(self, path: str, value: Any) -> None:
        if path:
            self._change(path, lambda parent, key: _set(parent, key, value))
        elif isinstance(value, dict | list):
            self.document = value
        else:
            text = "replace operation value must be object or array: %!w(<nil>)"
            raise JSONPatchError(text)

    def _copy(self, found: Any) -> Any:
        data = go_json(found)
        self._copied += len(data)
        if self._copied > _MOST_COPIED:
            raise JSONPatchError(f"copies of {self._copied} bytes")
        return json.loads(data)

    def _change(self, path: str, change: Callable[[Any, str], None]) -> None:
        """Change the container at the end of a path; those along it are this patch's own then."""
        *parents, last = _parts(path)
        container = self.document = self._mine(self.document)
        for part in parents:
            below = self._mine(_child(container, part))
            if isinstance(container, dict):
                container[part] = below
            else:
                container[_index(container, part)] = below
            container = below
        change(container, last)

    def _mine(self, container: Any) -> Any:
        if id(container) in self._own:
            return container
        if isinstance(container, dict):
            copied: Any = dict(container)
        elif isinstance(container, list):
            copied = list(container)
        else:
            raise JSONPatchError("the path leads into no object")
        self._own.add(id(copied))
        return copied


def _parts(path: str) -> list[str]:
    """The tokens of a pointer. What stands before the first slash does not count."""
    parts = path.split("/")
    if len(parts) < 2:
        raise JSONPatchError(f"no path: {path!r}")
    return [part.replace("~1", "/").replace("~0", "~") for part in parts[1:]]


def _child(container: Any, key: str) -> Any:
    if isinstance(container, dict):
        if key in container:
            return container[key]
    elif isinstance(container, list):
        return container[_index(container, key)]
    raise _Missing


def _get(document: Any, path: str, *, missing_is_null: bool) -> Any:
    if not path:
        return document
    *parents, last = _parts(path)
    for part in parents:
        document = _child(document, part)
    if missing_is_null and isinstance(document, dict):
        return document.get(last)
    return _child(document, last)


def _add(container: Any, key: str, value: Any) -> None:
    if isinstance(container, dict):
        container[key] = value
    elif key == "-":
        container.append(value)
    else:
        container.insert(_index(container, key, end=True), value)


def _set(container: Any, key: str, value: Any) -> None:
    if isinstance(container, dict):
        container[key] = value
    else:
        container[_index(container, key)] = value


def _remove(container: Any, key: str, *, path: str) -> None:
    if isinstance(container, dict):
        if key not in container:
            raise JSONPatchError(
                f"error in remove for path: '{path}': Unable to remove nonexistent key: {key}: "
                "missing value"
            )
        del container[key]
    else:
        del container[_index(container, key)]


def _index(items: list[Any], key: str, *, end: bool = False) -> int:
    """`end`: the index behind the last item will do."""
    limit = len(items) + end
    try:
        if "_" in key or key != key.strip():
            raise ValueError
        index = int(key)
    except ValueError:
        raise JSONPatchError(f"no index: {key!r}") from None
    if not -limit <= index < limit:
        raise JSONPatchError(f"no index {index} in {len(items)} items")
    return index + limit if index < 0 else index


def _equal(one: Any, other: Any) -> bool:
    """JSON's equality, which tells 1 from true."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_equal(one[name], other[name]) for name in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_equal, one, other))
    return isinstance(one, bool) == isinstance(other, bool) and bool(one == other)
