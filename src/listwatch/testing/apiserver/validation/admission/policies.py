"""The checks of admission policies, mutating and validating ones."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ..basics import texts
from ..checks import Checks, Value
from ..conditions import conditions_problems
from ..internal_values import internal
from ..names import (
    key_problems,
    rfc_1035_problems,
    subdomain_problems,
)
from ..problems import (
    Problem,
    duplicate_field,
    invalid_field,
    required_field,
    unsupported_field,
)
from .expressions import expression_problems
from .match_rules import (
    FAILURE_POLICIES,
    MUTATING_OPERATIONS,
    condition_problems,
    known,
    operations_problems,
    resources_problems,
)

__all__ = ["CHECKS"]

_INVOCATIONS = ("IfNeeded", "Never")
_REASONS = ("Forbidden", "Invalid", "RequestEntityTooLarge")
_PATCHES = {"ApplyConfiguration": "applyConfiguration", "JSONPatch": "jsonPatch"}
_MAX_ANNOTATIONS = 20
_MAX_VALUE_EXPRESSION = 5 * 1024
_EITHER = "validations or auditAnnotations must contain at least one item"
_is_identifier = re.compile(r"[_a-zA-Z][_a-zA-Z0-9]*").fullmatch
_RESERVED = frozenset(
    {
        *("as", "break", "const", "continue", "else", "false", "for", "function", "if"),
        *("import", "in", "let", "loop", "namespace", "null", "package", "return", "true"),
        *("var", "void", "while"),
    }
)


def _validating(new: Value) -> Iterator[Problem]:
    yield from _validating_spec(new, conditions=True)


def _validating_update(new: Value, old: Value) -> Iterator[Problem]:
    yield from _validating_spec(new, conditions=_conditions_changed(new, old))


def _mutating(new: Value) -> Iterator[Problem]:
    yield from _mutating_spec(new, conditions=True)


def _mutating_update(new: Value, old: Value) -> Iterator[Problem]:
    yield from _mutating_spec(new, conditions=_conditions_changed(new, old))


def _conditions_changed(new: Value, old: Value) -> bool:
    spec, before = new.get("spec") or {}, old.get("spec") or {}
    return any(spec.get(name) != before.get(name) for name in ("paramKind", "matchConditions"))


def _validating_spec(new: Value, *, conditions: bool) -> Iterator[Problem]:
    spec = new.get("spec") or {}
    yield from _common(spec, conditions=conditions)
    for at, variable in enumerate(spec.get("variables") or ()):
        yield from _variable(f"spec.variables[{at}]", variable)
    validations, annotations = spec.get("validations"), spec.get("auditAnnotations")
    if not validations and not annotations:
        yield required_field("spec.validations", _EITHER)
        yield required_field("spec.auditAnnotations", _EITHER)
        return
    for at, validation in enumerate(validations or ()):
        yield from _validation(f"spec.validations[{at}]", validation)
    yield from _annotations(new["metadata"].get("name") or "", annotations or ())


def _mutating_spec(new: Value, *, conditions: bool) -> Iterator[Problem]:
    spec = new.get("spec") or {}
    yield from _common(spec, conditions=conditions, operations=MUTATING_OPERATIONS)
    for at, variable in enumerate(spec.get("variables") or ()):
        yield from _variable(f"spec.variables[{at}]", variable)
    mutations = spec.get("mutations") or ()
    if not mutations:
        yield required_field("spec.mutations", "mutations must contain at least one item")
    for at, mutation in enumerate(mutations):
        yield from _mutation(f"spec.mutations[{at}]", mutation)
    again = spec.get("reinvocationPolicy")
    if not again:
        yield required_field("spec.reinvocationPolicy")
    else:
        yield from known("spec.reinvocationPolicy", again, _INVOCATIONS)


def _common(spec: Value, *, conditions: bool, operations: Sequence[str] = ()) -> Iterator[Problem]:
    """What both kinds begin with."""
    failure = spec.get("failurePolicy")
    if failure is None:
        yield required_field("spec.failurePolicy")
    yield from known("spec.failurePolicy", failure, FAILURE_POLICIES)
    kind = spec.get("paramKind")
    if kind is not None:
        yield from _kind(kind)
    field = "spec.matchConstraints"
    matched = spec.get("matchConstraints")
    if matched is None:
        yield required_field(field)
    else:
        yield from resources_problems(field, matched)
        if not matched.get("resourceRules"):
            yield required_field(f"{field}.resourceRules")
        yield from operations_problems(field, matched, operations)
    if conditions:
        yield from condition_problems("spec.matchConditions", spec.get("matchConditions"))


def _kind(kind: Value) -> Iterator[Problem]:
    """The type of the parameters."""
    field = "spec.paramKind.apiVersion"
    text, name = kind.get("apiVersion") or "", kind.get("kind") or ""
    group, _, version = text.rpartition("/") if text != "/" else ("", "", "")
    if not text:
        yield required_field(field)
    elif text.count("/") > 1:
        yield invalid_field(field, text, f"unexpected GroupVersion string: {text}")
    else:
        found = list(subdomain_problems(group)) if group else []
        if found:
            yield invalid_field(field, group, ",".join(found))
        if not version:
            yield invalid_field(field, text, "version must be specified")
        elif found := list(rfc_1035_problems(version)):
            yield invalid_field(field, version, ",".join(found))
    if not name:
        yield required_field("spec.paramKind.kind")
    elif found := list(rfc_1035_problems(name.lower())):
        text = f"may have mixed case, but should otherwise match: {','.join(found)}"
        yield invalid_field("spec.paramKind.kind", name, text)


def _variable(field: str, variable: Value) -> Iterator[Problem]:
    name, expression = variable.get("name") or "", variable.get("expression") or ""
    if not name.strip():
        yield required_field(f"{field}.name", "name is not specified")
    elif not _is_identifier(name) or name in _RESERVED:
        yield invalid_field(f"{field}.name", name, "must be a valid CEL identifier")
    if not expression.strip():
        yield required_field(f"{field}.expression", "expression is not specified")
    else:
        yield from expression_problems(f"{field}.expression", expression)


def _validation(field: str, validation: Value) -> Iterator[Problem]:
    expression = validation.get("expression") or ""
    if not expression.strip():
        yield required_field(f"{field}.expression", "expression is not specified")
    else:
        yield from expression_problems(f"{field}.expression", expression)
    telling, message = validation.get("messageExpression") or "", validation.get("message") or ""
    if telling and not telling.strip():
        text = "must be non-empty if specified"
        yield invalid_field(f"{field}.messageExpression", telling, text)
    elif telling:
        yield from expression_problems(f"{field}.messageExpression", telling)
    if message and not message.strip():
        yield invalid_field(f"{field}.message", message, "must be non-empty if specified")
    elif "\n" in message.strip() or "\r" in message.strip():
        yield invalid_field(f"{field}.message", message, "must not contain line breaks")
    yield from known(f"{field}.reason", validation.get("reason"), _REASONS)


def _annotations(name: str, annotations: Sequence[Value]) -> Iterator[Problem]:
    field = "spec.auditAnnotations"
    if len(annotations) > _MAX_ANNOTATIONS:
        shown = [
            internal("admissionregistration.v1.AuditAnnotation", found) for found in annotations
        ]
        text = f"must not have more than {_MAX_ANNOTATIONS} auditAnnotations"
        yield invalid_field(field, shown, text)
    seen: set[str] = set()
    for at, annotation in enumerate(annotations):
        path = f"{field}[{at}]"
        key, value = annotation.get("key") or "", annotation.get("valueExpression") or ""
        if name:
            whole = f"{name}/{key}"
            yield from texts(f"{path}.key", whole, key_problems(whole))
        else:
            yield invalid_field(f"{path}.key", key, "requires metadata.name be non-empty")
        if not value.strip():
            yield required_field(f"{path}.valueExpression", "valueExpression is not specified")
        elif len(value.strip().encode()) > _MAX_VALUE_EXPRESSION:
            text = f"must not exceed {_MAX_VALUE_EXPRESSION} bytes in length"
            yield required_field(f"{path}.valueExpression", text)
        else:
            yield from expression_problems(f"{path}.valueExpression", value)
        if key in seen:
            yield duplicate_field(f"{path}.key", key)
        seen.add(key)


def _mutation(field: str, mutation: Value) -> Iterator[Problem]:
    kind = mutation.get("patchType") or ""
    if not kind:
        yield required_field(f"{field}.patchType")
        return
    if kind not in _PATCHES:
        yield unsupported_field(f"{field}.patchType", kind, sorted(_PATCHES))
        return
    own = _PATCHES[kind]
    other = next(name for name in _PATCHES.values() if name != own)
    patch = mutation.get(own)
    if patch is None:
        text = f"must be specified when patchType is {kind}"
        yield required_field(f"{field}.{own}", text)
    else:
        expression = (patch.get("expression") or "").strip()
        if not expression:
            yield required_field(f"{field}.{own}.expression")
        else:
            yield from expression_problems(f"{field}.{own}.expression", expression)
    if mutation.get(other) is not None:
        text = f"must not be specified when patchType is {kind}"
        yield invalid_field(f"{field}.{other}", f"{{{other}}}", text)


def _validating_status(new: Value, old: Value) -> Iterator[Problem]:
    status = new.get("status") or {}
    checking = status.get("typeChecking") or {}
    for at, warning in enumerate(checking.get("expressionWarnings") or ()):
        field = f"status.typeChecking.expressionWarnings[{at}]"
        if not warning.get("warning"):
            yield required_field(f"{field}.warning")
        if not (warning.get("fieldRef") or "").strip():
            yield required_field(f"{field}.fieldRef")
    yield from conditions_problems("status.conditions", status.get("conditions"))


CHECKS = {
    "admissionregistration.k8s.io/mutatingadmissionpolicies": Checks(
        create=_mutating, update=_mutating_update
    ),
    "admissionregistration.k8s.io/validatingadmissionpolicies": Checks(
        create=_validating, update=_validating_update, status=_validating_status
    ),
}
