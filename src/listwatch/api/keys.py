"""Keys: an object in a store is `namespace/name`, or `name` if it is cluster-scoped (A3)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .faults import MalformedObject

__all__ = ["join_key", "key_of", "split_key"]


def join_key(namespace: str, name: str) -> str:
    """The key of `name` in `namespace`; the name alone when the namespace is empty.

    >>> join_key("default", "web-0"), join_key("", "node-1")
    ('default/web-0', 'node-1')
    """
    return f"{namespace}/{name}" if namespace else name


def split_key(key: str) -> tuple[str, str]:
    """The namespace and the name of a key; the namespace is empty for cluster-scoped objects.

    Raises `MalformedObject` (a ValueError) when there is more than one slash.

    >>> split_key("default/web-0"), split_key("node-1")
    (('default', 'web-0'), ('', 'node-1'))
    """
    namespace, slash, name = key.partition("/")
    if not slash:
        return "", key
    if "/" in name:
        raise MalformedObject(
            f"key {key!r} has more than one slash: expected 'namespace/name' or 'name'"
        )
    return namespace, name


def key_of(obj: Any) -> str:
    """The key of an object.

    `obj` is an `Unstructured`, a dict in the form of its JSON, or anything with `.metadata`, such
    as the models of other clients, with `name` and `namespace` as attributes. Raises
    `MalformedObject` when there is no name to be found.
    """
    key = getattr(obj, "key", None)
    if isinstance(key, str):
        return key
    metadata = obj.get("metadata") if isinstance(obj, Mapping) else getattr(obj, "metadata", None)
    if isinstance(metadata, Mapping):
        name, namespace = metadata.get("name"), metadata.get("namespace")
    else:
        name, namespace = getattr(metadata, "name", None), getattr(metadata, "namespace", None)
    if not isinstance(name, str) or not name:
        raise MalformedObject(f"a {type(obj).__name__} without metadata.name has no key")
    return join_key(namespace or "", name)
