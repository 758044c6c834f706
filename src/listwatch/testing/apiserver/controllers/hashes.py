"""The short hash that tells one pod template from another."""

from __future__ import annotations

from typing import Any

import msgspec

__all__ = ["template_hash"]

_ALPHABET = "bcdfghjklmnpqrstvwxz2456789"
_OFFSET, _PRIME = 2166136261, 16777619


def template_hash(template: Any, collisions: int = 0) -> str:
    """Such as `64dcb8d7c8`: 32 bits of FNV-1a in letters that spell no words.

    The real controllers hash how Go prints the template, we its JSON: the same template has the
    same hash again, but not the one that it has in a real cluster.
    """
    value = _OFFSET
    text = msgspec.json.encode(template, order="deterministic")
    for byte in text + (str(collisions).encode() if collisions else b""):
        value = ((value ^ byte) * _PRIME) & 0xFFFFFFFF
    return "".join(_ALPHABET[ord(digit) % len(_ALPHABET)] for digit in str(value))
