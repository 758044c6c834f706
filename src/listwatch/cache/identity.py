"""Identity: which object, which life of it, and which state of that."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

from ._readers import Readers
from .projection import Projected
from .undecodable import Undecodable

__all__ = ["Identify", "Identity", "for_entries", "identity_of", "read_identity"]


class Identity(NamedTuple):
    """What a store must know of an object."""

    key: str
    """`namespace/name`, or `name` for cluster-scoped objects (A3)."""
    uid: str
    """Another uid under the same key is another object (K6). Empty where it is not known."""
    resource_version: str
    """Its state; empty where it is not known."""


_readers = Readers()

Identify: TypeAlias = Callable[[Any], Identity]
"""Reads the identity of an object. Raises `MalformedObject` where there is no name."""


def identity_of(obj: Any) -> Identity:
    """The identity of an `Unstructured`, a `Projected`, an `Undecodable`, a
    `PartialObjectMetadata`, a dict in the form of its JSON, or anything with `.metadata`.

    That may be a mapping, or have `name`, `namespace`, `uid` and `resource_version` or
    `resourceVersion` as attributes, or as what a msgspec Struct or pydantic model calls the fields
    of these names in JSON. Raises `MalformedObject` where no name can be read.

    >>> identity_of({"metadata": {"name": "web-0", "namespace": "default", "uid": "u1"}})
    Identity(key='default/web-0', uid='u1', resource_version='')
    """
    return Identity(*read_identity(obj))


def read_identity(obj: Any) -> tuple[str, str, str]:
    """The same as a plain tuple, which is quicker."""
    return _readers[type(obj)](obj)


def for_entries(identify: Identify) -> Identify:
    """The same for what a store holds: a Projected or an Undecodable, which are ours, are nothing
    that somebody else's function must know.
    """
    if identify is identity_of:
        return identify

    def identity(obj: Any) -> Identity:
        return identity_of(obj) if type(obj) in (Projected, Undecodable) else identify(obj)

    return identity
