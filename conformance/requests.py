"""Requests to a Kubernetes API server with the standard library alone.

The tests change objects with this, and with nothing of the library that they are testing.
"""

from __future__ import annotations

import http.client
import json
import ssl
from abc import ABC, abstractmethod
from collections.abc import Mapping
from email.message import Message
from typing import Any, NamedTuple, Self
from urllib.parse import urlsplit

Json = dict[str, Any]

MERGE_PATCH = "application/merge-patch+json"


class Response(NamedTuple):
    """An answer, whatever its status."""

    status: int
    headers: Message
    body: bytes

    def json(self) -> Json:
        value = json.loads(self.body)
        assert isinstance(value, dict)
        return value


class RequestFailed(Exception):
    """The server refused one of the verbs of `Requests` (`request` itself never raises this)."""

    def __init__(self, what: str, response: Response) -> None:
        self.status = response.status
        self.body = response.body
        super().__init__(f"{what}: {response.status} {response.body[:500]!r}")


class Requests(ABC):
    """What can be asked of the server, given one way to send a request."""

    @abstractmethod
    def request(
        self,
        method: str,
        path: str,
        body: object = None,
        *,
        token: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Response:
        """Send one request and return the answer.

        ``body`` goes out as JSON unless it is bytes. ``token`` is the admin's when None, and no
        token at all when empty.
        """

    def get(self, path: str) -> Json:
        """Read an object, a list, or any other JSON document."""
        return self._checked("GET", path)

    def create(self, path: str, obj: Mapping[str, Any]) -> Json:
        """POST to a collection such as ``/api/v1/namespaces/default/pods``."""
        return self._checked("POST", path, obj)

    def replace(self, path: str, obj: Mapping[str, Any]) -> Json:
        """PUT an object."""
        return self._checked("PUT", path, obj)

    def patch(self, path: str, patch: object, *, content_type: str = MERGE_PATCH) -> Json:
        """PATCH an object, by default with a merge patch."""
        return self._checked("PATCH", path, patch, content_type)

    def delete(self, path: str, **options: Any) -> Json:
        """DELETE an object or a collection; ``options`` are those of DeleteOptions."""
        return self._checked("DELETE", path, options or None)

    def _checked(
        self, method: str, path: str, body: object = None, content_type: str = "application/json"
    ) -> Json:
        headers = {"Content-Type": content_type} if body is not None else {}
        response = self.request(method, path, body, headers=headers)
        if response.status >= 300:
            raise RequestFailed(f"{method} {path}", response)
        return response.json()


class Session(Requests):
    """One kept-alive connection: for many requests in a row. Not for several threads at once."""

    def __init__(
        self, server: str, tls: ssl.SSLContext, token: str, *, timeout: float = 90
    ) -> None:
        address = urlsplit(server)
        assert address.hostname is not None
        self._token = token
        self._connection = http.client.HTTPSConnection(
            address.hostname,
            address.port,
            timeout=timeout,
            context=tls,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def close(self) -> None:
        self._connection.close()

    def request(
        self,
        method: str,
        path: str,
        body: object = None,
        *,
        token: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Response:
        """See `Requests.request`."""
        sent = {"Accept": "application/json", **(headers or {})}
        if token is None:
            token = self._token
        if token:
            sent["Authorization"] = f"Bearer {token}"
        data: bytes | None = None
        if body is not None:
            sent.setdefault("Content-Type", "application/json")
            data = body if isinstance(body, bytes) else json.dumps(body).encode()
        self._connection.request(method, path, data, sent)
        response = self._connection.getresponse()
        return Response(response.status, response.headers, response.read())


class SessionRequests(Requests):
    """Requests that each go over a connection of their own, so any thread may make them."""

    @abstractmethod
    def session(self) -> Session:
        """A kept-alive connection of the admin's."""

    def request(
        self,
        method: str,
        path: str,
        body: object = None,
        *,
        token: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Response:
        """See `Requests.request`."""
        with self.session() as session:
            return session.request(method, path, body, token=token, headers=headers)
