"""In which encodings, and in which form, a request asks for its answer (B9)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from listwatch.wire import JSON_CODEC, Codec, ObjectDecoder, accept_header, codecs_of
from listwatch.wire.decoders import reads_of

from .errors import InvalidRequest

__all__ = ["accept", "readers"]

_FORMS_OF_LISTS = {"PartialObjectMetadata": "PartialObjectMetadataList"}
"""What a form is called that has another name for a list."""


def readers(
    decoder: ObjectDecoder[Any], form: str, preferred: Sequence[Codec]
) -> tuple[Codec, ...]:
    """What can read an answer for `decoder`, of objects in this form: those of the client, or else
    whatever it takes. Raises `InvalidRequest` for a decoder that nothing can serve.
    """
    serving = tuple(codec for codec in preferred if codec.serves(decoder, form))
    if serving:
        return serving
    try:
        needed = codecs_of(reads_of(decoder))
    except ValueError as error:
        raise InvalidRequest(
            f"the decoder {decoder!r} reads what no server has: {error}"
        ) from error
    serving = tuple(codec for codec in needed if codec.serves(decoder, form))
    if not serving:
        raise InvalidRequest(
            f"the decoder {decoder!r} reads what objects{form and f' as {form}'} never come in"
        )
    return serving


def accept(codecs: Sequence[Codec], form: str, *, of_list: bool) -> str:
    """The Accept header. Whole objects, in JSON, are the last choice: they have all that is asked
    for, where a server does not know the form.
    """
    if not form:
        return accept_header(codecs)
    named = _FORMS_OF_LISTS.get(form, form) if of_list else form
    return f"{accept_header(codecs, form=named)}, {accept_header((JSON_CODEC,))}"
