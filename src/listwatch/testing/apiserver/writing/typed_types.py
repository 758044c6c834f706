"""Types of values as server-side apply sees them: what of a value is owned together.

They are made of OpenAPI schemas: of the built-in types' (types/fields.py) and of those in
CustomResourceDefinitions. A value may be a map, a list or a scalar; most types allow one of these.
A map or list is atomic (owned as a whole), or has parts that are owned one by one: the members of a
map, the items of a list that is a set or has keys.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any
from weakref import WeakKeyDictionary

from ..types.fields import schema_of, schemas
from ..types.served import ResourceType

__all__ = [
    "ANYTHING",
    "FREE",
    "ListType",
    "MapType",
    "Type",
    "builtin_type",
    "custom_type",
    "type_of",
]

_METADATA = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"
_PREFIX = "x-kubernetes-"
_TYPES: WeakKeyDictionary[ResourceType, Type] = WeakKeyDictionary()


class Type:
    """What a value may be."""

    __slots__ = ("list", "map", "scalar")

    def __init__(
        self,
        *,
        scalar: str = "",
        map: MapType | None = None,
        list: ListType | None = None,
    ) -> None:
        self.scalar = scalar
        """`string`, `numeric`, `boolean`, `untyped` (any of these), or empty: no scalar."""
        self.map = map
        self.list = list


class MapType:
    """Members by name; `rest` is the type of those that have no name here."""

    __slots__ = ("_nodes", "_preserve", "_rest", "_types", "atomic")

    def __init__(
        self,
        nodes: Mapping[str, Any],
        rest: Any = None,
        *,
        atomic: bool = False,
        preserve: bool = False,
        types: Mapping[str, Type] | None = None,
    ) -> None:
        self._nodes = nodes
        self._rest = rest
        self._preserve = preserve
        self._types: dict[str, Type] = dict(types or {})
        self.atomic = atomic

    def names(self, name: str) -> bool:
        """Whether the schema has a member of this name."""
        return name in self._nodes

    def member(self, name: str) -> Type | None:
        """The type of a member; None where there can be none of this name."""
        found = self._types.get(name)
        if found is not None:
            return found
        node = self._nodes.get(name)
        if node is None:
            if self._rest is not None and not isinstance(self._rest, Type):
                self._rest = _made(self._rest, self._preserve)
            return self._rest
        made = self._types[name] = _made(node, self._preserve)
        return made

    def default(self, name: str) -> Any:
        """What the schema takes a missing member for; None: nothing."""
        return (self._nodes.get(name) or {}).get("default")

    def as_atomic(self, atomic: bool) -> MapType:
        return MapType(
            self._nodes, self._rest, atomic=atomic, preserve=self._preserve, types=self._types
        )


class ListType:
    """Items, told apart by the values of some members (`keys`) or by themselves (no keys)."""

    __slots__ = ("_item", "_preserve", "atomic", "keys")

    def __init__(
        self,
        item: Any,
        *,
        atomic: bool = True,
        keys: tuple[str, ...] = (),
        preserve: bool = False,
    ) -> None:
        self._item = item
        self._preserve = preserve
        self.atomic = atomic
        self.keys = keys

    @property
    def item(self) -> Type:
        if not isinstance(self._item, Type):
            self._item = _made(self._item, self._preserve)
        return self._item


ANYTHING = Type(scalar="untyped")
"""Where a schema says nothing at all: owned as a whole, whatever it is."""
ANYTHING.map = MapType({}, ANYTHING, atomic=True)
ANYTHING.list = ListType(ANYTHING)
FREE = Type(scalar="untyped")
"""An object without a schema: each of its members is owned for itself, and each list as a whole."""
FREE.map = MapType({}, FREE)
FREE.list = ListType(ANYTHING)


@cache
def builtin_type(api_version: str, kind: str) -> Type | None:
    """The type of a built-in kind; None where it is none."""
    node = schema_of(api_version, kind)
    return None if node is None else _made(node, False)


def custom_type(schema: Mapping[str, Any] | None) -> Type:
    """The type of custom objects with this `openAPIV3Schema`."""
    own = schema or {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    made = _made(own, False)
    if made.map is None:
        made = FREE
    named = {"apiVersion": {"type": "string"}, "kind": {"type": "string"}}
    nodes = {**(own.get("properties") or {}), **named, "metadata": {"$ref": _METADATA}}
    preserve = bool(_extension(own, "preserve-unknown-fields"))
    rest = FREE if preserve or not own.get("properties") else None
    return Type(map=MapType(nodes, rest, preserve=preserve))


def type_of(of: ResourceType) -> Type:
    """The type of the objects of a resource."""
    found = _TYPES.get(of)
    if found is None:
        if of.custom:
            found = custom_type(None if of.schema is None else of.schema.schema)
        else:
            found = builtin_type(of.api_version, of.kind) or custom_type(None)
        _TYPES[of] = found
    return found


@cache
def _named(name: str) -> Type:
    if name.endswith(".RawExtension"):
        return ANYTHING  # whatever is in it is another type's
    return _made(schemas()[name], False)


def _extension(node: Mapping[str, Any], name: str) -> Any:
    found = node.get(name)
    return node.get(_PREFIX + name) if found is None else found


def _made(node: Mapping[str, Any], preserve: bool) -> Type:
    """The type of a schema. `preserve`: unknown members are allowed above it, and so below."""
    reference = node.get("$ref") or node.get("ref")
    if reference:
        named = _named(reference)
        relation = node.get("map-type")
        if relation and named.map is not None:
            return Type(map=named.map.as_atomic(relation == "atomic"))
        return named
    preserve = preserve or bool(_extension(node, "preserve-unknown-fields"))
    match node.get("type"):
        case "object":
            return Type(map=_map(node, preserve))
        case "array":
            kind = _extension(node, "list-type")
            keys = tuple(_extension(node, "list-map-keys") or ()) if kind == "map" else ()
            items = node.get("items") or ANYTHING
            atomic = kind not in ("set", "map")
            return Type(list=ListType(items, atomic=atomic, keys=keys, preserve=preserve))
        case "integer" | "number":
            return Type(scalar="numeric")
        case "boolean":
            return Type(scalar="boolean")
        case "string":
            return Type(scalar="string" if node.get("format", "") in ("", "byte") else "untyped")
    if _extension(node, "int-or-string") or "oneOf" in node:
        return Type(scalar="untyped")
    return ANYTHING


def _map(node: Mapping[str, Any], preserve: bool) -> MapType:
    nodes = node.get("properties") or {}
    if _extension(node, "embedded-resource"):
        nodes = {**nodes, "metadata": {"$ref": _METADATA}}
    more = node.get("additionalProperties")
    rest: Any = None
    if more is None:
        rest = FREE if preserve or not nodes else None
    elif isinstance(more, Mapping):
        rest = more
    elif more:
        rest = FREE
    atomic = _extension(node, "map-type") == "atomic"
    return MapType(nodes, rest, atomic=atomic, preserve=preserve)
