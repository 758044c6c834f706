"""The ConfigMap `kube-root-ca.crt` of every namespace: by what pods know the API server."""

from __future__ import annotations

from collections.abc import Hashable
from typing import ClassVar

from ..storage.log import Write, WriteKind
from .controller import Controller
from .owners import is_dying

__all__ = ["RootCertificates"]

_NAMESPACES, _MAPS = "namespaces", "configmaps"
_NAME = "kube-root-ca.crt"
_DESCRIPTION = (
    "Certificates of the authorities by which the API server is known inside the cluster. "
    "The embedded server publishes it for those who look whether it is there."
)
_DELAY = 0.01


class RootCertificates(Controller):
    """What is published is empty: no pod of this cluster is a program that could connect."""

    name: ClassVar[str] = "root-ca-certificate-publisher"
    watched: ClassVar[frozenset[str] | None] = frozenset({_NAMESPACES, _MAPS})

    def start(self) -> None:
        for namespace in self.client.list(_NAMESPACES):
            self.plan(namespace.key[1])

    def observe(self, write: Write) -> None:
        if write.storage == _NAMESPACES and write.kind is WriteKind.CREATED:
            self.plan(write.new.key[1], _DELAY)
        elif write.kind is WriteKind.DELETED and write.new.key[1] == _NAME:
            self.plan(write.new.key[0], _DELAY)

    def sync(self, item: Hashable) -> None:
        name = str(item)
        namespace = self.client.get(_NAMESPACES, ("", name))
        if namespace is None or is_dying(namespace.metadata):
            return
        if self.client.get(_MAPS, (name, _NAME)) is None:
            annotations = {"kubernetes.io/description": _DESCRIPTION}
            metadata = {"name": _NAME, "namespace": name, "annotations": annotations}
            self.client.create(_MAPS, name, {"metadata": metadata, "data": {"ca.crt": ""}})
