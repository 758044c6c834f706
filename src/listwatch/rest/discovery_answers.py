"""What a server answers when asked for its resources, in the two forms there are, as `APIResource`
objects.

The *aggregated* form (apidiscovery.k8s.io, Kubernetes 1.26 and later) has everything of `/api` or
`/apis` in one answer (K42). The *legacy* form has the names of the versions there, and one more
answer for each. Which one came, its own `kind` says: proxies lose Content-Type parameters.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

import msgspec

from listwatch.api import APIResource, ListWatchError

__all__ = [
    "AGGREGATED_ACCEPT",
    "Aggregated",
    "GroupVersions",
    "NotDiscovery",
    "parse_discovery",
    "parse_resource_list",
]

AGGREGATED_ACCEPT = ",".join(
    (
        "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList",
        "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList",
        "application/json",
    )
)
"""The aggregated form if there is one, else the legacy form: what kubectl sends."""

T = TypeVar("T")


class NotDiscovery(ListWatchError):
    """An answer with a good status which is not what discovery looks like."""


@dataclass(frozen=True, slots=True)
class Aggregated:
    """Every resource, in the server's order of preference."""

    resources: tuple[APIResource, ...]
    stale: tuple[str, ...]
    """Group versions whose own server did not answer the aggregator lately, such as
    `metrics.k8s.io/v1beta1`."""


@dataclass(frozen=True, slots=True)
class GroupVersions:
    """Pairs of group and version that are to be asked for, in the server's order of preference."""

    pairs: tuple[tuple[str, str], ...]


class _Wire(msgspec.Struct, frozen=True, rename="camel"):
    """Go writes an empty list as null or not at all, so all of them may be None."""


class _ResponseKind(_Wire, frozen=True):
    kind: str = ""


class _AggregatedResource(_Wire, frozen=True):
    resource: str
    response_kind: _ResponseKind | None = None
    scope: str = ""
    singular_resource: str = ""
    short_names: tuple[str, ...] | None = None
    categories: tuple[str, ...] | None = None
    verbs: tuple[str, ...] | None = None


class _AggregatedVersion(_Wire, frozen=True):
    version: str
    resources: list[_AggregatedResource] | None = None
    freshness: str = ""


class _Name(_Wire, frozen=True):
    name: str = ""


class _AggregatedGroup(_Wire, frozen=True):
    metadata: _Name = _Name()
    versions: list[_AggregatedVersion] | None = None


class _AggregatedList(_Wire, frozen=True):
    items: list[_AggregatedGroup] | None = None


class _CoreVersions(_Wire, frozen=True):
    versions: list[str] | None = None


class _Version(_Wire, frozen=True):
    version: str = ""


class _Group(_Wire, frozen=True):
    name: str
    versions: list[_Version] | None = None
    preferred_version: _Version | None = None


class _GroupList(_Wire, frozen=True):
    groups: list[_Group] | None = None


class _LegacyResource(_Wire, frozen=True):
    name: str
    kind: str
    namespaced: bool = False
    singular_name: str = ""
    short_names: tuple[str, ...] | None = None
    categories: tuple[str, ...] | None = None
    verbs: tuple[str, ...] | None = None


class _LegacyResourceList(_Wire, frozen=True):
    resources: list[_LegacyResource] | None = None


class _Kind(_Wire, frozen=True):
    kind: str = ""


def parse_discovery(body: bytes) -> Aggregated | GroupVersions:
    """Read the answer to `/api` or `/apis`. Raises `NotDiscovery`."""
    match kind := _decode(body, _Kind).kind:
        case "APIGroupDiscoveryList":
            return _parse_aggregated(_decode(body, _AggregatedList))
        case "APIVersions":
            versions = _decode(body, _CoreVersions).versions or []
            return GroupVersions(tuple(("", version) for version in versions))
        case "APIGroupList":
            pairs: dict[tuple[str, str], None] = {}  # keeps the order
            for group in _decode(body, _GroupList).groups or []:
                if group.preferred_version is not None and group.preferred_version.version:
                    pairs[group.name, group.preferred_version.version] = None
                pairs |= dict.fromkeys((group.name, item.version) for item in group.versions or [])
            return GroupVersions(tuple(pairs))
        case _:
            raise NotDiscovery(f"the answer is of kind {kind!r}, which is not discovery")


def parse_resource_list(body: bytes, group: str, version: str) -> tuple[APIResource, ...]:
    """Read the legacy answer to `/apis/group/version` or `/api/version`. Raises `NotDiscovery`."""
    if (kind := _decode(body, _Kind).kind) != "APIResourceList":
        raise NotDiscovery(f"the answer is of kind {kind!r}, not APIResourceList")
    return tuple(
        APIResource(
            group=group,
            version=version,
            name=item.name,
            kind=item.kind,
            namespaced=item.namespaced,
            # Servers before 1.27 leave it empty; the lower-case kind is what it then is.
            singular=item.singular_name or item.kind.lower(),
            short_names=item.short_names or (),
            categories=item.categories or (),
            verbs=item.verbs or (),
        )
        for item in _decode(body, _LegacyResourceList).resources or []
        if "/" not in item.name  # a subresource
    )


def _parse_aggregated(answer: _AggregatedList) -> Aggregated:
    resources: list[APIResource] = []
    stale: list[str] = []
    for group in answer.items or []:
        name = group.metadata.name
        for version in group.versions or []:
            if version.freshness == "Stale":
                stale.append(f"{name}/{version.version}" if name else version.version)
            resources += (
                APIResource(
                    group=name,
                    version=version.version,
                    name=item.resource,
                    kind=item.response_kind.kind,
                    namespaced=item.scope == "Namespaced",
                    singular=item.singular_resource or item.response_kind.kind.lower(),
                    short_names=item.short_names or (),
                    categories=item.categories or (),
                    verbs=item.verbs or (),
                )
                for item in version.resources or []
                if item.response_kind is not None  # else it only stands over its subresources
            )
    return Aggregated(tuple(resources), tuple(stale))


def _decode(body: bytes, type_: type[T]) -> T:
    try:
        return msgspec.json.decode(body, type=type_)
    except msgspec.MsgspecError as error:
        start = body[:60].decode("utf-8", "replace")
        raise NotDiscovery(f"the answer is not discovery ({error}): {start!r}") from error
