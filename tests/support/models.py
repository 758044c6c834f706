"""One type of config maps for each library, and how a program reads it (D6)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypedDict

import attrs
import kubernetes.client as official
import kubernetes_asyncio.client as official_asyncio
import pydantic
from lightkube.generic_resource import GenericNamespacedResource
from lightkube.resources import core_v1 as lightkube
from msgspec import Struct
from pydantic.alias_generators import to_camel

from listwatch import FrozenDict, Unstructured

__all__ = ["FITTING", "KINDS", "Kind"]


class StructMeta(Struct, frozen=True, rename="camel"):
    name: str
    uid: str
    resource_version: str
    namespace: str = ""
    annotations: dict[str, str] = {}


class StructMap(Struct, frozen=True):
    metadata: StructMeta
    data: dict[str, str] = {}


class Renamed(Struct, rename={"meta": "metadata", "contents": "data"}):
    meta: StructMeta
    contents: dict[str, str] = {}


@dataclass
class DataclassMeta:
    name: str
    namespace: str
    uid: str
    resourceVersion: str  # noqa: N815
    annotations: dict[str, str] = field(default_factory=dict)


@dataclass
class DataclassMap:
    metadata: DataclassMeta
    data: dict[str, str] = field(default_factory=dict)


@attrs.frozen
class AttrsMap:
    metadata: DataclassMeta
    data: dict[str, str] = attrs.field(factory=dict)


class MetaDict(TypedDict):
    name: str
    namespace: str
    uid: str
    resourceVersion: str


class DictMap(TypedDict, total=False):
    metadata: MetaDict
    data: dict[str, str]


class SnakeMeta(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(alias_generator=to_camel)

    name: str
    namespace: str | None = None
    uid: str
    resource_version: str
    annotations: dict[str, str] = {}


class SnakeMap(pydantic.BaseModel):
    metadata: SnakeMeta
    data: dict[str, str] = {}


class AliasedMeta(pydantic.BaseModel):
    name: str
    namespace: str | None = None
    uid: str
    version: str = pydantic.Field(
        validation_alias=pydantic.AliasChoices("resourceVersion", "version")
    )


class AliasedMap(pydantic.BaseModel):
    meta: AliasedMeta = pydantic.Field(alias="metadata")
    contents: dict[str, str] = pydantic.Field(default={}, alias="data")


@pydantic.dataclasses.dataclass
class CheckedMap:
    metadata: DataclassMeta
    data: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Kind:
    """A type of one library."""

    type: Any
    version: Callable[[Any], str]
    """Reads the resourceVersion."""
    value: Callable[[Any], str]
    """Reads `data.x`."""
    fits: bool = True
    """Whether it refuses an object whose `data` is a text."""
    made: Any = None
    """The type of what is kept, where that is another."""
    whole: bool = True
    """Whether it has annotations, in its `metadata`."""

    @property
    def kept(self) -> Any:
        return self.made or self.type


def _by_snake(obj: Any) -> str:
    return str(obj.metadata.resource_version)


def _by_camel(obj: Any) -> str:
    return str(obj.metadata.resourceVersion)


def _by_key(obj: Any) -> str:
    return str(obj["metadata"]["resourceVersion"])


def _data(obj: Any) -> str:
    return str(obj.data["x"])


def _data_by_key(obj: Any) -> str:
    return str(obj["data"]["x"])


KINDS = {
    "Unstructured": Kind(Unstructured, _by_snake, _data_by_key, fits=False),
    "dict": Kind(dict, _by_key, _data_by_key, fits=False, made=FrozenDict),
    "TypedDict": Kind(DictMap, _by_key, _data_by_key, made=FrozenDict, whole=False),
    "Struct": Kind(StructMap, _by_snake, _data),
    "Struct, renamed": Kind(
        Renamed,
        lambda obj: obj.meta.resource_version,
        lambda obj: obj.contents["x"],
        whole=False,
    ),
    "dataclass": Kind(DataclassMap, _by_camel, _data),
    "attrs": Kind(AttrsMap, _by_camel, _data),
    "pydantic": Kind(SnakeMap, _by_snake, _data),
    "pydantic, aliases": Kind(
        AliasedMap, lambda obj: obj.meta.version, lambda obj: obj.contents["x"], whole=False
    ),
    "pydantic dataclass": Kind(CheckedMap, _by_camel, _data),
    "kubernetes": Kind(official.V1ConfigMap, _by_snake, _data),
    "kubernetes_asyncio": Kind(official_asyncio.V1ConfigMap, _by_snake, _data),
    "lightkube": Kind(lightkube.ConfigMap, _by_camel, _data),
    "lightkube, generic": Kind(GenericNamespacedResource, _by_camel, _data_by_key, fits=False),
}
FITTING = [name for name, kind in KINDS.items() if kind.fits]
