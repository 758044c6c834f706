"""The bodies of server-side applies, and what they make of an object (K31)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..messages import ServerRequest
from ..statuses import Refused, failure
from ..storage.state import Target
from ..types.go_structs import empty_members
from ..types.served import ResourceType
from ..validation.problems import bad_request, internal_error
from .field_sets import LEAF, FieldSet
from .go_syntax import go_kind
from .managed_fields import Manager
from .request_bodies import decode_json, decode_yaml
from .server_side_apply import Applied, ApplyConflict, ApplyFailed, apply
from .shapes import is_plain_json
from .status_writes import KEPT_METADATA
from .typed_types import type_of
from .write_options import WriteOptions
from .yaml_duplicates import yaml_duplicates, yaml_errors

__all__ = ["applied", "conversion_of", "empty_of", "read_configuration", "strict_problem"]


def read_configuration(
    of: ResourceType, request: ServerRequest, options: WriteOptions
) -> tuple[dict[str, Any], list[str]]:
    """The configuration in a body, in JSON or YAML, and what to warn of. Raises 400."""
    try:
        config = _decoded(request.body)
    except ValueError as error:
        text = f"error decoding YAML: error converting YAML to JSON: {error}"
        raise bad_request(text) from None
    if config is None:
        config = {}
    if not isinstance(config, dict):
        raise bad_request(
            "error decoding YAML: error unmarshaling JSON: while decoding JSON: json: cannot "
            f"unmarshal {go_kind(config)} into Go value of type map[string]interface {{}}"
        )
    kind, api_version = _text(config.get("kind")), _text(config.get("apiVersion"))
    if kind != of.kind or api_version != of.api_version:
        raise bad_request(f"invalid object type: {_kind_text(api_version, kind)}")
    metadata = config.get("metadata")
    if isinstance(metadata, dict) and metadata.get("managedFields") is not None:
        raise bad_request("metadata.managedFields must be nil")
    warnings: list[str] = []
    if options.validation != "Ignore" and not is_plain_json(request.body):
        warnings = yaml_duplicates(request.body)
    return config, warnings


def strict_problem(warnings: list[str]) -> Refused:
    """For `Strict`, of what `read_configuration` would but warn."""
    return bad_request(
        "error strict decoding YAML: error converting YAML to JSON: " + yaml_errors(warnings)
    )


def applied(
    target: Target,
    live: Mapping[str, Any],
    config: dict[str, Any],
    options: WriteOptions,
    time: str,
) -> Applied:
    """What a configuration makes of `live`, and who owns what then. Raises `Refused`."""
    of = target.type
    kind = type_of(of)
    manager = Manager(
        options.manager,
        of.api_version,
        target.subresource,
        custom=of.custom,
        type=kind,
        operation="Apply",
    )
    try:
        return apply(
            kind,
            live,
            config,
            manager,
            force=options.force,
            time=time,
            reset=_reset(target, {**live, **config}),
            empty=empty_of(of),
        )
    except ApplyConflict as conflict:
        details = {"causes": conflict.causes}
        raise Refused(failure(409, "Conflict", conflict.message, details=details)) from None
    except ApplyFailed as failed:
        raise internal_error(
            f"failed to create typed patch object ({_named(of, config)}): {failed}"
        ) from None


def conversion_of(of: ResourceType, config: Mapping[str, Any]) -> str:
    """What a refusal begins with where Go cannot hold what an apply has made."""
    if of.custom:
        return ""
    return (
        f"failed to convert new object ({_named(of, config)}) to proper version: unable to convert "
        f"unstructured object to {_kind_text(of.api_version, of.kind)}: "
    )


def _named(of: ResourceType, config: Mapping[str, Any]) -> str:
    metadata = config.get("metadata")
    found = metadata if isinstance(metadata, dict) else {}
    where = f"{_text(found.get('namespace'))}/{_text(found.get('name'))}"
    return f"{where}; {_kind_text(of.api_version, of.kind)}"


def empty_of(of: ResourceType) -> Mapping[str, Any]:
    """An object of a type that says nothing."""
    empty = None if of.custom else empty_members(of.api_version, of.kind)
    return of.zero_members if empty is None else empty


def _reset(target: Target, members: Mapping[str, Any]) -> FieldSet:
    """What this path cannot change, and so nobody owns by it."""
    of = target.type
    if target.subresource != "status":
        return {"f:status": LEAF} if of.has_status else {}
    reset: dict[str, Any] = {
        f"f:{name}": LEAF
        for name in members
        if name not in ("apiVersion", "kind", "metadata", "status")
    }
    if of.custom:
        reset["f:metadata"] = LEAF
    elif kept := KEPT_METADATA.get(of.storage):
        reset["f:metadata"] = {f"f:{name}": LEAF for name in kept}
    return reset


def _decoded(body: bytes) -> Any:
    """JSON is YAML, and quicker read as what it is. Raises `ValueError`."""
    if body.lstrip()[:1] == b"{":
        try:
            return decode_json(body)
        except ValueError:
            pass  # the other reader may still read it, and has the words for what it cannot
    return decode_yaml(body, first_line=True)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _kind_text(api_version: str, kind: str) -> str:
    group, _, version = api_version.rpartition("/")
    return f"{group}/{version}, Kind={kind}"
