"""A transport that makes Tables with columns of a test's own choice: as a real server does, of the
metadata of objects, with the columns in the first event of a watch only.
"""

from __future__ import annotations

import dataclasses
import json
from typing import Any

from listwatch.rest import HTTPRequest, HTTPResponse, Transport
from listwatch.rest.transport import Headers

__all__ = ["ASKED", "Tabling", "column"]

ASKED = "application/json;as=Table;g=meta.k8s.io;v=v1"
"""What asks for Tables."""


def column(name: str, **more: Any) -> dict[str, Any]:
    """A column definition."""
    return {
        "name": name,
        "type": "string",
        "format": "",
        "description": "",
        "priority": 0,
        **more,
    }


class Tabling:
    """Tables of `inner`'s objects: their name, and for each further column the value in `data`."""

    def __init__(self, inner: Transport) -> None:
        self._inner = inner
        self.columns = [column("Name", format="name"), column("a")]
        self.tables = True
        """Whether it makes any: an old server does not."""

    async def send(self, request: HTTPRequest) -> HTTPResponse:
        asked = request.headers.get("Accept", "").startswith(ASKED)
        if asked:  # whoever is behind may make Tables of its own
            plain = {**request.headers, "Accept": "application/json"}
            request = dataclasses.replace(request, headers=plain)
        response = await self._inner.send(request)
        if not (asked and self.tables) or response.status != 200:
            return response
        watch = any(name == "watch" for name, _ in request.query)
        return _Response(response, self._events() if watch else None, self)

    async def close(self) -> None:
        await self._inner.close()

    def _events(self) -> _Events:
        return _Events(self)

    def table(self, *objects: dict[str, Any], metadata: Any, first: bool = True) -> dict[str, Any]:
        return {
            "kind": "Table",
            "apiVersion": "meta.k8s.io/v1",
            "metadata": metadata,
            "columnDefinitions": self.columns if first else None,
            "rows": [self._row(obj) for obj in objects],
        }

    def _row(self, obj: dict[str, Any]) -> dict[str, Any]:
        values = obj.get("data") or {}
        return {
            "cells": [
                obj["metadata"].get("name", "")
                if each["format"] == "name"
                else values.get(each["name"])
                for each in self.columns
            ],
            "object": {
                "kind": "PartialObjectMetadata",
                "apiVersion": "meta.k8s.io/v1",
                "metadata": obj["metadata"],
            },
        }


class _Events:
    """The lines of a watch, each a Table of one row."""

    def __init__(self, tabling: Tabling) -> None:
        self._tabling = tabling
        self._left = b""
        self._first = True

    def feed(self, data: bytes) -> bytes:
        *lines, self._left = (self._left + data).split(b"\n")
        return b"".join(self._event(json.loads(line)) for line in lines)

    def _event(self, event: dict[str, Any]) -> bytes:
        if event["type"] != "ERROR":
            obj = event["object"]
            version = {"resourceVersion": obj["metadata"]["resourceVersion"]}
            event["object"] = self._tabling.table(obj, metadata=version, first=self._first)
            self._first = False
        return json.dumps(event).encode() + b"\n"


class _Response:
    def __init__(self, inner: HTTPResponse, events: _Events | None, tabling: Tabling) -> None:
        self._inner = inner
        self._events = events
        self._tabling = tabling

    @property
    def status(self) -> int:
        return self._inner.status

    @property
    def headers(self) -> Headers:
        return self._inner.headers

    async def receive(self) -> bytes:
        if self._events is None:
            return await self.read()
        while data := await self._inner.receive():
            if found := self._events.feed(data):
                return found
        return b""

    async def read(self, limit: int | None = None) -> bytes:
        body = await self._inner.read()
        if not body:
            return b""
        found = json.loads(body)
        metadata = found["metadata"]
        if "items" not in found:
            table = self._tabling.table(
                found, metadata={"resourceVersion": metadata["resourceVersion"]}
            )
        else:
            table = self._tabling.table(*found["items"], metadata=metadata)
        return json.dumps(table).encode()

    def close(self) -> None:
        self._inner.close()
