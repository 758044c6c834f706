"""The pods and claims of a StatefulSet."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .pods import new_pod

__all__ = ["REVISION", "claims_of", "ordinal_of", "stateful_pod"]

REVISION = "controller-revision-hash"
"""The label by which a pod says of which revision it is."""


def ordinal_of(owner: str, pod: str) -> int | None:
    """2 of `db-2`, where `db` is the owner; None: no pod of it is named so."""
    name, _, number = pod.rpartition("-")
    return int(number) if name == owner and number.isdigit() else None


def stateful_pod(
    owner: Mapping[str, Any], template: Mapping[str, Any], ordinal: int, revision: str
) -> dict[str, Any]:
    """The pod of that number, as the template of a revision has it."""
    pod = new_pod(owner, template)
    metadata, spec = pod["metadata"], pod["spec"]
    name = f"{owner['metadata']['name']}-{ordinal}"
    metadata["name"] = name
    metadata["labels"] = {
        **(metadata.get("labels") or {}),
        "apps.kubernetes.io/pod-index": str(ordinal),
        REVISION: revision,
        "statefulset.kubernetes.io/pod-name": name,
    }
    spec["hostname"] = name
    if owner["spec"].get("serviceName"):
        spec["subdomain"] = owner["spec"]["serviceName"]
    claims = {claim["metadata"]["name"] for claim in _templates(owner)}
    if claims:
        kept = [one for one in spec.get("volumes") or () if one["name"] not in claims]
        mounted = [
            {"name": claim, "persistentVolumeClaim": {"claimName": f"{claim}-{name}"}}
            for claim in sorted(claims)
        ]
        spec["volumes"] = [*mounted, *kept]
    return pod


def claims_of(owner: Mapping[str, Any], ordinal: int) -> list[dict[str, Any]]:
    """The PersistentVolumeClaims of one of its pods. They outlive it."""
    metadata = owner["metadata"]
    labels = (owner["spec"].get("selector") or {}).get("matchLabels") or {}
    return [
        {
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            "metadata": {
                **{
                    name: value
                    for name, value in claim["metadata"].items()
                    if name in ("labels", "annotations")
                },
                "name": f"{claim['metadata']['name']}-{metadata['name']}-{ordinal}",
                "namespace": metadata["namespace"],
                "labels": {**(claim["metadata"].get("labels") or {}), **labels},
            },
            "spec": claim.get("spec") or {},
        }
        for claim in _templates(owner)
    ]


def _templates(owner: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return list(owner["spec"].get("volumeClaimTemplates") or ())
