"""What mutating webhooks make of an object, read as what clients send is read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ..defaulting.defaults import fill
from ..storage.state import Target
from ..types.served import ResourceType
from ..types.structural import defaulted
from ..validation.problems import unforeseen
from .patches import cleaned
from .shapes import ShapeError, check_shape
from .write_checks import check_kind, check_namespace

__all__ = ["as_wanted", "reader_of"]

_TWICE = "contains duplicate entries"
_INVALID_ENTRIES = (
    ".metadata.managedFields was in an invalid state after admission; this could be caused by an "
    "outdated mutating admission controller; please fix your requests: operation must be `Apply` "
    "or `Update`"
)


def reader_of(
    of: ResourceType, old: Mapping[str, Any] | None = None
) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """Reads what one of them has made, for the next one: with its defaults. It raises `Refused`."""

    def read(value: dict[str, Any]) -> dict[str, Any]:
        if of.custom:
            # What the schema does not know is taken out once all of them have been asked.
            made: dict[str, Any] = value if of.schema is None else defaulted(value, of.schema.root)
            return made
        kind, api_version = value.get("kind"), value.get("apiVersion")
        if (kind, api_version) != (of.kind, of.api_version):
            raise unforeseen(
                f'no kind "{kind}" is registered for version "{api_version}" in scheme '
                '"pkg/runtime/scheme.go:111"'
            )
        made = dict(value)
        try:
            check_shape(of, made, old)
        except ShapeError as error:
            raise unforeseen(str(error)) from None
        fill(of, made)
        return made

    return read


def as_wanted(
    target: Target,
    shown: Mapping[str, Any],
    wanted: dict[str, Any],
    old: Mapping[str, Any],
    warnings: list[str],
) -> dict[str, Any]:
    """What all of them have made of what they were shown, with the namespace that it must have.
    Raises `Refused`.
    """
    of = target.type
    metadata = wanted.get("metadata")
    check_kind(of, str(metadata.get("name", "")) if isinstance(metadata, dict) else "", wanted)
    if metadata is not None and not isinstance(metadata, dict):
        raise unforeseen("system metadata was not initialized")
    twice: list[str] = []
    made = cleaned(of, wanted, old, twice)
    warnings += (
        text.replace(_TWICE, f"{_TWICE} after mutating admission happens") for text in twice
    )
    fill(of, made)
    check_namespace(target, made["metadata"])
    metadata = made["metadata"] = dict(made["metadata"])
    if of.namespaced:
        metadata["namespace"] = target.namespace
    entries = metadata.get("managedFields") or ()
    if any(entry.get("operation") not in ("Apply", "Update") for entry in entries):
        metadata["managedFields"] = shown["metadata"].get("managedFields") or []
        warnings.append(_INVALID_ENTRIES)
    return made
