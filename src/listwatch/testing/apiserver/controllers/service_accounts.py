"""The ServiceAccount `default` of every namespace."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from .per_namespace import NAMESPACES, PerNamespace

__all__ = ["ServiceAccounts"]

_ACCOUNTS = "serviceaccounts"


class ServiceAccounts(PerNamespace):
    """Makes the account, and again if it is deleted."""

    name: ClassVar[str] = "serviceaccount"
    watched: ClassVar[frozenset[str] | None] = frozenset({NAMESPACES, _ACCOUNTS})
    made_in: ClassVar[str] = _ACCOUNTS
    object_name: ClassVar[str] = "default"

    def new_object(self, namespace: str) -> Mapping[str, Any]:
        return {"metadata": {"name": self.object_name, "namespace": namespace}}
