"""What is about to be done, as webhooks are told of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from ..storage.state import Target

__all__ = ["Attributes", "Operation", "is_of_its_own"]

Operation = Literal["CREATE", "UPDATE", "DELETE"]

_KINDS = {
    "scale": ("autoscaling", "v1", "Scale"),
    "eviction": ("policy", "v1", "Eviction"),
    "binding": ("", "v1", "Binding"),
    "token": ("authentication.k8s.io", "v1", "TokenRequest"),
}
"""The kinds of those subresources that are objects of their own."""


def is_of_its_own(target: Target) -> bool:
    """Whether what is written at a path is an object of another kind than the type's."""
    return target.subresource in _KINDS or not target.type.is_stored


@dataclass(frozen=True, slots=True, kw_only=True)
class Attributes:
    """One write. `new` is None for a deletion, `old` for a creation."""

    operation: Operation
    target: Target
    name: str
    """Empty while only its beginning is known."""
    new: Mapping[str, Any] | None
    old: Mapping[str, Any] | None
    options: Mapping[str, Any]
    dry_run: bool

    @property
    def kind(self) -> tuple[str, str, str]:
        """Group, version and kind of `new` and `old`."""
        of = self.target.type
        return _KINDS.get(self.target.subresource, (of.group, of.version, of.kind))

    @property
    def namespace(self) -> str:
        """Of a namespace: its own name."""
        if self.target.type.storage == "namespaces":
            return self.name
        return self.target.namespace if self.target.type.namespaced else ""
