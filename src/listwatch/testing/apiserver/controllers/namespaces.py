"""Namespace deletion: what empties a namespace that is told to go (K37).

The core does it by itself unless its settings say otherwise (`deleting/namespaces.py`), since
nearly every test deletes namespaces. To name this controller switches it on in any case.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import ClassVar

from ..storage.log import Write
from .controller import Controller

__all__ = ["Namespaces"]


class Namespaces(Controller):
    """Switches on what the core does."""

    name: ClassVar[str] = "namespace"
    watched: ClassVar[frozenset[str] | None] = frozenset()

    def start(self) -> None:
        self.client.state.settings.namespace_deletion = True

    def observe(self, write: Write) -> None:
        """Nothing: the core plans what follows from a deletion."""

    def sync(self, item: Hashable) -> None:
        """Nothing is ever planned here."""
