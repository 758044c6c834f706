"""What reads one answer, where a decoder must know more of it than one object at a time."""

from __future__ import annotations

from typing import Any, Protocol, TypeVar, cast

from .codec import Codec
from .decoders import ObjectDecoder

__all__ = ["codec_for_decoder", "for_answer"]

T_co = TypeVar("T_co", covariant=True)
T = TypeVar("T")


class _OfAnswers(Protocol[T_co]):
    def for_answer(self, codec: Codec, /) -> tuple[ObjectDecoder[T_co], Codec]: ...


def codec_for_decoder(codec: Codec, decoder: ObjectDecoder[Any]) -> Codec:
    """The codec, or what it says is its own for this decoder by a method `for_decoder`, as that of
    protobuf does, whose bytes depend on who reads them.
    """
    of_decoder = getattr(codec, "for_decoder", None)
    return codec if of_decoder is None else cast(Codec, of_decoder(decoder))


def for_answer(decoder: ObjectDecoder[T], codec: Codec) -> tuple[ObjectDecoder[T], Codec]:
    """The decoder and the codec for one answer: those given, unless the decoder has a method
    `for_answer`, which is told the codec of the answer and gives both.

    `TableRows` has one: the columns of a Table come once, and its rows one by one.
    """
    codec = codec_for_decoder(codec, decoder)
    if not hasattr(decoder, "for_answer"):
        return decoder, codec
    return cast(_OfAnswers[T], decoder).for_answer(codec)
