"""PATCH: from its media type and body to the object it makes (K30)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ..messages import ServerRequest
from ..reading.encoding import go_json
from ..reading.member_order import alphabetical
from ..statuses import Refused, failure
from ..types.served import ResourceType
from ..validation.problems import (
    Problem,
    bad_request,
    invalid,
    invalid_field,
    unsupported_media_type,
)
from .go_syntax import go_kind
from .json_patch import JSONPatchError, json_patch
from .merge_patch import merge_patch
from .owners import without_duplicates
from .request_bodies import decode_json, media_type
from .shapes import ShapeError, check_shape, unknown_fields

__all__ = ["Patch", "read_patch"]

Patch = Callable[[Mapping[str, Any], str, list[str]], dict[str, Any]]
"""Makes the new object from the old one, given the field validation and a list for warnings."""

JSON_PATCH = "application/json-patch+json"
MERGE_PATCH = "application/merge-patch+json"
APPLY_PATCH = "application/apply-patch+yaml"
STRATEGIC_MERGE_PATCH = "application/strategic-merge-patch+json"
_OF_CUSTOM = (JSON_PATCH, MERGE_PATCH, APPLY_PATCH)
_UNDERSTOOD = (JSON_PATCH, MERGE_PATCH)
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
    elif not of.custom:
        # Strategic merge patch and server-side apply are not here yet: the words for what the real
        # server does not know.
        message = "415: Unsupported Media Type"
        raise Refused(failure(415, "UnsupportedMediaType", message, details={}))
    else:
        raise unsupported_media_type(_UNDERSTOOD if kind == APPLY_PATCH else _OF_CUSTOM)

    def patch(old: Mapping[str, Any], validation: str, warnings: list[str]) -> dict[str, Any]:
        return _checked(of, apply(old, request.body), validation, warnings)

    return patch


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


def _checked(of: ResourceType, value: Any, validation: str, warnings: list[str]) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise _senseless(value, _cannot(value, "map[string]interface {}"))
    kind = value.get("kind") or of.kind
    api_version = value.get("apiVersion") or of.api_version
    if kind != of.kind or api_version != of.api_version:
        raise _of_another_type(of, value, kind, api_version)
    made = dict(value)
    try:
        check_shape(of, made)
    except ShapeError as error:
        raise _senseless(value, str(error), custom=of.custom) from None
    unknown = [f'unknown field "{path}"' for path in unknown_fields(of, value)]
    if unknown and validation == "Strict":
        text = f"strict decoding error: {', '.join(unknown)}"
        raise _senseless(value, text, custom=of.custom)
    if validation != "Ignore":
        warnings += unknown
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
        wrong = kind if not isinstance(kind, str) else api_version
        return _senseless(value, f"json: cannot unmarshal {go_kind(wrong)} into Go value of string")
    if not of.custom:
        text = (
            f'no kind "{kind}" is registered for version "{api_version}" in scheme '
            '"pkg/runtime/scheme.go:111"'
        )
        return _senseless(value, text)
    problems = []
    if kind != of.kind:
        problems.append(invalid_field("kind", kind, f"must be {of.kind}"))
    if api_version != of.api_version:
        problems.append(invalid_field("apiVersion", api_version, f"must be {of.api_version}"))
    metadata = value.get("metadata")
    name = str(metadata.get("name") or "") if isinstance(metadata, dict) else ""
    return invalid(kind, of.group, name, problems)


def _sorted_map(name: str, member: Any) -> Any:
    return dict(sorted(member.items())) if name == "data" and isinstance(member, dict) else member


def _senseless(value: Any, text: str, *, custom: bool = False) -> Refused:
    """422 with the whole of what the patch made (K29)."""
    shown = value
    if custom:
        shown = alphabetical(value)
    elif isinstance(value, dict):
        shown = {name: _sorted_map(name, member) for name, member in sorted(value.items())}
    problem: Problem = invalid_field("patch", go_json(shown).decode(), text)
    return invalid("", "", "", [problem])
