"""JSON with gaps, which are filled quicker than it could be encoded anew."""

from __future__ import annotations

import random
import re
import string
import time
from collections.abc import Mapping
from typing import Any

import msgspec

__all__ = ["Form", "between", "digest", "gap", "number", "stamp", "suffix", "uuid"]

_GAP = re.compile(rb'"@#([a-z_0-9]+)@"|@([a-z_0-9]+)@')
_encode_typed = msgspec.json.Encoder().encode
_encode_sorted = msgspec.json.Encoder(order="sorted").encode

_ESCAPED = ((b"<", b"\\u003c"), (b">", b"\\u003e"), (b"&", b"\\u0026"))
"""What Go's encoder escapes in strings; nothing else in JSON has these signs."""

_LETTERS = "bcdfghjklmnpqrstvwxz2456789"  # what the server makes suffixes of

EPOCH = 1_772_323_200
"""2026-03-01T00:00:00Z, when the benchmark's clock starts."""


def gap(name: str) -> str:
    """A place in a string."""
    return f"@{name}@"


def number(name: str) -> str:
    """A place for a whole number, `true`, or any other JSON."""
    return f"@#{name}@"


class Form:
    """Some JSON whose gaps are filled with texts that need no escape. `ordered` says that keys
    come in alphabetical order, as in custom resources.
    """

    __slots__ = ("_gaps", "_parts")

    def __init__(self, value: Any, *, ordered: bool = False) -> None:
        encoded = (_encode_sorted if ordered else _encode_typed)(value)
        for sign, escape in _ESCAPED:
            encoded = encoded.replace(sign, escape)
        self._parts: list[bytes] = []
        self._gaps: list[tuple[int, str]] = []
        end = 0
        for found in _GAP.finditer(encoded):
            self._parts += [encoded[end : found.start()], b""]
            self._gaps.append((len(self._parts) - 1, (found[1] or found[2]).decode()))
            end = found.end()
        self._parts.append(encoded[end:])

    def fill(self, values: Mapping[str, str]) -> bytes:
        parts = self._parts.copy()
        for at, name in self._gaps:
            parts[at] = values[name].encode()
        return b"".join(parts)


def stamp(seconds: float) -> str:
    """A time as Kubernetes writes it; `seconds` since `EPOCH`."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(EPOCH + seconds))


def uuid(rng: random.Random) -> str:
    text = f"{rng.getrandbits(128):032x}"
    return f"{text[:8]}-{text[8:12]}-4{text[13:16]}-a{text[17:20]}-{text[20:]}"


def digest(rng: random.Random) -> str:
    """64 hexadecimal digits."""
    return f"{rng.getrandbits(256):064x}"


def suffix(rng: random.Random, length: int = 5) -> str:
    return "".join(rng.choices(_LETTERS, k=length))


def between(rng: random.Random, least: int, most: int) -> str:
    """Letters, digits and signs that no compressor knows: `least` to `most` of them."""
    return "".join(
        rng.choices(string.ascii_letters + string.digits + "-_", k=rng.randint(least, most))
    )
