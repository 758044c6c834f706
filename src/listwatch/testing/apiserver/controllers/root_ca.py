"""The ConfigMap `kube-root-ca.crt` of every namespace: by what pods know the API server."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from .per_namespace import NAMESPACES, PerNamespace

__all__ = ["RootCertificates"]

_MAPS = "configmaps"
_DESCRIPTION = (
    "Certificates of the authorities by which the API server is known inside the cluster. "
    "The embedded server publishes it for those who look whether it is there."
)


class RootCertificates(PerNamespace):
    """What is published is empty: no pod of this cluster is a program that could connect."""

    name: ClassVar[str] = "root-ca-certificate-publisher"
    watched: ClassVar[frozenset[str] | None] = frozenset({NAMESPACES, _MAPS})
    made_in: ClassVar[str] = _MAPS
    object_name: ClassVar[str] = "kube-root-ca.crt"

    def new_object(self, namespace: str) -> Mapping[str, Any]:
        annotations = {"kubernetes.io/description": _DESCRIPTION}
        metadata = {"name": self.object_name, "namespace": namespace, "annotations": annotations}
        return {"metadata": metadata, "data": {"ca.crt": ""}}
