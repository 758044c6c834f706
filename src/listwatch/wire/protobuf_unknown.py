"""The envelope of every object that travels in protobuf: four bytes, and a runtime.Unknown that
says what is in it.
"""

from __future__ import annotations

from functools import lru_cache
from sys import intern
from typing import NamedTuple

from listwatch.api import MalformedObject

from .errors import quote
from .media import PROTOBUF
from .protobuf_messages import UNKNOWN, parse, text

__all__ = ["MAGIC", "METADATA_KIND", "Unknown", "unwrap", "varint", "wrap"]

MAGIC = b"k8s\0"
"""How everything begins that is no event."""

METADATA_KIND = "PartialObjectMetadata"

_END = b'\x1a\x00"\x00'  # no content encoding and no content type: servers write it


class Unknown(NamedTuple):
    """What is in the envelope."""

    api_version: str
    kind: str
    message: bytes
    """The bare message of that type."""

    @property
    def is_metadata(self) -> bool:
        """Whether it is an object of which only the metadata was asked for."""
        return self.kind == METADATA_KIND and self.api_version.startswith("meta.k8s.io/")


def unwrap(raw: bytes) -> Unknown:
    """Open the envelope. Raises `MalformedObject`."""
    if not raw.startswith(MAGIC):
        raise MalformedObject(f"an object in protobuf begins with {MAGIC!r}, not so: {quote(raw)}")
    found = parse(UNKNOWN, raw[len(MAGIC) :], "the envelope of an object")
    encoding, content_type = text(found.content_encoding), text(found.content_type)
    if encoding or content_type not in ("", PROTOBUF):
        said = " ".join(filter(None, (encoding, content_type)))
        raise MalformedObject(f"an envelope of protobuf with something else in it: {said[:60]!r}")
    named = found.type_meta
    # Thousands of objects share these.
    return Unknown(intern(text(named.api_version)), intern(text(named.kind)), found.raw)


def wrap(api_version: str, kind: str, message: bytes | memoryview) -> bytes:
    """The writer: a bare message of this type in its envelope, byte for byte as servers write
    it.
    """
    return b"".join((_front(api_version, kind), varint(len(message)), message, _END))


@lru_cache(maxsize=1024)
def _front(api_version: str, kind: str) -> bytes:
    version, name = api_version.encode(), kind.encode()
    named = b"\x0a%b%b\x12%b%b" % (varint(len(version)), version, varint(len(name)), name)
    return MAGIC + b"\x0a" + varint(len(named)) + named + b"\x12"


def varint(value: int) -> bytes:
    """A number as protobuf writes it, seven bits a byte, the lowest first."""
    written = bytearray()
    while value > 0x7F:
        written.append(value & 0x7F | 0x80)
        value >>= 7
    written.append(value)
    return bytes(written)
