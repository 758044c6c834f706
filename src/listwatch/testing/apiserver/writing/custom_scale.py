"""The subresource `scale` of custom types: their definition says where the numbers are (K32)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..statuses import Refused
from ..storage.log import StoredObject
from ..storage.state import Target
from ..types.served import ResourceType
from ..validation.problems import bad_request, internal_error, invalid, unforeseen
from .custom_checks import custom_update_problems
from .scale import Scales

__all__ = ["CustomScales"]

_ABSENT = -(1 << 31)
"""What a count that an object has not is taken for, so that it is told from 0."""


class CustomScales(Scales):
    """Reads and writes the Scale of custom types."""

    def _scale(
        self, of: ResourceType, parent: Mapping[str, Any], *, absent: int | None = None
    ) -> dict[str, Any]:
        metadata, where = parent["metadata"], of.scale["specReplicasPath"]
        replicas = _at(parent, where)
        if replicas is None:
            if absent is None:
                raise unforeseen(f'the spec replicas field "{where}" does not exist')
            replicas = absent
        status: dict[str, Any] = {"replicas": _at(parent, of.scale["statusReplicasPath"]) or 0}
        selector = of.scale.get("labelSelectorPath")
        if selector and (text := _at(parent, selector)):
            status["selector"] = text
        named = ("name", "namespace", "uid", "resourceVersion", "creationTimestamp")
        return {
            "kind": "Scale",
            "apiVersion": "autoscaling/v1",
            "metadata": {name: metadata[name] for name in named if name in metadata},
            "spec": {"replicas": replicas} if replicas else {},
            "status": status,
        }

    def _check(self, of: ResourceType, name: str, replicas: int) -> None:
        if replicas == _ABSENT:
            where = of.scale["specReplicasPath"]
            raise bad_request(f'the spec replicas field "{where}" cannot be empty')

    def _check_uid(
        self, of: ResourceType, stored: StoredObject, sent: str | None, *, put: bool
    ) -> None:
        if put:
            super()._check_uid(of, stored, sent, put=put)

    def _check_appliable(self, of: ResourceType, scale: Mapping[str, Any]) -> None:
        if not scale["metadata"]["managedFields"]:
            raise _no_scale("failed to create manager for existing fields: ", "live")

    def _check_applied(
        self, of: ResourceType, scale: Mapping[str, Any], made: Mapping[str, Any]
    ) -> None:
        bare = {name: found for name, found in scale["metadata"].items() if name != "managedFields"}
        if made != {**scale, "metadata": bare}:
            raise _no_scale("", "new")

    def _path(self, of: ResourceType) -> str:
        path: str = of.scale["specReplicasPath"]
        return path

    def _numbered(self, target: Target, old: Mapping[str, Any], replicas: int) -> Mapping[str, Any]:
        of = target.type
        path = self._path(of)
        if _at(old, path) == replicas:
            return old
        new = _with(old, path.removeprefix(".").split("."), replicas)
        problems = custom_update_problems(target, new, old)
        if problems:
            raise invalid(of.kind, of.group, target.name, problems)
        return new


def _no_scale(prefix: str, which: str) -> Refused:
    """The real server tries to convert a Scale as if it were a custom resource, and cannot: of what
    is applied to one, nothing is accepted but the number that is there already.
    """
    return internal_error(
        f"{prefix}failed to convert {which} object (/; autoscaling/v1, Kind=Scale) to proper "
        "version: request to convert CR to an invalid group/version: autoscaling/v1"
    )


def _at(value: Any, path: str) -> Any:
    """None where there is nothing."""
    for name in path.removeprefix(".").split("."):
        if not isinstance(value, Mapping):
            return None
        value = value.get(name)
    return value


def _with(value: Mapping[str, Any], names: Sequence[str], replicas: int) -> dict[str, Any]:
    name, *rest = names
    if not rest:
        return {**value, name: replicas}
    below = value.get(name)
    return {**value, name: _with(below if isinstance(below, Mapping) else {}, rest, replicas)}
