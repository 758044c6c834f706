"""The JSON types in a CustomResourceDefinition, as far as anybody here looks into it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from ..reading.encoding import go_json
from ..validation.problems import bad_request, invalid, invalid_field

__all__ = ["check_definition_shape"]


class _Struct(msgspec.Struct, rename="camel"):
    pass


class _Names(_Struct):
    plural: str | None = None
    singular: str | None = None
    short_names: list[str] | None = None
    kind: str | None = None
    list_kind: str | None = None
    categories: list[str] | None = None


class _Schema(_Struct):
    open_api_v3_schema: dict[str, Any] | None = msgspec.field(default=None, name="openAPIV3Schema")


class _SelectableField(_Struct):
    json_path: str = ""


class _Version(_Struct):
    name: str = ""
    served: bool | None = None
    storage: bool | None = None
    deprecated: bool | None = None
    deprecation_warning: str | None = None
    schema: _Schema | None = None
    subresources: dict[str, dict[str, Any] | None] | None = None
    additional_printer_columns: list[dict[str, Any]] | None = None
    selectable_fields: list[_SelectableField] | None = None


class _Spec(_Struct):
    group: str | None = None
    names: _Names | None = None
    scope: str | None = None
    versions: list[_Version] | None = None
    conversion: dict[str, Any] | None = None


class _Condition(_Struct):
    type: str
    status: str
    last_transition_time: str | None = None


class _Status(_Struct):
    conditions: list[_Condition] | None = None
    accepted_names: _Names | None = None
    stored_versions: list[str] | None = None


class _Metadata(_Struct):
    name: str | None = None


class _Definition(_Struct):
    metadata: _Metadata | None = None
    spec: _Spec | None = None
    status: _Status | None = None


def check_definition_shape(definition: Mapping[str, Any], *, patched: bool = False) -> None:
    """Raises `Refused`: 400, or 422 for what a patch has led to. Where it is wrong is said in our
    own words.
    """
    try:
        msgspec.convert(definition, _Definition)
    except msgspec.ValidationError as error:
        if patched:
            whole = go_json(definition).decode()
            raise invalid("", "", "", [invalid_field("patch", whole, f"json: {error}")]) from None
        kind = "CustomResourceDefinition"
        raise bad_request(
            f'{kind} in version "v1" cannot be handled as a {kind}: json: {error}'
        ) from None
