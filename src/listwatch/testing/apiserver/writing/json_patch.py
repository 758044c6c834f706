"""JSON patch (RFC 6902), as the real server takes it.

It is laxer than the RFC: `replace` adds a member that is missing, an operation without `value`
means null, a missing member tests as null, and negative indices count from the end of an array.
"""

from __future__ import annotations

from typing import Any

from ..reading.encoding import go_json

__all__ = ["CopiesTooLarge", "JSONPatchError", "json_patch"]

_MOST_COPIED = 3 * 1024 * 1024
"""Bytes of JSON that the operations `copy` of one patch may add."""


class JSONPatchError(Exception):
    """An operation cannot be done. Clients are not told which, nor why."""


class CopiesTooLarge(Exception):
    """The operations `copy` add more than they may. The text is for the client."""

    def __init__(self, size: int) -> None:
        super().__init__(
            "Unable to complete the copy, the accumulated size increase of copy is "
            f"{size}, exceeding the limit {_MOST_COPIED}"
        )


def json_patch(document: Any, operations: list[dict[str, Any]]) -> Any:
    """`document` with the operations done, in order. It is not changed; what no path leads to is
    shared with the result. Raises `JSONPatchError` and `CopiesTooLarge`.

    >>> json_patch({"a": [1, 2]}, [{"op": "add", "path": "/a/-", "value": 3}])
    {'a': [1, 2, 3]}
    >>> json_patch({"a": 1}, [{"op": "test", "path": "/a", "value": 2}])
    Traceback (most recent call last):
    listwatch.testing.apiserver.writing.json_patch.JSONPatchError: test /a: it is 1
    """
    copied = 0
    for operation in operations:
        if operation.get("op") == "copy":
            copied += _size_of_copy(document, operation)
            if copied > _MOST_COPIED:
                raise CopiesTooLarge(copied)
        document = _apply(document, operation)
    return document


def _size_of_copy(document: Any, operation: dict[str, Any]) -> int:
    """Bytes. What cannot be copied has none: that it cannot be, is found later."""
    source = operation.get("from")
    if not isinstance(source, str):
        return 0
    try:
        return len(go_json(_get(document, source, missing_is_null=True)))
    except JSONPatchError:
        return 0


def _apply(document: Any, operation: dict[str, Any]) -> Any:
    path = operation.get("path")
    if not isinstance(path, str):
        raise JSONPatchError("an operation without a path")
    op, value = operation.get("op"), operation.get("value")
    match op:
        case "add":
            if not path:
                raise JSONPatchError("add: no place for another document")
            return _changed(document, _parts(path), lambda parent, key: _add(parent, key, value))
        case "remove":
            return _changed(document, _parts(path), _remove)
        case "replace":
            if not path:
                if not isinstance(value, dict | list):
                    raise JSONPatchError("replace: no object")
                return value
            return _changed(document, _parts(path), lambda parent, key: _set(parent, key, value))
        case "test":
            found = _get(document, path, missing_is_null=True)
            if not _equal(found, value):
                raise JSONPatchError(f"test {path}: it is {found!r}")
            return document
        case "move" | "copy":
            source = operation.get("from")
            if not isinstance(source, str):
                raise JSONPatchError(f"{op}: no from")
            found = _get(document, source, missing_is_null=op == "copy")
            if op == "move":
                document = _changed(document, _parts(source), _remove)
            return _changed(document, _parts(path), lambda parent, key: _add(parent, key, found))
    raise JSONPatchError(f"no such operation: {op!r}")


def _parts(path: str) -> list[str]:
    """The tokens of a pointer. What stands before the first slash does not count."""
    parts = path.split("/")
    if len(parts) < 2:
        raise JSONPatchError(f"no path: {path!r}")
    return [part.replace("~1", "/").replace("~0", "~") for part in parts[1:]]


def _changed(document: Any, parts: list[str], change: Any) -> Any:
    """A copy of `document`, made along the path alone, with the container at its end changed."""
    if len(parts) == 1:
        if isinstance(document, dict):
            container: Any = dict(document)
        elif isinstance(document, list):
            container = list(document)
        else:
            raise JSONPatchError("the path leads into no object")
        change(container, parts[0])
        return container
    below = _changed(_child(document, parts[0]), parts[1:], change)
    if isinstance(document, dict):
        return {**document, parts[0]: below}
    copied = list(document)
    copied[_index(copied, parts[0])] = below
    return copied


def _child(container: Any, key: str) -> Any:
    if isinstance(container, dict):
        if key in container:
            return container[key]
    elif isinstance(container, list):
        return container[_index(container, key)]
    raise JSONPatchError(f"nothing at {key!r}")


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


def _remove(container: Any, key: str) -> None:
    if isinstance(container, dict):
        if key not in container:
            raise JSONPatchError(f"nothing at {key!r}")
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
