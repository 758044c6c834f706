"""Where the real server keeps an object in etcd: one of its messages tells it."""

from __future__ import annotations

from ..statuses import Refused
from ..types.served import ResourceType
from ..validation.problems import conflict
from .log import Key

__all__ = ["uid_precondition_failed"]

_FOLDERS = {
    "endpoints": "services/endpoints",
    "services": "services/specs",
    "nodes": "minions",
    "replicationcontrollers": "controllers",
    "networking.k8s.io/ingresses": "ingress",
}
_BY_GROUP = frozenset({"apiextensions.k8s.io", "apiregistration.k8s.io"})


def uid_precondition_failed(of: ResourceType, key: Key, sent: str, stored: str) -> Refused:
    """409: the client wants to change an object of another uid, which is gone. `stored` is empty
    where there is none at all.
    """
    text = (
        f"StorageError: invalid object, Code: 4, Key: {_path(of, key)}, ResourceVersion: 0, "
        f"AdditionalErrorMsg: Precondition failed: UID in precondition: {sent}, "
        f"UID in object meta: {stored}"
    )
    return conflict(of, key[1], text)


def _path(of: ResourceType, key: Key) -> str:
    folder = _FOLDERS.get(of.storage, of.plural)
    if of.custom or of.group in _BY_GROUP:
        folder = f"{of.group}/{folder}"
    return "/".join(("/registry", folder, *filter(None, key)))
