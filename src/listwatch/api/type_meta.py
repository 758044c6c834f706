"""Kind and apiVersion for objects that came without, as the items of typed lists do (D7)."""

from __future__ import annotations

from functools import lru_cache

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType, field

from ._lenient import JSONBytes
from .faults import MalformedObject

__all__ = ["with_type_meta"]

Head = str | None | UnsetType
"""One of the two as it stands in the bytes: its text, null, or nothing."""


class _TypeMeta(Struct):
    kind: Head = UNSET
    api_version: Head = field(default=UNSET, name="apiVersion")


_decoder = msgspec.json.Decoder(_TypeMeta)
_members = msgspec.json.Decoder(dict[str, Raw])


def with_type_meta(raw: JSONBytes, api_version: str, kind: str) -> bytes:
    """The same JSON object with `kind` and `apiVersion`, put in front where it lacks them.

    What the object says itself stands; null and the empty string count as lacking. An empty
    argument adds nothing. The result shares no memory with a larger buffer (A7). Raises
    `MalformedObject` if `raw` is no JSON object or one of the two is no string.

    >>> with_type_meta(b'{"metadata":{"name":"web-0"}}', "v1", "Pod")
    b'{"kind":"Pod","apiVersion":"v1","metadata":{"name":"web-0"}}'
    """
    data = raw if isinstance(raw, bytes) else memoryview(raw)
    # What servers write begins with both: typed objects in the one order, custom ones in the other.
    for front in _fronts(api_version, kind):
        if data[: len(front)] == front:
            return bytes(data)
    try:
        head = _decoder.decode(data)
    except (msgspec.DecodeError, RecursionError) as error:
        raise MalformedObject(f"this is no Kubernetes object: {error}") from error
    return spliced(data, head.api_version, head.kind, api_version, kind)


def spliced(
    data: bytes | memoryview, has_api_version: Head, has_kind: Head, api_version: str, kind: str
) -> bytes:
    """`data` with `api_version` and `kind` where it lacks them; `has_...` is what it has."""
    api_version = "" if has_api_version else api_version
    kind = "" if has_kind else kind
    if not api_version and not kind:
        return bytes(data)
    if (kind and has_kind is not UNSET) or (api_version and has_api_version is not UNSET):
        return _replaced(data, api_version, kind)
    prefix = _prefix(api_version, kind)
    if data[:2] == b'{"':
        return b"".join((b"{", prefix, memoryview(data)[1:]))
    # There is space before or after the brace, or nothing in the object, which takes no comma.
    text = bytes(data).lstrip()[1:]
    return b"{" + (prefix[:-1] if text.lstrip().startswith(b"}") else prefix) + text


def _replaced(data: bytes | memoryview, api_version: str, kind: str) -> bytes:
    """The general path: a null or empty value is there already, and a key must not come twice."""
    try:
        rest = _members.decode(data)
    except (msgspec.DecodeError, RecursionError) as error:  # the text of a key, which no one reads
        raise MalformedObject(f"this is no Kubernetes object: {error}") from error
    front: dict[str, Raw] = {}
    for key, text in (("kind", kind), ("apiVersion", api_version)):
        if text:
            rest.pop(key, None)
            front[key] = Raw(msgspec.json.encode(text))
    return msgspec.json.encode(front | rest)


@lru_cache(maxsize=1024)
def _prefix(api_version: str, kind: str) -> bytes:
    encode = msgspec.json.encode
    parts = []
    if kind:
        parts.append(b'"kind":' + encode(kind) + b",")
    if api_version:
        parts.append(b'"apiVersion":' + encode(api_version) + b",")
    return b"".join(parts)


@lru_cache(maxsize=1024)
def _fronts(api_version: str, kind: str) -> tuple[bytes, ...]:
    if not api_version or not kind:
        return ()
    return (
        b"{" + _prefix("", kind) + _prefix(api_version, ""),
        b"{" + _prefix(api_version, "") + _prefix("", kind),
    )
