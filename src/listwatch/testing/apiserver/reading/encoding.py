"""JSON as Go writes it: compact, `<`, `>`, `&`, U+2028 and U+2029 escaped (K7)."""

from __future__ import annotations

import json
import re
from typing import Any

import msgspec

__all__ = ["go_json", "pretty_json"]

_ESCAPED = {
    "<": "\\u003c",
    ">": "\\u003e",
    "&": "\\u0026",
    "\u2028": "\\u2028",
    "\u2029": "\\u2029",
}
_SPECIAL = re.compile("|".join(_ESCAPED))
_SPECIAL_BYTES = re.compile("|".join(_ESCAPED).encode())
_encode = msgspec.json.Encoder().encode


def go_json(value: Any) -> bytes:
    """One compact line, without a newline."""
    data = _encode(value)
    if _SPECIAL_BYTES.search(data):
        # These can stand nowhere but inside strings.
        return _SPECIAL_BYTES.sub(lambda m: _ESCAPED[m[0].decode()].encode(), data)
    return data


def pretty_json(value: Any) -> bytes:
    """The form with two spaces (K5)."""
    text = json.dumps(value, indent=2, ensure_ascii=False)
    return _SPECIAL.sub(lambda m: _ESCAPED[m[0]], text).encode()
