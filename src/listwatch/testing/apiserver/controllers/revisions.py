"""ControllerRevisions: the templates that a StatefulSet or DaemonSet had, and has."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..storage.log import StoredObject
from .client import Client
from .hashes import template_hash
from .owners import controller_uid, owned_by

__all__ = ["Revisions"]

_STORAGE = "apps/controllerrevisions"


class Revisions:
    """Of one owner. `label` names its hash in the labels of a revision."""

    def __init__(self, client: Client, owner: Mapping[str, Any], label: str) -> None:
        self._client = client
        self._owner = owner
        self._label = label

    @property
    def all(self) -> list[StoredObject]:
        """The newest last."""
        metadata = self._owner["metadata"]
        found = [
            revision
            for revision in self._client.list(_STORAGE, metadata["namespace"])
            if controller_uid(revision.metadata) == metadata["uid"]
        ]
        return sorted(found, key=lambda revision: int(revision.value.get("revision", 0)))

    def current(self) -> StoredObject | None:
        """The revision of the present template: made if it is new, and the newest in any case.
        None: the server does not take it.
        """
        template = self._owner["spec"]["template"]
        data = {"spec": {"template": {"$patch": "replace", **template}}}
        known = self.all
        number = 1 + max((int(found.value.get("revision", 0)) for found in known), default=0)
        for found in known:
            if found.value.get("data") == data:
                if found is not known[-1]:
                    self._client.patch(_STORAGE, found.key, {"revision": number})
                return self._client.get(_STORAGE, found.key)
        digest = template_hash(template)
        metadata = self._owner["metadata"]
        labels = (template.get("metadata") or {}).get("labels") or {}
        name = f"{metadata['name']}-{digest}"
        revision = {
            "apiVersion": "apps/v1",
            "kind": "ControllerRevision",
            "metadata": {
                "name": name,
                "namespace": metadata["namespace"],
                "labels": {**labels, self._label: digest},
                "annotations": metadata.get("annotations") or {},
                "ownerReferences": [owned_by(self._owner)],
            },
            "data": data,
            "revision": number,
        }
        self._client.create(_STORAGE, metadata["namespace"], revision)
        return self._client.get(_STORAGE, (metadata["namespace"], name))

    def template(self, name: str) -> Mapping[str, Any]:
        """The template of a revision; the present one where that is gone."""
        found = self._client.get(_STORAGE, (self._owner["metadata"]["namespace"], name))
        data = self._owner if found is None else found.value["data"]
        template: Mapping[str, Any] = data["spec"]["template"]
        return {part: value for part, value in template.items() if part != "$patch"}

    def clean_up(self, used: set[str]) -> None:
        """Delete the oldest that `revisionHistoryLimit` does not want, and nobody uses."""
        old = [found for found in self.all if found.key[1] not in used]
        limit = self._owner["spec"].get("revisionHistoryLimit", 10)
        for found in old[: max(0, len(old) - limit)]:
            self._client.delete(_STORAGE, found)
