"""The namespaces that every server has from the beginning."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..writing.metadata import timestamp
from .state import State

__all__ = ["first_namespaces"]

_NAMES = ("default", "kube-node-lease", "kube-public", "kube-system")
_LABEL = "kubernetes.io/metadata.name"


def first_namespaces(state: State) -> Iterator[dict[str, Any]]:
    """As the real server writes them itself."""
    for name in _NAMES:
        entry = {
            "manager": "kube-apiserver",
            "operation": "Update",
            "apiVersion": "v1",
            "time": timestamp(state.wall()),
            "fieldsType": "FieldsV1",
            "fieldsV1": {"f:metadata": {"f:labels": {".": {}, f"f:{_LABEL}": {}}}},
        }
        yield {
            "apiVersion": "v1",
            "kind": "Namespace",
            "metadata": {"name": name, "managedFields": [entry]},
        }
