"""What people type for a resource, and which one they mean.

| text | means |
|---|---|
| `pods` `pod` `po` `Pod` | the plural, singular, short name or kind, in any case |
| `deployments.apps` | the same, in one group (the beginning of a group's name will do) |
| `deployments.v1.apps`, `pods.v1.` | the same, at one version (the core group after a last dot) |
| `apps/v1/deployments`, `v1/pods` | the same as in a path |

Where several fit, the plural goes before the short name, that before the singular, that before the
kind; then the order of the resources, which is the server's: core group first, the preferred
version of a group first. That is kubectl's order.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from listwatch.api import APIResource

__all__ = ["FORMS", "ResourceName", "find_resource", "near_names", "parse_resource_name"]

FORMS = "pods, po, deployments.apps, deployments.v1.apps, apps/v1/deployments or v1/pods"

_VERSION = re.compile(r"v[0-9]+((alpha|beta)[0-9]+)?", re.ASCII)
_PART = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?", re.ASCII)
_GROUP = re.compile(rf"({_PART.pattern})(\.{_PART.pattern})*", re.ASCII)

_SPELLINGS: tuple[Callable[[APIResource, str], bool], ...] = (
    lambda resource, name: resource.name == name,
    lambda resource, name: name in resource.short_names,
    lambda resource, name: resource.singular == name,
    lambda resource, name: resource.kind.lower() == name,
)


@dataclass(frozen=True, slots=True)
class ResourceName:
    """One reading of what was typed. None for what was not said; the group `""` is the core group,
    said."""

    name: str
    group: str | None = None
    version: str | None = None


def parse_resource_name(text: str) -> tuple[ResourceName, ...]:
    """The ways to read `text`, the likeliest first. Raises `ValueError` with what is wrong with
    it."""
    text = text.lower()
    if "/" in text:
        return (_parse_path(text),)
    name, dot, rest = text.partition(".")
    version, second_dot, group = rest.partition(".")
    if not _PART.fullmatch(name) or (rest and not _GROUP.fullmatch(rest.removesuffix("."))):
        raise ValueError("is not the name of a resource")
    if not dot:
        return (ResourceName(name),)
    if _VERSION.fullmatch(version):
        at_version = ResourceName(name, group if second_dot else "", version)
        return (at_version, ResourceName(name, rest)) if group else (at_version,)
    if rest.endswith("."):
        raise ValueError("has a dot at its end, but no version before that")
    return (ResourceName(name, rest),)


def _parse_path(text: str) -> ResourceName:
    parts = text.split("/")
    if not all(parts):
        raise ValueError("has an empty part beside a slash")
    at_version = [index for index, part in enumerate(parts) if _VERSION.fullmatch(part)]
    if at_version[:1] not in ([0], [1]):
        raise ValueError(
            "has a slash but no version before the resource: the name of an object or subresource"
            " (such as log) is given apart from it"
        )
    group, version, rest = "", parts[at_version[0]], parts[at_version[0] + 1 :]
    if at_version[0] == 1:
        group = parts[0]
    if not rest:
        raise ValueError("names a group and version, but no resource in it")
    if len(rest) > 1:
        raise ValueError(
            "goes on after the resource: the name of an object or subresource (such as log) is"
            " given apart from it"
        )
    if not _PART.fullmatch(rest[0]) or (group and not _GROUP.fullmatch(group)):
        raise ValueError("is not the name of a resource")
    return ResourceName(rest[0], group, version)


def find_resource(
    resources: Sequence[APIResource], wanted: ResourceName, *, group_prefix: bool = False
) -> APIResource | None:
    """The resource that is meant, of those there are. With `group_prefix` the group may be only the
    beginning of one."""
    candidates = [
        resource
        for resource in resources
        if wanted.version in (None, resource.version)
        and (
            wanted.group is None
            or resource.group == wanted.group
            or (group_prefix and wanted.group and resource.group.startswith(wanted.group))
        )
    ]
    for is_spelled in _SPELLINGS:
        for resource in candidates:
            if is_spelled(resource, wanted.name):
                return resource
    return None


def near_names(resources: Iterable[APIResource], wanted: ResourceName) -> tuple[str, ...]:
    """Up to three resources that may have been meant, in a spelling that finds them."""
    by_spelling: dict[str, APIResource] = {}
    for resource in resources:
        for spelling in (resource.name, resource.singular, resource.kind.lower()):
            by_spelling.setdefault(spelling, resource)
    near = difflib.get_close_matches(wanted.name, by_spelling, n=6)
    # An exact match is near too: the resource is there, but not in that group or version.
    return tuple(dict.fromkeys(_full_name(by_spelling[spelling]) for spelling in near))[:3]


def _full_name(resource: APIResource) -> str:
    return f"{resource.name}.{resource.group}" if resource.group else resource.name
