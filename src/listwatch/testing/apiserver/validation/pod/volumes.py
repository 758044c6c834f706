"""The volumes of a pod: each has a name of its own, and comes from exactly one place."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ...types.quantities import quantity_value
from ..basics import driver_name_problems
from ..checks import Value
from ..names import label_name_problems, subdomain_problems
from ..problems import (
    Problem,
    duplicate_field,
    forbidden_field,
    invalid_field,
    required_field,
    unsupported_field,
)
from .claim_templates import ephemeral_problems
from .projections import (
    config_map_problems,
    downward_problems,
    projected_problems,
    secret_problems,
)
from .volume_sources import SOURCES

__all__ = ["valid_volumes"]

_LONGEST_PORTAL = 64
_PULL_POLICIES = ("Always", "IfNotPresent", "Never")
_PORTAL_TEXT = (
    "Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if "
    "iscsi.initiatorName is specified."
)


def valid_volumes(
    volumes: Sequence[Value] | None, path: str, metadata: Value | None = None
) -> tuple[list[Value], list[Problem]]:
    """The volumes, at `path`, that containers can mount, and what is wrong with the others.
    `metadata`: of the pod, if it is one and no template.
    """
    valid: list[Value] = []
    found: list[Problem] = []
    for volume, problems in _checked(volumes or (), path, metadata):
        found += problems
        if volume is not None:
            valid.append(volume)
    return valid, found


def _checked(
    volumes: Sequence[Value], path: str, metadata: Value | None
) -> Iterator[tuple[Value | None, list[Problem]]]:
    """Each volume, unless something is wrong with it, and what that is."""
    pod = (metadata or {}).get("name") or ""
    claims = set()
    if pod:
        claims = {
            f"{pod}-{volume.get('name') or ''}"
            for volume in volumes
            if volume.get("ephemeral") is not None
        }
    names: set[str] = set()
    for at, volume in enumerate(volumes):
        here = f"{path}[{at}]"
        name = volume.get("name") or ""
        problems = list(_source_problems(volume, name, here, metadata))
        if not name:
            problems.append(required_field(f"{here}.name"))
        else:
            problems += [
                invalid_field(f"{here}.name", name, text) for text in label_name_problems(name)
            ]
        if name in names:
            problems.append(duplicate_field(f"{here}.name", name))
        valid = None if problems else volume
        if valid is not None:
            names.add(name)
        claim = (volume.get("persistentVolumeClaim") or {}).get("claimName") or ""
        if volume.get("persistentVolumeClaim") is not None and claim in claims:
            text = "must not reference a PVC that gets created for an ephemeral volume"
            problems.append(invalid_field(f"{here}.persistentVolumeClaim.claimName", claim, text))
        yield valid, problems


def _source_problems(
    volume: Value, name: str, path: str, metadata: Value | None
) -> Iterator[Problem]:
    count = 0
    for source, check, told, checked in _ORDER:
        found = volume.get(source)
        if found is None:
            continue
        if count:
            yield forbidden_field(f"{path}.{told}", "may not specify more than 1 volume type")
        else:
            count += 1
            yield from check(found, f"{path}.{checked}")
            if source == "ephemeral":
                yield from _claim_name_problems(name, path, metadata)
            elif source == "image" and metadata is not None and not found.get("reference"):
                yield required_field(f"{path}.image.reference")
            if source == "image":
                yield from _pull_policy_problems(found.get("pullPolicy") or "", path)
        if source == "iscsi" and found.get("initiatorName") is not None:
            portal = found.get("targetPortal") or ""
            if len(f"{name}:{portal}".encode()) > _LONGEST_PORTAL:
                yield invalid_field(f"{path}.name", name, _PORTAL_TEXT)
    if not count:
        yield required_field(path, "must specify a volume type")


def _empty_dir(source: Value, path: str) -> Iterator[Problem]:
    limit = source.get("sizeLimit")
    if limit is not None and quantity_value(limit) < 0:
        text = "SizeLimit field must be a valid resource quantity"
        yield forbidden_field(f"{path}.sizeLimit", text)


def _csi(source: Value, path: str) -> Iterator[Problem]:
    yield from driver_name_problems(f"{path}.driver", source.get("driver"))
    secret = source.get("nodePublishSecretRef")
    if secret is None:
        return
    if not secret.get("name"):
        yield required_field(f"{path}.nodePublishSecretRef.name")
        return
    for text in subdomain_problems(secret["name"]):
        yield invalid_field(f"{path}.name", secret["name"], text)


def _nothing(source: Value, path: str) -> Iterator[Problem]:
    yield from ()


def _claim_name_problems(name: str, path: str, metadata: Value | None) -> Iterator[Problem]:
    pod = (metadata or {}).get("name") or ""
    if pod and name:
        claim = f"{pod}-{name}"
        for text in subdomain_problems(claim):
            yield invalid_field(f"{path}.name", name, f'PVC name "{claim}": {text}')


def _pull_policy_problems(policy: str, path: str) -> Iterator[Problem]:
    field = f"{path}.image.pullPolicy"
    if not policy:
        yield required_field(field)
    elif policy not in _PULL_POLICIES:
        yield unsupported_field(field, policy, _PULL_POLICIES)


_OWN: dict[str, Callable[[Any, str], Iterator[Problem]]] = {
    "emptyDir": _empty_dir,
    "secret": secret_problems,
    "configMap": config_map_problems,
    "downwardAPI": downward_problems,
    "projected": projected_problems,
    "csi": _csi,
    "ephemeral": ephemeral_problems,
    "image": _nothing,
}
# Two sources are told of by other names where a volume has one too many, one where it is checked.
_TOLD = {"cephfs": "cephFS", "downwardAPI": "downwarAPI"}
_CHECKED = {"gcePersistentDisk": "persistentDisk"}
_NAMES = """
    emptyDir hostPath gitRepo gcePersistentDisk awsElasticBlockStore secret nfs iscsi glusterfs
    flocker persistentVolumeClaim rbd cinder cephfs quobyte downwardAPI fc flexVolume configMap
    azureFile vsphereVolume photonPersistentDisk portworxVolume azureDisk storageos projected
    scaleIO csi ephemeral image
"""
_ORDER = tuple(
    (name, _OWN.get(name) or SOURCES[name], _TOLD.get(name, name), _CHECKED.get(name, name))
    for name in _NAMES.split()
)
