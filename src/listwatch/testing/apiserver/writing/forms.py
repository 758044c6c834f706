"""What creating and changing have in common."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..storage.state import Target
from ..types.go_structs import in_go_form
from ..types.served import ResourceType
from .managed_fields import Manager
from .typed_types import type_of
from .write_options import WriteOptions

__all__ = ["DEFINITIONS", "in_form", "manager_of"]

DEFINITIONS = "apiextensions.k8s.io/customresourcedefinitions"


def manager_of(target: Target, options: WriteOptions) -> Manager:
    """Who writes, for managedFields."""
    of = target.type
    return Manager(
        options.manager,
        of.api_version,
        target.subresource,
        custom=of.custom,
        type=type_of(of),
    )


def in_form(
    of: ResourceType, value: dict[str, Any], old: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """An object as it is written: a built-in one as Go writes it."""
    return value if of.custom else in_go_form(of.api_version, of.kind, value, old or {})
