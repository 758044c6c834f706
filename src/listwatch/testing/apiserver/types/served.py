"""The types a server serves: what of each of them a client can notice."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from listwatch.api import APIResource

from ..reading.member_order import as_custom, typed
from ..storage.autoscaler_versions import as_new_autoscaler, as_old_autoscaler
from ..storage.event_versions import as_core_event, as_new_event
from .custom_schema import CustomSchema

__all__ = ["DEFAULT_FIELDS", "ResourceType", "Subresource", "TypeRegistry"]

DEFAULT_FIELDS = frozenset({"metadata.name", "metadata.namespace"})
"""The field selectors that most types take, and no others (K38)."""


@dataclass(frozen=True, slots=True)
class Subresource:
    """What discovery says of one subresource."""

    name: str
    kind: str
    verbs: tuple[str, ...]
    group: str = ""
    """Of its kind; empty where that is the group of the resource."""
    version: str = ""


@dataclass(frozen=True, kw_only=True, eq=False)
class ResourceType:
    """One type in one version. Compared and hashed by identity, so it serves as a key."""

    resource: APIResource
    storage: str
    """Which collection of the log holds its objects, such as `pods` or `apps/deployments`. The
    versions of a type share one.
    """
    storage_version: str = ""
    """The apiVersion that a real server stores it in, where that is another (for discovery)."""
    custom: bool = False
    """Whether a CustomResourceDefinition made it."""
    members: Mapping[str, Any] = field(default_factory=dict, repr=False)
    """Of a built-in type: the members of its objects besides kind, apiVersion and metadata, in the
    order in which they are written (K7), each with what is written where an object has none:
    `{}`, `{"replicas": 0}`, or `...` for nothing at all.
    """
    selectable: frozenset[str] = DEFAULT_FIELDS
    """The paths that a field selector may name (K38)."""
    generation: bool = False
    """Whether `metadata.generation` counts its changes."""
    has_status: bool = False
    """Whether status is written through its own path only."""
    delete_returns_object: bool = False
    """Whether DELETE answers the object and no Status (K33)."""
    put_needs_rv: bool = False
    """Whether a PUT without resourceVersion is refused (K27)."""
    put_creates: bool = False
    """Whether a PUT to a missing name creates it (K27)."""
    watch_cache: bool = True
    """False for events: lists and watches are served from the log itself (K12)."""
    custom_list_kind: str = ""
    """Where a CustomResourceDefinition names another one than `<kind>List`."""
    schemas: Mapping[str, CustomSchema] = field(default_factory=dict, repr=False)
    """Of a custom type: the schemas of all versions of its definition, by apiVersion."""
    scale: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Of a custom type: the paths of its scale subresource, as its definition has them:
    specReplicasPath, statusReplicasPath and perhaps labelSelectorPath. Empty: it has none.
    """
    columns: Sequence[Mapping[str, Any]] = field(default=(), repr=False)
    """Of a custom type: its additionalPrinterColumns."""
    warning: str = ""
    """The deprecation text that every answer carries as a Warning; empty: none (K44)."""
    subresources: tuple[Subresource, ...] = ()

    @cached_property
    def kind(self) -> str:
        return self.resource.kind

    @cached_property
    def list_kind(self) -> str:
        return self.custom_list_kind or f"{self.kind}List"

    @cached_property
    def api_version(self) -> str:
        return self.resource.group_version

    @cached_property
    def group(self) -> str:
        return self.resource.group

    @cached_property
    def version(self) -> str:
        return self.resource.version

    @cached_property
    def plural(self) -> str:
        return self.resource.name

    @cached_property
    def namespaced(self) -> bool:
        return self.resource.namespaced

    @cached_property
    def kind_group(self) -> str:
        """The group that refusals name along with the kind: all Events are the core's."""
        return "" if self.resource.name == "events" and not self.custom else self.group

    @cached_property
    def qualified_name(self) -> str:
        """As messages name it: `pods`, `deployments.apps`."""
        return f"{self.plural}.{self.group}" if self.group else self.plural

    @cached_property
    def is_stored(self) -> bool:
        """False for types that are only ever asked, such as TokenReview."""
        return "list" in self.resource.verbs

    @cached_property
    def zero_members(self) -> dict[str, Any]:
        """What a bookmark of this type carries besides kind, apiVersion and metadata. Not to be
        changed.
        """
        return {name: zero for name, zero in self.members.items() if zero is not ...}

    def subresource(self, name: str) -> Subresource | None:
        return next((found for found in self.subresources if found.name == name), None)

    def field_refusal(self, path: str) -> str:
        """The message of the 400 that a field selector on `path` gets (K39)."""
        if self.resource.name == "jobs" and not self.custom:
            return f'field label "{path}" not supported for {self.kind}'
        if self.resource.name == "resourceslices" and not self.custom:
            return f"field label not supported for {self.api_version}, Kind={self.kind}: {path}"
        if self.custom or self.selectable != DEFAULT_FIELDS:
            return f"field label not supported: {path}"
        return f'"{path}" is not a known field selector: only "metadata.name", "metadata.namespace"'

    def ordered(self, value: Mapping[str, Any]) -> dict[str, Any]:
        """`value` as this type is written (K7): with its kind and apiVersion, members in order.

        A custom object is sorted by name throughout. A built-in type loses members that it does not
        have, and nulls; what is inside spec and status stays as it was sent.
        """
        if self.custom:
            return as_custom({**value, "kind": self.kind, "apiVersion": self.api_version})
        return typed(value, self.kind, self.api_version, self.members)

    @cached_property
    def _null_members(self) -> tuple[str, ...]:
        return tuple(name for name, zero in self.zero_members.items() if zero is None)

    def without_empty_lists(self, value: dict[str, Any]) -> dict[str, Any]:
        """A built-in object whose empty lists are null where null is written: in protobuf, as it is
        stored, nothing tells the one from the other.
        """
        empty = [name for name in self._null_members if value.get(name) == []]
        return {**value, **dict.fromkeys(empty)} if empty else value

    def shown(self, value: Mapping[str, Any]) -> Mapping[str, Any]:
        """A stored object as this version of its type shows it.

        What was stored in this version comes back as it is, not copied: compare with `is` to see
        whether its bytes serve too.
        """
        stored_version = value["apiVersion"]
        if self.custom:
            return self._custom_shown(value, stored_version)
        if stored_version == self.api_version:
            return value
        if self.storage == "events":
            value = as_new_event(value) if self.group else as_core_event(value)
            return self.ordered(value)
        if self.storage == "autoscaling/horizontalpodautoscalers":
            is_old = self.version == "v1"
            return self.ordered(as_old_autoscaler(value) if is_old else as_new_autoscaler(value))
        return {**value, "apiVersion": self.api_version}

    def _custom_shown(self, value: Mapping[str, Any], stored_version: str) -> Mapping[str, Any]:
        """As the schema of the version that it was stored in reads it, then as that of this
        version does; there is no conversion but of the version's name.
        """
        schema = self.schemas.get(stored_version)
        version = value["metadata"].get("resourceVersion")  # none in a dry run
        if schema is not None and version and int(version) <= schema.since:
            whole = dict(value)
            read = schema.read(whole)
            if read is not whole:
                value = as_custom(read)
        if stored_version == self.api_version:
            return value
        return self._converted(value)

    def _converted(self, value: Mapping[str, Any]) -> dict[str, Any]:
        # Alphabetical: the key has its place already.
        other = {**value, "apiVersion": self.api_version, "kind": self.kind}
        schema = self.schema
        return other if schema is None else schema.pruned(other)

    @property
    def schema(self) -> CustomSchema | None:
        """That of this version."""
        return self.schemas.get(self.api_version)

    def as_stored(self, value: dict[str, Any]) -> dict[str, Any]:
        """An object as it is read back after it was stored; a custom one in the version for that:
        what was taken away from it on the way, such as a status, may have a default.
        """
        if not self.custom:
            return self.without_empty_lists(value)
        version = self.storage_version or self.api_version
        schema = self.schemas.get(version)
        if version != self.api_version:
            value = {**value, "apiVersion": version}
        elif not self.has_status or schema is None or not schema.root.has_defaults:
            return value
        read = value if schema is None else schema.read(value)
        return value if read is value else as_custom(read)

    def __str__(self) -> str:
        return str(self.resource)


class TypeRegistry:
    """The types that are served, in the order of discovery."""

    def __init__(self, types: Iterable[ResourceType] = ()) -> None:
        self._types: dict[tuple[str, str, str], ResourceType] = {}
        self._versions: dict[tuple[str, str], int] = {}
        self._builtin_groups: set[str] = set()
        self.generation = 0
        """Counts the changes; what is made of the types is as old as this."""
        for found in types:
            self.add(found)

    def find(self, group: str, version: str, plural: str) -> ResourceType | None:
        return self._types.get((group, version, plural))

    def group_exists(self, group: str, version: str) -> bool:
        """Whether anything is served in this version of the group."""
        return (group, version) in self._versions

    def is_builtin_group(self, group: str) -> bool:
        """Whether the group is one of the built-in ones, in whatever version."""
        return group in self._builtin_groups

    def find_kind(self, api_version: str, kind: str) -> ResourceType | None:
        """The type of an object, by what it says of itself."""
        return next(
            (found for found in self if found.kind == kind and found.api_version == api_version),
            None,
        )

    def versions_of(self, storage: str) -> list[ResourceType]:
        """The types that share one collection."""
        return [found for found in self if found.storage == storage]

    def __iter__(self) -> Iterator[ResourceType]:
        return iter(self._types.values())

    def __len__(self) -> int:
        return len(self._types)

    def add(self, added: ResourceType) -> None:
        """Serve a type; one of the same group, version and plural is replaced, in its place."""
        key = (added.group, added.version, added.plural)
        if key not in self._types:
            self._versions[key[:2]] = self._versions.get(key[:2], 0) + 1
        if not added.custom:
            self._builtin_groups.add(added.group)
        self._types[key] = added
        self.generation += 1

    def remove(self, removed: ResourceType) -> None:
        """Serve it no longer. Raises `KeyError` where it is not."""
        key = (removed.group, removed.version, removed.plural)
        del self._types[key]
        self._versions[key[:2]] -= 1
        if not self._versions[key[:2]]:
            del self._versions[key[:2]]
        self.generation += 1
