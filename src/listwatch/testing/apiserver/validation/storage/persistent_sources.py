"""Where a PersistentVolume comes from. Most sources are those of pods; what differs is here."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ..basics import driver_name_problems, in_range, name_at, texts
from ..checks import Value
from ..names import label_name_problems, subdomain_problems
from ..pod.paths import no_way_back
from ..pod.volume_sources import SOURCES as POD_SOURCES
from ..pod.volume_sources import initiator_problems
from ..problems import Problem, forbidden_field, invalid_field, required_field

__all__ = ["SOURCES", "WITH_MOUNT_OPTIONS", "source_problems"]

SOURCES = {
    "gcePersistentDisk": "GCEPersistentDisk",
    "awsElasticBlockStore": "AWSElasticBlockStore",
    "hostPath": "HostPath",
    "glusterfs": "Glusterfs",
    "nfs": "NFS",
    "rbd": "RBD",
    "quobyte": "Quobyte",
    "iscsi": "ISCSI",
    "flexVolume": "FlexVolume",
    "cinder": "Cinder",
    "cephfs": "CephFS",
    "fc": "FC",
    "flocker": "Flocker",
    "azureFile": "AzureFile",
    "vsphereVolume": "VsphereVolume",
    "azureDisk": "AzureDisk",
    "photonPersistentDisk": "PhotonPersistentDisk",
    "portworxVolume": "PortworxVolume",
    "scaleIO": "ScaleIO",
    "local": "Local",
    "storageos": "StorageOS",
    "csi": "CSI",
}
"""The members of spec that are sources, in the order of the real server's struct of them, with its
names.
"""
WITH_MOUNT_OPTIONS = frozenset(SOURCES) - {
    "hostPath",
    "flexVolume",
    "fc",
    "flocker",
    "portworxVolume",
    "scaleIO",
    "local",
    "storageos",
    "csi",
}
_LOOKED_AT = (
    *("hostPath", "gcePersistentDisk", "awsElasticBlockStore", "glusterfs", "flocker", "nfs"),
    *("rbd", "quobyte", "cephfs", "iscsi", "cinder", "fc", "flexVolume", "azureFile"),
    *("vsphereVolume", "photonPersistentDisk", "portworxVolume", "azureDisk", "scaleIO", "local"),
    *("storageos", "csi"),
)
_PATHS = {"gcePersistentDisk": "persistentDisk"}
"""Those whose own problems are told of another path."""
_FORBIDDEN_PATHS = {"cephfs": "cephFS"}
_SECRETS = (
    "controllerPublishSecretRef",
    "controllerExpandSecretRef",
    "nodePublishSecretRef",
    "nodeExpandSecretRef",
)


def source_problems(spec: Value, path: str, name: str) -> Iterator[Problem]:
    """What is wrong with the one source of the volume of that name."""
    count = 0
    for kind in _LOOKED_AT:
        source = spec.get(kind)
        if source is None:
            continue
        if count and kind != "flexVolume":
            text = "may not specify more than 1 volume type"
            yield forbidden_field(f"{path}.{_FORBIDDEN_PATHS.get(kind, kind)}", text)
            continue
        count += 1
        here = f"{path}.{_PATHS.get(kind, kind)}"
        if kind == "iscsi":
            yield from _iscsi(source, here, name)
        else:
            yield from (_OWN.get(kind) or POD_SOURCES[kind])(source, here)
        if kind == "local" and spec.get("nodeAffinity") is None:
            yield required_field(f"{path}.nodeAffinity", "Local volume requires node affinity")
    if not count:
        yield required_field(path, "must specify a volume type")


def _csi(source: Value, path: str) -> Iterator[Problem]:
    yield from driver_name_problems(f"{path}.driver", source.get("driver") or "")
    if not source.get("volumeHandle"):
        yield required_field(f"{path}.volumeHandle")
    for name in _SECRETS:
        secret = source.get(name)
        if secret is not None:
            yield from name_at(f"{path}.{name}.name", secret.get("name"), subdomain_problems)
            yield from name_at(f"{path}.{name}.namespace", secret.get("namespace"))


def _local(source: Value, path: str) -> Iterator[Problem]:
    if not source.get("path"):
        yield required_field(f"{path}.path")
    else:
        yield from no_way_back(f"{path}.path", source["path"])


def _glusterfs(source: Value, path: str) -> Iterator[Problem]:
    yield from POD_SOURCES["glusterfs"](source, path)
    namespace = source.get("endpointsNamespace")
    if namespace == "":
        text = "if the endpointnamespace is set, it must be a valid namespace name"
        yield invalid_field(f"{path}.endpointsNamespace", namespace, text)
    elif namespace is not None:
        field = f"{path}.endpointsNamespace"
        yield from texts(field, namespace, label_name_problems(namespace))


def _azure_file(source: Value, path: str) -> Iterator[Problem]:
    yield from POD_SOURCES["azureFile"](source, path)
    if source.get("secretNamespace") == "":
        yield required_field(f"{path}.secretNamespace")


def _with_secret_elsewhere(kind: str) -> Callable[[Value, str], Iterator[Problem]]:
    """Like that of a pod, but the secret may be in any namespace."""

    def check(source: Value, path: str) -> Iterator[Problem]:
        yield from POD_SOURCES[kind](source, path)
        secret = source.get("secretRef")
        if secret is not None and not secret.get("namespace"):
            yield required_field(f"{path}.secretRef.namespace")

    return check


def _iscsi(source: Value, path: str, volume: str) -> Iterator[Problem]:
    portal, name = source.get("targetPortal") or "", source.get("iqn") or ""
    if not portal:
        yield required_field(f"{path}.targetPortal")
    initiator = source.get("initiatorName")
    if initiator is not None and len(f"{volume}:{portal}") > 64:
        text = (
            "Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if "
            "iscsi.initiatorName is specified."
        )
        yield invalid_field(f"{path}.targetportal", portal, text)
    if not name:
        yield required_field(f"{path}.iqn")
    else:
        yield from initiator_problems(f"{path}.iqn", name, says_start=False)
    yield from in_range(f"{path}.lun", source.get("lun") or 0, 0, 255)
    secret = source.get("secretRef")
    if secret is None and (source.get("chapAuthDiscovery") or source.get("chapAuthSession")):
        yield required_field(f"{path}.secretRef")
    if secret is not None and not secret.get("name"):
        yield required_field(f"{path}.secretRef.name")
    if initiator is not None:
        yield from initiator_problems(f"{path}.initiatorname", initiator, says_start=False)


_OWN: dict[str, Callable[[Value, str], Iterator[Problem]]] = {
    "csi": _csi,
    "local": _local,
    "glusterfs": _glusterfs,
    "azureFile": _azure_file,
    "cinder": _with_secret_elsewhere("cinder"),
    "storageos": _with_secret_elsewhere("storageos"),
}
