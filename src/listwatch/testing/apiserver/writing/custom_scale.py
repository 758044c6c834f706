"""The subresource `scale` of custom types: their definition says where the numbers are (K32)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..statuses import Refused, failure
from ..storage.state import Target
from ..types.served import ResourceType
from ..validation.problems import bad_request, invalid
from .custom_checks import custom_update_problems
from .metadata import next_generation
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
                text = f'the spec replicas field "{where}" does not exist'
                message = f"Internal error occurred: {text}"
                details = {"causes": [{"message": text}]}
                raise Refused(failure(500, "InternalError", message, details=details))
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

    def _scaled(
        self, target: Target, old: Mapping[str, Any], replicas: int, manager: str
    ) -> Mapping[str, Any]:
        of = target.type
        names = of.scale["specReplicasPath"].removeprefix(".").split(".")
        if _at(old, of.scale["specReplicasPath"]) == replicas:
            return old
        new = _with(old, names, replicas)
        problems = custom_update_problems(target, new, old)
        if problems:
            raise invalid(of.kind, of.group, target.name, problems)
        metadata = dict(old["metadata"])
        entries = _entries(metadata.get("managedFields") or (), names, manager, of, replicas)
        if entries:
            metadata["managedFields"] = entries
        else:
            metadata.pop("managedFields", None)
        generation = next_generation(of, old, new)
        if generation is not None:
            metadata["generation"] = generation
        return of.ordered({**new, "metadata": metadata})


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


def _entries(
    entries: Sequence[Mapping[str, Any]],
    names: Sequence[str],
    manager: str,
    of: ResourceType,
    replicas: int,
) -> list[dict[str, Any]]:
    """The number belongs to the one who scaled, and to nobody else. Where nobody had it before, it
    is nobody's.
    """
    path = [f"f:{name}" for name in names]
    kept: list[dict[str, Any]] = []
    owned = False
    for entry in entries:
        fields = _without(entry["fieldsV1"], path)
        if fields == entry["fieldsV1"]:
            kept.append(dict(entry))
            continue
        owned = True
        if fields:
            kept.append({**entry, "fieldsV1": fields})
    if owned and replicas:
        fields = {}
        for name in reversed(path):
            fields = {name: fields}
        kept.append(
            {
                "manager": manager,
                "operation": "Update",
                "apiVersion": of.api_version,
                "fieldsType": "FieldsV1",
                "fieldsV1": fields,
                "subresource": "scale",
            }
        )
    return sorted(kept, key=_order)


def _order(entry: Mapping[str, Any]) -> tuple[str, str, str]:
    return entry.get("operation", ""), entry.get("time", ""), entry.get("manager", "")


def _without(fields: Mapping[str, Any], path: Sequence[str]) -> dict[str, Any]:
    name, *rest = path
    if name not in fields:
        return dict(fields)
    others = {key: below for key, below in fields.items() if key != name}
    if not rest:
        return others
    below = _without(fields[name], rest)
    if below == fields[name]:
        return dict(fields)
    if below == {".": {}}:
        below = {}  # the member itself, and nothing in it
    elif not below:
        return others
    return {**others, name: below}
