"""What reads objects that are going to be shown in full."""

from __future__ import annotations

from listwatch.api import Unstructured

__all__ = ["decode_readable"]


def decode_readable(raw: bytes) -> Unstructured:
    """An object all of which can be read. Raises `MalformedObject`.

    The usual decoder reads names only, and so lets objects pass whose spec is no text that anybody
    could print: such a one would then cost all that are printed with it.
    """
    obj = Unstructured.from_bytes(raw)
    obj.to_dict()
    return obj
