"""PATCH: from its media type and body to the object it makes (K30)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..messages import ServerRequest
from ..reading.encoding import go_json
from ..reading.member_order import alphabetical
from ..statuses import Refused, failure
from ..types.fields import schema_of
from ..types.served import ResourceType
from ..validation.problems import (
    Problem,
    bad_request,
    internal_error,
    invalid,
    invalid_field,
    unsupported_media_type,
)
from .go_syntax import go_kind
from .json_patch import JSONPatchError, json_patch
from .merge_patch import merge_patch
from .owners import without_duplicates
from .patched_order import operated_order
from .request_bodies import decode_json, media_type
from .shapes import ShapeError, check_shape, conversion, duplicate_fields
from .strategic_merge import StrategicMergeError, go_text, strategic_merge

__all__ = ["Patch", "cleaned", "is_apply", "read_patch"]

Patch = Callable[[Mapping[str, Any], str, list[str]], dict[str, Any]]
"""Makes the new object from the old one, given the field validation and a list for warnings."""

JSON_PATCH = "application/json-patch+json"
MERGE_PATCH = "application/merge-patch+json"
APPLY_PATCH = "application/apply-patch+yaml"
STRATEGIC_MERGE_PATCH = "application/strategic-merge-patch+json"
_OF_CUSTOM = (JSON_PATCH, MERGE_PATCH, APPLY_PATCH)
_MAX_OPERATIONS = 10_000


def read_patch(of: ResourceType, request: ServerRequest) -> Patch:
    """Raises 415 for a media type, when called. The result raises what is wrong with the body, or
    with what it makes of the object: the real server looks for the object first.
    """
    kind = media_type(request)
    if kind == MERGE_PATCH:
        apply = _merge
    elif kind == JSON_PATCH:
        apply = _operate
    elif of.custom:
        raise unsupported_media_type(_OF_CUSTOM)
    elif kind == STRATEGIC_MERGE_PATCH:
        return _Strategic(of, request.body)
    else:
        message = "415: Unsupported Media Type"
        raise Refused(failure(415, "UnsupportedMediaType", message, details={}))
    prefix = "json patch " if kind == JSON_PATCH else ""

    def patch(old: Mapping[str, Any], validation: str, warnings: list[str]) -> dict[str, Any]:
        made = apply(old, request.body)
        twice = []
        if validation != "Ignore":
            twice = [f'{prefix}duplicate field "{path}"' for path in duplicate_fields(request.body)]
        try:
            return _checked(of, made, old, validation, warnings, twice)
        except _Senseless as error:
            shown = made
            if kind == JSON_PATCH:
                shown = operated_order(made, _decoded(request.body) or ())
            raise _refused(shown, str(error), custom=of.custom and error.of_schema) from None

    return patch


def is_apply(request: ServerRequest) -> bool:
    """Whether a PATCH is a server-side apply."""
    return media_type(request) == APPLY_PATCH


class _Senseless(Exception):
    """What a patch has made is no object of the type: the text is Go's."""

    def __init__(self, text: str, *, of_schema: bool = False) -> None:
        super().__init__(text)
        self.of_schema = of_schema
        """Whether a custom object was read before that, and is shown as such."""


class _Strategic:
    """A strategic merge patch."""

    def __init__(self, of: ResourceType, body: bytes) -> None:
        self._of = of
        self._body = body

    def __call__(
        self, old: Mapping[str, Any], validation: str, warnings: list[str]
    ) -> dict[str, Any]:
        of = self._of
        try:
            patch = decode_json(self._body)
        except ValueError as error:
            raise bad_request(str(error)) from None
        if patch is not None and not isinstance(patch, dict):
            raise bad_request(_cannot(patch, "map[string]interface {}"))
        complaints = []
        if validation != "Ignore":
            complaints = [f'duplicate field "{path}"' for path in duplicate_fields(self._body)]
        try:
            made = strategic_merge(schema_of(of.api_version, of.kind) or {}, old, patch or {})
        except StrategicMergeError as error:
            raise self._refused(error) from None
        for name in ("kind", "apiVersion"):
            found = made.get(name)
            if found is not None and not isinstance(found, str):
                raise self._senseless(patch, conversion(found, "string"))
        made["kind"], made["apiVersion"] = of.kind, of.api_version
        try:
            unknown = check_shape(of, made, old)
        except ShapeError as error:
            raise self._senseless(patch, error.conversion or str(error)) from None
        if validation != "Ignore":
            complaints += [f'unknown field "{path}"' for path in sorted(unknown)]
        if complaints and validation == "Strict":
            raise self._senseless(patch, f"strict decoding error: {', '.join(complaints)}")
        warnings += complaints
        return _owners_once(made, warnings)

    def _refused(self, error: StrategicMergeError) -> Refused:
        text = str(error)
        if error.code == 400:
            return bad_request(text)
        if error.code == 422:
            return Refused(failure(422, "Invalid", text, details={}))
        return internal_error(text)

    def _senseless(self, patch: Any, text: str) -> Refused:
        return invalid("", "", "", [invalid_field("patch", go_text(patch), text)])


def _merge(old: Mapping[str, Any], body: bytes) -> Any:
    patch = _decoded(body)
    if patch is None:
        raise bad_request("Invalid JSON Patch")
    if not isinstance(patch, dict):
        go_type = "map[string]interface {}"
        raise bad_request(f"error decoding patch: {_cannot(patch, go_type)}")
    return merge_patch(old, patch)


def _operate(old: Mapping[str, Any], body: bytes) -> Any:
    operations = _decoded(body)
    if operations is None:
        operations = []
    if not isinstance(operations, list):
        raise bad_request(f"error decoding patch: {_cannot(operations, '[]handlers.jsonPatchOp')}")
    for operation in operations:
        if not isinstance(operation, dict):
            go_type = "handlers.jsonPatchOp"
            raise bad_request(f"error decoding patch: {_cannot(operation, go_type)}")
    if len(operations) > _MAX_OPERATIONS:
        message = (
            "Request entity too large: The allowed maximum operations in a JSON patch is "
            f"{_MAX_OPERATIONS}, got {len(operations)}"
        )
        raise Refused(failure(413, "RequestEntityTooLarge", message))
    try:
        return json_patch(old, operations)
    except JSONPatchError:
        message = "the server rejected our request due to an error in our request"
        raise Refused(failure(422, "Invalid", message, details={})) from None


def _decoded(body: bytes) -> Any:
    try:
        return decode_json(body)
    except ValueError as error:
        raise bad_request(f"error decoding patch: {error}") from None


def _cannot(value: Any, go_type: str) -> str:
    return f"json: cannot unmarshal {go_kind(value)} into Go value of type {go_type}"


def cleaned(
    of: ResourceType,
    value: dict[str, Any],
    old: Mapping[str, Any],
    warnings: list[str],
    applied_as: str | None = None,
) -> dict[str, Any]:
    """What an apply or a webhook has made, as the type's decoder leaves it. `applied_as`: what
    refusals of an apply begin with. Of those no custom object loses the nulls that it may not have.
    """
    made = dict(value)
    try:
        check_shape(of, made, old, applied=applied_as is not None)
    except ShapeError as error:
        raise internal_error((applied_as or "") + (error.conversion or str(error))) from None
    return _owners_once(made, warnings)


def _checked(
    of: ResourceType,
    value: Any,
    old: Mapping[str, Any],
    validation: str,
    warnings: list[str],
    twice: Sequence[str],
) -> dict[str, Any]:
    """`twice`: complaints about the patch itself."""
    if not isinstance(value, dict):
        raise _Senseless(_cannot(value, "map[string]interface {}"))
    kind, api_version = value.get("kind"), value.get("apiVersion")
    kind = of.kind if kind in (None, "") else kind
    api_version = of.api_version if api_version in (None, "") else api_version
    if kind != of.kind or api_version != of.api_version:
        raise _of_another_type(of, value, kind, api_version)
    made = {**value, "kind": kind, "apiVersion": api_version}
    try:
        paths = check_shape(of, made, old)
    except ShapeError as error:
        raise _Senseless(str(error), of_schema=True) from None
    unknown = list(twice)
    if validation != "Ignore":
        unknown += [f'unknown field "{path}"' for path in paths]
    if unknown and validation == "Strict":
        text = f"strict decoding error: {', '.join(unknown)}"
        raise _Senseless(text, of_schema=True)
    warnings += unknown
    return _owners_once(made, warnings)


def _owners_once(made: dict[str, Any], warnings: list[str]) -> dict[str, Any]:
    owners = made["metadata"].get("ownerReferences")
    if owners and len(owners) > 1:
        kept, warning = without_duplicates(owners)
        if warning:
            made["metadata"] = {**made["metadata"], "ownerReferences": kept}
            warnings.append(warning)
    return made


def _of_another_type(
    of: ResourceType, value: Mapping[str, Any], kind: Any, api_version: Any
) -> Refused:
    if not isinstance(kind, str) or not isinstance(api_version, str):
        name, wrong = ("kind", kind) if not isinstance(kind, str) else ("apiVersion", api_version)
        text = (
            "couldn't get version/kind; json parse error: json: cannot unmarshal "
            f"{go_kind(wrong)} into Go struct field .{name} of type string"
        )
        raise _Senseless(text)
    if not of.custom:
        text = (
            f'no kind "{kind}" is registered for version "{api_version}" in scheme '
            '"pkg/runtime/scheme.go:111"'
        )
        raise _Senseless(text)
    problems = []
    if kind != of.kind:
        problems.append(invalid_field("kind", kind, f"must be {of.kind}"))
    if api_version != of.api_version:
        problems.append(invalid_field("apiVersion", api_version, f"must be {of.api_version}"))
    metadata = value.get("metadata")
    name = str(metadata.get("name") or "") if isinstance(metadata, dict) else ""
    return invalid(kind, of.group, name, problems)


def _refused(value: Any, text: str, *, custom: bool = False) -> Refused:
    """422 with the whole of what the patch made (K29)."""
    shown = value
    if custom:
        shown = alphabetical(value)
    elif isinstance(value, dict):
        shown = dict(sorted(value.items()))
    problem: Problem = invalid_field("patch", go_json(shown).decode(), text)
    return invalid("", "", "", [problem])
