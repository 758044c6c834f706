"""Values as the real server shows those that it has no JSON names for.

Its checks look at Go structs that are never sent. Where a message shows a whole one, its members
have Go's names, and all of them are there: `{"APIGroup":"","Kind":"Role","Name":"a"}`.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from ..types.go_structs import GoValue, Struct, struct_named

__all__ = ["internal"]

_INITIALISMS = frozenset(
    {"api", "ca", "csi", "dns", "fs", "gce", "http", "ip", "nfs", "pid", "tcp", "tls", "uid", "url"}
)
_NAMES = {
    "awsElasticBlockStore": "AWSElasticBlockStore",
    "azureFile": "AzureFile",
    "cephfs": "CephFS",
    "fc": "FC",
    "iscsi": "ISCSI",
    "rbd": "RBD",
    "storageos": "StorageOS",
    "cel": "CEL",
    "chapAuthDiscovery": "DiscoveryCHAPAuth",
    "chapAuthSession": "SessionCHAPAuth",
    "cidr": "CIDR",
    "cidrs": "CIDRs",
    "diskURI": "DataDiskURI",
    "gmsaCredentialSpec": "GMSACredentialSpec",
    "gmsaCredentialSpecName": "GMSACredentialSpecName",
    "grpc": "GRPC",
    "iqn": "IQN",
    "iscsiInterface": "ISCSIInterface",
    "jsonPatch": "JSONPatch",
    "os": "OS",
    "pdName": "PDName",
    "seLinuxChangePolicy": "SELinuxChangePolicy",
    "seLinuxMount": "SELinuxMount",
    "seLinuxOptions": "SELinuxOptions",
    "sslEnabled": "SSLEnabled",
    "ttlSecondsAfterFinished": "TTLSecondsAfterFinished",
    "tty": "TTY",
    "wwids": "WWIDs",
}
_RBD = {"monitors": "CephMonitors", "image": "RBDImage", "pool": "RBDPool", "user": "RadosUser"}
_GLUSTER = {"endpoints": "EndpointsName"}
_NAMES_IN = {
    "GlusterfsPersistentVolumeSource": _GLUSTER,
    "GlusterfsVolumeSource": _GLUSTER,
    "RBDPersistentVolumeSource": _RBD,
    "RBDVolumeSource": _RBD,
}
"""Names that are others in these types only."""
_SENT_AS_THEY_ARE = frozenset({"Condition", "LabelSelector", "ObjectMeta"})
"""Types that are the same inside and outside, so that they have JSON names."""
_API = "io.k8s.api."


def internal(name: str, value: Any) -> Any:
    """A value of the built-in type of that name, such as `core.v1.Taint`, with Go's names."""
    return _shown(struct_named(_API + name), value)


def _shown(of: GoValue, value: Any) -> Any:
    if value is None and of.is_pointer:
        return None
    if isinstance(of, Struct):
        if of.name in _SENT_AS_THEY_ARE:
            return of.written(value or {})
        given = value if isinstance(value, dict) else {}
        made: dict[str, Any] = {}
        names = _NAMES_IN.get(of.name, {})
        for name, (member, _) in of.fields.items():
            shown = _shown(member, given.get(name))
            if name == "metadata":
                made |= shown  # its members are those of the whole there
            else:
                made[names.get(name) or _go_name(name)] = shown
        return made
    if value is None:
        return of.zero
    if of.item is not None:
        if isinstance(value, dict):
            return {name: _shown(of.item, value[name]) for name in sorted(value)}
        if isinstance(value, list):
            return [_shown(of.item, found) for found in value]
    return value


@cache
def _go_name(name: str) -> str:
    if name in _NAMES:
        return _NAMES[name]
    end = next((at for at, char in enumerate(name) if not char.islower()), len(name))
    first = name[:end]
    if first in _INITIALISMS:
        return first.upper() + name[end:]
    if end == len(name) and first[:-1] in _INITIALISMS and first.endswith("s"):
        return first[:-1].upper() + "s"
    return name[:1].upper() + name[1:]
