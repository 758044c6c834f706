"""Answers of webhooks as Go would read them: each member has its type, or there is no answer."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ..writing.go_syntax import go_kind

__all__ = ["Failed", "read_answer"]

_RESPONSE = {
    "uid": (str, "types.UID"),
    "allowed": (bool, "bool"),
    "status": (dict, "v1.Status"),
    "patch": (str, "[]uint8"),
    "patchType": (str, "v1.PatchType"),
    "auditAnnotations": (dict, "map[string]string"),
    "warnings": (list, "[]string"),
}
_STATUS = {
    "metadata": (dict, "v1.ListMeta"),
    "status": (str, "string"),
    "message": (str, "string"),
    "reason": (str, "v1.StatusReason"),
    "details": (dict, "v1.StatusDetails"),
    "code": (int, "int32"),
}
_DETAILS = {
    "name": (str, "string"),
    "group": (str, "string"),
    "kind": (str, "string"),
    "uid": (str, "types.UID"),
    "causes": (list, "[]v1.StatusCause"),
    "retryAfterSeconds": (int, "int32"),
}
_HEADER = (
    r'struct { APIVersion string "json:\"apiVersion,omitempty\""; '
    r'Kind string "json:\"kind,omitempty\"" }'
)
_Types = Mapping[str, tuple[type, str]]


class Failed(Exception):
    """A webhook could not be asked, or what it said is no answer: the text tells which."""


def read_answer(body: bytes) -> dict[str, Any]:
    """An AdmissionReview, whose `response`, if there is one, has nothing but what it may have.
    Raises `Failed`.
    """
    try:
        answer = json.loads(body.decode("utf-8", "replace"), parse_constant=_no_number)
    except RecursionError:
        raise Failed("failed to call webhook: exceeded max depth") from None
    except ValueError:
        answer = ""  # in YAML it may be a text
    if answer is None:
        answer = {}
    if not isinstance(answer, dict):
        raise Failed(
            "failed to call webhook: couldn't get version/kind; json parse error: json: cannot "
            f"unmarshal {go_kind(answer)} into Go value of type {_HEADER}"
        )
    response = answer.get("response")
    if response is not None:
        _check(response, dict, "AdmissionReview.response", "v1.AdmissionResponse")
        read = _read(response, _RESPONSE, "AdmissionResponse.response")
        for warning in read.get("warnings", ()):
            _check(warning, str, "AdmissionResponse.response.warnings", "string")
        if "status" in read:
            status = read["status"] = _read(read["status"], _STATUS, "Status.response.status")
            if "details" in status:
                where = "StatusDetails.response.status.details"
                status["details"] = _read(status["details"], _DETAILS, where)
        answer["response"] = read
    return answer


def _no_number(text: str) -> None:
    raise ValueError(text)


def _read(value: Mapping[str, Any], types: _Types, where: str) -> dict[str, Any]:
    read = {}
    for name, (wanted, go_type) in types.items():
        member = value.get(name)
        if member is not None:
            _check(member, wanted, f"{where}.{name}", go_type)
            read[name] = member
    return read


def _check(value: Any, wanted: type, where: str, go_type: str) -> None:
    if not isinstance(value, wanted) or (isinstance(value, bool) and wanted is not bool):
        raise Failed(
            f"failed to call webhook: json: cannot unmarshal {go_kind(value)} into Go struct field "
            f"{where} of type {go_type}"
        )
