"""The protobuf messages that are common to all of the API: envelope, event, Status, metadata.

They are definitions of our own: field numbers, and names that are seen here only. What they leave
out is passed over, so that a server may be newer. They are in a pool of their own, where they
cannot clash with the definitions that a program has of Kubernetes' types.
"""

from __future__ import annotations

import codecs
from collections.abc import Mapping, Sequence
from typing import Any

from google.protobuf import descriptor_pb2
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message import DecodeError
from google.protobuf.message_factory import GetMessageClass

from listwatch.api import MalformedObject

from .errors import quote

__all__ = [
    "NAMED_OBJECT",
    "OBJECT",
    "OBJECT_LIST",
    "STATUS",
    "UNKNOWN",
    "WATCH_EVENT",
    "parse",
    "prose",
    "text",
]

_Field = descriptor_pb2.FieldDescriptorProto

_PACKAGE = "listwatch"

# Text is declared as bytes, which travel alike: what is no UTF-8 is then found where it is read, by
# every version and build of the runtime, and costs no more than that field.
_SCALARS = {
    "text": _Field.TYPE_BYTES,
    "bytes": _Field.TYPE_BYTES,
    "int": _Field.TYPE_INT64,
    "bool": _Field.TYPE_BOOL,
}

_MESSAGES: Mapping[str, Sequence[tuple[str, int, str]]] = {
    # runtime
    "TypeMeta": (("api_version", 1, "text"), ("kind", 2, "text")),
    "Unknown": (
        ("type_meta", 1, "TypeMeta"),
        ("raw", 2, "bytes"),
        ("content_encoding", 3, "text"),
        ("content_type", 4, "text"),
    ),
    "RawExtension": (("raw", 1, "bytes"),),
    # meta/v1
    "WatchEvent": (("type", 1, "text"), ("object", 2, "RawExtension")),
    "Time": (("seconds", 1, "int"), ("nanos", 2, "int")),
    "FieldsV1": (("raw", 1, "bytes"),),
    "Entry": (("key", 1, "text"), ("value", 2, "text")),
    "OwnerReference": (
        ("kind", 1, "text"),
        ("name", 3, "text"),
        ("uid", 4, "text"),
        ("api_version", 5, "text"),
        ("controller", 6, "bool"),
        ("block_owner_deletion", 7, "bool"),
    ),
    "ManagedFieldsEntry": (
        ("manager", 1, "text"),
        ("operation", 2, "text"),
        ("api_version", 3, "text"),
        ("time", 4, "Time"),
        ("fields_type", 6, "text"),
        ("fields_v1", 7, "FieldsV1"),
        ("subresource", 8, "text"),
    ),
    "ObjectMeta": (
        ("name", 1, "text"),
        ("generate_name", 2, "text"),
        ("namespace", 3, "text"),
        ("self_link", 4, "text"),
        ("uid", 5, "text"),
        ("resource_version", 6, "text"),
        ("generation", 7, "int"),
        ("creation_timestamp", 8, "Time"),
        ("deletion_timestamp", 9, "Time"),
        ("deletion_grace_period_seconds", 10, "int"),
        ("labels", 11, "*Entry"),
        ("annotations", 12, "*Entry"),
        ("owner_references", 13, "*OwnerReference"),
        ("finalizers", 14, "*text"),
        ("managed_fields", 17, "*ManagedFieldsEntry"),
    ),
    "Names": (
        ("name", 1, "text"),
        ("namespace", 3, "text"),
        ("uid", 5, "text"),
        ("resource_version", 6, "text"),
    ),
    "ListMeta": (
        ("self_link", 1, "text"),
        ("resource_version", 2, "text"),
        ("continue_", 3, "text"),
        ("remaining_item_count", 4, "int"),
    ),
    "StatusCause": (("reason", 1, "text"), ("message", 2, "text"), ("field", 3, "text")),
    "StatusDetails": (
        ("name", 1, "text"),
        ("group", 2, "text"),
        ("kind", 3, "text"),
        ("causes", 4, "*StatusCause"),
        ("retry_after_seconds", 5, "int"),
        ("uid", 6, "text"),
    ),
    "Status": (
        ("metadata", 1, "ListMeta"),
        ("status", 2, "text"),
        ("message", 3, "text"),
        ("reason", 4, "text"),
        ("details", 5, "StatusDetails"),
        ("code", 6, "int"),
    ),
    # Any object, and any list: each type has its metadata in field 1.
    "Object": (("metadata", 1, "ObjectMeta"),),
    "NamedObject": (("metadata", 1, "Names"),),
    "ObjectList": (("metadata", 1, "ListMeta"),),
}
"""Name, number and type of each field; a star before the type is of one that comes repeatedly."""


def _definitions() -> bytes:
    # The older syntax, in which every field knows whether it was there.
    file = descriptor_pb2.FileDescriptorProto(
        name="listwatch.proto", package=_PACKAGE, syntax="proto2"
    )
    for name, fields in _MESSAGES.items():
        message = file.message_type.add(name=name)
        for field_name, number, kind in fields:
            field = message.field.add(name=field_name, number=number)
            repeated, kind = kind.startswith("*"), kind.removeprefix("*")
            field.label = _Field.LABEL_REPEATED if repeated else _Field.LABEL_OPTIONAL
            if kind in _SCALARS:
                field.type = _SCALARS[kind]
            else:
                field.type = _Field.TYPE_MESSAGE
                field.type_name = f".{_PACKAGE}.{kind}"
    return file.SerializeToString()


_pool = DescriptorPool()
_pool.AddSerializedFile(_definitions())


def _class(name: str) -> Any:
    return GetMessageClass(_pool.FindMessageTypeByName(f"{_PACKAGE}.{name}"))


UNKNOWN = _class("Unknown")
WATCH_EVENT = _class("WatchEvent")
STATUS = _class("Status")
OBJECT = _class("Object")
"""An object of any kind, of which nothing but the metadata is known."""
NAMED_OBJECT = _class("NamedObject")
"""The same with no more of the metadata than who it is."""
OBJECT_LIST = _class("ObjectList")
"""A list of any kind without its items."""


def parse(message_class: Any, data: bytes, what: str) -> Any:
    """A message. Raises `MalformedObject`, which calls it `what`."""
    try:
        return message_class.FromString(data)
    except (DecodeError, RecursionError) as error:  # the latter by the build without C
        raise MalformedObject(f"{what} is no valid protobuf: {error}") from error


def text(value: bytes) -> str:
    """A text that must be right, such as a name. Raises `MalformedObject` where it is no UTF-8."""
    try:
        return value.decode()
    except UnicodeDecodeError as error:
        raise MalformedObject(f"a text that is no UTF-8: {quote(value)}") from error


def prose(value: bytes) -> str:
    """Any other text. Each byte that is no UTF-8 becomes U+FFFD, as in the JSON of a server."""
    return value.decode(errors=_REPLACED)


_REPLACED = "listwatch.replaced"


def _replaced(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeDecodeError)
    return "\ufffd", error.start + 1


codecs.register_error(_REPLACED, _replaced)
