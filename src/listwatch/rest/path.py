"""Where a request goes: the path of a resource, checked before anything is sent (B1).

    core group        /api/v1/namespaces/{ns}/pods/{name}/{subresource}
    any other group   /apis/{group}/{version}/namespaces/{ns}/{resource}/{name}/{subresource}

`namespaces/{ns}` is there only when a namespace is given: without one, a list or watch is of all
namespaces.
"""

from __future__ import annotations

from collections.abc import Iterable
from urllib.parse import parse_qsl, quote, unquote

from listwatch.api import APIResource, GroupVersionResource

from .errors import InvalidRequest

__all__ = ["check_segment", "raw_path", "resource_path"]

_SEGMENT_SAFE = ":@$&+,;=!*'()~"
"""What may stand in a segment of a path as it is (RFC 3986, pchar). RBAC names have colons."""


def resource_path(
    resource: APIResource | GroupVersionResource,
    *,
    namespace: str = "",
    name: str = "",
    subresource: Iterable[str] = (),
) -> str:
    """The percent-encoded path of one object, or of a collection when `name` is empty.

    Raises `InvalidRequest` for a part that is no segment of a path, for a subresource without a
    name, and, where the resource says whether it is namespaced, for a namespace too much or too
    few. (A `GroupVersionResource` does not say so.)

    >>> from listwatch.api import GroupVersionResource
    >>> resource_path(GroupVersionResource("apps", "v1", "deployments"), namespace="a", name="web")
    '/apis/apps/v1/namespaces/a/deployments/web'
    """
    plural = resource.resource if isinstance(resource, GroupVersionResource) else resource.name
    if isinstance(resource, APIResource):
        if not resource.namespaced and namespace:
            raise InvalidRequest(
                f"{plural} are not namespaced: a request takes no namespace ({namespace!r})"
            )
        if resource.namespaced and name and not namespace:
            raise InvalidRequest(
                f"{plural} are namespaced: {name!r} is not found without a namespace"
            )
    parts = ["apis", resource.group] if resource.group else ["api"]
    parts.append(resource.version)
    if namespace:
        parts += ["namespaces", check_segment(namespace, "namespace")]
    parts.append(plural)
    if name:
        parts.append(check_segment(name, "name"))
    below = [check_segment(part, "subresource") for part in subresource]
    if below and not name:
        raise InvalidRequest(
            f"subresource {'/'.join(below)!r} of {plural} needs the name of an object"
        )
    check_segment(resource.version, "version")
    check_segment(plural, "resource")
    if resource.group:
        check_segment(resource.group, "group")
    return "/" + "/".join(quote(part, safe=_SEGMENT_SAFE) for part in (*parts, *below))


def check_segment(text: str, what: str) -> str:
    """`text`, if it can be one segment of a path. Else `InvalidRequest`, which calls it `what`."""
    if not text:
        raise InvalidRequest(f"the {what} is empty")
    if text in {".", ".."}:
        raise InvalidRequest(f"{what} {text!r} would lead to another path")
    wrong = next((character for character in "/%" if character in text), None)
    if wrong is not None:
        raise InvalidRequest(f"{what} {text!r} may not contain {wrong!r}")
    return text


def raw_path(text: str) -> tuple[str, tuple[tuple[str, str], ...]]:
    """A path that the caller wrote, such as `/healthz?verbose`, and the query in it.

    What is percent-encoded already stays as it is. Raises `InvalidRequest` where it does not begin
    with a slash or has a `.` or `..` in it.
    """
    path, _, query = text.partition("?")
    if not path.startswith("/"):
        raise InvalidRequest(f"path {text!r} does not begin with a slash")
    if any(unquote(segment) in {".", ".."} for segment in path.split("/")):
        raise InvalidRequest(f"path {text!r} has '.' or '..' in it")
    return quote(path, safe=f"/%{_SEGMENT_SAFE}"), tuple(parse_qsl(query, keep_blank_values=True))
