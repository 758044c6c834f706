"""Media types, as they stand in Accept and Content-Type headers (RFC 9110, section 8.3.1)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

__all__ = ["CBOR", "CBOR_SEQUENCE", "JSON", "PROTOBUF", "MediaType", "media_type"]

JSON = "application/json"
PROTOBUF = "application/vnd.kubernetes.protobuf"
CBOR = "application/cbor"
CBOR_SEQUENCE = "application/cbor-seq"

_TOKEN = r"[!#$%&'*+.^_`|~0-9A-Za-z-]+"
_TYPE = re.compile(rf"\s*({_TOKEN}/{_TOKEN})\s*")
_PARAMETER = re.compile(rf';\s*(?:({_TOKEN})=(?:({_TOKEN})|"((?:[^"\\]|\\.)*)")\s*)?')


@dataclass(frozen=True, slots=True)
class MediaType:
    """A media type with its parameters.

    >>> MediaType.parse("Application/JSON; Charset=utf-8")
    MediaType(type='application/json', parameters={'charset': 'utf-8'})
    """

    type: str
    """`type/subtype`, in small letters."""
    parameters: Mapping[str, str] = field(default_factory=dict)
    """By name in small letters; the values as they came."""

    @classmethod
    def parse(cls, text: str) -> MediaType:
        """Raises `ValueError` for what is no media type."""
        match = _TYPE.match(text)
        if match is None:
            raise ValueError(f"not a media type: {text!r}")
        parameters: dict[str, str] = {}
        position = match.end()
        while position < len(text):
            parameter = _PARAMETER.match(text, position)
            if parameter is None:
                raise ValueError(f"not a media type: {text!r} (at position {position})")
            name, token, quoted = parameter.groups()
            if name is not None:
                parameters[name.lower()] = (
                    token if token is not None else re.sub(r"\\(.)", r"\1", quoted)
                )
            position = parameter.end()
        return cls(match[1].lower(), parameters)

    def __str__(self) -> str:
        def written(value: str) -> str:
            if re.fullmatch(_TOKEN, value):
                return value
            escaped = value.replace("\\", "\\\\").replace('"', '\\"')
            return f'"{escaped}"'

        return "".join(
            [self.type, *(f";{name}={written(value)}" for name, value in self.parameters.items())]
        )


def media_type(content_type: str | None) -> str:
    """The type of a Content-Type header, without parameters; empty where it is absent or malformed.

    >>> media_type("application/json; charset=utf-8"), media_type("?")
    ('application/json', '')
    """
    try:
        return MediaType.parse(content_type or "").type
    except ValueError:
        return ""
