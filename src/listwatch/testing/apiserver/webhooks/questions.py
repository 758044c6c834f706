"""What is sent to a webhook, and where."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from ..storage.state import State
from ..validation.problems import go_quoted
from .answers import Failed
from .hooks import Hook

__all__ = ["Place", "Question", "place_of"]

_SLICES = "discovery.k8s.io/endpointslices"


@dataclass(frozen=True, slots=True)
class Place:
    """Where a webhook is."""

    url: str
    """As it is told."""
    address: tuple[str, int]
    """What is connected to."""
    host: str
    """Whose name its certificate must have."""
    authority: bytes
    """PEM; empty: the system's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One request to a webhook: a POST of `body` to its place."""

    place: Place
    body: bytes
    timeout: float
    """Seconds, the connection included."""


def place_of(hook: Hook, state: State) -> Place:
    """Raises `Failed` where it cannot be told."""
    config: Mapping[str, Any] = hook.value.get("clientConfig") or {}
    try:
        authority = base64.b64decode(config.get("caBundle") or "", validate=True)
    except (binascii.Error, ValueError):
        raise Failed("could not get REST client: the caBundle is not in base64") from None
    service = config.get("service")
    if isinstance(service, dict):
        host = f"{service.get('name')}.{service.get('namespace')}.svc"
        port = service.get("port") or 443
        path = str(service.get("path") or "").lstrip("/")
        url = f"https://{host}:{port}/{path}"
        return Place(url, _endpoint(state, service, port, url), host, authority)
    url = str(config.get("url") or "")
    if not url:
        raise Failed("webhook configuration must have either service or URL")
    try:
        parts = urlsplit(url)
        hostname, port = parts.hostname, parts.port or 443
    except ValueError as error:  # as of a port that is too great
        raise Failed(f'failed to call webhook: Post "{url}": {error}') from None
    if not hostname:
        raise Failed(f"Unparsable URL: {url}")
    return Place(url, (hostname, port), hostname, authority)


def _endpoint(state: State, service: Mapping[str, Any], port: int, url: str) -> tuple[str, int]:
    """Who answers for a Service: there is no network here that would know."""
    namespace, name = str(service.get("namespace")), str(service.get("name"))
    found = state.log.get("services", (namespace, name))
    if found is None:
        raise Failed(f'failed to call webhook: Post "{url}": service {go_quoted(name)} not found')
    spec = found.value.get("spec") or {}
    if spec.get("type") == "ExternalName":
        return str(spec.get("externalName")), port
    wanted = next((each for each in spec.get("ports") or () if each.get("port") == port), None)
    for endpoints in state.log.objects(_SLICES, namespace=namespace):
        labels = endpoints.metadata.get("labels") or {}
        if wanted is None or labels.get("kubernetes.io/service-name") != name:
            continue
        for each in endpoints.value.get("ports") or ():
            if (each.get("name") or "") != (wanted.get("name") or "") or not each.get("port"):
                continue
            for endpoint in endpoints.value.get("endpoints") or ():
                if (endpoint.get("conditions") or {}).get("ready") is not False:
                    return str(endpoint["addresses"][0]), int(each["port"])
    text = f"no endpoints available for service {go_quoted(name)}"
    raise Failed(f'failed to call webhook: Post "{url}": {text}')
