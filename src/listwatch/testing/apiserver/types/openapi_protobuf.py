"""The OpenAPI v2 document in protobuf, as `kubectl apply` asks for it (K49).

The messages are those of gnostic's `openapi.v2`: only their field numbers are here.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Callable, Mapping
from typing import Any

from .protobuf_wire import FIXED64, varint, write_bytes

__all__ = ["encode_v2"]

_Write = Callable[[int, Any], bytes]


def encode_v2(document: Mapping[str, Any]) -> bytes:
    """`document`, a whole OpenAPI v2 document, as `openapi.v2.Document`."""
    return b"".join(
        (
            _text(1, document["swagger"]),
            write_bytes(2, _fields(document["info"], {"title": (1, _text), "version": (2, _text)})),
            write_bytes(
                8, b"".join(_named(2, *pair, _path_item) for pair in _items(document, "paths"))
            ),
            write_bytes(
                9, b"".join(_named(1, *pair, _schema) for pair in _items(document, "definitions"))
            ),
            *(
                write_bytes(12, write_bytes(1, _text(1, name)))
                for requirement in document["security"]
                for name in requirement
            ),
            write_bytes(
                13,
                b"".join(
                    _named(1, *pair, lambda found: write_bytes(2, _fields(found, _API_KEY)))
                    for pair in _items(document, "securityDefinitions")
                ),
            ),
        )
    )


def _items(document: Mapping[str, Any], name: str) -> list[tuple[str, Any]]:
    return list(document[name].items())


# Scalars


def _text(number: int, value: Any) -> bytes:
    return write_bytes(number, str(value).encode())


def _texts(number: int, values: Any) -> bytes:
    return b"".join(_text(number, value) for value in values)


def _whole(number: int, value: Any) -> bytes:
    return varint(number << 3) + varint(int(value))


def _double(number: int, value: Any) -> bytes:
    return varint(number << 3 | FIXED64) + struct.pack("<d", float(value))


def _any(number: int, value: Any) -> bytes:
    """Any value, as YAML; JSON is that too."""
    return write_bytes(number, _text(2, json.dumps(value, separators=(",", ":")) + "\n"))


def _anys(number: int, values: Any) -> bytes:
    return b"".join(_any(number, value) for value in values)


def _named(number: int, name: str, value: Any, write: Callable[[Any], bytes]) -> bytes:
    return write_bytes(number, _text(1, name) + write_bytes(2, write(value)))


def _fields(
    node: Mapping[str, Any], known: Mapping[str, tuple[int, _Write]], extensions: int = 0
) -> bytes:
    found = []
    for name, value in node.items():
        if name in known:
            number, write = known[name]
            found.append((number, write(number, value)))
        elif extensions and name.startswith("x-"):
            found.append((extensions, write_bytes(extensions, _text(1, name) + _any(2, value))))
    return b"".join(data for _, data in sorted(found, key=lambda pair: pair[0]))


# Messages


def _schema(node: Mapping[str, Any]) -> bytes:
    return _fields(node, _SCHEMA, 31)


def _additional(number: int, value: Any) -> bytes:
    inside = _whole(2, value) if isinstance(value, bool) else write_bytes(1, _schema(value))
    return write_bytes(number, inside)


def _type(number: int, value: Any) -> bytes:
    return write_bytes(number, _text(1, value))


def _one_of_items(number: int, value: Any) -> bytes:
    return write_bytes(number, write_bytes(1, _schema(value)))


def _properties(number: int, value: Any) -> bytes:
    return write_bytes(
        number, b"".join(_named(1, name, below, _schema) for name, below in value.items())
    )


_SCHEMA: Mapping[str, tuple[int, _Write]] = {
    "$ref": (1, _text),
    "format": (2, _text),
    "title": (3, _text),
    "description": (4, _text),
    "multipleOf": (6, _double),
    "maximum": (7, _double),
    "exclusiveMaximum": (8, _whole),
    "minimum": (9, _double),
    "exclusiveMinimum": (10, _whole),
    "maxLength": (11, _whole),
    "minLength": (12, _whole),
    "pattern": (13, _text),
    "maxItems": (14, _whole),
    "minItems": (15, _whole),
    "uniqueItems": (16, _whole),
    "maxProperties": (17, _whole),
    "minProperties": (18, _whole),
    "required": (19, _texts),
    "enum": (20, _anys),
    "additionalProperties": (21, _additional),
    "type": (22, _type),
    "items": (23, _one_of_items),
    "properties": (25, _properties),
}
_API_KEY: Mapping[str, tuple[int, _Write]] = {
    "type": (1, _text),
    "name": (2, _text),
    "in": (3, _text),
}
_QUERY: Mapping[str, tuple[int, _Write]] = {
    "required": (1, _whole),
    "in": (2, _text),
    "name": (4, _text),
    "type": (6, _text),
    "uniqueItems": (20, _whole),
}
_PATH: Mapping[str, tuple[int, _Write]] = {
    "required": (1, _whole),
    "in": (2, _text),
    "name": (4, _text),
    "type": (5, _text),
    "uniqueItems": (19, _whole),
}
_BODY: Mapping[str, tuple[int, _Write]] = {
    "name": (2, _text),
    "in": (3, _text),
    "required": (4, _whole),
    "schema": (5, lambda number, node: write_bytes(number, _schema(node))),
}


def _parameters(number: int, found: Any) -> bytes:
    return b"".join(write_bytes(number, write_bytes(1, _parameter(one))) for one in found)


def _parameter(node: Mapping[str, Any]) -> bytes:
    if node["in"] == "body":
        return write_bytes(1, _fields(node, _BODY))
    if node["in"] == "path":
        return write_bytes(2, write_bytes(4, _fields(node, _PATH)))
    return write_bytes(2, write_bytes(3, _fields(node, _QUERY)))


def _responses(number: int, found: Any) -> bytes:
    return write_bytes(
        number, b"".join(_named(1, name, below, _response) for name, below in found.items())
    )


def _response(node: Mapping[str, Any]) -> bytes:
    known: Mapping[str, tuple[int, _Write]] = {
        "description": (1, _text),
        "schema": (2, lambda number, below: write_bytes(number, write_bytes(1, _schema(below)))),
    }
    return write_bytes(1, _fields(node, known))


_OPERATION: Mapping[str, tuple[int, _Write]] = {
    "tags": (1, _texts),
    "operationId": (5, _text),
    "produces": (6, _texts),
    "consumes": (7, _texts),
    "parameters": (8, _parameters),
    "responses": (9, _responses),
    "schemes": (10, _texts),
}


def _operation(number: int, node: Any) -> bytes:
    return write_bytes(number, _fields(node, _OPERATION, 13))


_PATH_ITEM: Mapping[str, tuple[int, _Write]] = {
    "get": (2, _operation),
    "put": (3, _operation),
    "post": (4, _operation),
    "delete": (5, _operation),
    "options": (6, _operation),
    "head": (7, _operation),
    "patch": (8, _operation),
    "parameters": (9, _parameters),
}


def _path_item(node: Mapping[str, Any]) -> bytes:
    return _fields(node, _PATH_ITEM)
