"""The PriorityClasses that every server has."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any

from ..storage.state import State
from ..validation.configuration.scheduling import SYSTEM_CLASSES
from ..writing.metadata import new_uid, timestamp

__all__ = ["system_classes"]

_API_VERSION = "scheduling.k8s.io/v1"


def system_classes(state: State) -> Iterator[dict[str, Any]]:
    """Those that pods of the cluster itself have, as the server writes them when it starts."""
    now = timestamp(state.wall())
    for name, (value, description) in SYSTEM_CLASSES.items():
        members = {
            "value": value,
            "description": description,
            "preemptionPolicy": "PreemptLowerPriority",
        }
        entry = {
            "manager": "kube-apiserver",
            "operation": "Update",
            "apiVersion": _API_VERSION,
            "time": now,
            "fieldsType": "FieldsV1",
            "fieldsV1": {f"f:{member}": {} for member in sorted(members)},
        }
        yield {
            "kind": "PriorityClass",
            "apiVersion": _API_VERSION,
            "metadata": {
                "name": name,
                "uid": new_uid(Random(name)),
                "resourceVersion": "",  # its place
                "generation": 1,
                "creationTimestamp": now,
                "managedFields": [entry],
            },
            **members,
        }
