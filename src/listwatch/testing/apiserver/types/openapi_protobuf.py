"""The OpenAPI v2 document in protobuf, as `kubectl apply` asks for it (K49).

The messages are those of gnostic's `openapi.v2`: only their field numbers are here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .openapi_protobuf_parts import (
    Write,
    any_values,
    double,
    fields,
    named,
    text,
    texts,
    whole,
)
from .protobuf_wire import write_bytes

__all__ = ["encode_v2"]


def encode_v2(document: Mapping[str, Any]) -> bytes:
    """`document`, a whole OpenAPI v2 document, as `openapi.v2.Document`."""
    return b"".join(
        (
            text(1, document["swagger"]),
            write_bytes(2, fields(document["info"], {"title": (1, text), "version": (2, text)})),
            write_bytes(
                8, b"".join(named(2, *pair, _path_item) for pair in _items(document, "paths"))
            ),
            write_bytes(
                9, b"".join(named(1, *pair, _schema) for pair in _items(document, "definitions"))
            ),
            *(
                write_bytes(12, write_bytes(1, text(1, name)))
                for requirement in document["security"]
                for name in requirement
            ),
            write_bytes(
                13,
                b"".join(
                    named(1, *pair, lambda found: write_bytes(2, fields(found, _API_KEY)))
                    for pair in _items(document, "securityDefinitions")
                ),
            ),
        )
    )


def _items(document: Mapping[str, Any], name: str) -> list[tuple[str, Any]]:
    return list(document[name].items())


# Messages


def _schema(node: Mapping[str, Any]) -> bytes:
    return fields(node, _SCHEMA, 31)


def _additional(number: int, value: Any) -> bytes:
    inside = whole(2, value) if isinstance(value, bool) else write_bytes(1, _schema(value))
    return write_bytes(number, inside)


def _type(number: int, value: Any) -> bytes:
    return write_bytes(number, text(1, value))


def _one_of_items(number: int, value: Any) -> bytes:
    return write_bytes(number, write_bytes(1, _schema(value)))


def _properties(number: int, value: Any) -> bytes:
    return write_bytes(
        number, b"".join(named(1, name, below, _schema) for name, below in value.items())
    )


_SCHEMA: Mapping[str, tuple[int, Write]] = {
    "$ref": (1, text),
    "format": (2, text),
    "title": (3, text),
    "description": (4, text),
    "multipleOf": (6, double),
    "maximum": (7, double),
    "exclusiveMaximum": (8, whole),
    "minimum": (9, double),
    "exclusiveMinimum": (10, whole),
    "maxLength": (11, whole),
    "minLength": (12, whole),
    "pattern": (13, text),
    "maxItems": (14, whole),
    "minItems": (15, whole),
    "uniqueItems": (16, whole),
    "maxProperties": (17, whole),
    "minProperties": (18, whole),
    "required": (19, texts),
    "enum": (20, any_values),
    "additionalProperties": (21, _additional),
    "type": (22, _type),
    "items": (23, _one_of_items),
    "properties": (25, _properties),
}
_API_KEY: Mapping[str, tuple[int, Write]] = {
    "type": (1, text),
    "name": (2, text),
    "in": (3, text),
}
_QUERY: Mapping[str, tuple[int, Write]] = {
    "required": (1, whole),
    "in": (2, text),
    "name": (4, text),
    "type": (6, text),
    "uniqueItems": (20, whole),
}
_PATH: Mapping[str, tuple[int, Write]] = {
    "required": (1, whole),
    "in": (2, text),
    "name": (4, text),
    "type": (5, text),
    "uniqueItems": (19, whole),
}
_BODY: Mapping[str, tuple[int, Write]] = {
    "name": (2, text),
    "in": (3, text),
    "required": (4, whole),
    "schema": (5, lambda number, node: write_bytes(number, _schema(node))),
}


def _parameters(number: int, found: Any) -> bytes:
    return b"".join(write_bytes(number, write_bytes(1, _parameter(one))) for one in found)


def _parameter(node: Mapping[str, Any]) -> bytes:
    if node["in"] == "body":
        return write_bytes(1, fields(node, _BODY))
    if node["in"] == "path":
        return write_bytes(2, write_bytes(4, fields(node, _PATH)))
    return write_bytes(2, write_bytes(3, fields(node, _QUERY)))


def _responses(number: int, found: Any) -> bytes:
    return write_bytes(
        number, b"".join(named(1, name, below, _response) for name, below in found.items())
    )


def _response(node: Mapping[str, Any]) -> bytes:
    known: Mapping[str, tuple[int, Write]] = {
        "description": (1, text),
        "schema": (2, lambda number, below: write_bytes(number, write_bytes(1, _schema(below)))),
    }
    return write_bytes(1, fields(node, known))


_OPERATION: Mapping[str, tuple[int, Write]] = {
    "tags": (1, texts),
    "operationId": (5, text),
    "produces": (6, texts),
    "consumes": (7, texts),
    "parameters": (8, _parameters),
    "responses": (9, _responses),
    "schemes": (10, texts),
}


def _operation(number: int, node: Any) -> bytes:
    return write_bytes(number, fields(node, _OPERATION, 13))


_PATH_ITEM: Mapping[str, tuple[int, Write]] = {
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
    return fields(node, _PATH_ITEM)
