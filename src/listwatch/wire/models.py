"""Decoders to the types that programs have: their own, and those of other clients (D6).

A type is told by what it is made of. No package is imported for it that it did not come from.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import is_dataclass
from importlib import import_module
from typing import Any, Generic, TypeVar, cast, get_origin, is_typeddict

import msgspec
from msgspec import Struct
from msgspec.structs import force_setattr

from listwatch.api import MalformedObject, PartialObjectMetadata, Unstructured
from listwatch.api._lenient import JSONBytes, lenient_decoder

from ._model_kinds import (
    OFFICIAL,
    is_for_msgspec,
    is_lightkube_dict,
    is_of,
    is_openapi,
    is_pydantic,
)
from ._openapi_models import Misfit, openapi_maker
from .decoders import ObjectDecoder, decode_dict, decode_partial_metadata, decode_unstructured

__all__ = ["ModelDecoder", "decoder_for", "is_no_decoder"]

T = TypeVar("T")

_TAKEN = (
    "dict, Unstructured, PartialObjectMetadata, a TypedDict, a msgspec Struct, a dataclass, an"
    " attrs class, a pydantic model, or a model of kubernetes, kubernetes_asyncio or lightkube"
)


def decoder_for(type_: type[T]) -> ObjectDecoder[T]:
    """What decodes objects to `type_`, as quickly as its library can.

    It takes `dict`, `Unstructured` and `PartialObjectMetadata`; TypedDicts, msgspec Structs,
    dataclasses and attrs classes, whose fields are named as in the object's JSON; pydantic models
    (v2); the models of `kubernetes`, `kubernetes_asyncio` and `lightkube`, its generic resources
    included. What a type does not declare is left out, unless it says otherwise itself.

    The decoder raises `MalformedObject` for an object that does not fit, with the place and
    without the values. Decoders of equal types are equal. For a store of many objects of a type of
    your own `typed` has more: it says at once what a store would lack, and may share what is equal.

    Raises `TypeError` for any other type; any callable from bytes to an object will do in its
    place.

    >>> from dataclasses import dataclass
    >>> @dataclass
    ... class ConfigMap:
    ...     metadata: dict[str, object]
    ...     data: dict[str, str]
    >>> decoder_for(ConfigMap)(b'{"metadata":{"name":"a"},"data":{"x":"1"},"immutable":true}')
    ConfigMap(metadata={'name': 'a'}, data={'x': '1'})
    """
    plain = _plain(type_)
    if plain is not None:
        return plain
    if is_pydantic(type_):
        official = is_of(type_, *OFFICIAL)
        return ModelDecoder(type_, *(_by_official if official else _by_pydantic)(type_))
    if is_openapi(type_):
        return ModelDecoder(type_, *_by_openapi(type_))
    if is_lightkube_dict(type_):
        return ModelDecoder(type_, *_by_from_dict(type_))
    if is_for_msgspec(type_):
        return StructDecoder(type_)
    raise TypeError(
        f"decoder_for takes {_TAKEN}, not {_shown(type_)}. A decoder may also be any callable of"
        " your own from an object's bytes to what is to be kept of it"
    )


def is_no_decoder(decoder: object) -> bool:
    """Whether this is a type for `decoder_for` that makes nothing of bytes by itself."""
    return (
        _plain(decoder) is not None
        or is_typeddict(decoder)
        or is_pydantic(decoder)
        or is_openapi(decoder)
        or is_lightkube_dict(decoder)
        or (isinstance(decoder, type) and is_of(decoder, "lightkube"))
    )


class ModelDecoder(Generic[T]):
    """The decoder that `decoder_for` makes. Two of the same type are equal."""

    __slots__ = ("_decode", "_misfits", "_told", "type")

    reads_all = True

    def __init__(
        self,
        type_: type[T],
        decode: Callable[[Any], T],
        misfits: tuple[type[Exception], ...],
        told: Callable[[Any], str] = str,
    ) -> None:
        self.type = type_
        self._decode = decode
        self._misfits = misfits
        self._told = told

    def __call__(self, raw: bytes) -> T:
        """Decode one object. Raises `MalformedObject` where it does not fit."""
        try:
            return self._decode(raw)
        except self._misfits as error:
            said = self._told(error)
        # Raised here, it has no cause: pydantic's would show what is in the object, secrets too.
        raise MalformedObject(f"this does not fit {_shown(self.type)}: {said}")

    def __eq__(self, other: object) -> bool:
        return self.type == other.type if isinstance(other, ModelDecoder) else NotImplemented

    def __hash__(self) -> int:
        return hash((ModelDecoder, self.type))

    def __repr__(self) -> str:
        return f"decoder_for({_shown(self.type)})"


class StructDecoder(ModelDecoder[T]):
    """Of what msgspec decodes. Null counts as absent."""

    __slots__ = ("_fills", "takes_type_meta")

    def __init__(self, type_: type[T]) -> None:
        misfits = (msgspec.DecodeError, RecursionError)
        super().__init__(type_, lenient_decoder(type_), misfits, _told_by_msgspec)
        self._fills = _type_fields(type_)
        # What it must have, or has in another form than text, it must get in its bytes.
        self.takes_type_meta = _can_be_filled(type_)

    def __call__(self, raw: JSONBytes, *, api_version: str = "", kind: str = "") -> T:
        # Bytes of its own: a field may be a Raw, which would keep the whole buffer alive.
        obj = super().__call__(raw if type(raw) is bytes else bytes(raw))
        if kind:
            for name, text in zip(self._fills, (kind, api_version), strict=True):
                if name:
                    _fill(obj, name, text)
        return obj


def _plain(type_: object) -> ObjectDecoder[Any] | None:
    if type_ is Unstructured:
        return decode_unstructured
    if type_ is PartialObjectMetadata:
        return decode_partial_metadata
    return decode_dict if type_ is dict or get_origin(type_) is dict else None


_Made = tuple[Callable[[Any], Any], tuple[type[Exception], ...], Callable[[Any], str]]
"""What decodes, what that raises for an object that does not fit, and how to say it."""


def _by_pydantic(type_: Any) -> _Made:
    pydantic = import_module("pydantic")
    if is_dataclass(type_):
        decode = pydantic.TypeAdapter(type_).validate_json
    else:
        decode = type_.model_validate_json
    return decode, (pydantic.ValidationError,), _told_by_pydantic


def _by_official(type_: Any) -> _Made:
    """What its `from_dict` makes, which goes through the models in Python, in a third of the time.

    Its models forbid what they do not know, which a newer server may send, and `from_dict` passes
    it over. Where they take text or bytes, as a Secret does, JSON would be read as bytes.
    """
    validate = type_.model_validate
    invalid = import_module("pydantic").ValidationError

    def decode(raw: bytes) -> Any:
        return validate(decode_dict(raw), extra="ignore")

    misfits = (invalid, msgspec.DecodeError, RecursionError)
    return (
        decode,
        misfits,
        lambda error: _told_by_pydantic(error) if isinstance(error, invalid) else str(error),
    )


_MOST_TOLD = 3
_ENUM = re.compile(r"^(Invalid enum value) .*?((?: - at `[^`]*`)?)$", re.DOTALL)


def _told_by_msgspec(error: Exception) -> str:
    """Its words, without the value that it quotes of an enum or Literal."""
    return _ENUM.sub(r"\1\2", str(error))


def _told_by_pydantic(error: Any) -> str:
    """Its places and what is wrong there, and nothing of what it was given."""
    found = error.errors(include_url=False, include_context=False, include_input=False)
    told = [f"{each['msg']} - at `{_path(each['loc'])}`" for each in found[:_MOST_TOLD]]
    more = len(found) - len(told)
    return "; ".join(told) + (f"; and {more} more" if more else "")


def _path(places: tuple[str | int, ...]) -> str:
    return "$" + "".join(f"[{each}]" if isinstance(each, int) else f".{each}" for each in places)


def _by_openapi(type_: Any) -> _Made:
    make = openapi_maker(type_)
    return (lambda raw: make(decode_dict(raw))), (Misfit, msgspec.DecodeError, RecursionError), str


def _by_from_dict(type_: Any) -> _Made:
    from_dict = type_.from_dict

    def decode(raw: bytes) -> Any:
        # Lazily it would find what does not fit when that is read.
        return from_dict(decode_dict(raw), lazy=False)

    misfits = (TypeError, ValueError, AttributeError, KeyError, RecursionError)
    return decode, misfits, lambda error: f"{type(error).__name__}: {error}"


def _type_fields(type_: Any) -> tuple[str, str]:
    """The fields that kind and apiVersion are in, as far as it has them."""
    origin = get_origin(type_) or type_
    if issubclass(origin, Struct):
        names = dict(zip(origin.__struct_encode_fields__, origin.__struct_fields__, strict=True))
    elif is_typeddict(origin):
        names = {name: name for name in origin.__annotations__}
    else:
        fields = getattr(origin, "__dataclass_fields__", None) or (
            field.name for field in origin.__attrs_attrs__
        )
        names = {name: name for name in fields}
    return names.get("kind", ""), names.get("apiVersion", "")


def _can_be_filled(type_: Any) -> bool:
    """Whether kind and apiVersion, as far as it has them, may be absent, and are any text."""
    info: Any = msgspec.inspect.type_info(type_)
    for field in info.fields:
        if field.encode_name in ("kind", "apiVersion"):
            types = getattr(field.type, "types", (field.type,))
            text = any(
                type(each) in (msgspec.inspect.StrType, msgspec.inspect.AnyType) for each in types
            )
            if field.required or not text:
                return False
    return True


def _fill(obj: Any, name: str, text: str) -> None:
    if isinstance(obj, dict):
        obj[name] = obj.get(name) or text
    elif getattr(obj, name, None):
        return
    elif isinstance(obj, Struct):
        force_setattr(obj, name, text)
    else:
        object.__setattr__(obj, name, text)  # it may be frozen


def _shown(type_: Any) -> str:
    return cast(str, getattr(type_, "__qualname__", None) or str(type_))
