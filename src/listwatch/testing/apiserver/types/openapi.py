"""`/openapi/v3` and `/openapi/v2`: what kubectl reads before it writes (K42, K49, K51).

A document is made when it is first asked for. Its hash, which the index has of all of them, is made
of what it is made of: the release, and the definitions of custom resources.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from ..messages import Answer, ServerRequest
from ..plain import not_found_page
from ..reading.encoding import go_json
from ..reading.negotiation import clauses
from ..statuses import Refused
from ..storage.state import State
from . import openapi_v2, openapi_v3
from .crds import CRD_STORAGE
from .openapi_custom import own_schemas
from .openapi_operations import group_paths, groups_paths, version_paths
from .openapi_protobuf import encode_v2
from .openapi_protobuf_v3 import encode_v3
from .served import ResourceType

__all__ = ["OpenAPI"]

_JSON = frozenset({"application/json", "application/*", "*/*", "*"})
_PROTOBUF = "application/com.github.proto-openapi.spec.{version}.v1.0+protobuf"
_YEAR = timedelta(days=365)
_VARY = ("Vary", "Accept")


class OpenAPI:
    """Answers the paths below `/openapi`."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._since = _gmt(state.wall())
        self._made: dict[str, tuple[str, bytes]] = {}
        """Documents that were asked for, each with the hash that it had then."""

    def answer(self, request: ServerRequest, path: str) -> Answer:
        """Raises `Refused` where nothing is there."""
        if path == "/openapi/v2":
            return self._v2(request)
        if path == "/openapi/v3":
            return self._index()
        if path.startswith("/openapi/v3/"):
            return self._v3(request, path.removeprefix("/openapi/v3/"))
        raise Refused(not_found_page())

    # Version 3

    def _index(self) -> Answer:
        paths = {
            name: {"serverRelativeURL": f"/openapi/v3/{name}?hash={self._hash(name)}"}
            for name in self._names()
        }
        headers = (("Accept-Ranges", "bytes"), ("Last-Modified", _gmt(self._state.wall())))
        body = go_json({"paths": paths})
        return _whole(body, "text/plain; charset=utf-8", headers)

    def _v3(self, request: ServerRequest, name: str) -> Answer:
        if name not in self._names():
            return Answer(status=404, content_type=None)
        kind = _kind(request, "v3")
        if not kind:
            return Answer(status=406, content_type=None, headers=(_VARY,))
        hash_ = self._hash(name)
        etag = ("Etag", f'"{hash_}"')
        asked = request.parameter("hash")
        if asked and asked != hash_:
            location = ("Location", f"/openapi/v3/{name}?hash={hash_}")
            return Answer(status=301, headers=(etag, location, _VARY))
        if request.headers.get("if-none-match") == etag[1]:
            return Answer(status=304, content_type=None, headers=(etag, _VARY))
        headers = [("Accept-Ranges", "bytes"), etag, ("Last-Modified", self._since), _VARY]
        if asked:
            expires = (self._state.wall() + _YEAR).astimezone(UTC)
            headers.append(("Cache-Control", "public, immutable"))
            headers.append(("Expires", expires.strftime("%a, %d %b %Y %H:%M:%S UTC")))
        if kind == "application/json":
            body = self._cached(name, hash_, lambda: go_json(self._document(name)))
        else:
            body = self._cached(f"{name} protobuf", hash_, lambda: encode_v3(self._document(name)))
        return _whole(body, kind, tuple(headers))

    def _names(self) -> list[str]:
        names = {"api", "apis", "version"}
        for of in self._state.types:
            names.add(_name(of.group, of.version))
            if of.group and not of.custom:
                names.add(f"apis/{of.group}")
        return sorted(names)

    def _document(self, name: str) -> Mapping[str, Any]:
        release = self._state.settings.git_version
        small = openapi_v3.small_document
        match name.split("/"):
            case ["version"]:
                return small(version_paths(), release)
            case ["apis"]:
                return small(groups_paths(), release)
            case ["api"]:
                return small(group_paths(""), release)
            case ["apis", group]:
                return small(group_paths(group), release)
        types = self._types(name)
        own = self._own(types)
        return openapi_v3.document(types[0].group, types[0].version, types, own, release)

    def _types(self, name: str) -> list[ResourceType]:
        return [of for of in self._state.types if _name(of.group, of.version) == name]

    def _own(self, types: list[ResourceType]) -> dict[str, dict[str, Any]]:
        custom = [of for of in types if of.custom]
        if not custom:
            return {}
        found = {
            of.qualified_name: stored.value
            for of in custom
            if (stored := self._state.log.get(CRD_STORAGE, ("", of.qualified_name))) is not None
        }
        return own_schemas(custom, found)

    # Version 2

    def _v2(self, request: ServerRequest) -> Answer:
        vary = (("Vary", "Accept-Encoding"), _VARY)
        kind = _kind(request, "v2")
        if not kind:
            return Answer(status=406, content_type=None, headers=vary)
        hash_ = self._hash("")
        etag = ("Etag", f'"{hash_}"')
        if request.headers.get("if-none-match") == etag[1]:
            return Answer(status=304, content_type=None, headers=(etag, *vary))
        headers = (("Accept-Ranges", "bytes"), etag, ("Last-Modified", self._since), *vary)
        if kind == "application/json":
            body = self._cached("v2", hash_, lambda: go_json(self._document_v2()))
        else:
            body = self._cached("v2 protobuf", hash_, lambda: encode_v2(self._document_v2()))
        if "gzip" in request.headers.get("accept-encoding", ""):
            return Answer(status=200, body=body, content_type=kind, headers=headers)
        return _whole(body, kind, headers)

    def _document_v2(self) -> Mapping[str, Any]:
        types = list(self._state.types)
        release = self._state.settings.git_version
        return openapi_v2.document(types, self._own(types), release)

    # What was made

    def _hash(self, name: str) -> str:
        """Of the document of this name; of none: of version 2."""
        digest = hashlib.sha512(f"{self._state.settings.git_version} {name}".encode())
        types = self._types(name) if name else list(self._state.types)
        if types and (types[0].custom or not name):
            custom = [of for of in types if of.custom]
            digest.update(go_json(self._own(custom)))
            for of in custom:
                digest.update(f"{of} {[entry.name for entry in of.subresources]}".encode())
        return digest.hexdigest().upper()

    def _cached(self, name: str, hash_: str, make: Callable[[], bytes]) -> bytes:
        known = self._made.get(name)
        if known is None or known[0] != hash_:
            known = self._made[name] = (hash_, make())
        return known[1]


def _kind(request: ServerRequest, version: str) -> str:
    """The Content-Type of the answer; empty: none is acceptable. In what is asked for, the version
    of the messages is written in another way.
    """
    protobuf = _PROTOBUF.format(version=version)
    for clause in clauses(request.headers.get("accept", "")):
        if clause.type in _JSON:
            return "application/json"
        if clause.type in (protobuf, protobuf.replace(f"{version}.v1.0", f"{version}@v1.0")):
            return protobuf
    return ""


def _whole(body: bytes, content_type: str, headers: tuple[tuple[str, str], ...]) -> Answer:
    """An answer that is not cut into chunks, however long."""
    length = ("Content-Length", str(len(body)))
    return Answer(status=200, body=body, content_type=content_type, headers=(*headers, length))


def _name(group: str, version: str) -> str:
    return f"apis/{group}/{version}" if group else f"api/{version}"


def _gmt(moment: datetime) -> str:
    return moment.astimezone(UTC).strftime("%a, %d %b %Y %H:%M:%S GMT")
