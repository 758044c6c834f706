"""Objects as text: JSON and YAML, with the server's own keys in the server's own order."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import Any

import msgspec

__all__ = ["compact", "list_document", "pretty", "without_managed_fields", "yaml_text"]

_NUMBER_LIKE = re.compile(
    r"[-+]?([0-9][0-9_]*)?\.?[0-9]*([eE][-+]?[0-9]+)?|0[xob][0-9a-fA-F_]+|[-+]?\.?(inf|nan)",
    re.IGNORECASE,
)
_decode_members = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode

_WORDS = {"y", "n", "yes", "no", "on", "off", "true", "false", "null", "~"}


def compact(raw: bytes) -> bytes:
    """JSON on one line. It is the server's own bytes unless they are spread over several."""
    if b"\n" not in raw and b"\r" not in raw:
        return raw
    return msgspec.json.format(raw, indent=-1)


def pretty(raw: bytes) -> bytes:
    """JSON as kubectl writes it: four spaces a level. No value is read, so none changes."""
    return msgspec.json.format(raw, indent=4) + b"\n"


def without_managed_fields(raw: bytes) -> bytes:
    """An object without its `metadata.managedFields`, which are long and say little to people; as
    in `pretty`, no other value is read."""
    if b'"managedFields"' not in raw:
        return raw
    members = _decode_members(raw)
    own = bytes(members.get("metadata", b""))
    metadata = _decode_members(own) if own.startswith(b"{") else {}
    if metadata.pop("managedFields", None) is None:
        return raw
    return msgspec.json.encode({**members, "metadata": metadata})


def list_document(items: Sequence[bytes]) -> bytes:
    """What kubectl makes of several objects: one document of kind List."""
    head = b'{"apiVersion":"v1","kind":"List","metadata":{"resourceVersion":""},"items":['
    return head + b",".join(items) + b"]}"


def yaml_text(raw: bytes) -> str:
    """JSON as YAML. A text that somebody's YAML could take for something else is quoted."""
    import yaml

    text: str = yaml.dump(
        msgspec.json.decode(raw),
        Dumper=_dumper(),
        sort_keys=False,
        default_flow_style=False,
        allow_unicode=True,
        width=2**31 - 1,
    )
    return text


@cache
def _dumper() -> Any:
    import yaml

    base: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)

    class Dumper(base):  # type: ignore[misc]  # which of the two is known only now
        def ignore_aliases(self, data: Any) -> bool:
            return True

    def represent(dumper: Any, text: str) -> Any:
        style = None
        if "\n" in text:
            style = "|"
        elif _NUMBER_LIKE.fullmatch(text) or text.lower() in _WORDS:
            style = '"'
        return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)

    Dumper.add_representer(str, represent)
    return Dumper
