"""What a request asks for, read from its method and path alone.

The real server makes this before it looks whether anything of the kind exists: permissions are
checked against it, and custom resources are found by it.
"""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import unquote_to_bytes

from ..messages import Answer, ServerRequest
from ..plain import plain_text
from ..statuses import Refused

__all__ = ["RequestInfo", "decoded_path", "is_true", "request_info"]

_VERBS = {
    "GET": "get",
    "HEAD": "get",
    "POST": "create",
    "PUT": "update",
    "PATCH": "patch",
    "DELETE": "delete",
}
_WITHOUT_NAME = {"get": "list", "delete": "deletecollection"}
_OF_NAMESPACES = frozenset({"status", "finalize"})
_SPECIAL = frozenset({"proxy", "watch"})


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestInfo:
    """A request for a resource, or for another path."""

    verb: str
    """As RBAC names it: `get`, `list`, `watch`, `create`, `update`, `patch`, `delete`,
    `deletecollection`; of other paths the method in small letters. Empty for strange methods.
    """
    path: str
    """Decoded."""
    is_resource: bool = False
    group: str = ""
    version: str = ""
    resource: str = ""
    subresource: str = ""
    namespace: str = ""
    name: str = ""
    segments: tuple[str, ...] = ()
    """What stands behind the group version, a leading `watch` included."""

    @property
    def resource_name(self) -> str:
        """As RBAC rules and refusals write it: `pods/status`."""
        return f"{self.resource}/{self.subresource}" if self.subresource else self.resource

    @property
    def qualified_name(self) -> str:
        """`deployments.apps`"""
        return f"{self.resource}.{self.group}" if self.group else self.resource


def request_info(request: ServerRequest) -> RequestInfo:
    """Raises `Refused` for a path that breaks off in the middle."""
    path = decoded_path(request.path)
    parts = path.strip("/").split("/")
    groupless = parts[0] == "api"
    if len(parts) < (3 if groupless else 4) or not (groupless or parts[0] == "apis"):
        return RequestInfo(verb=request.method.lower(), path=path)
    group, version = ("", parts[1]) if groupless else (parts[1], parts[2])
    segments = parts[2:] if groupless else parts[3:]
    rest = segments
    if rest[0] in _SPECIAL:
        if len(rest) < 2:
            raise Refused(_broken_off(path))
        verb, rest = rest[0], rest[1:]
    else:
        verb = _VERBS.get(request.method, "")
    namespace = ""
    if rest[0] == "namespaces" and len(rest) > 1:
        namespace = rest[1]
        if len(rest) > 2 and rest[2] not in _OF_NAMESPACES:
            rest = rest[2:]
    name = rest[1] if len(rest) > 1 else ""
    if not name and verb in _WITHOUT_NAME:
        verb = _WITHOUT_NAME[verb]
        if request.query:
            if verb == "list" and is_true(request.parameter("watch")):
                verb = "watch"
            name = _selected_name(request.parameter("fieldSelector"))
    return RequestInfo(
        verb=verb,
        path=path,
        is_resource=True,
        group=group,
        version=version,
        resource=rest[0],
        subresource=rest[2] if len(rest) > 2 and verb not in _SPECIAL else "",
        namespace=namespace,
        name=name,
        segments=tuple(segments),
    )


def decoded_path(path: str) -> str:
    """A path without its percent-escapes. Bytes that are no UTF-8 become U+FFFD."""
    return unquote_to_bytes(path).decode("utf-8", "replace") if "%" in path else path


def is_true(value: str | None) -> bool:
    """A flag in a query as the real server reads it: a bare name is true, and so is nonsense
    (K14, K19).
    """
    return value is not None and value.lower() not in ("false", "0")


def _selected_name(field_selector: str | None) -> str:
    """The name that a field selector asks for: a permission may be for that alone."""
    if not field_selector or "metadata.name" not in field_selector:
        return ""
    for term in field_selector.split(","):
        path, equals, value = term.partition("=")
        if path.strip() == "metadata.name" and equals and value.strip("= "):
            return value.strip("= ")
    return ""


def _broken_off(path: str) -> Answer:
    return plain_text(
        500,
        f'Internal Server Error: "{path}": failed to create RequestInfo: '
        f"unable to determine kind and namespace from url, {path}\n",
    )
