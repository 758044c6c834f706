"""The object in the body of a POST or PUT."""

from __future__ import annotations

import json
import re
from typing import Any, ClassVar

import msgspec

from listwatch.api import BUILTIN_RESOURCES

from ..messages import ServerRequest
from ..types.messages import NotAMessage, decode_object
from ..types.served import ResourceType
from ..validation.problems import bad_request, invalid, invalid_field, unsupported_media_type
from .go_syntax import go_kind, syntax_error

__all__ = ["YAML", "decode_json", "decode_yaml", "media_type", "read_body", "read_object"]

YAML = "application/yaml"
_MAX_YAML_NODES = 1_000_000
"""A few lines of YAML that refer to each other can stand for any number of values."""
_ACCEPTED = ("application/json", "application/yaml", "application/vnd.kubernetes.protobuf")
_SCHEME = 'in scheme "pkg/runtime/scheme.go:111"'
_SURROGATE = re.compile("[\ud800-\udfff]")
_SHOWN_BYTES = 30
_IS_YES_OR_NO = re.compile("[yYnN]$")
_EXPECTED = re.compile("expected (.+), but got .*")
_GO_TYPE_META = (
    "json: cannot unmarshal {} into Go value of type struct {{ APIVersion string "
    '"json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }}'
)
_decode = msgspec.json.Decoder().decode


class _BodyError(Exception):
    """What Go's decoder says."""


def _protobuf(data: bytes) -> dict[str, Any]:
    if not data:
        raise _BodyError("empty data")
    try:
        return decode_object(data)
    except NotAMessage as error:
        raise _BodyError(str(error)) from None


def media_type(request: ServerRequest) -> str:
    """The Content-Type without its parameters, in small letters."""
    return request.headers.get("content-type", "").partition(";")[0].strip().lower()


def read_body(request: ServerRequest) -> dict[str, Any]:
    """A JSON or YAML object; `null` is an empty one. Raises `_BodyError`'s text as 400, or 415."""
    try:
        return _object(request)
    except _BodyError as error:
        raise bad_request(str(error)) from None


def read_object(of: ResourceType, request: ServerRequest) -> dict[str, Any]:
    """The object of type `of` that is to be written, its kind and apiVersion checked."""
    if of.custom and media_type(request) == _ACCEPTED[2]:
        raise unsupported_media_type(_ACCEPTED[:2])
    try:
        value = _object(request)
    except _BodyError as error:
        raise bad_request(
            f"the object provided is unrecognized (must be of type {of.kind}): "
            f"{error} ({_summary(request.body)})"
        ) from None
    if of.custom:
        _check_custom(of, request, value)
    else:
        _check_builtin(of, request, value)
    return value


def decode_json(data: bytes) -> Any:
    """One JSON value. Raises `ValueError` with Go's message."""
    try:
        return _decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        message = syntax_error(data)
        if message:
            raise ValueError(message) from None
        # Go puts up with what is not UTF-8, and with halves of surrogate pairs.
        try:
            lenient = json.loads(data.decode("utf-8", "replace"))
            text = json.dumps(lenient, ensure_ascii=False)
            return _decode(_SURROGATE.sub("\ufffd", text).encode())
        except RecursionError:
            # It allows 10,000 levels, Python some hundreds.
            raise ValueError("exceeded max depth") from None


def _object(request: ServerRequest) -> dict[str, Any]:
    kind = media_type(request) or _ACCEPTED[0]
    if kind == _ACCEPTED[2]:
        return _protobuf(request.body)
    if kind not in _ACCEPTED:
        raise unsupported_media_type(_ACCEPTED)
    try:
        value = decode_yaml(request.body) if kind == _ACCEPTED[1] else decode_json(request.body)
    except ValueError as error:
        prefix = "" if kind == _ACCEPTED[1] else "couldn't get version/kind; json parse error: "
        raise _BodyError(f"{prefix}{error}") from None
    if value is None:
        return {}
    prefix = "couldn't get version/kind; json parse error: "
    if not isinstance(value, dict):
        raise _BodyError(prefix + _GO_TYPE_META.format(go_kind(value)))
    for name in ("apiVersion", "kind"):
        found = value.get(name)
        if found is not None and not isinstance(found, str):
            raise _BodyError(
                f"{prefix}json: cannot unmarshal {go_kind(found)} into Go struct field .{name} "
                "of type string"
            )
    return value


def decode_yaml(data: bytes, *, first_line: bool = False) -> Any:
    """Raises `ValueError`. What YAML knows and JSON does not, such as dates, stays text; a plain
    `y` or `n` is a yes or no, as to Go. `first_line`: messages name the first line, too.
    """
    import yaml

    class Loader(yaml.SafeLoader):
        bool_values: ClassVar = {**yaml.SafeLoader.bool_values, "y": True, "n": False}

    Loader.yaml_implicit_resolvers = {
        first: [(tag, regexp) for tag, regexp in found if not tag.endswith(":timestamp")]
        for first, found in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }
    Loader.add_implicit_resolver("tag:yaml.org,2002:bool", _IS_YES_OR_NO, list("yYnN"))
    try:
        value = yaml.load(data, Loader)
        if b"*" in data and _size(value, {}) > _MAX_YAML_NODES:
            raise ValueError("yaml: document contains excessive aliasing")
        return _decode(json.dumps(value).encode())
    except yaml.MarkedYAMLError as error:
        line = f"line {error.problem_mark.line + 1}: " if error.problem_mark else ""
        text = str(error.problem).replace("allowed here", "allowed in this context")
        text = _EXPECTED.sub(r"did not find expected \1", text)
        raise ValueError(
            f"yaml: {line if first_line or 'line 1:' not in line else ''}{text}"
        ) from None
    except (
        yaml.YAMLError,
        TypeError,
        RecursionError,
        UnicodeError,
        # What its constructors make of an explicit tag that does not fit.
        AttributeError,
        LookupError,
    ) as error:
        raise ValueError(f"yaml: {error}") from None


def _size(value: Any, known: dict[int, int]) -> int:
    """How many values there are, those that stand in several places counted in each."""
    if not isinstance(value, dict | list):
        return 1
    size = known.get(id(value))
    if size is None:
        known[id(value)] = 1  # should it be within itself
        members = value.values() if isinstance(value, dict) else value
        size = known[id(value)] = 1 + sum(_size(member, known) for member in members)
    return size


def _check_builtin(of: ResourceType, request: ServerRequest, value: dict[str, Any]) -> None:
    kind, api_version = value.get("kind") or of.kind, value.get("apiVersion") or of.api_version
    if kind == of.kind and api_version == of.api_version:
        return
    if api_version.count("/") > 1:
        raise bad_request(
            f"the object provided is unrecognized (must be of type {of.kind}): "
            f"unexpected GroupVersion string: {api_version} ({_summary(request.body)})"
        )
    group, _, version = api_version.rpartition("/")
    if kind == of.kind and group == of.group and _is_sibling(of, version):
        raise bad_request(
            f"the API version in the data ({api_version}) does not match the expected API "
            f"version ({of.api_version})"
        )
    cannot = f'{kind} in version "{version}" cannot be handled as a {of.kind}: '
    if kind in _KINDS.get(api_version, ()):
        package = "core" if of.group == "" else of.group.partition(".")[0]
        raise bad_request(
            f"{cannot}converting ({version}.{kind}) to ({package}.{of.kind}): unknown conversion"
        )
    raise bad_request(
        f'{cannot}no kind "{kind}" is registered for version "{api_version}" {_SCHEME}'
    )


def _builtin_kinds() -> dict[str, set[str]]:
    kinds: dict[str, set[str]] = {}
    for resource in BUILTIN_RESOURCES:
        kinds.setdefault(resource.api_version, set()).add(resource.kind)
    return kinds


_KINDS = _builtin_kinds()


def _is_sibling(of: ResourceType, version: str) -> bool:
    """Whether the kind is known in this other version of its group."""
    group_version = f"{of.group}/{version}" if of.group else version
    return of.kind in _KINDS.get(group_version, ())


def _check_custom(of: ResourceType, request: ServerRequest, value: dict[str, Any]) -> None:
    if not value.get("kind"):
        text = request.body.decode("utf-8", "replace")
        raise bad_request(
            f"the object provided is unrecognized (must be of type {of.kind}): "
            f"Object 'Kind' is missing in '{text}' ({_summary(request.body)})"
        )
    if value.get("apiVersion") != of.api_version:
        raise bad_request(
            f"the API version in the data ({value.get('apiVersion') or ''}) does not match the "
            f"expected API version ({of.api_version})"
        )
    if value["kind"] != of.kind and request.method == "POST":
        metadata = value.get("metadata")
        name = metadata.get("name") if isinstance(metadata, dict) else ""
        problem = invalid_field("kind", value["kind"], f"must be {of.kind}")
        raise invalid(value["kind"], of.group, str(name or ""), [problem])


def _summary(data: bytes) -> str:
    """As the real server shows a body that it could not read."""
    if not data:
        return "<empty>"
    shown = data[:_SHOWN_BYTES]
    text = shown.decode("utf-8", "replace") if data[:1] == b"{" else shown.hex()
    return f"{text} ..." if len(data) > _SHOWN_BYTES else text
