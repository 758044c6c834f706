"""AdmissionReviews: what webhooks are sent, and what they may answer."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..auth import User
from ..reading.encoding import go_json
from ..types.served import ResourceType
from ..validation.problems import go_quoted
from ..writing.go_syntax import go_kind
from .answers import Failed, read_answer
from .attributes import Attributes
from .hooks import Hook

__all__ = ["Verdict", "known_version", "review", "verdict"]

_GROUP = "admission.k8s.io"
_VERSIONS = ("v1", "v1beta1")


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a webhook says to a write."""

    allowed: bool
    patch: list[dict[str, Any]] | None = None
    status: Mapping[str, Any] | None = None
    """Why not."""
    warnings: tuple[str, ...] = ()


def known_version(hook: Hook) -> str:
    """The version of AdmissionReview that is sent. Raises `Failed` where it takes none of them."""
    for version in hook.value.get("admissionReviewVersions") or ():
        if version in _VERSIONS:
            return str(version)
    raise Failed(
        "could not create admission objects: webhook does not accept known AdmissionReview "
        "versions (v1, v1beta1)"
    )


def review(hook: Hook, attributes: Attributes, user: User, uid: str, version: str) -> bytes:
    """The body of the question."""
    target = attributes.target
    group, kind_version, kind = attributes.kind
    own = target.type
    converted = hook.of is not own
    request: dict[str, Any] = {
        "uid": uid,
        "kind": {
            "group": group,
            "version": hook.of.version if converted else kind_version,
            "kind": kind,
        },
        "resource": _resource(hook.of),
    }
    if target.subresource:
        request["subResource"] = target.subresource
    request["requestKind"] = {"group": group, "version": kind_version, "kind": kind}
    request["requestResource"] = _resource(own)
    if target.subresource:
        request["requestSubResource"] = target.subresource
    if attributes.name:
        request["name"] = attributes.name
    if attributes.namespace:
        request["namespace"] = attributes.namespace
    request["operation"] = attributes.operation
    request["userInfo"] = _user_info(user)
    request["object"] = _in_version(attributes.new, hook, converted=converted)
    request["oldObject"] = _in_version(attributes.old, hook, converted=converted)
    request["dryRun"] = attributes.dry_run
    request["options"] = dict(attributes.options)
    body = {"kind": "AdmissionReview", "apiVersion": f"{_GROUP}/{version}", "request": request}
    return go_json(body) + b"\n"


def _resource(of: ResourceType) -> dict[str, str]:
    return {"group": of.group, "version": of.version, "resource": of.plural}


def _in_version(value: Mapping[str, Any] | None, hook: Hook, *, converted: bool) -> Any:
    if value is None or not converted:
        return value
    return {**value, "apiVersion": hook.of.api_version}


def _user_info(user: User) -> dict[str, Any]:
    info: dict[str, Any] = {"username": user.name}
    if user.uid:
        info["uid"] = user.uid
    groups = [*user.groups]
    if "system:unauthenticated" not in groups and "system:authenticated" not in groups:
        groups.append("system:authenticated")
    info["groups"] = groups
    if user.extra:
        info["extra"] = {name: list(values) for name, values in user.extra.items()}
    return info


def verdict(body: bytes, uid: str, version: str, *, mutating: bool) -> Verdict:
    """What the answer says. Raises `Failed`."""
    answer = read_answer(body)
    response = answer.get("response")
    if response is None:
        raise _invalid("webhook response was absent")
    patch, patch_type = response.get("patch"), response.get("patchType")
    if version == "v1":
        _check_identity(answer, response, uid)
        _check_patch(patch, patch_type, mutating=mutating)
    return Verdict(
        allowed=response.get("allowed") is True,
        patch=_operations(patch) if patch and mutating else None,
        status=response.get("status"),
        warnings=tuple(response.get("warnings") or ()),
    )


def _check_identity(answer: Mapping[str, Any], response: Mapping[str, Any], uid: str) -> None:
    given = response.get("uid") or ""
    if given != uid:
        raise _invalid(f"expected response.uid={go_quoted(uid)}, got {go_quoted(str(given))}")
    group, _, version = str(answer.get("apiVersion") or "").rpartition("/")
    found = f"{group}/{version}, Kind={answer.get('kind') or ''}"
    wanted = f"{_GROUP}/v1, Kind=AdmissionReview"
    if found != wanted:
        raise _invalid(f"expected webhook response of {wanted}, got {found}")


def _check_patch(patch: Any, patch_type: Any, *, mutating: bool) -> None:
    if not mutating:
        if patch:
            raise _invalid("validating webhook may not return response.patch")
        if patch_type is not None:
            raise _invalid("validating webhook may not return response.patchType")
    elif patch and patch_type is None:
        raise _invalid("webhook returned response.patch but not response.patchType")
    elif patch_type is not None and not patch:
        raise _invalid("webhook returned response.patchType but not response.patch")
    elif patch_type is not None and patch_type != "JSONPatch":
        raise Failed(f"unsupported patch type {go_quoted(str(patch_type))}")


def _operations(patch: Any) -> list[dict[str, Any]]:
    try:
        operations = json.loads(base64.b64decode(str(patch), validate=True))
    except (binascii.Error, ValueError, RecursionError) as error:
        raise _undecodable(str(error)) from None
    if operations is None:
        return []
    if not isinstance(operations, list):
        kind = go_kind(operations)
        raise _undecodable(f"json: cannot unmarshal {kind} into Go value of type jsonpatch.Patch")
    for each in operations:
        if each is not None and not isinstance(each, dict):
            kind = go_kind(each)
            text = f"json: cannot unmarshal {kind} into Go value of type jsonpatch.Operation"
            raise _undecodable(text)
    return [each or {} for each in operations]


def _undecodable(why: str) -> Failed:
    return Failed(f"received undecodable patch in webhook response: {why}")


def _invalid(why: str) -> Failed:
    return Failed(f"received invalid webhook response: {why}")
