"""Structural schemas: what a CustomResourceDefinition says of its objects, and does to them.

What is read from a client or from the store is pruned (members that the schema does not have, and
nulls that it does not allow), and gets the defaults that it lacks. Nothing is changed in place:
what comes back is the value itself, or a copy of what had to change.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

__all__ = ["Structural", "defaulted", "pruned", "pruned_value"]

_META = frozenset({"apiVersion", "kind", "metadata"})
_METADATA = frozenset(
    {
        *("name", "generateName", "namespace", "selfLink", "uid", "resourceVersion"),
        *("generation", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds"),
        *("labels", "annotations", "ownerReferences", "finalizers", "managedFields"),
    }
)
"""Of objects inside of objects: what is not one of these goes."""
_Unknown = list[tuple[bool, str]]
"""Paths, those inside of the metadata of embedded objects last."""


class Structural:
    """One node of a schema, with those below it."""

    __slots__ = (
        "additional",
        "default",
        "embedded",
        "has_defaults",
        "has_embedded",
        "has_lists",
        "has_rules",
        "int_or_string",
        "items",
        "list_keys",
        "list_type",
        "nullable",
        "preserve",
        "properties",
        "rules",
        "schema",
        "type",
    )

    def __init__(self, schema: Mapping[str, Any]) -> None:
        self.schema = schema
        self.type: str = schema.get("type") or ""
        self.properties = {
            name: Structural(found) for name, found in (schema.get("properties") or {}).items()
        }
        additional = schema.get("additionalProperties")
        self.additional: Structural | bool | None = (
            Structural(additional) if isinstance(additional, dict) else additional
        )
        items = schema.get("items")
        self.items = Structural(items) if isinstance(items, dict) else None
        self.nullable = bool(schema.get("nullable"))
        self.default = schema.get("default")
        """None: there is none; a default of null says nothing."""
        self.preserve = bool(schema.get("x-kubernetes-preserve-unknown-fields"))
        self.embedded = bool(schema.get("x-kubernetes-embedded-resource"))
        self.int_or_string = bool(schema.get("x-kubernetes-int-or-string"))
        self.list_type: str = schema.get("x-kubernetes-list-type") or ""
        self.list_keys: list[str] = schema.get("x-kubernetes-list-map-keys") or []
        self.rules: list[dict[str, Any]] = schema.get("x-kubernetes-validations") or []
        below = list(self._below())
        self.has_defaults: bool = self.default is not None or any(n.has_defaults for n in below)
        self.has_embedded: bool = self.embedded or any(n.has_embedded for n in below)
        self.has_lists: bool = self.list_type in ("set", "map") or any(n.has_lists for n in below)
        self.has_rules: bool = bool(self.rules) or any(n.has_rules for n in below)

    def _below(self) -> Iterator[Structural]:
        yield from self.properties.values()
        if isinstance(self.additional, Structural):
            yield self.additional
        if self.items is not None:
            yield self.items

    def child(self, name: str) -> Structural | None:
        """The node of a member; None where the schema says nothing of it."""
        found = self.properties.get(name)
        if found is None and isinstance(self.additional, Structural):
            return self.additional
        return found


def pruned(
    value: dict[str, Any], root: Structural, unknown: list[str] | None = None
) -> dict[str, Any]:
    """A whole object without what `root` does not have. `unknown` gets the paths of what it had
    too much, sorted.
    """
    found: _Unknown = []
    kept = _pruned_map(value, root, "", found, skip=root.preserve, embedded=True)
    if unknown is not None:
        unknown += [path for _, path in sorted(found)]
    return kept


def pruned_value(value: Any, node: Structural) -> Any:
    """What stands where `node` does, without what it does not have."""
    return _pruned(value, node, "", [])


def _pruned(
    value: Any, node: Structural | None, path: str, unknown: _Unknown, *, skip: bool = False
) -> Any:
    """`skip`: what is unknown stays, and is not looked into."""
    skip = skip or (node is not None and node.preserve)
    if isinstance(value, dict):
        embedded = node is not None and node.embedded
        return _pruned_map(value, node, path, unknown, skip=skip, embedded=embedded)
    if isinstance(value, list):
        items = node.items if node is not None else None
        if skip and items is None:
            return value
        changed = [
            _pruned(item, items, f"{path}[{at}]", unknown, skip=skip)
            for at, item in enumerate(value)
        ]
        same = all(new is old for new, old in zip(changed, value, strict=True))
        return value if same else changed
    return value


def _pruned_map(
    value: dict[str, Any],
    node: Structural | None,
    path: str,
    unknown: _Unknown,
    *,
    skip: bool,
    embedded: bool,
) -> dict[str, Any]:
    kept: dict[str, Any] = {}
    same = True
    for name, member in value.items():
        new = member
        if embedded and name in _META:
            if path and name == "metadata" and isinstance(member, dict):
                new = _known_metadata(member, f"{path}.metadata", unknown)
        elif node is not None and (name in node.properties or node.additional is not None):
            below = node.child(name)
            if member is None and below is not None:
                if not below.nullable and below.default is None:
                    same = False
                    continue
            else:
                new = _pruned(member, below, f"{path}.{name}" if path else name, unknown)
        elif not skip:
            # Members that are meant for the top are dropped there without a word.
            if path or name not in _META:
                unknown.append((False, f"{path}.{name}" if path else name))
            same = False
            continue
        kept[name] = new
        if new is not member:
            same = False
    return value if same else kept


def _known_metadata(metadata: dict[str, Any], path: str, unknown: _Unknown) -> dict[str, Any]:
    known = {
        name: member
        for name, member in metadata.items()
        if name in _METADATA and member is not None
    }
    unknown += [(True, f"{path}.{name}") for name in metadata if name not in _METADATA]
    return metadata if len(known) == len(metadata) else known


def defaulted(value: Any, node: Structural | None) -> Any:
    """`value` with what it lacks of the defaults of `node`. The defaults are not copied."""
    if node is None or not node.has_defaults:
        return value
    if isinstance(value, dict):
        return _defaulted_map(value, node)
    if isinstance(value, list) and node.items is not None:
        changed = [_or_default(item, node.items) for item in value]
        same = all(new is old for new, old in zip(changed, value, strict=True))
        return value if same else changed
    return value


def _defaulted_map(value: dict[str, Any], node: Structural) -> dict[str, Any]:
    changed: dict[str, Any] = {}
    for name, below in node.properties.items():
        if name in value:
            new = _or_default(value[name], below)
            if new is not value[name]:
                changed[name] = new
        elif below.default is not None:
            changed[name] = defaulted(below.default, below)
    if isinstance(node.additional, Structural):
        for name, member in value.items():
            if name not in node.properties:
                new = _or_default(member, node.additional)
                if new is not member:
                    changed[name] = new
    return {**value, **changed} if changed else value


def _or_default(value: Any, node: Structural) -> Any:
    if value is None and not node.nullable and node.default is not None:
        value = node.default
    return defaulted(value, node)
