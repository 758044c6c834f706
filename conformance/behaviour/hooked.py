"""A namespace of a server under test whose objects a webhook is asked about."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from conformance.behaviour.space import Space
from conformance.objects import config_map
from conformance.requests import Json, Response
from conformance.waiting import until
from conformance.webhook_server import WebhookServer, denied

__all__ = ["Hooked"]

_BASE = "/apis/admissionregistration.k8s.io/v1"
_KINDS = {
    "validating": "validatingwebhookconfigurations",
    "mutating": "mutatingwebhookconfigurations",
}


class Hooked:
    """A namespace whose objects a webhook is asked about."""

    def __init__(self, space: Space, hooks: WebhookServer) -> None:
        self.space = space
        self.hooks = hooks

    @contextmanager
    def configured(self, kind: str, *webhooks: Json, name: str = "") -> Iterator[None]:
        """For as long, the server knows of these webhooks."""
        server = self.space.server
        name = name or f"{kind}-{uuid.uuid4().hex[:8]}"
        path = f"{_BASE}/{_KINDS[kind]}"
        given = [*webhooks, self._probe()]
        server.create(path, {"metadata": {"name": name}, "webhooks": given})
        try:
            until(self._is_known, what="the server to know its webhooks")
            yield
        finally:
            server.delete(f"{path}/{name}")

    def webhook(self, path: str, *operations: str, **more: Any) -> Json:
        """One for the ConfigMaps of this namespace."""
        resources = more.pop("resources", ["configmaps"])
        rule = {
            "apiGroups": ["*"],
            "apiVersions": ["*"],
            "operations": operations or ("CREATE",),
            "resources": resources,
        }
        return {
            "name": f"{path}.example.com",
            "clientConfig": self.hooks.client_config(path),
            "rules": [rule],
            "sideEffects": "None",
            "admissionReviewVersions": ["v1"],
            "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": self.space.name}},
            "timeoutSeconds": 10,
            **more,
        }

    def asked_at(self, path: str) -> list[Json]:
        """What was asked there of this namespace."""
        return [
            request
            for request in self.hooks.asked_at(path)
            if request.get("namespace") == self.space.name
        ]

    def create(self, name: str, **data: str) -> Response:
        return self.space.ask("POST", self.space.path(), config_map(name, None, **data))

    def _probe(self) -> Json:
        """Who refuses Secrets: so that one knows when the server knows of the others."""
        self.hooks.answer("probe", denied)
        return self.webhook("probe", resources=["secrets"])

    def _is_known(self) -> bool:
        path = self.space.path("secrets", dryRun="All")
        answer = self.space.ask("POST", path, {"metadata": {"name": "probe"}})
        return b"probe.example.com" in answer.body
