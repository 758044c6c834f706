"""The schema of one version of a custom resource, and how objects are read by it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

from .structural import Structural, defaulted, pruned

__all__ = ["CustomSchema"]


class CustomSchema:
    """Made when its version is served, taken in when it is first asked."""

    def __init__(self, schema: Mapping[str, Any], *, since: int = 0) -> None:
        """`since`: the revision of the store at which it came. What was written later is as the
        schema wants it.
        """
        self.schema = schema
        self.since = since

    @cached_property
    def root(self) -> Structural:
        return Structural(self.schema)

    def unknown(self, value: dict[str, Any]) -> list[str]:
        """Paths of the members that it does not have, sorted."""
        found: list[str] = []
        pruned(value, self.root, found)
        return found

    def read(self, value: dict[str, Any]) -> dict[str, Any]:
        """A whole object, with what it has too much taken out and its defaults filled in."""
        changed: dict[str, Any] = defaulted(pruned(value, self.root), self.root)
        return changed

    def filled(self, value: dict[str, Any]) -> dict[str, Any]:
        """A whole object with its defaults, and with what it has too much."""
        changed: dict[str, Any] = defaulted(value, self.root)
        return changed

    def pruned(self, value: dict[str, Any]) -> dict[str, Any]:
        """Without defaults: those of another version than the stored one are not filled in."""
        return pruned(value, self.root)
