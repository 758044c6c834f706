"""What reads objects that are going to be shown."""

from __future__ import annotations

from listwatch.api import Unstructured
from listwatch.wire import ObjectDecoder, decode_unstructured

from .asked import Output

__all__ = ["decode_readable", "decoder_for"]


def decoder_for(output: Output) -> ObjectDecoder[Unstructured]:
    """What reads an object as far as that form needs it."""
    return decode_readable if output in (Output.TABLE, Output.YAML) else decode_unstructured


def decode_readable(raw: bytes) -> Unstructured:
    """An object all of which can be read. Raises `MalformedObject`.

    The usual decoder reads names only, and so lets objects pass whose spec is no text that anybody
    could print: such a one would then cost all that are printed with it.
    """
    obj = Unstructured.from_bytes(raw)
    obj.to_dict()
    return obj
