"""How controllers read and write: the store is their cache, and their writes are requests."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from datetime import datetime
from typing import Any, Protocol

from ..auth import Auth
from ..messages import Answer, Reaction, ServerRequest
from ..reading.encoding import go_json
from ..storage.log import Key, StoredObject
from ..storage.state import State
from ..types.served import ResourceType
from ..writing.metadata import timestamp

__all__ = ["MANAGER", "Client", "Core"]

MANAGER = "kube-controller-manager"
"""Whose writes they are, in managedFields."""
_MERGE, _APPLY = "application/merge-patch+json", "application/apply-patch+yaml"
_log = logging.getLogger(__name__)


class Core(Protocol):
    """As much of `core.APIServer` as controllers use."""

    state: State
    auth: Auth | None
    webhooks: bool

    def handle(self, request: ServerRequest) -> Reaction: ...


class Client:
    """Acts under the name of a program.

    What the server refuses is told by the result, and logged at the level of debugging.
    """

    def __init__(self, core: Core, program: str = MANAGER) -> None:
        self._core = core
        self._program = program
        self.refusal = ""
        """Why the last write was refused; empty: it was not."""

    @property
    def state(self) -> State:
        return self._core.state

    # Time

    @property
    def now(self) -> datetime:
        return self.state.wall()

    @property
    def stamp(self) -> str:
        """Now, as objects have it."""
        return timestamp(self.state.wall())

    # Reading

    def get(self, storage: str, key: Key) -> StoredObject | None:
        return self.state.log.get(storage, key)

    def list(self, storage: str, namespace: str = "") -> list[StoredObject]:
        return list(self.state.log.objects(storage, namespace=namespace))

    # Writing

    def create(
        self, storage: str, namespace: str, value: Mapping[str, Any]
    ) -> Mapping[str, Any] | None:
        """The object as it was stored; None: refused."""
        return self._write("POST", storage, (namespace, ""), value)

    def update(self, storage: str, value: Mapping[str, Any]) -> Mapping[str, Any] | None:
        return self._write("PUT", storage, _key(value), value)

    def update_status(
        self, storage: str, value: Mapping[str, Any], status: Mapping[str, Any]
    ) -> Mapping[str, Any] | None:
        """Write `status` into `value`, and what else a status write may change."""
        return self._write("PUT", storage, _key(value), {**value, "status": status}, "status")

    def patch(
        self,
        storage: str,
        key: Key,
        patch: Mapping[str, Any],
        subresource: str = "",
    ) -> Mapping[str, Any] | None:
        """A merge patch."""
        return self._write("PATCH", storage, key, patch, subresource)

    def post(
        self, storage: str, key: Key, subresource: str, value: Mapping[str, Any]
    ) -> Mapping[str, Any] | None:
        return self._write("POST", storage, key, value, subresource)

    def apply(
        self, storage: str, configuration: Mapping[str, Any], *, manager: str
    ) -> Mapping[str, Any] | None:
        """A server-side apply in the name of `manager`, whoever else has had the fields."""
        key = _key(configuration)
        query = (("fieldManager", manager), ("force", "true"))
        return self._write("PATCH", storage, key, configuration, "", kind=_APPLY, query=query)

    def delete(
        self,
        storage: str,
        found: StoredObject,
        *,
        policy: str = "",
        grace: int | None = None,
    ) -> bool:
        """Delete this object, and no other of its name. False: refused."""
        options: dict[str, Any] = {"preconditions": {"uid": found.metadata["uid"]}}
        if policy:
            options["propagationPolicy"] = policy
        if grace is not None:
            options["gracePeriodSeconds"] = grace
        return self._write("DELETE", storage, found.key, options) is not None

    def _write(
        self,
        method: str,
        storage: str,
        key: Key,
        body: Mapping[str, Any],
        subresource: str = "",
        *,
        kind: str = "",
        query: tuple[tuple[str, str], ...] = (),
    ) -> Mapping[str, Any] | None:
        versions = self.state.types.versions_of(storage)
        if not versions:
            self.refusal = f"nothing serves {storage}"
            return None
        path = _path(versions[0], key, subresource)
        content_type = kind or (_MERGE if method == "PATCH" else "application/json")
        request = ServerRequest(
            method=method,
            path=path,
            query=query,
            headers={
                "accept": "application/json",
                "content-type": content_type,
                "user-agent": self._program,
            },
            body=go_json(body),
        )
        # It has credentials of its own, which nobody's rules are about, and cannot wait for
        # webhooks.
        auth, self._core.auth = self._core.auth, None
        webhooks, self._core.webhooks = self._core.webhooks, False
        try:
            answer = self._core.handle(request)
        finally:
            self._core.auth, self._core.webhooks = auth, webhooks
        assert isinstance(answer, Answer)
        result: dict[str, Any] = json.loads(answer.body)
        if answer.status < 300:
            self.refusal = ""
            return result
        self.refusal = str(result.get("message", answer.status))
        _log.debug("%s %s was refused: %s", method, path, self.refusal)
        return None


def _path(of: ResourceType, key: Key, subresource: str) -> str:
    namespace, name = key
    parts = [f"/apis/{of.group}/{of.version}" if of.group else f"/api/{of.version}"]
    if namespace:
        parts.append(f"namespaces/{namespace}")
    parts += [of.plural, *filter(None, (name, subresource))]
    return "/".join(parts)


def _key(value: Mapping[str, Any]) -> Key:
    return value["metadata"].get("namespace", ""), value["metadata"]["name"]
