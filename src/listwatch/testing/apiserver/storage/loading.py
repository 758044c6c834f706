"""Objects put into the store by the thousand, without a request each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from listwatch.api import ListWatchError

from ..types.served import ResourceType
from ..writing.metadata import new_uid, timestamp
from .state import State

__all__ = ["Loader", "UnknownKind"]


class UnknownKind(ListWatchError):
    """An object to load is of a kind that the server does not serve, or has no name."""


class Loader:
    """Stores objects as a create would, but for checks.

    They get what they lack of uid, creationTimestamp and generation; what they have of these stays,
    and so does status. An object of a name that exists takes its place. A namespace that is not
    there is made. Defaults come with the first write to an object (`writing/loaded.py`).
    """

    def __init__(self, state: State, settle: Callable[[], None]) -> None:
        """`settle` is called after a definition of custom resources, so that they can follow."""
        self._state = state
        self._settle = settle

    def load(self, objects: Iterable[Mapping[str, Any]]) -> int:
        """Store `objects` and give their number. Raises `UnknownKind`; what came before is stored
        then.
        """
        count = 0
        for value in objects:
            self._put(value)
            count += 1
        return count

    def _put(self, value: Mapping[str, Any]) -> None:
        api_version, kind = value.get("apiVersion", ""), value.get("kind", "")
        found = self._state.types.find_kind(api_version, kind)
        if found is None or not found.is_stored:
            raise UnknownKind(f"nothing of kind {kind!r} in {api_version!r} is served here")
        metadata = dict(value.get("metadata") or {})
        name = metadata.get("name")
        if not name:
            raise UnknownKind(f"a {kind} without a name cannot be loaded")
        namespace = ""
        if found.namespaced:
            namespace = metadata.setdefault("namespace", "default")
            self.namespace(namespace)
        else:
            metadata.pop("namespace", None)
        key = (namespace, name)
        self._complete(found, metadata)
        value = {**value, "metadata": metadata}
        if found.kind == "Namespace":
            value = _namespace(value)
        elif found.kind == "CustomResourceDefinition":
            value = _definition(value)
        elif found.schema is not None:
            value = found.schema.read(dict(value))
        self._state.log.put(found.storage, key, found.as_stored(found.ordered(value)))
        if found.kind == "CustomResourceDefinition":
            self._settle()

    def namespace(self, name: str) -> None:
        """Make a namespace, unless it is there."""
        if self._state.log.get("namespaces", ("", name)) is None:
            self._put({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})

    def _complete(self, found: ResourceType, metadata: dict[str, Any]) -> None:
        if not metadata.get("uid"):
            metadata["uid"] = new_uid(self._state.rng)
        if not metadata.get("creationTimestamp"):
            metadata["creationTimestamp"] = timestamp(self._state.wall())
        if found.generation:
            metadata.setdefault("generation", 1)
        metadata.setdefault("resourceVersion", "0")  # its place; the log fills it in


def _namespace(value: Mapping[str, Any]) -> dict[str, Any]:
    metadata = dict(value["metadata"])
    metadata["labels"] = {
        **(metadata.get("labels") or {}),
        "kubernetes.io/metadata.name": metadata["name"],
    }
    return {
        **value,
        "metadata": metadata,
        "spec": value.get("spec") or {"finalizers": ["kubernetes"]},
        "status": value.get("status") or {"phase": "Active"},
    }


def _definition(value: Mapping[str, Any]) -> dict[str, Any]:
    # Its checks take time to load, and most servers hold no definitions.
    from ..types.crd_checks import check_definition
    from ..types.crd_types import completed

    definition = completed(value)
    check_definition(definition)
    return definition
