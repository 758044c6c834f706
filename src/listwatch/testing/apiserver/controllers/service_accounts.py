"""The ServiceAccount `default` of every namespace."""

from __future__ import annotations

from collections.abc import Hashable
from typing import ClassVar

from ..storage.log import Write, WriteKind
from .controller import Controller
from .owners import is_dying

__all__ = ["ServiceAccounts"]

_NAMESPACES, _ACCOUNTS = "namespaces", "serviceaccounts"
_DEFAULT = "default"
_DELAY = 0.01


class ServiceAccounts(Controller):
    """Makes the account, and again if it is deleted."""

    name: ClassVar[str] = "serviceaccount"
    watched: ClassVar[frozenset[str] | None] = frozenset({_NAMESPACES, _ACCOUNTS})

    def start(self) -> None:
        for namespace in self.client.list(_NAMESPACES):
            self.plan(namespace.key[1])

    def observe(self, write: Write) -> None:
        if write.storage == _NAMESPACES and write.kind is WriteKind.CREATED:
            self.plan(write.new.key[1], _DELAY)
        elif write.kind is WriteKind.DELETED and write.new.key[1] == _DEFAULT:
            self.plan(write.new.key[0], _DELAY)

    def sync(self, item: Hashable) -> None:
        name = str(item)
        namespace = self.client.get(_NAMESPACES, ("", name))
        if namespace is None or is_dying(namespace.metadata):
            return
        if self.client.get(_ACCOUNTS, (name, _DEFAULT)) is None:
            account = {"metadata": {"name": _DEFAULT, "namespace": name}}
            self.client.create(_ACCOUNTS, name, account)
