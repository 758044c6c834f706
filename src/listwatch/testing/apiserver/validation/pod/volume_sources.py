"""Where a volume comes from: the sources that pods, and most of them persistent volumes, have."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from ..basics import in_range
from ..checks import Value
from ..names import label_name_problems
from ..problems import (
    Problem,
    invalid_field,
    required_field,
    unsupported_field,
)
from .paths import descending_path_problems, no_way_back

__all__ = ["SOURCES", "_required_members", "initiator_problems"]

Check = Callable[[Value, str], Iterator[Problem]]

_HOST_PATH_TYPES = (
    "",
    "BlockDevice",
    "CharDevice",
    "Directory",
    "DirectoryOrCreate",
    "File",
    "FileOrCreate",
    "Socket",
)
_INITIATORS = {
    "iqn": re.compile(r"iqn\.[0-9]{4}-[0-9]{2}\.([a-zA-Z0-9.-]+)(:[^,;*&$|\s]+)$").search,
    "eui": re.compile(r"eui.[a-zA-Z0-9]{16}").fullmatch,
    "naa": re.compile(r"naa.[a-zA-Z0-9]{32}").fullmatch,
}
_CACHING = ("None", "ReadOnly", "ReadWrite")
_DISK_KINDS = ("Dedicated", "Managed", "Shared")
_MANAGED_DISK = (
    "/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/"
    "{disk-id}"
)
_BLOB_DISK = "https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd"
_REGISTRY_TEXT = "must be a host:port pair or multiple pairs separated by commas"
_LONGEST_TENANT = 64
_is_pair = re.compile(r"(\[[^\[\]]*\]|[^:\[\]]*):[^:\[\]]*").fullmatch


def _required_members(*names: str) -> Check:
    """A check that these members are there, and nothing else."""

    def check(source: Value, path: str) -> Iterator[Problem]:
        for name in names:
            if not source.get(name):
                yield required_field(f"{path}.{name}")

    return check


def _host_path(source: Value, path: str) -> Iterator[Problem]:
    place = source.get("path") or ""
    if not place:
        yield required_field(f"{path}.path")
        return
    yield from no_way_back(f"{path}.path", place)
    kind = source.get("type")
    if kind is not None and kind not in _HOST_PATH_TYPES:
        yield unsupported_field(f"{path}.type", kind, _HOST_PATH_TYPES)


def _git_repo(source: Value, path: str) -> Iterator[Problem]:
    if not source.get("repository"):
        yield required_field(f"{path}.repository")
    yield from descending_path_problems(f"{path}.directory", source.get("directory") or "")


def initiator_problems(field: str, name: str, *, says_start: bool = True) -> Iterator[Problem]:
    """The name of an iSCSI node. `says_start`: whether a wrong start is told as one."""
    form = _INITIATORS.get(name[:3])
    if form is None:
        start = " starting with iqn, eui, or naa" if says_start else ""
        yield invalid_field(field, name, f"must be valid format{start}")
    elif not form(name):
        yield invalid_field(field, name, "must be valid format")


def _iscsi(source: Value, path: str) -> Iterator[Problem]:
    if not source.get("targetPortal"):
        yield required_field(f"{path}.targetPortal")
    if not source.get("iqn"):
        yield required_field(f"{path}.iqn")
    else:
        yield from initiator_problems(f"{path}.iqn", source["iqn"])
    yield from in_range(f"{path}.lun", source.get("lun"), 0, 255)
    needs_secret = source.get("chapAuthDiscovery") or source.get("chapAuthSession")
    if needs_secret and source.get("secretRef") is None:
        yield required_field(f"{path}.secretRef")
    initiator = source.get("initiatorName")
    if initiator is not None:
        yield from initiator_problems(f"{path}.initiatorname", initiator)


def _fibre_channel(source: Value, path: str) -> Iterator[Problem]:
    names, ids = source.get("targetWWNs"), source.get("wwids")
    at = f"{path}.targetWWNs"
    if not names and not ids:
        yield required_field(at, "must specify either targetWWNs or wwids, but not both")
    if names and ids:
        yield invalid_field(at, names, "targetWWNs and wwids can not be specified simultaneously")
    if names:
        if source.get("lun") is None:
            yield required_field(f"{path}.lun", "lun is required if targetWWNs is specified")
        else:
            yield from in_range(f"{path}.lun", source["lun"], 0, 255)


def _disk(name: str) -> Check:
    """A disk of a cloud, with a partition."""

    def check(source: Value, path: str) -> Iterator[Problem]:
        if not source.get(name):
            yield required_field(f"{path}.{name}")
        partition = source.get("partition") or 0
        if not 0 <= partition <= 255:
            text = "must be between 1 and 255, inclusive"
            yield invalid_field(f"{path}.partition", partition, text)

    return check


def _nfs(source: Value, path: str) -> Iterator[Problem]:
    place = source.get("path") or ""
    if not source.get("server"):
        yield required_field(f"{path}.server")
    if not place:
        yield required_field(f"{path}.path")
    if not place.startswith("/"):
        yield invalid_field(f"{path}.path", place, "must be an absolute path")


def _quobyte(source: Value, path: str) -> Iterator[Problem]:
    registry = source.get("registry") or ""
    if not registry:
        yield required_field(f"{path}.registry", _REGISTRY_TEXT)
    elif len((source.get("tenant") or "").encode()) > _LONGEST_TENANT:
        text = f"must be a UUID and may not exceed a length of {_LONGEST_TENANT} characters"
        yield required_field(f"{path}.tenant", text)
    else:
        for pair in registry.split(","):
            if not _is_pair(pair):
                yield invalid_field(f"{path}.registry", registry, _REGISTRY_TEXT)
    if not source.get("volume"):
        yield required_field(f"{path}.volume")


def _flocker(source: Value, path: str) -> Iterator[Problem]:
    name, uid = source.get("datasetName") or "", source.get("datasetUUID")
    if not name and not uid:
        yield required_field(path, "one of datasetName and datasetUUID is required")
    if name and uid:
        text = "datasetName and datasetUUID can not be specified simultaneously"
        yield invalid_field(path, "resource", text)
    if "/" in name:
        yield invalid_field(f"{path}.datasetName", name, "must not contain '/'")


def _flex(source: Value, path: str) -> Iterator[Problem]:
    if not source.get("driver"):
        yield required_field(f"{path}.driver")
    for key in source.get("options") or ():
        domain = "." + key.partition("/")[0].lower()
        if domain.endswith((".kubernetes.io", ".k8s.io")):
            text = "kubernetes.io and k8s.io namespaces are reserved"
            yield invalid_field(f"{path}.options[{key}]", key, text)


def _with_secret(name: str) -> Check:
    """A source that needs one member, and perhaps a secret, which has a name."""

    def check(source: Value, path: str) -> Iterator[Problem]:
        if not source.get(name):
            yield required_field(f"{path}.{name}")
        secret = source.get("secretRef")
        if secret is not None and not secret.get("name"):
            yield required_field(f"{path}.secretRef.name")

    return check


def _azure_disk(source: Value, path: str) -> Iterator[Problem]:
    if not source.get("diskName"):
        yield required_field(f"{path}.diskName")
    uri, caching, kind = source.get("diskURI") or "", source.get("cachingMode"), source.get("kind")
    if not uri:
        yield required_field(f"{path}.diskURI")
    if caching is not None and caching not in _CACHING:
        yield unsupported_field(f"{path}.cachingMode", caching, _CACHING)
    if kind is None:
        return
    if kind not in _DISK_KINDS:
        yield unsupported_field(f"{path}.kind", kind, _DISK_KINDS)
    if kind == "Managed" and not uri.startswith("/subscriptions/"):
        yield unsupported_field(f"{path}.diskURI", uri, (_MANAGED_DISK,), plain=True)
    if kind != "Managed" and not uri.startswith("https://"):
        yield unsupported_field(f"{path}.diskURI", uri, (_BLOB_DISK,), plain=True)


def _storage_os(source: Value, path: str) -> Iterator[Problem]:
    for name in ("volumeName", "volumeNamespace"):
        value = source.get(name)
        if value:
            for text in label_name_problems(value):
                yield invalid_field(f"{path}.{name}", value, text)
        elif name == "volumeName":
            yield required_field(f"{path}.{name}")
    secret = source.get("secretRef")
    if secret is not None and not secret.get("name"):
        yield required_field(f"{path}.secretRef.name")


SOURCES: dict[str, Check] = {
    "hostPath": _host_path,
    "gitRepo": _git_repo,
    "gcePersistentDisk": _disk("pdName"),
    "awsElasticBlockStore": _disk("volumeID"),
    "nfs": _nfs,
    "iscsi": _iscsi,
    "glusterfs": _required_members("endpoints", "path"),
    "flocker": _flocker,
    "persistentVolumeClaim": _required_members("claimName"),
    "rbd": _required_members("monitors", "image"),
    "cinder": _with_secret("volumeID"),
    "cephfs": _required_members("monitors"),
    "quobyte": _quobyte,
    "fc": _fibre_channel,
    "flexVolume": _flex,
    "azureFile": _required_members("secretName", "shareName"),
    "vsphereVolume": _required_members("volumePath"),
    "photonPersistentDisk": _required_members("pdID"),
    "portworxVolume": _required_members("volumeID"),
    "azureDisk": _azure_disk,
    "storageos": _storage_os,
    "scaleIO": _required_members("gateway", "system", "volumeName"),
}
"""The check of each source, given it and its path."""
