"""What a PUT or PATCH must agree with: the path, and the state that its client has seen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..messages import ServerRequest
from ..storage.log import StoredObject
from ..storage.state import Target
from ..types.served import ResourceType
from ..validation.problems import bad_request, conflict, internal_error, invalid, invalid_field
from .owners import without_duplicates
from .request_bodies import YAML, media_type, read_object
from .shapes import ShapeError, check_shape, duplicate_fields
from .write_options import WriteOptions
from .yaml_duplicates import yaml_duplicates, yaml_errors

__all__ = [
    "check_kind",
    "check_name",
    "check_namespace",
    "check_version",
    "is_released",
    "read_sent",
    "sets_version",
]

_LOCK_TEXT = (
    "the object has been modified; please apply your changes to the latest version and try again"
)


def read_sent(
    target: Target, request: ServerRequest, options: WriteOptions
) -> tuple[dict[str, Any], list[str]]:
    """The object in the body, with the JSON types that it must have, and what to warn of."""
    of = target.type
    value = read_object(of, request)
    cannot = f'{of.kind} in version "{of.version}" cannot be handled as a {of.kind}: '
    try:
        unknown = check_shape(of, value)
    except ShapeError as error:
        raise bad_request(f"{cannot}{error}") from None
    warnings = _complaints(request, options, unknown)
    if warnings and options.validation == "Strict":
        raise bad_request(f"{cannot}strict decoding error: {', '.join(warnings)}")
    check_namespace(target, value["metadata"])
    owners = value["metadata"].get("ownerReferences")
    if owners and len(owners) > 1:
        kept, warning = without_duplicates(owners)
        if warning:
            value["metadata"] = {**value["metadata"], "ownerReferences": kept}
            warnings.append(warning)
    return value, warnings


def _complaints(request: ServerRequest, options: WriteOptions, unknown: Sequence[str]) -> list[str]:
    """Members that come twice, and unknown ones."""
    if options.validation == "Ignore":
        return []
    if media_type(request) == YAML:
        found = yaml_duplicates(request.body)
        if found and options.validation == "Strict":
            found = [yaml_errors(found)]
    else:
        found = [f"duplicate field {_quoted(path)}" for path in duplicate_fields(request.body)]
    return found + [f"unknown field {_quoted(path)}" for path in unknown]


def _quoted(path: str) -> str:
    escaped = path.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def check_name(target: Target, metadata: Mapping[str, Any]) -> None:
    """Raises 400 where the object has not the name that the path has."""
    name = metadata.get("name")
    if not name:
        raise bad_request(
            f"the name of the object ({target.name} based on URL) was undeterminable: name must "
            "be provided"
        )
    if name != target.name:
        raise bad_request(
            f"the name of the object ({name}) does not match the name on the URL ({target.name})"
        )


def check_namespace(target: Target, metadata: Mapping[str, Any]) -> None:
    """Raises 400 where the object names another namespace than the path does."""
    namespace = metadata.get("namespace")
    if namespace and target.type.namespaced and namespace != target.namespace:
        raise bad_request(
            "the namespace of the provided object does not match the namespace sent on the request"
        )


def check_version(
    of: ResourceType, name: str, metadata: Mapping[str, Any], stored: StoredObject
) -> None:
    """The optimistic lock: raises 409 where the client saw another state, 422 where it must say
    which it saw.
    """
    sent = metadata.get("resourceVersion")
    if sent == stored.metadata["resourceVersion"]:
        return
    version = _version(sent, strict=True)
    if not version:
        if of.put_needs_rv or of.custom:
            text = "must be specified for an update"
            problem = invalid_field("metadata.resourceVersion", 0, text)
            raise invalid(of.plural, of.group, name, [problem])
    elif version != stored.rv:
        raise conflict(of, name, _LOCK_TEXT)


def check_kind(of: ResourceType, name: str, value: Mapping[str, Any]) -> None:
    """Raises 422 where a custom object says that it is of another kind."""
    kind = value.get("kind", of.kind)
    if kind != of.kind:
        problem = invalid_field("kind", kind, f"must be {of.kind}")
        raise invalid(kind, of.group, name, [problem])


def sets_version(metadata: Mapping[str, Any]) -> bool:
    """Whether it has a resourceVersion. Nonsense is none."""
    return bool(_version(metadata.get("resourceVersion"), strict=False))


def _version(text: str | None, *, strict: bool) -> int:
    """0 where there is none. Nonsense is none too, or 500."""
    if not text:
        return 0
    if text.isascii() and text.isdigit() and int(text) < 1 << 64:
        return int(text)
    if strict:
        why = "value out of range" if text.isascii() and text.isdigit() else "invalid syntax"
        raise internal_error(f'strconv.ParseUint: parsing "{text}": {why}')
    return 0


def is_released(old: Mapping[str, Any], new: Mapping[str, Any]) -> bool:
    """Whether an update took away the last thing that kept a deleted object."""
    if old.get("deletionTimestamp") is None or new["metadata"].get("finalizers"):
        return False
    if new["kind"] == "Namespace" and new["apiVersion"] == "v1":
        return not new["spec"].get("finalizers")
    return bool(old.get("deletionGracePeriodSeconds") == 0)
