"""What decoders say of what they decode: of which form, and of which resource."""

from __future__ import annotations

from typing import Any

from listwatch.api import APIResource, GroupVersionResource
from listwatch.wire import ObjectDecoder

__all__ = ["asked_form", "for_resource"]


def asked_form(decoder: ObjectDecoder[Any]) -> str:
    """The form in which a decoder wants its objects, such as `PartialObjectMetadata`; empty for
    whole ones. A decoder says it by an attribute `asks_for`.
    """
    return str(getattr(decoder, "asks_for", ""))


def for_resource(
    decoder: ObjectDecoder[Any], resource: APIResource | GroupVersionResource
) -> ObjectDecoder[Any]:
    """The decoder for one resource: what its method `of` gives for that, where it asks for another
    form, in which objects do not say what they are.
    """
    if not asked_form(decoder):
        return decoder
    of = getattr(decoder, "of", None)
    return decoder if of is None else of(resource)
