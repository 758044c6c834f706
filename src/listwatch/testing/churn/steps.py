"""One write: what a controller, a scheduler, a kubelet or a person does to the server."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import msgspec

from listwatch.testing.apiserver.messages import ServerRequest

__all__ = ["CONTROLLER", "DEPLOYER", "KUBELET", "SCHEDULER", "Step", "Verb"]

CONTROLLER = "kube-controller-manager"
DEPLOYER = "argocd-controller"
KUBELET = "kubelet"
SCHEDULER = "kube-scheduler"

_MERGE_PATCH = "application/merge-patch+json"
_JSON = "application/json"
_VERSION = "v1.36.3"
_encode = msgspec.json.Encoder().encode


class Verb(StrEnum):
    CREATE = "create"
    PATCH = "patch"
    STATUS = "status"
    """A patch of the status."""
    BIND = "bind"
    """A pod gets its node."""
    DELETE = "delete"


@dataclass(slots=True, eq=False)
class Step:
    """One write, and what became of it.

    Whoever carries it out sets `refused` where the server would not have it, and `uid` to that of
    an object that it has created, before the next step is asked for.
    """

    verb: Verb
    resource: str
    """Such as `v1/pods` or `apps/v1/replicasets`."""
    namespace: str
    """Empty for cluster-scoped objects."""
    name: str
    manager: str
    """Who does it: the start of its User-Agent, which becomes its name in managedFields."""
    body: dict[str, Any] | None = None
    """The object, the patch, or the options of a deletion."""
    uid: str = ""
    """Of the object that is meant, where it matters: one of the same name is another one."""
    refused: bool = False

    @property
    def storage(self) -> str:
        """Where the server keeps such objects, such as `apps/replicasets`."""
        group, _, rest = self.resource.rpartition("/")[0].rpartition("/")
        plural = self.resource.rpartition("/")[2]
        return f"{group}/{plural}" if group and rest else plural

    def request(self) -> ServerRequest:
        """The step as a request. There is none for `BIND` (see `carry_out`)."""
        body = self.body or {}
        match self.verb:
            case Verb.CREATE:
                method, kind = "POST", _JSON
            case Verb.DELETE:
                method, kind = "DELETE", _JSON
                if self.uid:
                    body = {**body, "preconditions": {"uid": self.uid}}
            case Verb.PATCH | Verb.STATUS:
                method, kind = "PATCH", _MERGE_PATCH
                if self.uid:
                    body = {**body, "metadata": {**body.get("metadata", {}), "uid": self.uid}}
            case Verb.BIND:
                raise ValueError("the embedded server does not serve bindings yet")
        return ServerRequest(
            method=method,
            path=self._path(),
            headers={"user-agent": f"{self.manager}/{_VERSION}", "content-type": kind},
            body=_encode(body),
        )

    def _path(self) -> str:
        group_version, _, plural = self.resource.rpartition("/")
        root = "apis" if "/" in group_version else "api"
        within = f"namespaces/{self.namespace}/" if self.namespace else ""
        path = f"/{root}/{group_version}/{within}{plural}"
        if self.verb is not Verb.CREATE:
            path += f"/{self.name}"
        return f"{path}/status" if self.verb is Verb.STATUS else path
