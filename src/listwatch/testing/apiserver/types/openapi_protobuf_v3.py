"""OpenAPI v3 documents in protobuf, which clients ask for first (K49).

The messages are those of gnostic's `openapi.v3`: only their field numbers are here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .openapi_protobuf_parts import (
    Write,
    any_value,
    any_values,
    double,
    fields,
    text,
    texts,
    whole,
)
from .protobuf_wire import write_bytes

__all__ = ["encode_v3"]


def encode_v3(document: Mapping[str, Any]) -> bytes:
    """`document`, a whole OpenAPI v3 document, as `openapi.v3.Document`."""
    return fields(document, _DOCUMENT)


def _message(known: Mapping[str, tuple[int, Write]], extensions: int = 0) -> Write:
    """A field that is a message with these members."""
    return lambda number, node: write_bytes(number, fields(node, known, extensions))


def _each(write: Write) -> Write:
    """A repeated field."""
    return lambda number, nodes: b"".join(write(number, node) for node in nodes)


def _by_name(write: Write, repeated: int = 1) -> Write:
    """A message whose only field is repeated: a name with a value."""

    def written(number: int, nodes: Mapping[str, Any]) -> bytes:
        pairs = (
            write_bytes(repeated, text(1, name) + write(2, node)) for name, node in nodes.items()
        )
        return write_bytes(number, b"".join(pairs))

    return written


def _or_reference(write: Write) -> Write:
    """Either the thing itself (1), or a reference to it (2)."""

    def written(number: int, node: Mapping[str, Any]) -> bytes:
        inside = write_bytes(2, text(1, node["$ref"])) if "$ref" in node else write(1, node)
        return write_bytes(number, inside)

    return written


# Schemas


def _schema(number: int, node: Mapping[str, Any]) -> bytes:
    return _SCHEMA_FIELD(number, node)


def _items(number: int, node: Any) -> bytes:
    return write_bytes(number, _SCHEMA_OR_REFERENCE(1, node))


def _additional(number: int, node: Any) -> bytes:
    inside = whole(2, node) if isinstance(node, bool) else _SCHEMA_OR_REFERENCE(1, node)
    return write_bytes(number, inside)


def _default(number: int, value: Any) -> bytes:
    """Only scalars have a place."""
    inside = b""
    if isinstance(value, bool):
        inside = whole(2, value)
    elif isinstance(value, (int, float)):
        inside = double(1, value)
    elif isinstance(value, str):
        inside = text(3, value)
    return write_bytes(number, inside)


_SCHEMA: dict[str, tuple[int, Write]] = {}
_SCHEMA_FIELD = _message(_SCHEMA, 36)
_SCHEMA_OR_REFERENCE = _or_reference(_schema)
_SCHEMA |= {
    "nullable": (1, whole),
    "example": (7, any_value),
    "title": (9, text),
    "multipleOf": (10, double),
    "maximum": (11, double),
    "exclusiveMaximum": (12, whole),
    "minimum": (13, double),
    "exclusiveMinimum": (14, whole),
    "maxLength": (15, whole),
    "minLength": (16, whole),
    "pattern": (17, text),
    "maxItems": (18, whole),
    "minItems": (19, whole),
    "uniqueItems": (20, whole),
    "maxProperties": (21, whole),
    "minProperties": (22, whole),
    "required": (23, texts),
    "enum": (24, any_values),
    "type": (25, text),
    "allOf": (26, _each(_SCHEMA_OR_REFERENCE)),
    "oneOf": (27, _each(_SCHEMA_OR_REFERENCE)),
    "anyOf": (28, _each(_SCHEMA_OR_REFERENCE)),
    "not": (29, _schema),
    "items": (30, _items),
    "properties": (31, _by_name(_SCHEMA_OR_REFERENCE)),
    "additionalProperties": (32, _additional),
    "default": (33, _default),
    "description": (34, text),
    "format": (35, text),
}

# Operations

_MEDIA_TYPES = _by_name(_message({"schema": (1, _SCHEMA_OR_REFERENCE)}, 5))
_BODY = _message({"description": (1, text), "content": (2, _MEDIA_TYPES), "required": (3, whole)})
_RESPONSE = _message({"description": (1, text), "content": (3, _MEDIA_TYPES)})
_PARAMETER = _message(
    {
        "name": (1, text),
        "in": (2, text),
        "description": (3, text),
        "required": (4, whole),
        "schema": (10, _SCHEMA_OR_REFERENCE),
    }
)
_PARAMETERS = _each(_or_reference(_PARAMETER))
_OPERATION = _message(
    {
        "tags": (1, texts),
        "summary": (2, text),
        "description": (3, text),
        "operationId": (5, text),
        "parameters": (6, _PARAMETERS),
        "requestBody": (7, _or_reference(_BODY)),
        "responses": (8, _by_name(_or_reference(_RESPONSE), 2)),
    },
    13,
)
_PATH_ITEM = _message(
    {
        "description": (3, text),
        "get": (4, _OPERATION),
        "put": (5, _OPERATION),
        "post": (6, _OPERATION),
        "delete": (7, _OPERATION),
        "options": (8, _OPERATION),
        "head": (9, _OPERATION),
        "patch": (10, _OPERATION),
        "parameters": (13, _PARAMETERS),
    }
)
_SECURITY_SCHEME = _message(
    {"type": (1, text), "description": (2, text), "name": (3, text), "in": (4, text)}
)
_DOCUMENT: Mapping[str, tuple[int, Write]] = {
    "openapi": (1, text),
    "info": (2, _message({"title": (1, text), "description": (2, text), "version": (6, text)})),
    "paths": (4, _by_name(_PATH_ITEM)),
    "components": (
        5,
        _message(
            {
                "schemas": (1, _by_name(_SCHEMA_OR_REFERENCE)),
                "securitySchemes": (7, _by_name(_or_reference(_SECURITY_SCHEME))),
            }
        ),
    ),
}
