"""An object that every namespace has."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any, ClassVar

from ..storage.log import Write, WriteKind
from .controller import Controller
from .owners import is_dying

__all__ = ["NAMESPACES", "PerNamespace"]

NAMESPACES = "namespaces"
_DELAY = 0.01


class PerNamespace(Controller):
    """Makes the object in every namespace that is to stay, and again if it is deleted."""

    made_in: ClassVar[str]
    """The storage that the object is in."""
    object_name: ClassVar[str]

    def start(self) -> None:
        for namespace in self.client.list(NAMESPACES):
            self.plan(namespace.key[1])

    def observe(self, write: Write) -> None:
        if write.storage == NAMESPACES and write.kind is WriteKind.CREATED:
            self.plan(write.new.key[1], _DELAY)
        elif write.kind is WriteKind.DELETED and write.new.key[1] == self.object_name:
            self.plan(write.new.key[0], _DELAY)

    def sync(self, item: Hashable) -> None:
        name = str(item)
        namespace = self.client.get(NAMESPACES, ("", name))
        if namespace is None or is_dying(namespace.metadata):
            return
        if self.client.get(self.made_in, (name, self.object_name)) is None:
            self.client.create(self.made_in, name, self.new_object(name))

    def new_object(self, namespace: str) -> Mapping[str, Any]:
        """What is made."""
        raise NotImplementedError
